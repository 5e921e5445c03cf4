// The fewest replicas that meet every SLO: bisection over counts, and over the settings of the engine at each count.
#include <algorithm>
#include <cmath>
#include <limits>

#include "capacity/planner.h"
#include "capacity/screen.h"

namespace rightsize::capacity {
namespace {

// Engine limits worth trying, {max_sequences, token_budget}: the defaults, then smaller steps and fewer sequences,
// which shorten TPOT while other requests wait longer.
constexpr std::pair<std::int64_t, std::int64_t> kEngineLimits[] = {{256, 8192}, {256, 2048}, {256, 512},
                                                                   {128, 2048}, {64, 512},   {32, 512}};
// How long a batch waits for more requests, as a share of the tightest limit.
constexpr double kDelays[] = {0, 0.05, 0.2};
// The errors of a first look and of a glance.
constexpr double kFirstLookError = 1.03, kGlanceError = 1.3;
// A glance decides about a percentile only with this many requests beyond it.
constexpr double kEnoughBeyond = 50;
// With this few requests in flight per replica, and several replicas to choose from, requests hardly ever meet.
constexpr double kIdle = 0.3, kSeveral = 8;

// The smallest number in [least, last] for which `enough` holds, assuming that it holds for all larger ones; last + 1
// if there is none. Moves from the guess in growing strides until the answer is bracketed, then bisects.
template <class Enough>
int smallest(int least, int last, int guess, const Enough& enough) {
  int below = least - 1, above = last + 1;
  int at = std::max(least, std::min(guess, last));
  for (int stride = std::max(1, guess / 32); above - below > 1; stride *= 2) {
    (enough(at) ? above : below) = at;
    if (above > last)
      at = std::min(last, at + stride);
    else if (below < least)
      at = std::max(least, at - stride);
    else
      at = below + (above - below) / 2;
  }
  return above;
}

// Only TPOT gains from other engine limits. A value just below its limit was refused for the upper end of its interval.
bool misses_tpot(const Assessment& a, const Service& service) {
  return std::any_of(service.slos.begin(), service.slos.end(), [&](const Slo& slo) {
    return slo.quantity == Quantity::kTpot && (a.value(slo) > slo.limit || a.high(slo) > slo.limit);
  });
}

// Whether a setting that changes a look from `same` to `other` would have met this share of the SLOs' limits where
// `missed` is above it, at the lower ends of its intervals or at its values. Both looks see the same requests, so their
// ratio is far more certain than either value.
bool would_keep(const Assessment& other, const Assessment& same, const Assessment& missed, const Service& service,
                bool lower_ends, double share) {
  return std::all_of(service.slos.begin(), service.slos.end(), [&](const Slo& slo) {
    const bool low = lower_ends && std::isfinite(in_seconds(missed.low(slo)));
    const Seconds seen = low ? missed.low(slo) : missed.value(slo);
    return seen * (other.value(slo) / same.value(slo)) <= slo.limit * share;
  });
}

}  // namespace

// Counts in steps.
struct Planner::Range {
  int step = 1, least = 1, guess = 1, last = 0;
  int together = 1;

