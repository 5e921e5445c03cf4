// Alternatives for the work of a GPU: every other GPU with its speed, load, latency and price. 'profile', 'fleet' and,
// through the document of 'profile', 'recommend --profile' all use these alternatives, so one recording has one answer.
#pragma once

#include <optional>
#include <vector>

#include "diagnose/project.h"
#include "fleet/fleet.h"
#include "fleet/running.h"

namespace rightsize::fleet {

struct Alternative {
  const catalog::Gpu* gpu = nullptr;
  diagnose::SpeedElsewhere speed = {};
  perf::Slowdown slow = {};               // by resource
  bool fits = true;                       // the memory in use
  bool replaces = true;                   // diagnose::may_replace()
  bool keeps_up = true;                   // the load and the latency there are within the limits
  bool only_slow = false;                 // it fails to keep up only because latency grows too much
  bool full_speed = false;                // the work takes all that a GPU gives: it has a speed there, but no load
  Forecast forecast = {};                 // of the load there
  std::optional<Replacement> offer = {};  // not set: no price
  std::optional<double> cost = {};        // of the same work, relative to today
  std::optional<double> saved = {};       // share of today's cost, if the work goes on at today's pace

  bool is_possible() const { return fits && replaces && keeps_up; }
};

struct AlternativeInput {
  const perf::SpeedTable& speeds;
  const Thresholds& thresholds;
  const std::vector<KindOffers>& offers;         // DevicePrices::offers_instead_of(gpu.price)
  const diagnose::KnownJob* known = nullptr;     // the job, if the user describes it
  double memory_factor = 1, traffic_factor = 1;  // of the work after quantization
};

// Properties of a GPU's work that its alternatives depend on.
bool has_room(const GpuRow& gpu);  // it works, but does not fill its GPU, so it may share one or use a smaller one
bool is_idle(const GpuRow& gpu);
// Requests arrive at their own pace: a slower GPU does the same work with higher latency.
bool is_paced(const GpuRow& gpu);
// The statistics that diagnose needs.
diagnose::Summary summary_of(const GpuUse& use);

// The work on another GPU, relative to today.
struct RelativeLoad {
  double growth = 1;   // of the active time
  double traffic = 1;  // of the share of bandwidth
  double latency = 1;  // of a request when alone
};
// Latency that more than triples makes it a different service, which no one would accept for a lower price, unless the
// user allows it (`most_slowdown`).
inline constexpr double kDifferentService = 3;
bool is_different_service(const Forecast& forecast, double most_slowdown = 0);
// Whether requests would become much slower, or the GPU too small more often than allowed at the upper bound.
bool is_too_slow(const Forecast& forecast, const Thresholds& thresholds);
Forecast forecast_on(const RelativeLoad& place, const GpuRow& gpu, const Running& running);

// Empty for MIG instances (their counters are relative to the instance) and for GPUs with unknown activity. Cheapest
// for the same work first; GPUs that are impossible or have no price come last.
std::vector<Alternative> alternatives(const GpuRow& gpu, const Running& running, const AlternativeInput& input);

// The alternative with the largest saving that is worth a move: at least 5 % of the cost. Work that fills its GPU may
// lose at most 5 % of its speed, and changes provider only for 25 %. If all alternatives slow down requests too much,
// returns the fastest of them with `only_slow` set. Empty for an idle GPU, which should be stopped instead.
std::optional<Alternative> best_alternative(const GpuRow& gpu, const Running& running, const AlternativeInput& input);

}  // namespace rightsize::fleet
