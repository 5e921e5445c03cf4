// rightsize mig: many small models on few GPUs.
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/named_gpu.h"
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
    if (Result<> written = write_file(fmt::format("{}/{}", folder, name), content); !written) return written;
  }
  return {};
}

// The layouts of a mig-parted file on this GPU.
Checked<Outcome> check_mig_parted(const MigFlags& flags, const std::string& text, const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(const mig::Geometry geometry, chosen_geometry(flags, catalog));
  RIGHTSIZE_TRY(const std::vector<mig::PartedLayout> layouts, mig::read_mig_parted(flags.workloads, text, geometry));
  std::vector<LayoutCheck> checks;
  for (const mig::PartedLayout& parted : layouts) {
    const std::string_view devices = parted.devices;
    const Result<std::int64_t> first = parse_integer(devices.substr(0, devices.find(',')));
    checks.push_back({fmt::format("{}, devices {}", parted.name, parted.devices),
                      parted.layout,
                      {},
                      first ? static_cast<std::size_t>(*first) : 0,
                      parted.problem});
  }
  return check_outcome(geometry, checks);
}

Checked<Outcome> plan_workloads(const MigFlags& flags, const Facts& facts) {
  RIGHTSIZE_TRY(const catalog::Purchase purchase, catalog::read_purchase(flags.purchase));
  WorkloadsText source{workloads_of(flags.models), {}};
  if (!flags.workloads.empty()) {
    RIGHTSIZE_TRY(source, workloads_text(flags.workloads));
  }
  const std::string& text = source.text;
  if (mig::is_mig_parted(text)) return check_mig_parted(flags, text, facts.catalog);
  mig::ModelSpeed speed{&facts.constants};
  if (!flags.gpus.empty()) {
    RIGHTSIZE_TRY(const catalog::UsualGpu usual, catalog::usual_gpu(facts.catalog, flags.gpus.front()));
    speed.gpu = usual.gpu;
  }
  Checked<mig::WorkloadFile> read = mig::read_workloads(flags.workloads.empty() ? "--models" : flags.workloads, text,
                                                        facts.catalog, flags.headroom, speed, workload_key);
  if (!read) {
    for (Error& error : read.error()) source.move(error.place);
  } else {
    for (mig::Workload& workload : read->workloads) source.move(workload.place);
  }
  RIGHTSIZE_TRY(const mig::WorkloadFile file, std::move(read));
  for (const std::string& words : file.assumed) note(words);
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(facts.catalog, flags.prices));
  RIGHTSIZE_TRY(const std::vector<GpuType> types, allowed_types(flags, file, prices, purchase));
  if (types.empty())
    return fail(bad_input("no GPU that supports MIG has a price").with_hint("name one: --gpu h100-sxm"));

  mig::PlanOptions options;
  options.share = flags.share;
  options.prices = &prices;
  const perf::SpeedTable speeds(facts.catalog, facts.constants);
  RIGHTSIZE_TRY(const SlicePlan plan, mig::plan_slices(file, types, speeds, options));
  if (!plan.unplaceable.empty()) return nothing_fits(file, plan);
  RIGHTSIZE_TRY(const mig::Comparison compared,
                mig::compare_alternatives(file, types, speeds, purchase, plan, options));
  const mig::ToolFiles tool_files = mig::hand_over(plan, file, types, flags.gpus_per_node);
  const PlannedSlices planned{file, types, plan, compared.alternatives, compared.mix, tool_files};
  if (!flags.out.empty()) {
    if (Result<> written = write_files(flags.out, planned); !written) return fail(written.error());
  }
  return Outcome{plan_report(planned, flags.out)};
}

// The questions about one kind of GPU: --list-layouts, --verify, --repack, --check, --current.
Checked<Outcome> answer_about(const mig::Geometry& geometry, const MigFlags& flags) {
  if (flags.list_layouts) return Outcome{layouts_report(geometry)};
  const bool alone = !flags.repack && flags.check.empty() && flags.current.empty() && flags.verify.empty();
  if (alone) return Outcome{layouts_report(geometry, true)};
  if (!flags.verify.empty()) {
    RIGHTSIZE_TRY(const std::string text, read_file(flags.verify));
    RIGHTSIZE_TRY(const std::vector<mig::ListedProfile> listed, mig::read_profile_list(flags.verify, text));
    return verify_outcome(geometry, flags.verify, listed);
  }
  if (flags.repack && flags.current.empty())
    return fail(bad_input("--repack needs --current FILE: what is on the GPUs now"));
  mig::RunningGpus gpus{{"0", {}}};
  mig::Layout wanted;
  if (!flags.repack && !flags.check.empty()) {
    RIGHTSIZE_TRY(wanted, mig::parse_layout(flags.check, geometry));
  }
  if (!flags.current.empty()) {
    RIGHTSIZE_TRY(gpus, read_current_gpus(geometry, flags.current));
  }
  if (flags.repack) {
    mig::RepackGoal goal;
    if (!flags.make_room.empty()) {
      RIGHTSIZE_TRY(goal.make_room, mig::parse_layout(flags.make_room, geometry));
    }
    RIGHTSIZE_TRY(const mig::Repacking repacking, mig::repack(gpus, geometry, goal));
    return repack_outcome(geometry, gpus, repacking, flags.make_room);
  }
  if (!flags.check.empty()) {
    std::vector<LayoutCheck> checks;
    for (std::size_t g = 0; g < gpus.size(); ++g) checks.push_back({"GPU " + gpus[g].name, wanted, gpus[g], g});
    return check_outcome(geometry, checks);
  }
  return Outcome{current_report(geometry, gpus)};
}

