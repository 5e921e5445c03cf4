#include "diagnose/project.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rightsize::diagnose {
namespace {

using catalog::NumberFormat;
using perf::Slowdown;
using perf::SustainedRates;

// The number format the pipes worked in, according to the counters.
NumberFormat format_of(const Summary& summary) {
  const double tensor = summary.mean(Metric::kTensorActive).value_or(0);
  if (summary.mean(Metric::kImmaActive).value_or(0) > tensor / 2 && tensor > 0.05) return NumberFormat::kInt8;
  if (summary.mean(Metric::kFp32Active).value_or(0) > 2 * tensor && tensor < 0.05) return NumberFormat::kFp32;
  if (summary.mean(Metric::kFp64Active).value_or(0) > 2 * tensor) return NumberFormat::kFp64;
  return NumberFormat::kBf16;
}

bool paced_from_outside(Verdict verdict) {
  return verdict == Verdict::kUnderused || verdict == Verdict::kBursty || verdict == Verdict::kIdle ||
         verdict == Verdict::kIdleHeld;
}

// The time of the GPU's work on another GPU, in units of the observed time.
//
// Counters show how long arithmetic and memory would take alone (c, m) and for how long they overlap (o). Parts that do
// not overlap follow one another; of overlapping parts the longer counts. On another GPU, where arithmetic takes a
// times and memory b times as long, the time is max(a c + b (m - o), b m + a (c - o)). A stall (latency,
// synchronization inside kernels) scales with the leading resource. Starting kernels is the host's time, except for the
// share `device`.
double work_time(const TimeShares& shares, const Slowdown& slow, double device) {
  const bool arithmetic_leads = shares.compute > shares.memory;
  const double c = shares.compute + (arithmetic_leads ? 0 : shares.overlap);
  const double m = shares.memory + (arithmetic_leads ? shares.overlap : 0);
  const double a = slow.arithmetic, b = slow.memory, o = shares.overlap;
  const double leading = arithmetic_leads ? a : b;
  return std::max(a * c + b * (m - o), b * m + a * (c - o)) + shares.stall * leading +
         shares.launch * (1 + device * (slow.launch - 1)) + shares.transfer * slow.host_link;
}

struct Pace {
  double speed = 1, busy = 0;
};

Pace pace_of(const WatchedWork& work, const Slowdown& slow, double device) {
  const double time = work_time(work.shares, slow, device);
  if (work.paced) {
    constexpr double kKeepsUp = 0.9;  // above this, or above today's load, requests queue
    const double full = std::max(kKeepsUp, 1 - work.shares.wait);
    return {time > full ? full / time : 1, std::min(1.0, time)};
  }
  const double total = time + work.shares.wait;
  return total > 0 ? Pace{1 / total, time / total} : Pace{};
}

// All resources slower or faster at once: perf's width applied to work that uses several of them.
Slowdown scaled(Slowdown slow, double factor) {
  slow.arithmetic *= factor, slow.memory *= factor, slow.launch *= factor, slow.host_link *= factor;
  return slow;
}

std::optional<double> cost_of(double speed, const std::optional<market::GpuQuote>& there,
                              const std::optional<market::GpuQuote>& here) {
  if (!there || !here || speed <= 0) return std::nullopt;
  return there->rate / here->rate / speed;
}

std::optional<market::GpuQuote> price_of(const market::PriceBook* prices, const catalog::Gpu& gpu) {
  return prices != nullptr ? prices->gpu(gpu, catalog::Purchase::kOnDemand) : std::nullopt;
}

void cheapest_first(std::vector<Projection>& projections) {
  std::stable_sort(projections.begin(), projections.end(), [](const Projection& a, const Projection& b) {
    auto rank = [](const Projection& p) {
      return (p.fits ? 0 : 8) + (p.replaces ? 0 : 4) + (p.keeps_up ? 0 : 2) + (p.cost ? 0 : 1);
    };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.cost.value_or(0) < b.cost.value_or(0);
  });
}

}  // namespace

WatchedWork watched_work(const Summary& summary, const Diagnosis& diagnosis) {
  return {diagnosis.shares, format_of(summary), paced_from_outside(diagnosis.verdict)};
}

