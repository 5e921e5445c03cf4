// A plan of slices as a report.
#include "rightsize/mig/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "base/usage_units.h"

namespace rightsize::app {
namespace {

using mig::Geometry;
using mig::GpuType;
using mig::SlicePlan;
using report::Align;
using report::Json;

Json dollars(double value) { return report::json_number(std::round(value * 100) / 100); }
std::string per_month(UsdPerSecond rate) { return format_usd(rate * kMonth); }

std::string replica_name(const mig::WorkloadFile& file, const mig::Replica& replica) {
  const mig::Workload& workload = file.workloads[replica.workload];
  return workload.replicas == 1 ? workload.name : fmt::format("{}/{}", workload.name, replica.number);
}

std::string names_in(const mig::WorkloadFile& file, const mig::PlannedInstance& instance) {
  std::vector<std::string> names;
  for (const mig::Replica& replica : instance.replicas) names.push_back(replica_name(file, replica));
  return fmt::format("{}", fmt::join(names, " + "));
}

report::Table assignment_table(const PlannedSlices& p) {
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

Json json_of(const PlannedSlices& p, std::size_t index) {
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

Json document_of(const PlannedSlices& p) {
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

std::string headline(const PlannedSlices& p) {
  std::map<std::size_t, std::size_t> counts;
  for (const mig::PlannedGpu& gpu : p.plan.gpus) ++counts[gpu.type];
  std::vector<std::string> parts;
  for (const auto& [type, count] : counts) parts.push_back(fmt::format("{} {}", count, p.types[type].gpu->name));
  std::string text = fmt::format("{} workload{} in {} replica{} need {}: {}/month.", p.file.workloads.size(),
                                 p.file.workloads.size() == 1 ? "" : "s", p.file.replicas(),
                                 p.file.replicas() == 1 ? "" : "s", fmt::join(parts, " and "), per_month(p.plan.rate));
  text += p.plan.proved() ? " No plan over these GPUs costs less (proved)."
                          : fmt::format(" None costs less than {} (gap {}).", per_month(p.plan.least_rate),
                                        format_percent(Ratio::fraction(p.plan.gap())));
  if (p.plan.out_of_time) text += " The time ran out before the search ended: another run may find another plan.";
  return text;
}

std::string price_notes(const PlannedSlices& p) {
  std::string text = fmt::format("Prices per GPU-hour, {} h/month:", in_hours(kMonth));
  for (const GpuType& type : p.types) {
    text += fmt::format("\n  {} {}: {}", type.gpu->name, format_usd_per_hour(type.rate), type.price_from);
  }
  return text;
}

}  // namespace

report::Lanes draw_gpus(const PlannedSlices& p, std::size_t type, std::size_t most) {
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

report::Report plan_report(const PlannedSlices& p, const std::string& out) {
  report::Report shown;
  shown.title = "MIG plan";
  shown.document = document_of(p);
  auto& blocks = shown.blocks;
  blocks.emplace_back(report::Paragraph{headline(p)});
  constexpr std::size_t kMostDrawn = 16;
  for (std::size_t t = 0; t < p.types.size(); ++t) {
    if (report::Lanes lanes = draw_gpus(p, t, kMostDrawn); !lanes.lanes.empty()) blocks.emplace_back(std::move(lanes));
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
  return shown;
}

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

}  // namespace rightsize::app
