#include "live_service/reading.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rightsize::live_service {
namespace {

template <class Map>
const typename Map::mapped_type* found(const Map& map, Signal signal) {
  const auto at = map.find(signal);
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace

const Histogram* ServiceReading::histogram(Signal signal) const {
  const Histogram* one = found(histograms, signal);
  return one != nullptr && !one->empty() ? one : nullptr;
}

std::optional<double> ServiceReading::counter(Signal signal) const {
  const double* value = found(counters, signal);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

const GaugeUse* ServiceReading::gauge(Signal signal) const { return found(gauges, signal); }

GaugeUse gauge_use(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  return {std::accumulate(values.begin(), values.end(), 0.0) / count, values[static_cast<std::size_t>(0.95 * count)],
          values.back()};
}

void spread_increase(const std::vector<CounterPoint>& points, double from, double step, std::vector<double>& into) {
  const double until = from + step * static_cast<double>(into.size());
  for (std::size_t i = 1; i < points.size(); ++i) {
    const CounterPoint &a = points[i - 1], &b = points[i];
    const double grown = b.value >= a.value ? b.value - a.value : b.value;
    if (!(grown > 0) || !(b.time > a.time)) continue;
    const double each = grown / (b.time - a.time);
    for (double at = std::max(a.time, from); at < std::min(b.time, until);) {
      const auto cell = std::min(static_cast<std::size_t>((at - from) / step + 1e-9), into.size() - 1);
      const double end = std::min({from + step * static_cast<double>(cell + 1), b.time, until});
      into[cell] += each * (end - at);
      if (!(end > at)) break;
      at = end;
    }
  }
}

}  // namespace rightsize::live_service