SpeedElsewhere speed_on(const WatchedWork& work, const Slowdown& slow) {
  // Most of the launch time is the host's and stays the same. The exact share is unknown, so the interval covers 0
  // to 1.
  constexpr double kDevice = 0.3;
  const Pace likely = pace_of(work, slow, kDevice);
  SpeedElsewhere there{likely.speed, likely.speed, likely.speed, likely.busy, likely.busy, slow.basis};
  for (const double device : {0.0, 1.0}) {
    const Pace slowest = pace_of(work, scaled(slow, std::exp(slow.width)), device);
    there.low = std::min(there.low, slowest.speed);
    there.busy_high = std::max(there.busy_high, slowest.busy);
    there.high = std::max(there.high, pace_of(work, scaled(slow, std::exp(-slow.width)), device).speed);
  }
  return there;
}

std::optional<SpeedElsewhere> speed_on(const WatchedWork& work, const SustainedRates& from, const SustainedRates& to) {
  const std::optional<Slowdown> slow = perf::slowdown(from, to, work.format);
  return slow ? std::optional(speed_on(work, *slow)) : std::nullopt;
}

namespace {

// The recorded peaks grow by the same factor as the busy time.
void set_load(Projection& there, const Summary& summary, double busy_now) {
  if (busy_now <= 0) return;
  for (const Metric metric : {Metric::kSmActive, Metric::kGraphicsActive, Metric::kGpuUtil}) {
    const auto& seen = summary.of(metric);
    if (!seen) continue;
    const double growth = there.speed.busy_high / busy_now;
    there.load_p95 = seen->p95 * growth;
    there.load_peak = seen->max * growth;
    // A request takes its length over one minus the load (fleet/running.h).
    const auto is_slow = [&](double now, double load) {
      return load >= 1 || growth * (1 - std::min(now, 0.99)) / (1 - load) > Projection::kMostSlowdown;
    };
    there.keeps_up = there.speed.busy_high < 1 && *there.load_p95 <= Projection::kFull &&
                     !is_slow(seen->p95, *there.load_p95) && !is_slow(seen->max, *there.load_peak);
    return;
  }
}

std::optional<SpeedElsewhere> speed_of(const ProjectionInput& input, const WatchedWork& work,
                                       const SustainedRates& from, const SustainedRates& to) {
  if (input.known == nullptr) return speed_on(work, from, to);
  const KnownJob& known = *input.known;
  const Result<Slowdown> slow = perf::job_slowdown(*known.constants, known.model, known.job, from, to);
  if (!slow) return std::nullopt;
  WatchedWork estimated = work;  // the estimate includes launches, also the host's part
  estimated.shares.stall += std::exchange(estimated.shares.launch, 0);
  return speed_on(estimated, *slow);
}

}  // namespace

bool may_replace(const catalog::Gpu& other, const catalog::Gpu& now) {
  const auto is_consumer = [](const catalog::Gpu& gpu) {
    return gpu.name.starts_with("rtx-") && gpu.name.find_first_not_of("0123456789", 4) == std::string::npos;
  };
  return other.vendor == now.vendor && (!is_consumer(other) || is_consumer(now));
}

std::vector<Projection> project(const ProjectionInput& input, const perf::SpeedTable& speeds,
                                const market::PriceBook* prices) {
  std::vector<Projection> projections;
  const SustainedRates* from = speeds.find(*input.gpu);
  if (from == nullptr) return projections;
  const auto here = price_of(prices, *input.gpu);
  const auto& held = input.summary->of(Metric::kMemoryUsed);
  const WatchedWork work = watched_work(*input.summary, *input.diagnosis);
  for (const SustainedRates& to : speeds.all()) {
    if (&to == from) continue;
    const std::optional<SpeedElsewhere> speed = speed_of(input, work, *from, to);
    if (!speed) continue;
    Projection projection;
    projection.gpu = to.gpu;
    projection.speed = *speed;
    projection.price = price_of(prices, *to.gpu);
    projection.replaces = may_replace(*to.gpu, *input.gpu);
    if (work.paced) set_load(projection, *input.summary, 1 - work.shares.wait);
    constexpr double kUsable = 0.97;  // of the memory; the driver and fragmentation take the rest
    projection.fits = !held || bytes(held->max) <= to.gpu->capacity() * kUsable;
    projection.cost = cost_of(speed->likely, projection.price, here);
    projections.push_back(std::move(projection));
  }
  cheapest_first(projections);
  return projections;
}

}  // namespace rightsize::diagnose
