#include "rightsize/gpus/report.h"

#include "base/format.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using catalog::NumberFormat;
using catalog::Peak;
using report::Align;
using report::Cell;
using report::Json;

template <class Q>
Cell quantity_cell(const std::optional<Q>& value, std::string (*show)(Q), double (*exact)(Q)) {
  return value ? report::number_cell(show(*value), exact(*value)) : report::unknown_cell();
}

// In TFLOP/s; "no" where the hardware lacks the format.
Cell rate_cell(const Peak& peak) {
  if (!peak.supported) return {"no", "0"};
  if (!peak.dense) return report::unknown_cell();
  return report::number_cell(format_number(in_tflop_per_s(*peak.dense), 4), in_flop_per_s(*peak.dense));
}

std::vector<Cell> row_of(const Gpu& gpu) {
  return {report::text_cell(gpu.name),
          report::number_cell(format_bytes(gpu.memory), in_bytes(gpu.memory)),
          report::number_cell(format_bandwidth(gpu.bandwidth), in_bytes_per_s(gpu.bandwidth)),
          rate_cell(gpu.peak(NumberFormat::kFp32)),
          rate_cell(gpu.peak(NumberFormat::kFp16)),
          rate_cell(gpu.peak(NumberFormat::kBf16)),
          rate_cell(gpu.peak(NumberFormat::kFp8)),
          rate_cell(gpu.peak(NumberFormat::kInt8)),
          rate_cell(gpu.peak(NumberFormat::kFp4)),
          gpu.nvlink_kind == "none" ? Cell{"no", "0"} : quantity_cell(gpu.nvlink, format_bandwidth, in_bytes_per_s),
          quantity_cell(gpu.tdp, format_power, in_watts),
          gpu.mig_instances > 0 ? report::number_cell(std::to_string(gpu.mig_instances), gpu.mig_instances)
                                : Cell{"no", "0"}};
}

report::Table table_of(const std::vector<const Gpu*>& gpus) {
  report::Table table;
  table.columns = {{"GPU", "gpu", Align::kLeft},
                   {"memory", "memory_bytes", Align::kRight},
                   {"bandwidth", "bandwidth_bytes_per_second", Align::kRight},
                   {"fp32", "fp32_flops", Align::kRight, 0, true},
                   {"fp16", "fp16_flops", Align::kRight},
                   {"bf16", "bf16_flops", Align::kRight},
                   {"fp8", "fp8_flops", Align::kRight},
                   {"int8", "int8_flops", Align::kRight, 0, true},
                   {"fp4", "fp4_flops", Align::kRight},
                   {"GPU link", "nvlink_bytes_per_second", Align::kRight},
                   {"TDP", "tdp_watts", Align::kRight, 0, true},
                   {"MIG", "mig_instances", Align::kRight}};
  for (const Gpu* gpu : gpus) table.rows.push_back(row_of(*gpu));
  return table;
}

Json mig_json(const Gpu& gpu, const catalog::Catalog& catalog) {
  Json profiles = Json::array();
  for (const catalog::MigProfile& profile : catalog.mig) {
    if (profile.gpu != gpu.name) continue;
    profiles.push_back({{"profile", profile.profile},
                        {"id", profile.id},
                        {"instances", profile.instances},
                        {"memory_bytes", report::json_number(in_bytes(profile.memory))},
                        {"compute_slices", profile.compute_slices},
                        {"memory_slices", profile.memory_slices},
                        {"sms", report::json_number(profile.sms)},
                        {"placements", profile.placements},
                        {"media", profile.media},
                        {"unverified", profile.provenance.unverified}});
  }
  return {{"instances", gpu.mig_instances}, {"profiles", std::move(profiles)}};
}

// The rates of every format the hardware has: null where it has it but the rate is unknown, absent where it has not.
Json flops_json(const Gpu& gpu, std::optional<FlopsPerSecond> Peak::*rate) {
  Json flops = Json::object();
  for (int i = 0; i < catalog::kNumberFormats; ++i) {
    auto format = static_cast<NumberFormat>(i);
    const Peak& peak = gpu.peak(format);
    if (!peak.supported) continue;
    if (rate != &Peak::dense && !(peak.*rate)) continue;
    flops[std::string(catalog::name_of(format))] = report::json_number(peak.*rate, in_flop_per_s);
  }
  return flops;
}

Json json_of(const Gpu& gpu, const catalog::Catalog& catalog) {
  const catalog::Provenance& from = gpu.provenance;
  return {{"name", gpu.name},
          {"vendor", gpu.vendor},
          {"architecture", gpu.architecture},
          {"year", report::json_number(gpu.year)},
          {"memory_bytes", report::json_number(in_bytes(gpu.memory))},
          {"usable_memory_bytes", report::json_number(gpu.usable_memory, in_bytes)},
          {"memory_type", gpu.memory_type},
          {"bandwidth_bytes_per_second", report::json_number(in_bytes_per_s(gpu.bandwidth))},
          {"flops", flops_json(gpu, &Peak::dense)},
          {"sparse_flops", flops_json(gpu, &Peak::sparse)},
          {"measured_flops", flops_json(gpu, &Peak::measured)},
          {"nvlink_bytes_per_second", report::json_number(gpu.nvlink, in_bytes_per_s)},
          {"nvlink_kind", gpu.nvlink_kind},
          {"pcie", gpu.pcie},
          {"tdp_watts", report::json_number(gpu.tdp, in_watts)},
          {"idle_watts", report::json_number(gpu.idle_power, in_watts)},
          {"sms", report::json_number(gpu.sms)},
          {"compute_capability", gpu.compute_capability},
          {"mig", gpu.mig_instances > 0 ? mig_json(gpu, catalog) : Json(nullptr)},
          {"aliases", gpu.aliases},
          {"source", from.sources},
          {"date", from.date ? Json(format_date(*from.date)) : Json(nullptr)},
          {"unverified", from.unverified},
          {"note", from.note},
          {"file", from.file}};
}

}  // namespace

report::Report gpus_report(const std::vector<const Gpu*>& gpus, const catalog::Catalog& catalog) {
  report::Report report;
  report.title = "GPUs";
  report.document = {{"schema", "rightsize/gpus/1"}, {"gpus", Json::array()}};
  for (const Gpu* gpu : gpus) report.document["gpus"].push_back(json_of(*gpu, catalog));
  report.blocks.emplace_back(table_of(gpus));
  report.blocks.emplace_back(
      report::Paragraph{"Rates are dense peaks in TFLOP/s (tensor cores where there are any); 'no': the hardware lacks "
                        "the format; '-': unknown. "
                        "--format json adds sparse and measured rates, MIG profiles, sources and what is unverified."});
  return report;
}

}  // namespace rightsize::app
