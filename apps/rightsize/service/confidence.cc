// What would raise the confidence in a service's plans.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

using live_service::SizedPlan;

void add_window(const SizedService& one, std::vector<ConfidenceStep>& steps) {
  constexpr double kWeek = 7 * 86400.0;
  const double seen = one.reading.seconds();
  if (seen > 0.98 * kWeek) return;
  steps.push_back({"window", fmt::format("read a whole week; {} may miss the busiest hour",
                                         format_duration(seconds(std::round(seen / 60) * 60)))});
}

// A percentile above the last bucket is as unknown as an unpublished one.
bool open_ended(const live_service::Percentiles& spread) { return !spread.p95 || std::isinf(spread.p95->high); }

void add_histograms(const live_service::Description& d, std::vector<ConfidenceStep>& steps) {
  std::vector<std::string_view> missing;
  if (open_ended(d.isl)) missing.emplace_back("prompt lengths");
  if (open_ended(d.osl)) missing.emplace_back("output lengths");
  if (open_ended(d.ttft)) missing.emplace_back("TTFT");
  if (open_ended(d.tpot)) missing.emplace_back("TPOT");
  if (missing.empty()) return;
  steps.push_back({"histograms", fmt::format("let the engine publish histograms that cover the p95 of {}",
                                             fmt::join(missing, ", "))});
}

void add_buckets(const live_service::Description& d, std::vector<ConfidenceStep>& steps) {
  for (const live_service::SloVerdict& v : d.slos) {
    if (!v.kept || v.sure) continue;
    steps.push_back(
        {"buckets",
         fmt::format("add a histogram bucket at {}; the limit of {} is inside one, so '{}' is a guess",
                     format_duration(v.slo.limit), capacity::describe(v.slo), *v.kept ? "met" : "violated")});
  }
}

// Whether the plan misses a limit at the slow end of its predicted speed.
bool missed_when_slow(const SizedPlan& plan, const live_service::Description& d) {
  return std::any_of(d.slos.begin(), d.slos.end(), [&](const live_service::SloVerdict& v) {
    const bool first = v.slo.quantity == capacity::Quantity::kTtft;
    if (!first && v.slo.quantity != capacity::Quantity::kTpot) return false;
    return (first ? plan.ttft : plan.tpot) * plan.speed.high > v.slo.limit;
  });
}

void add_speed(const SizedService& one, std::vector<ConfidenceStep>& steps) {
  const SizedPlan* best = best_plan(one);
  if (best == nullptr) return;
  const bool elsewhere = best->gpu != one.description.gpu;
  if (!elsewhere && one.learned) return;
  const std::string spread =
      fmt::format("its predicted times may be off by a factor of {:.2f} to {:.2f}", best->speed.low, best->speed.high);
  steps.push_back(
      {"speed", fmt::format("run one replica on {} for an hour and read its metrics: {}{}", best->gpu->name, spread,
                            missed_when_slow(*best, one.description) ? ", and at the slow end it misses an SLO" : "")});
}

void add_price(const live_service::Description& d, std::vector<ConfidenceStep>& steps) {
  if (d.price && d.price->is_own()) return;
  steps.push_back({"price", d.price ? "pass what you pay with --price; today's cost is a list price"
                                    : "pass what you pay with --price; today's cost is unknown"});
}

}  // namespace

std::vector<ConfidenceStep> confidence_steps(const SizedService& one) {
  std::vector<ConfidenceStep> steps;
  if (!one.sized) return steps;
  add_speed(one, steps);
  add_window(one, steps);
  add_buckets(one.description, steps);
  add_histograms(one.description, steps);
  add_price(one.description, steps);
  return steps;
}

}  // namespace rightsize::app
