// rightsize mig: many small models on few GPUs.
#include "rightsize/mig/mig.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "diagnose/observer.h"
#include "mig/hand_over.h"
#include "mig/plan.h"
#include "rightsize/input/speed_input.h"
#include "telemetry/live.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using mig::Geometry;
using mig::GpuType;
using mig::SlicePlan;
using report::Align;
using report::Json;

Json dollars(double value) { return report::json_number(std::round(value * 100) / 100); }
std::string per_month(UsdPerSecond rate) { return format_usd(rate * kMonth); }

Result<std::vector<const Gpu*>> named_gpus(const std::vector<std::string>& names, const catalog::Catalog& catalog) {
  std::vector<const Gpu*> gpus;
  for (const std::string& name : names) {
    RIGHTSIZE_TRY(std::vector<const Gpu*> matched, catalog.match_gpus(name));
    for (const Gpu* gpu : matched) {
      if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  return gpus;
}

std::vector<std::string> partitionable(const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const Gpu& gpu : catalog.gpus) {
    if (Geometry::of(catalog, gpu)) names.push_back(gpu.name);
  }
  return names;
}

Error not_partitionable(const Gpu& gpu, const catalog::Catalog& catalog) {
  return bad_input(fmt::format("{} cannot be cut into MIG slices", gpu.name))
      .with_hint(fmt::format("those that can: {}", fmt::join(partitionable(catalog), ", ")));
}

// The allowed GPUs with their prices: those of the command line, else of the file, else all that can be cut and bought.
Result<std::vector<GpuType>> allowed_types(const MigFlags& flags, const mig::WorkloadFile& file,
                                           const market::PriceBook& prices, catalog::Purchase purchase) {
  const catalog::Catalog& catalog = prices.catalog();
  const bool named = !flags.gpus.empty() || !file.gpus.empty();
  RIGHTSIZE_TRY(std::vector<const Gpu*> gpus, named_gpus(flags.gpus.empty() ? file.gpus : flags.gpus, catalog));
  if (!named) {
    for (const Gpu& gpu : catalog.gpus) gpus.push_back(&gpu);
  }
  std::vector<GpuType> types;
  for (const Gpu* gpu : gpus) {
    std::optional<Geometry> geometry = Geometry::of(catalog, *gpu);
    if (!geometry && !named) continue;
    if (!geometry) return fail(not_partitionable(*gpu, catalog));
    std::optional<GpuType> type = mig::priced_type(prices, *gpu, purchase);
    if (!type && !named) continue;
    if (!type) {
      return fail(bad_input(fmt::format("the catalogue has no {} price for {}", catalog::name_of(purchase), gpu->name))
                      .with_hint(fmt::format("give yours: --price {}=2.50USD/h", gpu->name)));
    }
    types.push_back(*std::move(type));
  }
  return types;
}

std::string replica_name(const mig::WorkloadFile& file, const mig::Replica& replica) {
  const mig::Workload& workload = file.workloads[replica.workload];
  return workload.replicas == 1 ? workload.name : fmt::format("{}/{}", workload.name, replica.number);
}

std::string names_in(const mig::WorkloadFile& file, const mig::PlannedInstance& instance) {
  std::vector<std::string> names;
  for (const mig::Replica& replica : instance.replicas) names.push_back(replica_name(file, replica));
  return fmt::format("{}", fmt::join(names, " + "));
}

struct Planned {
  const mig::WorkloadFile& file;
  const std::vector<GpuType>& types;
  const SlicePlan& plan;
  const std::vector<mig::Alternative>& alternatives;
  const mig::ToolFiles& tool_files;
  std::size_t gpus_per_node;
};

report::Lanes picture(const Planned& p, std::size_t type, std::size_t most) {
  report::Lanes lanes;
  const Geometry& geometry = *p.types[type].geometry;
  lanes.units = geometry.memory_slices();
  std::size_t of_type = 0;
  for (std::size_t g = 0; g < p.plan.gpus.size(); ++g) {
    if (p.plan.gpus[g].type != type) continue;
    ++of_type;
    if (lanes.lanes.size() >= most) continue;
    report::Lanes::Lane lane{fmt::format("GPU {}", g), {}};
    for (const mig::PlannedInstance& instance : p.plan.gpus[g].instances) {
      const catalog::MigProfile& profile = geometry.profile(instance.where.profile);
      lane.pieces.push_back({profile.profile, names_in(p.file, instance), instance.where.start, profile.memory_slices});
    }
    lanes.lanes.push_back(std::move(lane));
  }
  lanes.title = fmt::format(
      "{}, {} memory slices each{}", p.types[type].gpu->name, geometry.memory_slices(),
      of_type > lanes.lanes.size() ? fmt::format(" (the first {} of {})", lanes.lanes.size(), of_type) : "");
  return lanes;
}

report::Table assignment_table(const Planned& p) {
  report::Table table;
  table.title = "Who is where";
  table.most_shown = 24;
  table.columns = {{"GPU", "index", Align::kRight},    {"type", "gpu", Align::kLeft},
                   {"slice", "profile", Align::kLeft}, {"start", "start", Align::kRight},
                   {"size", "size", Align::kRight},    {"workload", "workload", Align::kLeft}};
  for (std::size_t g = 0; g < p.plan.gpus.size(); ++g) {
    const GpuType& type = p.types[p.plan.gpus[g].type];
    for (const mig::PlannedInstance& instance : p.plan.gpus[g].instances) {
      const catalog::MigProfile& profile = type.geometry->profile(instance.where.profile);
      table.rows.push_back({report::number_cell(std::to_string(g), static_cast<double>(g)),
                            report::text_cell(type.gpu->name), report::text_cell(profile.profile),
                            report::number_cell(std::to_string(instance.where.start), instance.where.start),
                            report::number_cell(std::to_string(profile.memory_slices), profile.memory_slices),
                            report::text_cell(names_in(p.file, instance))});
    }
  }
  return table;
}

report::Table alternatives_table(const std::vector<mig::Alternative>& alternatives) {
  report::Table table;
  table.title = "Other ways";
  table.columns = {{"way", "way", Align::kLeft},
                   {"GPUs", "gpu_count", Align::kRight},
                   {"which", "gpus", Align::kLeft},
                   {"$/month", "usd_per_month", Align::kRight},
                   {"at least", "lower_bound_usd_per_month", Align::kRight},
                   {"what separates them", "isolation", Align::kLeft}};
  for (const mig::Alternative& a : alternatives) {
    if (!a.feasible) {
      table.rows.push_back({report::text_cell(a.what), report::unknown_cell(), report::text_cell("no: " + a.why_not),
                            report::unknown_cell(), report::unknown_cell(), report::text_cell(a.isolation)});
      continue;
    }
    std::vector<std::string> counts;
    for (const auto& [name, count] : a.gpus) counts.push_back(fmt::format("{} {}", count, name));
    table.rows.push_back(
        {report::text_cell(a.what),
         report::number_cell(format_count(static_cast<double>(a.gpu_count)), static_cast<double>(a.gpu_count)),
         report::text_cell(fmt::format("{}", fmt::join(counts, ", "))),
         report::number_cell(per_month(a.rate), in_usd_per_month(a.rate)),
         report::number_cell(per_month(a.least_rate), in_usd_per_month(a.least_rate)), report::text_cell(a.isolation)});
  }
  return table;
}

Json json_of(const Planned& p, std::size_t index) {
  const mig::PlannedGpu& gpu = p.plan.gpus[index];
  const GpuType& type = p.types[gpu.type];
  Json instances = Json::array();
  for (const mig::PlannedInstance& instance : gpu.instances) {
    const catalog::MigProfile& profile = type.geometry->profile(instance.where.profile);
    Json workloads = Json::array();
    for (const mig::Replica& replica : instance.replicas) {
      workloads.push_back({{"workload", p.file.workloads[replica.workload].name}, {"replica", replica.number}});
    }
    instances.push_back({{"profile", profile.profile},
                         {"start", instance.where.start},
                         {"size", profile.memory_slices},
                         {"workload", p.file.workloads[instance.replicas[0].workload].name},
                         {"workloads", std::move(workloads)}});
  }
  return {{"index", index}, {"gpu", type.gpu->name}, {"instances", std::move(instances)}};
}

Json json_of(const mig::Alternative& a) {
  Json gpus = Json::object();
  for (const auto& [name, count] : a.gpus) gpus[name] = count;
  return {{"way", a.name},
          {"feasible", a.feasible},
          {"why_not", a.why_not},
          {"gpu_count", a.feasible ? Json(a.gpu_count) : Json(nullptr)},
          {"gpus", std::move(gpus)},
          {"usd_per_month", a.feasible ? dollars(in_usd_per_month(a.rate)) : Json(nullptr)},
          {"lower_bound", a.feasible ? dollars(in_usd_per_month(a.least_rate)) : Json(nullptr)},
          {"isolation", a.isolation}};
}

Json document_of(const Planned& p) {
  Json document = {{"schema", "rightsize/mig/1"},
                   {"gpu_count", p.plan.gpus.size()},
                   {"gpus", Json::array()},
                   {"usd_per_month", dollars(in_usd_per_month(p.plan.rate))},
                   {"lower_bound", dollars(in_usd_per_month(p.plan.least_rate))},
                   {"gap", p.plan.proved() ? Json(0) : report::json_number(p.plan.gap())},
                   {"proved_optimal", p.plan.proved()},
                   {"out_of_time", p.plan.out_of_time},
                   {"prices", Json::array()},
                   {"alternatives", Json::array()},
                   {"mig_parted", p.tool_files.mig_parted},
                   {"config_map", p.tool_files.config_map},
                   {"nvidia_smi", p.tool_files.nvidia_smi},
                   {"kubernetes", p.tool_files.kubernetes},
                   {"dra", p.tool_files.dra}};
  for (std::size_t g = 0; g < p.plan.gpus.size(); ++g) document["gpus"].push_back(json_of(p, g));
  for (const GpuType& type : p.types) {
    document["prices"].push_back({{"gpu", type.gpu->name},
                                  {"usd_per_hour", report::json_number(type.usd_per_hour())},
                                  {"source", type.price_from}});
  }
  for (const mig::Alternative& a : p.alternatives) document["alternatives"].push_back(json_of(a));
  return document;
}

std::string headline(const Planned& p) {
  std::map<std::size_t, std::size_t> counts;
  for (const mig::PlannedGpu& gpu : p.plan.gpus) ++counts[gpu.type];
  std::vector<std::string> parts;
  for (const auto& [type, count] : counts) parts.push_back(fmt::format("{} {}", count, p.types[type].gpu->name));
  std::string text = fmt::format("{} workload{} in {} replica{} need {}: {} a month.", p.file.workloads.size(),
                                 p.file.workloads.size() == 1 ? "" : "s", p.file.replicas(),
                                 p.file.replicas() == 1 ? "" : "s", fmt::join(parts, " and "), per_month(p.plan.rate));
  text += p.plan.proved() ? " No plan over these GPUs costs less (proved)."
                          : fmt::format(" None costs less than {} (gap {}).", per_month(p.plan.least_rate),
                                        format_percent(Ratio::fraction(p.plan.gap())));
  if (p.plan.out_of_time) text += " The time ran out before the search ended: another run may find another plan.";
  return text;
}

std::string price_notes(const Planned& p) {
  std::string text = fmt::format("Prices per GPU-hour, {} hours a month:", in_hours(kMonth));
  for (const GpuType& type : p.types) {
    text += fmt::format("\n  {} {}: {}", type.gpu->name, format_usd_per_hour(type.rate), type.price_from);
  }
  return text;
}

// Exit 2: which workload, why, and what would take it.
Outcome nothing_fits(const mig::WorkloadFile& file, const SlicePlan& plan) {
  Outcome outcome;
  outcome.exit_code = kNoFeasibleAnswer;
  outcome.report.title = "MIG plan";
  Json list = Json::array();
  std::string text =
      plan.unplaceable.size() == 1
          ? "No plan: one workload fits no slice of the allowed GPUs."
          : fmt::format("No plan: {} workloads fit no slice of the allowed GPUs.", plan.unplaceable.size());
  for (const mig::Unplaceable& u : plan.unplaceable) {
    const mig::Workload& workload = file.workloads[u.workload];
    text += fmt::format("\n  {} ({}:{}): {}. {}", workload.name, workload.place.file, workload.place.line, u.reason,
                        u.would_fit.empty() ? "No single GPU of the catalogue would take it."
                                            : fmt::format("It would fit {}.", u.would_fit));
    list.push_back(
        {{"workload", workload.name}, {"line", workload.place.line}, {"reason", u.reason}, {"would_fit", u.would_fit}});
  }
  outcome.report.document = {{"schema", "rightsize/mig/1"}, {"gpu_count", nullptr}, {"unplaceable", std::move(list)}};
  outcome.report.blocks.emplace_back(report::Paragraph{std::move(text)});
  return outcome;
}

Result<> write_files(const std::string& folder, const Planned& p) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return fail(unreadable(fmt::format("cannot make the folder {}: {}", folder, failure.message())));
  std::vector<std::pair<std::string, std::string>> files{{"mig-parted.yaml", p.tool_files.mig_parted},
                                                         {"gpu-operator-configmap.yaml", p.tool_files.config_map},
                                                         {"nvidia-smi.sh", p.tool_files.nvidia_smi},
                                                         {"kubernetes.yaml", p.tool_files.kubernetes},
                                                         {"dra.yaml", p.tool_files.dra}};
  for (std::size_t t = 0; t < p.types.size(); ++t) {
    const report::Lanes lanes = picture(p, t, p.plan.gpus.size());
    if (!lanes.lanes.empty())
      files.emplace_back(fmt::format("slices-{}.svg", p.types[t].gpu->name), report::render_svg(lanes));
  }
  for (const auto& [name, content] : files) {
    RIGHTSIZE_TRY([[maybe_unused]] const bool written,
                  write_file(folder + "/" + name, content).map([] { return true; }));
  }
  return {};
}

