// rightsize mig: many small models on few GPUs.
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "catalog/purchase_terms.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/mig/input.h"
#include "rightsize/mig/report.h"

namespace rightsize::app {
namespace {

using mig::GpuType;
using mig::SlicePlan;

Result<> write_files(const std::string& folder, const PlannedSlices& p) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return fail(unreadable(fmt::format("cannot make the folder {}: {}", folder, failure.message())));
  std::vector<std::pair<std::string, std::string>> files{{"mig-parted.yaml", p.tool_files.mig_parted},
                                                         {"gpu-operator-configmap.yaml", p.tool_files.config_map},
                                                         {"nvidia-smi.sh", p.tool_files.nvidia_smi},
                                                         {"kubernetes.yaml", p.tool_files.kubernetes},
                                                         {"dra.yaml", p.tool_files.dra}};
  for (std::size_t t = 0; t < p.types.size(); ++t) {
    const report::Lanes lanes = draw_gpus(p, t, p.plan.gpus.size());
    if (!lanes.lanes.empty())
      files.emplace_back(fmt::format("slices-{}.svg", p.types[t].gpu->name), report::render_svg(lanes));
  }
  for (const auto& [name, content] : files) {
    RIGHTSIZE_TRY([[maybe_unused]] const bool written,
                  write_file(fmt::format("{}/{}", folder, name), content).map([] { return true; }));
  }
  return {};
}

Checked<Outcome> plan_workloads(const MigFlags& flags, const Facts& facts) {
  RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(flags.purchase));
  RIGHTSIZE_TRY(const Ratio headroom, parse_headroom(flags.headroom));
  RIGHTSIZE_TRY(const std::string text, read_file(flags.workloads));
  RIGHTSIZE_TRY(const mig::WorkloadFile file, mig::read_workloads(flags.workloads, text, facts.catalog, headroom));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(facts.catalog, flags.prices));
  RIGHTSIZE_TRY(const std::vector<GpuType> types, allowed_types(flags, file, prices, purchase));
  if (types.empty()) return fail(bad_input("no GPU that can be cut has a price").with_hint("name one: --gpu h100-sxm"));

  mig::PlanOptions options;
  options.share = flags.share;
  options.prices = &prices;
  const perf::SpeedTable speeds(facts.catalog, facts.constants);
  const SlicePlan plan = mig::plan_slices(file, types, speeds, options);
  if (!plan.unplaceable.empty()) return nothing_fits(file, plan);
  const std::vector<mig::Alternative> alternatives =
      mig::compare_alternatives(file, types, speeds, purchase, plan, options);
  const auto per_node = static_cast<std::size_t>(std::max(1, flags.gpus_per_node));
  const mig::ToolFiles tool_files = mig::hand_over(plan, file, types, per_node);
  const PlannedSlices planned{file, types, plan, alternatives, tool_files};
  if (!flags.out.empty()) {
    if (Result<> written = write_files(flags.out, planned); !written) return fail(written.error());
  }
  return Outcome{plan_report(planned, flags.out)};
}

// The questions about one kind of GPU: --list-layouts, --verify, --repack, --check, --current.
Checked<Outcome> answer_about(const mig::Geometry& geometry, const MigFlags& flags) {
  if (flags.list_layouts) return Outcome{layouts_report(geometry)};
  if (!flags.verify.empty()) {
    RIGHTSIZE_TRY(const std::string text, read_file(flags.verify));
    RIGHTSIZE_TRY(const std::vector<mig::ListedProfile> listed, mig::read_profile_list(flags.verify, text));
    return verify_outcome(geometry, flags.verify, listed);
  }
  if (flags.repack && flags.current.empty()) {
    return fail(bad_input("--repack needs --current FILE: what is on the GPUs now"));
  }
  mig::Fleet fleet{{"0", {}}};
  mig::Layout wanted;
  if (!flags.repack && !flags.check.empty()) {
    RIGHTSIZE_TRY(wanted, mig::parse_layout(flags.check, geometry));
  }
  if (!flags.current.empty()) {
    RIGHTSIZE_TRY(fleet, read_fleet(geometry, flags.current));
  }
  if (flags.repack) {
    mig::RepackGoal goal;
    if (!flags.make_room.empty()) {
      RIGHTSIZE_TRY(goal.make_room, mig::parse_layout(flags.make_room, geometry));
    }
    return repack_outcome(geometry, fleet, mig::repack(fleet, geometry, goal), flags.make_room);
  }
  if (!flags.check.empty()) return check_outcome(geometry, wanted, fleet);
  return Outcome{current_report(geometry, fleet)};
}

Checked<Outcome> run(MigFlags flags) {
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  // `mig h100 --list-layouts`: a GPU where a file could stand.
  if (flags.gpus.empty() && facts.catalog.match_gpus(flags.workloads))
    flags.gpus = {std::exchange(flags.workloads, {})};
  const bool about_one =
      flags.list_layouts || flags.repack || !flags.check.empty() || !flags.current.empty() || !flags.verify.empty();
  if (!about_one) {
    if (flags.workloads.empty()) {
      return fail(
          bad_input("nothing to plan")
              .with_hint("give a file: rightsize mig WORKLOADS.yaml --gpu h100-sxm")
              .with_hint(
                  "or ask about one GPU: --list-layouts, --check LAYOUT, --current FILE [--repack], --verify FILE"));
    }
    return plan_workloads(flags, facts);
  }
  RIGHTSIZE_TRY(const mig::Geometry geometry, geometry_asked_about(flags, facts.catalog));
  return answer_about(geometry, flags);
}

}  // namespace

Run add_mig(FlagSet& command) {
  auto flags = std::make_shared<MigFlags>();
  command.add_option("WORKLOADS", flags->workloads,
                     "the workloads to place, a YAML file ('-' for standard input; see examples/mig)");
  command
      .add_option("--gpu", flags->gpus,
                  "GPUs that may be used, comma-separated (default: the file's, else all that can be cut)")
      ->delimiter(',')
      ->one_value_each();
  add_price_flag(command, flags->prices);
  command.add_option("--purchase", flags->purchase, "on-demand, spot, 1y or 3y: which catalogue prices count")
      ->default_str("on-demand");
  command.add_option("--headroom", flags->headroom, "kept free above the mean load, where a workload names none")
      ->default_str("20%");
  command.add_flag("--share", flags->share, "let workloads marked 'share: true' share a slice through MPS");
  command.add_option("--gpus-per-node", flags->gpus_per_node, "GPUs a machine holds, for the files of --out")
      ->default_str("8")
      ->range(1, 64);
  command.add_option("--out", flags->out,
                     "folder for mig-parted, GPU operator, nvidia-smi, Kubernetes and DRA files and SVG pictures");
  command.add_flag("--list-layouts", flags->list_layouts, "every set of slices that fits on --gpu");
  command.add_option("--check", flags->check,
                     "does this layout fit (beside --current), where, in which order: 3g.40gb,2x1g.10gb");
  command.add_option(
      "--current", flags->current,
      "what is on the GPUs now: nvml (asks this machine's driver), or a file: 'nvidia-smi mig -lgi' text, "
      "YAML, or a layout a line");
  command.add_flag("--repack", flags->repack, "free GPUs of --current with the fewest moves, in a safe order");
  command.add_option("--make-room", flags->make_room,
                     "with --repack: slices that must fit afterwards, instead of freeing GPUs");
  command.add_option("--verify", flags->verify,
                     "compare the driver's list ('nvidia-smi mig -lgip; nvidia-smi mig -lgipp') with our table");
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
