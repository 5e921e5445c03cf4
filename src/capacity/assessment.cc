#include "capacity/assessment.h"

#include <algorithm>
#include <cmath>

namespace rightsize::capacity {
namespace {

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }

// To three digits, as reports show it.
Seconds rounded_up(Seconds time) {
  if (!(time > Seconds{})) return time;
  const double unit = std::pow(10, std::floor(std::log10(in_seconds(time))) - 2);
  return seconds(std::ceil(in_seconds(time) / unit - 1e-9) * unit);
}

struct MeasuredStatistic {
  const sim::StatisticValues& values;
  const sim::Intervals& interval;
};
MeasuredStatistic measured(const sim::LatencyProfile& p, Quantity quantity) {
  if (quantity == Quantity::kTtft) return {p.ttft, p.ttft_interval};
  if (quantity == Quantity::kTpot) return {p.tpot, p.tpot_interval};
  return {p.latency, p.interval};
}

}  // namespace

int Configuration::replicas() const {
  int sum = 0;
  for (const ReplicaGroup& group : groups) sum += group.count;
  return sum;
}

Seconds Assessment::value(Quantity quantity, Statistic at) const {
  double worst = sim::value_of(measured(profile, quantity).values, at);
  if (quantity == Quantity::kLatency) return from_ns(worst);
  for (const auto& kind : profile.kinds)
    worst = std::max(worst, sim::value_of(quantity == Quantity::kTtft ? kind.ttft : kind.tpot, at));
  return from_ns(worst);
}

Seconds Assessment::tested(Quantity quantity, Statistic at) const {
  const Seconds upper = confirmed[static_cast<std::size_t>(quantity)];
  return upper > Seconds{} ? upper : value(quantity, at);
}

// The interval of the slowest size in a mix is assumed to be as wide as that of all requests.
Seconds Assessment::low(const Slo& slo) const {
  const auto [values, interval] = measured(profile, slo.quantity);
  return value(slo) - from_ns(sim::value_of(values, slo.at) - sim::value_of(interval.low, slo.at));
}

Seconds Assessment::high(const Slo& slo) const {
  const auto [values, interval] = measured(profile, slo.quantity);
  return value(slo) + from_ns(sim::value_of(interval.high, slo.at) - sim::value_of(values, slo.at));
}

double Assessment::rejected_share() const {
  return profile.requests > 0 ? static_cast<double>(profile.rejected) / static_cast<double>(profile.requests) : 0;
}

Seconds Assessment::moved(const Slo& slo, double widths) const {
  const Seconds off = widths >= 0 ? high(slo) - value(slo) : value(slo) - low(slo);
  return !replay && std::isfinite(in_seconds(off)) ? value(slo) + off * widths : value(slo);
}

double Assessment::excess(const Service& service, double widths) const {
  double worst = 0;
  for (const Slo& slo : service.slos) worst = std::max(worst, moved(slo, widths) / slo.limit);
  return worst;
}

void Assessment::confirm(const Service& service, const Assessment& other) {
  for (const Slo& slo : service.slos) {
    Seconds& upper = confirmed[static_cast<std::size_t>(slo.quantity)];
    upper = std::max({upper, moved(slo, 1), other.moved(slo, 1)});
    upper = std::min(rounded_up(upper), slo.limit);
  }
}

bool Assessment::within_load(const Service& service) const {
  if (profile.prompt_tokens == 0) return true;
  constexpr double kRounding = 1 + 1e-9;
  const double left = 1 - 1.0 * configuration.together / configuration.replicas();
  return load <= kRounding * service.max_load && (!service.one_to_spare || load <= kRounding * kLoadAfterLoss * left);
}

bool Assessment::keeps(const Service& service) const {
  return within_load(service) && rejected_share() <= service.most_rejected && excess(service, 1) <= 1;
}

bool Assessment::is_tight(const Service& service, double share) const {
  return std::all_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return half_width(slo) <= value(slo) * share; });
}

}  // namespace rightsize::capacity