Outcome make_outcome(const Planned& p, const std::string& out) {
  Outcome outcome;
  outcome.report.title = "MIG plan";
  outcome.report.document = document_of(p);
  auto& blocks = outcome.report.blocks;
  blocks.emplace_back(report::Paragraph{headline(p)});
  constexpr std::size_t kMostDrawn = 16;
  for (std::size_t t = 0; t < p.types.size(); ++t) {
    if (report::Lanes lanes = picture(p, t, kMostDrawn); !lanes.lanes.empty()) blocks.emplace_back(std::move(lanes));
  }
  blocks.emplace_back(assignment_table(p));
  blocks.emplace_back(alternatives_table(p.alternatives));
  constexpr std::size_t kMostPrinted = 8;
  if (out.empty() && p.plan.gpus.size() <= kMostPrinted) {
    blocks.emplace_back(report::Verbatim{"To create the slices", p.tool_files.nvidia_smi});
    blocks.emplace_back(report::Verbatim{"For mig-parted and the GPU operator", p.tool_files.mig_parted});
  }
  std::string notes = price_notes(p);
  notes += out.empty()
               ? "\n--out DIR writes mig-parted, GPU operator, nvidia-smi, Kubernetes and DRA files and pictures."
               : fmt::format(
                     "\nWritten to {}: mig-parted.yaml, gpu-operator-configmap.yaml, nvidia-smi.sh, kubernetes.yaml, "
                     "dra.yaml, slices-*.svg.",
                     out);
  blocks.emplace_back(report::Paragraph{std::move(notes)});
  return outcome;
}

