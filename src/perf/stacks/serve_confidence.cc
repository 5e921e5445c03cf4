#include "perf/stacks/serve_confidence.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {
namespace {

using model::Job;
using model::JobKind;

// The first token depends on the arrivals, which the calibration of steps does not cover. This minimum is our
// judgement.
constexpr double kLeastFirstToken = 0.2;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Term {
  Unmeasured what;
  bool applies;
  double tpot, ttft;
};

}  // namespace

std::string_view name_of(Unmeasured what) {
  static constexpr std::string_view kNames[] = {"gpu", "family", "format", "parallelism", "load"};
  return kNames[static_cast<int>(what)];
}

void fill_confidence(const Constants& constants, const EngineCopy& r, const Job& job, ServeEstimate& estimate) {
  const int slot = slot_of(job.stack);
  if (const Calibration& own = calibration_of(r.gpu, slot, JobKind::kServe); own.known) {
    estimate.basis = Basis::kCalibrated;
    estimate.tpot_interval = interval_of(own.width);
    estimate.ttft_interval = interval_of(std::max(own.width, kLeastFirstToken));
    return;
  }
  const bool mixture = r.work.experts > 0;
  const MeasuredSet& runs = constants.measured_runs[static_cast<std::size_t>(slot)];
  const Confidence gpu = confidence_of(r.gpu, slot, JobKind::kServe, 0);
  const double family = mixture ? r.c.mixture_family_width : r.c.family_width;
  const double load = mixture ? r.c.mixture_load_width : r.c.load_width;
  const Term terms[] = {
      {Unmeasured::kGpu, gpu.basis != Basis::kMeasured, gpu.width, gpu.width},
      {Unmeasured::kFamily, !has(runs.families, r.work.family), family, family},
      {Unmeasured::kFormat, !has(runs.formats, std::string(model::name_of(job.precision))), r.c.format_width,
       r.c.format_width},
      {Unmeasured::kSpread, r.layout.attention > 1 || job.serve.disaggregated.has_value(), r.c.spread_tpot_width,
       r.c.spread_ttft_width},
      {Unmeasured::kLoad, estimate.full || estimate.running / r.layout.attention > r.c.served_batch, load, load}};
  double tpot = std::hypot(mixture ? r.c.mixture_tpot_width : r.c.tpot_width, r.c.campaign_tpot_width);
  double ttft = std::hypot(mixture ? r.c.mixture_ttft_width : r.c.ttft_width, r.c.campaign_ttft_width);
  if (job.serve.speculation.tokens > 0) tpot = std::hypot(tpot, r.c.speculation_width);
  for (const Term& term : terms) {
    if (!term.applies) continue;
    tpot = std::hypot(tpot, term.tpot), ttft = std::hypot(ttft, term.ttft);
    estimate.unmeasured.push_back(term.what);
  }
  estimate.basis = estimate.unmeasured.empty() ? Basis::kMeasured : std::max(gpu.basis, Basis::kTransferred);
  estimate.tpot_interval = interval_of(tpot);
  estimate.ttft_interval = interval_of(ttft);
}

}  // namespace rightsize::perf