// A question about one GPU plans no workloads: those of the line would have no effect.
Result<> check_plans_nothing(const MigFlags& flags) {
  const char* asked = flags.list_layouts       ? "--list-layouts"
                      : !flags.verify.empty()  ? "--verify"
                      : flags.repack           ? "--repack"
                      : !flags.check.empty()   ? "--check"
                      : !flags.current.empty() ? "--current"
                                               : nullptr;
  if (asked == nullptr || (flags.workloads.empty() && flags.models.empty())) return {};
  return fail(bad_input(fmt::format("{} is about the slices of one GPU and plans no workloads", asked))
                  .with_hint(fmt::format("leave out {} to plan them, or the workloads to ask about the GPU", asked)));
}

Checked<Outcome> run_mig(MigFlags flags) {
  RIGHTSIZE_TRY(const Facts facts, open_facts(flags.catalog));
  // `mig "12 models of 6 GB each on A100s"`.
  std::error_code ignored;
  const bool words =
      flags.workloads.find(' ') != std::string::npos && !std::filesystem::exists(flags.workloads, ignored);
  if (words && flags.gpus.empty()) {
    for (std::string_view word : split_list(flags.workloads, ' ')) {
      word = without_marks(word);
      if (word.ends_with('s') && !facts.catalog.match_gpus(word)) word.remove_suffix(1);
      if (word.find_first_of("0123456789") != 0 && word.size() > 1 && facts.catalog.match_gpus(word))
        flags.gpus.emplace_back(word);
    }
  }
  // `mig "do two 3g.40gb and one 1g.10gb fit an H100?"`.
  if (const std::string slices = words ? slices_in(flags.workloads) : ""; !slices.empty() && flags.check.empty()) {
    flags.check = slices;
    flags.workloads.clear();
  }
  // `mig h100 --list-layouts`: a GPU in place of a file.
  if (facts.catalog.match_gpus(flags.workloads) && !std::filesystem::exists(flags.workloads, ignored)) {
    const std::string named = std::exchange(flags.workloads, {});
    if (flags.gpus.empty()) flags.gpus = {named};
  }
  if (Result<> one = check_plans_nothing(flags); !one) return fail(std::move(one).error());
  // A GPU alone: its profiles.
  const bool alone = flags.workloads.empty() && flags.models.empty() && !flags.gpus.empty();
  const bool about_one = alone || flags.list_layouts || flags.repack || !flags.check.empty() ||
                         !flags.current.empty() || !flags.verify.empty();
  if (!about_one) {
    if (flags.workloads.empty() && flags.models.empty()) {
      return fail(
          bad_input("nothing to plan")
              .with_hint("give a file: rightsize mig WORKLOADS.yaml; or models: --models bge-m3,qwen2.5-3b")
              .with_hint(
                  "or ask about one GPU: --list-layouts, --check LAYOUT, --current FILE [--repack], --verify FILE"));
    }
    return plan_workloads(flags, facts);
  }
  RIGHTSIZE_TRY(const mig::Geometry geometry, chosen_geometry(flags, facts.catalog));
  return answer_about(geometry, flags);
}

}  // namespace

Run add_mig(FlagSet& command) {
  auto flags = std::make_shared<MigFlags>();
  command.add("WORKLOADS", flags->workloads);
  command.add("models", flags->models);
  command.add("gpu", flags->gpus)
      ->meaning("GPUs that may be used, comma-separated")
      ->or_words("the file's, else all that support MIG")
      ->single_words();
  add_price_flag(command, flags->prices);
  command.add("purchase", flags->purchase)->meaning("purchase terms: on-demand, spot, 1y or 3y")->or_else("on-demand");
  command.add("headroom", flags->headroom);
  command.add("share", flags->share);
  command.add("gpus-per-node", flags->gpus_per_node);
  command.add("out", flags->out);
  command.add("list-layouts", flags->list_layouts);
  command.add("check", flags->check);
  command.add("current", flags->current);
  command.add("repack", flags->repack);
  command.add("make-room", flags->make_room);
  command.add("verify", flags->verify);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run_mig(*flags); };
}

}  // namespace rightsize::app