Result<Ratio> parse_headroom(const std::string& text) {
  const std::string_view digits =
      trim(std::string_view(text).substr(0, text.ends_with('%') ? text.size() - 1 : text.size()));
  const Result<double> number = parse_number(digits);
  const double fraction = number ? (text.ends_with('%') ? *number / 100 : *number) : -1;
  if (fraction >= 0 && fraction <= 10) return Ratio::fraction(fraction);
  return fail(bad_input(fmt::format("--headroom takes a share such as 20%, not '{}'", text)));
}

Checked<Outcome> plan_workloads(const MigFlags& flags, const catalog::Catalog& catalog) {
  const std::optional<catalog::Purchase> purchase = catalog::parse_purchase(flags.purchase);
  if (!purchase)
    return fail(
        bad_input(fmt::format("unknown purchase option '{}'", flags.purchase)).with_hint("on-demand, spot, 1y or 3y"));
  RIGHTSIZE_TRY(const Ratio headroom, parse_headroom(flags.headroom));
  RIGHTSIZE_TRY(const std::string text, read_file(flags.workloads));
  RIGHTSIZE_TRY(const mig::WorkloadFile file, mig::read_workloads(flags.workloads, text, catalog, headroom));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.prices));
  RIGHTSIZE_TRY(const std::vector<GpuType> types, allowed_types(flags, file, prices, *purchase));
  if (types.empty()) return fail(bad_input("no GPU that can be cut has a price").with_hint("name one: --gpu h100-sxm"));

  mig::PlanOptions options;
  options.share = flags.share;
  options.prices = &prices;
  RIGHTSIZE_TRY(const perf::Constants constants, open_constants(flags.catalog));
  const perf::SpeedTable speeds(catalog, constants);
  const SlicePlan plan = mig::plan_slices(file, types, speeds, options);
  if (!plan.unplaceable.empty()) return nothing_fits(file, plan);
  const std::vector<mig::Alternative> alternatives =
      mig::compare_alternatives(file, types, speeds, *purchase, plan, options);
  const auto per_node = static_cast<std::size_t>(std::max(1, flags.gpus_per_node));
  const mig::ToolFiles tool_files = mig::hand_over(plan, file, types, per_node);
  const Planned planned{file, types, plan, alternatives, tool_files, per_node};
  if (!flags.out.empty()) {
    if (Result<> written = write_files(flags.out, planned); !written) return fail(written.error());
  }
  return make_outcome(planned, flags.out);
}

