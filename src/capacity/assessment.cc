#include "capacity/assessment.h"

#include <algorithm>
#include <cmath>

namespace rightsize::capacity {
namespace {

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }
double finite_or(double value, double otherwise) { return std::isfinite(value) ? value : otherwise; }

const sim::StatisticValues& values_of(const Assessment& a, Quantity quantity) {
  return quantity == Quantity::kTtft ? a.ttft : quantity == Quantity::kTpot ? a.tpot : a.profile.latency;
}

const sim::Intervals& interval_of(const Assessment& a, Quantity quantity) {
  return quantity == Quantity::kTtft   ? a.ttft_interval
         : quantity == Quantity::kTpot ? a.tpot_interval
                                       : a.profile.interval;
}

}  // namespace

int Configuration::replicas() const {
  int sum = 0;
  for (const Group& group : groups) sum += group.count;
  return sum;
}

Seconds Assessment::value(Quantity quantity, Statistic at) const {
  double worst = sim::value_of(values_of(*this, quantity), at);
  if (quantity == Quantity::kLatency) return from_ns(worst);
  for (const auto& kind : kinds)
    worst = std::max(worst, sim::value_of(quantity == Quantity::kTtft ? kind.ttft : kind.tpot, at));
  return from_ns(worst);
}

// Of the sizes of a mix one waits longest; its interval is taken as wide as that of all.
Seconds Assessment::low(const Slo& slo) const {
  const double below = sim::value_of(values_of(*this, slo.quantity), slo.at) -
                       sim::value_of(interval_of(*this, slo.quantity).low, slo.at);
  return value(slo) - from_ns(below);
}

Seconds Assessment::high(const Slo& slo) const {
  const double above = sim::value_of(interval_of(*this, slo.quantity).high, slo.at) -
                       sim::value_of(values_of(*this, slo.quantity), slo.at);
  return value(slo) + from_ns(above);
}

double Assessment::rejected_share() const {
  return profile.requests > 0 ? static_cast<double>(profile.rejected) / static_cast<double>(profile.requests) : 0;
}

double Assessment::excess(const Service& service) const {
  double worst = 0;
  for (const Slo& slo : service.slos) worst = std::max(worst, value(slo) / slo.limit);
  return worst;
}

double Assessment::least_excess(const Service& service) const {
  double worst = 0;
  for (const Slo& slo : service.slos)
    worst = std::max(worst, finite_or(in_seconds(low(slo)), in_seconds(value(slo))) / in_seconds(slo.limit));
  return worst;
}

double Assessment::most_excess(const Service& service) const {
  double worst = 0;
  for (const Slo& slo : service.slos)
    worst = std::max(worst, finite_or(in_seconds(high(slo)), in_seconds(value(slo))) / in_seconds(slo.limit));
  return worst;
}

bool Assessment::keeps(const Service& service) const {
  if (rejected_share() > service.most_rejected) return false;
  return most_excess(service) <= 1;
}

bool is_tight(const Assessment& a, const Service& service, double share) {
  return std::all_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return a.half_width(slo) <= a.value(slo) * share; });
}

// Clear is what lies well outside the 95 % interval, which a run of waits that are alike sees too narrow, or further
// from the limit than even a short run is off. To call kept what is broken is worse than a replica too many.
Verdict verdict(const Assessment& a, const Service& service) {
  constexpr double kWellBelow = 0.7, kWellAbove = 1.2, kSureBelow = 4, kSureAbove = 2.5;
  constexpr double kClearlyRejected = 3;
  if (a.rejected_share() > kClearlyRejected * service.most_rejected) return Verdict::kBroken;
  bool all_kept = true;
  for (const Slo& slo : service.slos) {
    const double share = a.value(slo) / slo.limit;
    const double low = a.low(slo) / slo.limit, high = a.high(slo) / slo.limit;  // NaN: too short
    if ((share > kWellAbove && !(low <= 1)) || share - kSureAbove * (share - low) > 1) return Verdict::kBroken;
    all_kept = all_kept && ((share <= kWellBelow && !(high > 1)) || share + kSureBelow * (high - share) <= 1);
  }
  return all_kept ? Verdict::kKept : Verdict::kOpen;
}

}  // namespace rightsize::capacity
