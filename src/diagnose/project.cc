#include "diagnose/project.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "catalog/words.h"

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
// not overlap follow one another; for overlapping parts, the longer counts. If arithmetic takes a times and memory b
// times as long on another GPU, the time is max(a c + b (m - o), b m + a (c - o)). A stall (latency, synchronization
// inside kernels) scales with the leading resource. Launch time belongs to the host, except for the share `device`.
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
  double time = 0;  // of the work
};

Pace pace_of(const WatchedWork& work, const Slowdown& slow, double device) {
  const double time = work_time(work.shares, slow, device);
  if (work.paced) {
    constexpr double kKeepsUp = 0.9;  // above this, or above today's load, requests queue
    const double full = std::max(kKeepsUp, 1 - work.shares.wait);
    return {time > full ? full / time : 1, std::min(1.0, time), time};
  }
  const double total = time + work.shares.wait;
  return total > 0 ? Pace{1 / total, time / total, time} : Pace{};
}

// All resources slower or faster together: perf's width for work that uses several of them.
Slowdown scaled(Slowdown slow, double factor) {
  slow.arithmetic *= factor, slow.memory *= factor, slow.launch *= factor, slow.host_link *= factor;
  return slow;
}

}  // namespace

WatchedWork watched_work(const Summary& summary, const Diagnosis& diagnosis) {
  return {diagnosis.shares, format_of(summary), paced_from_outside(diagnosis.verdict)};
}

SpeedElsewhere speed_on(const WatchedWork& work, const Slowdown& slow) {
  // Most of the launch time is the host's and stays the same. The exact share is unknown, so the interval covers 0 to
  // 1.
  constexpr double kDevice = 0.3;
  const Pace likely = pace_of(work, slow, kDevice);
  SpeedElsewhere there{likely.speed, likely.speed, likely.speed, likely.busy, likely.busy, 1, 1, 1, slow.basis};
  const double now = 1 - work.shares.wait;
  double slowest_time = likely.time, fastest_time = likely.time;
  for (const double device : {0.0, 1.0}) {
    const Pace slowest = pace_of(work, scaled(slow, std::exp(slow.width)), device);
    there.low = std::min(there.low, slowest.speed);
    there.busy_high = std::max(there.busy_high, slowest.busy);
    slowest_time = std::max(slowest_time, slowest.time);
    const Pace fastest = pace_of(work, scaled(slow, std::exp(-slow.width)), device);
    there.high = std::max(there.high, fastest.speed);
    fastest_time = std::min(fastest_time, fastest.time);
  }
  if (now > 0 && fastest_time > 0) {
    there.growth = slowest_time / now;
    there.active = now / likely.time, there.active_high = now / fastest_time;
  }
  return there;
}

std::optional<SpeedElsewhere> speed_on(const WatchedWork& work, const SustainedRates& from, const SustainedRates& to) {
  const std::optional<Slowdown> slow = perf::slowdown(from, to, work.format);
  return slow ? std::optional(speed_on(work, *slow)) : std::nullopt;
}

namespace {

// perf's factors for the work and the share of each: from the counters, or from the job's estimates.
std::optional<Projection> projection_on(const ProjectionInput& input, const WatchedWork& work,
                                        const SustainedRates& from, const SustainedRates& to) {
  if (input.known == nullptr) {
    const std::optional<Slowdown> slow = perf::slowdown(from, to, work.format);
    return slow ? std::optional(Projection{to.gpu, speed_on(work, *slow), *slow}) : std::nullopt;
  }
  const KnownJob& known = *input.known;
  const Result<Slowdown> slow = perf::job_slowdown(*known.constants, known.model, known.job, from, to);
  if (!slow) return std::nullopt;
  WatchedWork estimated = work;  // the estimate includes launches, even the host's part
  estimated.shares.stall += std::exchange(estimated.shares.launch, 0);
  return Projection{to.gpu, speed_on(estimated, *slow), *slow};
}

}  // namespace

bool may_replace(const catalog::Gpu& other, const catalog::Gpu& now) {
  const auto is_consumer = [](const catalog::Gpu& gpu) {
    return gpu.name.starts_with("rtx-") && gpu.name.find_first_not_of("0123456789", 4) == std::string::npos;
  };
  // Images for x86 do not run on an Arm host.
  return other.vendor == now.vendor && (!is_consumer(other) || is_consumer(now)) &&
         catalog::is_superchip(other) == catalog::is_superchip(now);
}

std::vector<Projection> project(const ProjectionInput& input, const perf::SpeedTable& speeds) {
  std::vector<Projection> projections;
  const SustainedRates* from = speeds.find(*input.gpu);
  if (from == nullptr) return projections;
  const WatchedWork work = watched_work(*input.summary, *input.diagnosis);
  for (const SustainedRates& to : speeds.all()) {
    if (&to == from) continue;
    if (std::optional<Projection> there = projection_on(input, work, *from, to)) projections.push_back(*there);
  }
  return projections;
}

}  // namespace rightsize::diagnose
