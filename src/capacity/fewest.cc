// The fewest replicas that keep every SLO: brackets by short looks, then confirmed counts.
#include <algorithm>
#include <cmath>

#include "capacity/planner.h"

namespace rightsize::capacity {

std::optional<Assessment> Planner::kept_by(std::size_t index, int count) const {
  Findings::Key key = service_key_;
  key.push_back(count);
  append_replica(replicas_[index], key);
  std::optional<Assessment> found = findings_->of(
      key, [&] { return replicas_[index].continuous ? kept_by_engine(index, count) : kept_by_batches(index, count); });
  if (found) found->configuration.groups = {{index, count}};
  return found;
}

// Whether fewer replicas than those that keep the SLOs may keep them too, with any limits of the engine.
bool Planner::may_do_with(const Assessment& kept, int fewer) const {
  return continuous(kept.configuration) ? tokens_may_do_with(kept, fewer) : batches_may_do_with(kept, fewer);
}

Planner::Steps Planner::steps_of(std::size_t replica, const Counts& counts) const {
  const Replica& one = replicas_[replica];
  Configuration largest;
  largest.groups = {{replica, 1}};
  largest.batching.max_batch = one.continuous ? 1 : one.sizes.back();
  const auto steps_for = [&](double each) {
    const double replicas = std::max<double>(counts.at_least, std::ceil(mean_rate() / each - 1e-9));
    return static_cast<int>(std::min(std::ceil(std::max(1.0, replicas) / counts.step), 1e9));
  };
  Steps steps;
  const double screened = screened_[replica];
  if (!(screened > 0)) return steps;
  steps.least = steps_for(capacity(largest)), steps.last = counts.most / counts.step;
  steps.guess = std::min(std::max(steps.least, steps_for(screened)), steps.last);
  return steps;
}

// The excess falls with some power of the number, which each look tells better.
std::pair<int, int> Planner::bracket(std::size_t replica, int step, const Steps& steps, double aim, int most_looks,
                                     bool at_best) const {
  const auto excess_of = [&](int count) {
    return replicas_[replica].continuous ? excess_of_tokens(replica, count * step, aim, at_best)
                                         : excess_of_batches(replica, count * step, aim, at_best);
  };
  int too_few = steps.least - 1, enough = steps.last + 1, at = steps.guess, before = 0;
  double power = 1.5, excess_before = 0;
  for (int i = 0; i < most_looks && enough - too_few > 1; ++i) {
    const double excess = excess_of(at);
    (excess <= aim ? enough : too_few) = at;
    const bool known = std::isfinite(excess) && excess > 0;
    if (known && before > 0)
      power = std::clamp(std::log(excess_before / excess) / std::log(static_cast<double>(at) / before), 0.3, 6.0);
    if (known) before = at, excess_before = excess;
    const double times = known ? std::clamp(std::pow(excess / aim, 1 / power), 0.5, 2.0) : excess > aim ? 1.25 : 0.5;
    const double next = std::min(std::ceil(at * times - 1e-9), static_cast<double>(enough - 1));
    at = std::max(too_few + 1, static_cast<int>(next));
  }
  return {too_few, enough};
}

int Planner::at_least(std::size_t replica, const Counts& counts, double doubt, int most_looks) const {
  const Steps steps = steps_of(replica, counts);
  if (steps.least > steps.last) return steps.guess * counts.step;
  return std::min(bracket(replica, counts.step, steps, doubt, most_looks, true).first + 1, steps.last) * counts.step;
}

// The upper end of an interval must lie below a limit. Where more replicas do not help, as where one long prompt takes
// nearly what is allowed, the value itself must do.
int Planner::first_enough(std::size_t replica, int step, const Steps& steps) const {
  int enough = steps.last + 1;
  for (double aim : {0.97, 1.0}) {
    if (enough > steps.last) enough = bracket(replica, step, steps, aim, looks_of(replica), false).second;
  }
  return std::min(enough, steps.last);
}

// First looks at batches cost little, and their latencies fall off a cliff where batches stay small.
int Planner::looks_of(std::size_t replica) const { return replicas_[replica].continuous ? 6 : 12; }

// How much worse than its first look a configuration is once it is known well: what first looks at others are off by,
// too, over the same requests.
double Planner::known_over_first(const Configuration& c) const {
  constexpr double kNearEnough = 1.3;  // others are not looked at for longer
  const auto first = look(c, looks(c)[1], seed_);
  const double excess = first ? first->excess(service_) : 0;
  if (!(excess > 0) || excess > kNearEnough) return 1;
  return (continuous(c) ? watch(c) : watch_batches(c)).last.most_excess(service_) / excess;
}

// Between two numbers in steps, not counting `above`, the first that is enough if first looks are off as they are at
// `seen`; `above` where none is.
int Planner::predicted_enough(const Configuration& seen, int step, int from, int above, int guess) const {
  if (from >= above) return above;
  const std::size_t replica = seen.groups.front().replica;
  return bracket(replica, step, {from, guess, above - 1}, 1 / known_over_first(seen), looks_of(replica), false).second;
}

// Begins where first looks see the SLOs kept; each number that is confirmed or not tells how far they are off. Where
// more replicas hardly help, each next one is predicted to do: `stride` grows with every one that did not. More
// replicas never wait longer.
std::optional<Assessment> Planner::fewest(std::size_t replica, const Counts& counts) const {
  const Steps steps = steps_of(replica, counts);
  const int last = steps.last;
  if (steps.least > last) return std::nullopt;
  int kept = first_enough(replica, counts.step, steps), broken = steps.least - 1, stride = 1;
  std::optional<Assessment> found = kept_by(replica, kept * counts.step);
  while (!found && kept < last) {
    broken = kept;
    const Configuration seen = usual(replica, kept * counts.step);
    const int predicted = predicted_enough(seen, counts.step, kept + 1, last + 1, kept + 1);
    kept = std::min(std::max(predicted, kept + stride), last);
    stride *= 2;
    found = kept_by(replica, kept * counts.step);
  }
  if (!found) return std::nullopt;
  for (int back = 1; kept - broken > 1; back *= 2) {
    const int middle = broken + (kept - broken) / 2;
    const int predicted = predicted_enough(found->configuration, counts.step, broken + 1, kept, middle);
    int fewer = std::max(predicted, std::min(broken + stride, middle));
    if (predicted == kept && may_do_with(*found, (kept - 1) * counts.step))
      fewer = std::max(kept - back, middle);
    else if (predicted == kept)
      break;
    std::optional<Assessment> less = kept_by(replica, fewer * counts.step);
    (less ? kept : broken) = fewer;
    if (less)
      found = std::move(less);
    else
      stride *= 2;
  }
  if (auto told = settled(*found)) return told;
  return kept == last ? std::nullopt : fewest(replica, {counts.step, counts.most, (kept + 1) * counts.step});
}

// So many replicas with the limits that are tried first.
Configuration Planner::usual(std::size_t replica, int count) const {
  Configuration c;
  c.groups = {{replica, count}};
  if (continuous(c)) return c;
  const std::vector<Configuration> sizes = worth_trying(replica, count);
  if (!sizes.empty()) return sizes.front();
  c.batching.max_batch = replicas_[replica].sizes.back();
  return c;
}

}  // namespace rightsize::capacity