  Configuration at(std::size_t replica, int steps) const {
    Configuration c;
    c.groups = {{replica, steps * step}};
    c.together = together;
    return c;
  }
};

Planner::Range Planner::range_of(std::size_t replica, const ReplicaCounts& counts) const {
  Configuration one;
  one.groups = {{replica, 1}};
  one.batching.max_batch = replicas_[replica].continuous ? 1 : replicas_[replica].sizes.back();
  const auto steps_for = [&](double each) {
    const double replicas = std::max<double>(counts.at_least, std::ceil(mean_rate() / each - 1e-9));
    return static_cast<int>(std::min(std::ceil(std::max(1.0, replicas) / counts.step), 1e9));
  };
  Range range{.step = counts.step, .together = counts.together};
  if (!(screened_[replica] > 0)) return range;
  range.least = steps_for(capacity(one)), range.last = std::min(counts.most, idle_from(replica)) / counts.step;
  range.last = std::max(range.last, std::min(counts.most / counts.step, range.least));
  range.guess = std::min(std::max(range.least, steps_for(screened_[replica])), range.last);
  return range;
}

int Planner::idle_from(std::size_t replica) const {
  if (sim::trace_of(service_.arrivals) != nullptr) return std::numeric_limits<int>::max();  // a trace may have bursts
  const double peak = in_requests_per_s(sim::peak_rate(service_.arrivals).value_or(RequestsPerSecond{}));
  const double present = peak * in_seconds(screened_latency(service_, replicas_[replica], 0));
  return static_cast<int>(std::min(std::max(kSeveral, std::ceil(present / kIdle)), 1e9));
}

// Token engines: the limits above. Batches: every size with this delay, the fastest at a glance first; those that are
// far too slow are left out.
std::vector<Configuration> Planner::settings(const Configuration& replicas, double delay) const {
  std::vector<Configuration> all;
  Configuration c = replicas;
  const std::size_t replica = c.groups.front().replica;
  if (replicas_[replica].continuous) {
    for (const auto& [sequences, budget] : kEngineLimits) {
      c.engine.max_sequences = sequences, c.engine.token_budget = budget;
      if (delay == 0) all.push_back(c);
    }
    return all;
  }
  Seconds tightest, tail;
  for (const Slo& slo : service_.slos) {
    tightest = tightest > Seconds{} ? std::min(tightest, slo.limit) : slo.limit;
    if (slo.at >= Statistic::kP90) tail = tail > Seconds{} ? std::min(tail, slo.limit) : slo.limit;
  }
  c.batching.max_delay = sim::to_sim_time(tightest * delay);
  if (delay > 0 && c.batching.max_delay == 0) return all;
  std::vector<std::pair<double, Configuration>> glanced;
  for (auto size = replicas_[replica].sizes.rbegin(); size != replicas_[replica].sizes.rend(); ++size) {
    c.batching.max_batch = *size;
    // Every request of a batch that takes longer than the limit misses it. Half of the requests may.
    const Seconds full = seconds(replicas_[replica].times.mean(*size) * 1e-9);
    if ((delay > 0 && *size == 1) || (tail > Seconds{} && full > tail) || bound(c) > 1) continue;
    const auto glance = look(c, kAtAGlance, seed_);
    if (glance && glance->excess(service_) <= kGlanceError) glanced.emplace_back(glance->excess(service_), c);
    // A limit that no batch reaches changes nothing: continue with the largest batch that was seen.
    if (glance && delay == 0)
      while (size + 1 != replicas_[replica].sizes.rend() && *(size + 1) > glance->profile.largest_batch) ++size;
  }
  // Among settings of about the same speed, take the smallest batch: after a burst, large batches delay all requests
  // behind them.
  constexpr double kAsFast = 1.1;
  double least = kInfinite;
  for (const auto& [excess, setting] : glanced) least = std::min(least, excess * kAsFast);
  std::reverse(glanced.begin(), glanced.end());
  std::stable_sort(glanced.begin(), glanced.end(),
                   [&](const auto& a, const auto& b) { return std::max(a.first, least) < std::max(b.first, least); });
  for (auto& [excess, setting] : glanced) all.push_back(std::move(setting));
  return all;
}

// Whether a setting may meet this share of the SLOs' limits where another one is above it, by looks at both up to the
// first.
bool Planner::may_improve(const Configuration& c, const Assessment& missed, bool lower_ends, double share) const {
  constexpr double kErrors[] = {1.1, 1.07, 1.05, kFirstLookError};
  for (std::size_t number = kAtAGlance; number <= kFirst; ++number) {
    const auto other = look(c, number, seed_), same = look(missed.configuration, number, seed_);
    if (!other || !same || !would_keep(*other, *same, missed, service_, lower_ends, share * kErrors[number]))
      return false;
  }
  return true;
}

// Whether some setting may still meet the SLOs after short runs.
bool Planner::may_keep(const Configuration& replicas) const {
  double rarest = 1;
  for (const Slo& slo : service_.slos) rarest = std::min(rarest, share_beyond(slo.at));
  std::optional<Assessment> missed;
  for (double delay : kDelays) {
    for (const Configuration& c : settings(replicas, delay)) {
      if (bound(c) > 1) continue;
      if (missed && may_improve(c, *missed, true, 1)) return true;
      if (missed) continue;
      // The run goes on until it is clear. A count that passes too easily is simulated for longer anyway.
      for (std::size_t number = kAtAGlance; number <= kFirst; ++number) {
        missed = look(c, number, seed_);
        if (!missed) break;
        const double requests = static_cast<double>(missed->profile.requests);
        if (requests * rarest < kEnoughBeyond) continue;
        const double error = 1 + (kGlanceError - 1) * std::sqrt(std::min(1.0, kEnoughBeyond / (requests * rarest)));
        if (missed->within_load(service_) && missed->excess(service_, 1) <= 1 / error) return true;
        if (missed->excess(service_) > error * kFirstLookError) break;
      }
      if (!missed) continue;
      if (!missed->within_load(service_)) return false;
      if (missed->excess(service_, -1) <= kFirstLookError) return true;
      if (continuous(c) && !misses_tpot(*missed, service_)) return false;
    }
  }
  return false;
}

std::optional<Assessment> Planner::kept_with(const Configuration& replicas) const {
  std::optional<Assessment> missed;
  for (double delay : kDelays) {
    for (const Configuration& c : settings(replicas, delay)) {
      if (bound(c) > 1 || (missed && !may_improve(c, *missed, false, 1))) continue;
      const Decision decision = decide(c);
      if (decision.kept || !decision.last) return decision.last;
      if (!missed) missed = decision.last;
      if (continuous(c) && !misses_tpot(*decision.last, service_)) return std::nullopt;
    }
  }
  return std::nullopt;
}

// An easier question, which more settings meet, must not get an answer with less room, so all are compared.
Assessment Planner::with_most_room(Assessment kept) const {
  constexpr double kAmple = 0.6, kClearly = 0.97;
  if (sim::trace_of(service_.arrivals) != nullptr) return kept;
  // Of the limits on latency and load.
  const auto used_by = [&](const Assessment& a) { return std::max(a.excess(service_, 1), a.load / service_.max_load); };
  for (const Configuration& c : settings(kept.configuration, 0)) {
    const double used = used_by(kept), most = used * kClearly;
    if (used <= kAmple) break;
    const Configuration& now = kept.configuration;
    const bool same = c.engine == now.engine && c.batching == now.batching;
    const bool loaded = mean_rate() > most * service_.max_load * capacity(c);
    if (same || loaded || bound(c) > 1 || !may_improve(c, kept, false, most)) continue;
    Decision other = decide(c);
    if (other.kept && used_by(*other.last) < most) kept = *std::move(other.last);
  }
  return kept;
}

int Planner::first_candidate(std::size_t replica, const Range& range) const {
  const auto enough = [&](int n) { return may_keep(range.at(replica, n)); };
  // If a single request is already close to a limit, possibly no number is enough.
  constexpr double kClose = 0.8;
  if (range.last > range.guess && bound(range.at(replica, range.last)) > kClose && !enough(range.last))
    return range.last + 1;
  return smallest(range.least, range.last, range.guess, enough);
}

int Planner::at_least(std::size_t replica, const ReplicaCounts& counts) const {
  const Range range = range_of(replica, counts);
  if (range.least > range.last) return range.guess * range.step;
  return std::min(first_candidate(replica, range), range.last) * range.step;
}

std::optional<Assessment> Planner::fewest(std::size_t replica, const ReplicaCounts& counts) const {
  const Range range = range_of(replica, counts);
  const int from = range.least > range.last ? range.last + 1 : first_candidate(replica, range);
  std::optional<Assessment> found;
  smallest(from, range.last, from, [&](int n) {
    std::optional<Assessment> kept = kept_with(range.at(replica, n));
    if (kept && !keeps_all_day(kept->configuration)) kept.reset();
    if (kept) found = kept;
    return kept.has_value();
  });
  return found ? with_most_room(*std::move(found)) : found;
}

}  // namespace rightsize::capacity
