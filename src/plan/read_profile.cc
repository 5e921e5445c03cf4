#include <fmt/format.h>

#include "base/format.h"
#include "base/located_json.h"
#include "plan/read_parts.h"

namespace rightsize::plan {
namespace {

constexpr double kMostTimes = 1e6;  // a larger speed ratio is a mistake

void read_projections(const LocatedJson& document, const JsonObject& gpu, Errors& errors, Work& work) {
  const JsonMember* list = gpu.find("projections");
  if (list == nullptr || list->value.type != JsonType::kArray) return;
  for (const JsonValue& item : list->value.items) {
    const JsonObject row(document, item, errors);
    MeasuredRate rate;
    rate.gpu = row.get_string("gpu").value_or("");
    rate.units_per_second = row.get_number("speed", 1 / kMostTimes, kMostTimes).value_or(1);
    rate.interval.low =
        row.get_number("low", 1 / kMostTimes, kMostTimes).value_or(rate.units_per_second) / rate.units_per_second;
    rate.interval.high =
        row.get_number("high", 1 / kMostTimes, kMostTimes).value_or(rate.units_per_second) / rate.units_per_second;
    rate.fits = row.get_bool("fits").value_or(true);
    const bool suits = row.get_bool("replaces").value_or(true) && row.get_bool("keeps_up").value_or(true);
    if (suits && !rate.gpu.empty()) work.measured.push_back(std::move(rate));
  }
}

}  // namespace

Checked<Work> read_profile(const std::string& file, std::string text, double gpu_hours, PlanLimits& limits) {
  RIGHTSIZE_TRY(LocatedJson document, LocatedJson::parse(file, std::move(text)));
  Errors errors;
  const JsonObject root(document, document.root(), errors);
  if (errors.empty() && root.get_string("schema").value_or("") != "rightsize/profile/1")
    root.fail_at("schema", "not a profile", "write one with 'rightsize profile --format json -- COMMAND'");
  const JsonMember* gpus = root.find("gpus");
  if (errors.empty() && (gpus == nullptr || gpus->value.type != JsonType::kArray || gpus->value.items.empty()))
    root.fail_at("gpus", "the profile has no GPU");
  if (!errors.empty()) return fail(std::move(errors));

  const JsonObject gpu(document, gpus->value.items.front(), errors);
  Work work;
  work.kind = WorkKind::kOffline;
  work.amount = gpu_hours * 3600;
  work.profiled_gpu = gpu.get_string("gpu").value_or("");
  // Work that arrives at its own pace does not finish earlier on several GPUs.
  if (gpu.get_bool("paced").value_or(false) && !limits.gpus) limits.gpus = 1;
  if (errors.empty() && work.profiled_gpu.empty())
    gpu.fail_at("gpu", "the profile does not name the GPU", "profile again with --gpu NAME");
  if (gpu.get_string("verdict").value_or("").starts_with("idle"))
    gpu.fail_at("verdict", "the profiled GPU did no work", "stop or release it, or profile it while it works");
  work.measured.push_back({work.profiled_gpu, 1});
  read_projections(document, gpu, errors, work);
  work.measured_how =
      fmt::format("a profile of {} on {}: {}", format_duration(seconds(gpu.get_number("seconds", 0, 1e12).value_or(0))),
                  work.profiled_gpu, gpu.get_string("verdict").value_or("no verdict"));
  if (!errors.empty()) return fail(std::move(errors));
  return work;
}

}  // namespace rightsize::plan
