#include "perf/constants/measured_runs.h"

#include <algorithm>

namespace rightsize::perf {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::pair<std::string_view, bool>> MeasuredRuns::named() const {
  return {{"gpu", gpu}, {"vendor", vendor}, {"stack", stack}, {"format", format}, {"family", family}, {"size", size}};
}

MeasuredRuns measured_runs(const Constants& constants, const ModelWork& work, const model::Job& job,
                           const catalog::Gpu& gpu) {
  const int profile = work.image ? kVisionSlot : slot_of(job.stack);
  const MeasuredSet& runs = constants.measured_runs[static_cast<std::size_t>(profile)];
  MeasuredRuns found;
  found.stack = !runs.gpus.empty();
  found.gpu = has(runs.gpus, gpu.name);
  found.vendor = has(runs.vendors, gpu.vendor);
  found.format = has(runs.formats, model::name_of(job.precision));
  found.family = has(runs.families, work.family);
  found.size = work.parameters >= runs.smallest / 2 && work.parameters <= runs.largest * 2;
  return found;
}

}  // namespace rightsize::perf