// The one named, or with `--current nvml` the first of this machine that is cut.
Result<const Gpu*> gpu_asked_about(const MigFlags& flags, const catalog::Catalog& catalog) {
  if (flags.gpus.size() == 1) return catalog.find_gpu(flags.gpus[0]);
  if (!flags.gpus.empty() || flags.current != "nvml") {
    return fail(bad_input("that needs one GPU").with_hint("--gpu h100-sxm"));
  }
  RIGHTSIZE_TRY(const std::vector<telemetry::MigLayout> layouts, telemetry::read_mig_layout());
  for (const telemetry::MigLayout& layout : layouts) {
    if (!layout.enabled) continue;
    if (const Gpu* gpu = diagnose::identify(catalog, layout.gpu)) return gpu;
    return fail(bad_input(fmt::format("the catalogue does not know '{}'", layout.gpu.name))
                    .with_hint("say which it is: --gpu h100-sxm"));
  }
  return fail(unreadable("no GPU of this machine is in MIG mode").with_hint("nvidia-smi -i 0 -mig 1 turns it on"));
}

Checked<Outcome> run(const MigFlags& flags) {
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  const bool about_one =
      flags.list_layouts || flags.repack || !flags.check.empty() || !flags.current.empty() || !flags.verify.empty();
  if (!about_one) {
    if (flags.workloads.empty()) {
      return fail(
          bad_input("what shall be planned?")
              .with_hint("give a file: rightsize mig WORKLOADS.yaml --gpu h100-sxm")
              .with_hint(
                  "or ask about one GPU: --list-layouts, --check LAYOUT, --current FILE [--repack], --verify FILE"));
    }
    return plan_workloads(flags, catalog);
  }
  RIGHTSIZE_TRY(const Gpu* gpu, gpu_asked_about(flags, catalog));
  const std::optional<Geometry> geometry = Geometry::of(catalog, *gpu);
  if (!geometry) return fail(not_partitionable(*gpu, catalog));
  if (flags.list_layouts) return list_layouts(*geometry);
  if (!flags.verify.empty()) return verify_table(*geometry, flags);
  if (flags.repack) return repack_fleet(*geometry, flags);
  if (!flags.check.empty()) return check_layout(*geometry, flags);
  return show_current(*geometry, flags);
}

}  // namespace

Run add_mig(FlagSet& command) {
  auto flags = std::make_shared<MigFlags>();
  command.add_option("WORKLOADS", flags->workloads,
                     "the workloads to place, a YAML file ('-' for standard input; see examples/mig)");
  command
      .add_option("--gpu", flags->gpus,
                  "GPUs that may be used, comma-separated (default: the file's, else all that can be cut)")
      ->delimiter(',');
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
