#include "live_service/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "capacity/service.h"
#include "live_service/lengths.h"

namespace rightsize::live_service {
namespace {

constexpr double kEnough = 4'000, kMost = 30'000;  // requests of a trace

// Steps [first, last) of the reading.
struct Stretch {
  std::size_t first = 0, last = 0;
};

double requests_in(const ServiceReading& r, const Stretch& s) {
  return std::accumulate(r.finished.begin() + static_cast<std::ptrdiff_t>(s.first),
                         r.finished.begin() + static_cast<std::ptrdiff_t>(s.last), 0.0);
}

// The stretch of `steps` steps with the most requests that begins at a multiple of `stride`.
Stretch densest(const ServiceReading& r, std::size_t steps, std::size_t stride) {
  Stretch best{0, std::min(steps, r.finished.size())};
  double most = -1;
  for (std::size_t first = 0; first < r.finished.size(); first += stride) {
    const Stretch one{first, std::min(first + steps, r.finished.size())};
    if (const double count = requests_in(r, one); count > most) most = count, best = one;
  }
  return best;
}

std::vector<Stretch> busiest(const ServiceReading& r) {
  const auto hour = std::max<std::size_t>(1, static_cast<std::size_t>(kHour / r.step));
  const auto five = std::max<std::size_t>(1, static_cast<std::size_t>(300 / r.step));
  const Stretch top = densest(r, hour, hour), burst = densest(r, five, 1);
  std::vector<Stretch> found{top};
  if (burst.first < top.first || burst.last > top.last) {
    const std::size_t first = burst.first / hour * hour;
    found.push_back({first, std::min(std::max(first + hour, burst.last), r.finished.size())});
  }
  return found;
}

// Shortens a stretch with too many requests from its less dense end.
void cut(const ServiceReading& r, double traffic, Stretch& s) {
  while (s.last - s.first > 1 && requests_in(r, s) * traffic > kMost) {
    if (r.finished[s.first] < r.finished[s.last - 1])
      ++s.first;
    else
      --s.last;
  }
}

}  // namespace

std::optional<PeakTraffic> peak_traffic(const ServiceReading& r, const Description& d, const WhatIf& what_if,
                                        std::uint64_t seed) {
  if (!d.isl.mean || !d.osl.mean || !(d.peak_hour > 0)) return std::nullopt;
  const capacity::UsualVariation& usual = capacity::usual_variation();
  const RequestLengths isl(r.histogram(Signal::kIsl), *d.isl.mean, usual.prompt);
  const RequestLengths osl(r.histogram(Signal::kOsl), *d.osl.mean, usual.answer);
  std::vector<Stretch> stretches = busiest(r);
  double once = 0;
  for (Stretch& s : stretches) {
    cut(r, what_if.traffic, s);
    once += requests_in(r, s) * what_if.traffic;
  }
  if (!(once >= 1)) return std::nullopt;
  const int times = std::clamp(static_cast<int>(std::ceil(kEnough / once)), 1, 200);
  Random random(seed);
  auto trace = std::make_shared<sim::Trace>();
  trace->file = r.name(), trace->has_tokens = true;
  PeakTraffic peak;
  const double prompt = what_if.isl * (1 - d.prefix_hit.value_or(0));
  double at = 0, carried = 0;
  for (int round = 0; round < times; ++round) {
    for (const Stretch& s : stretches) {
      for (std::size_t i = s.first; i < s.last; ++i, at += r.step) {
        carried += r.finished[i] * what_if.traffic;
        std::vector<double> moments(static_cast<std::size_t>(std::max(0.0, std::floor(carried))));
        carried -= static_cast<double>(moments.size());
        for (double& moment : moments) moment = at + r.step * random.uniform();
        std::sort(moments.begin(), moments.end());
        for (double moment : moments) {
          const double in = std::max(1.0, isl.draw(random) * prompt);
          const double out = std::max(1.0, osl.draw(random) * what_if.osl);
          trace->arrivals.push_back({sim::to_sim_time(seconds(moment)), static_cast<std::int32_t>(std::lround(in)),
                                     static_cast<std::int32_t>(std::lround(out)), 0});
          peak.isl += in, peak.osl += out;
        }
      }
    }
  }
  const auto count = static_cast<double>(trace->arrivals.size());
  if (count < 2) return std::nullopt;
  const sim::SimTime first = trace->arrivals.front().at;
  trace->arrivals.change([first](sim::Arrival& arrival) { arrival.at -= first; });
  peak.isl /= count, peak.osl /= count;
  peak.requests_per_second = count / at;
  peak.lengths_assumed = isl.assumed() || osl.assumed();
  peak.trace = std::move(trace);
  return peak;
}

}  // namespace rightsize::live_service
