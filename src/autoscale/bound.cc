#include "autoscale/bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/log_histogram.h"

namespace rightsize::autoscale {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The latest end of a request that meets its limits.
SimTime deadline(const Limits& slo, const sim::Arrival& request) {
  double end = slo.latency == sim::kNever ? kInfinity : static_cast<double>(slo.latency);
  const bool tokens = slo.ttft != sim::kNever && (slo.tpot != sim::kNever || request.output == 1);
  if (tokens)
    end = std::min(end, static_cast<double>(slo.ttft) +
                            (request.output > 1 ? static_cast<double>(slo.tpot) * (request.output - 1) : 0));
  return end < 1e18 ? request.at + static_cast<SimTime>(end) : sim::kNever;
}

// Whole replicas: the state is their number at the boundaries of intervals. Inside an interval their number may fall
// and rise again, each level at the price of a start.
double by_replicas(const std::vector<double>& demand, double width, double startup, double price, int most) {
  const auto states = static_cast<std::size_t>(most) + 1;
  std::vector<double> cost(states, 0.0), next(states);
  for (const double needed : demand) {
    std::ranges::fill(next, kInfinity);
    const int whole = static_cast<int>(needed / width);
    for (int from = 0; from <= most; ++from) {
      for (int to = 0; to <= most; ++to) {
        // More replicas than at either boundary are needed only within the interval.
        double best = kInfinity;
        const int larger = std::max(from, to), least = std::min(from, to);
        // The cost is linear between these.
        for (const int top : {larger, std::max(larger, whole), std::max(larger, std::min(most, whole + 1))}) {
          const double supplied = std::min(needed, top * width), present = std::max(supplied, least * width);
          // Falling below both boundaries saves at most the interval and costs a start per level.
          const double dropped = std::min(present - supplied, std::max(0.0, least * (width - startup)));
          best = std::min(best, present - dropped + price * (needed - supplied) + startup * (top - from));
        }
        next[static_cast<std::size_t>(to)] =
            std::min(next[static_cast<std::size_t>(to)], cost[static_cast<std::size_t>(from)] + best);
      }
    }
    cost.swap(next);
  }
  return *std::ranges::min_element(cost);
}

// For many replicas: each level of the demand is treated by itself, as a fraction of a replica. Between two intervals
// that need the level, it stays on or is started again.
double by_levels(const std::vector<double>& demand, double width, double startup, double price, double most) {
  constexpr int kLevels = 128;
  const double step = most * width / kLevels;
  double sum = 0;
  for (int level = 0; level < kLevels; ++level) {
    const double edge = step * (level + 1);  // the upper edge, to stay a lower bound
    double on = 0, off = 0;                  // cost so far, with the level now on or off
    for (const double needed : demand) {
      const bool wanted = needed >= edge;
      const double stays = std::min(on, off + startup) + width, leaves = std::min(on, off);
      off = leaves + (wanted ? price * width : 0);
      on = stays;
    }
    sum += std::min(on, off) * step / width;
  }
  return sum;
}

// An upper bound on the sum of the largest numbers that are this share of all.
double largest(const LogHistogram<8>& sizes, double share) {
  constexpr std::size_t kStrata = 16;
  std::array<double, kStrata> ends{};
  for (std::size_t i = 0; i < kStrata; ++i) ends[i] = 1 - share * static_cast<double>(kStrata - 1 - i) / kStrata;
  double sum = 0;
  for (const double size : sizes.quantiles(ends)) sum += size;
  return sum / kStrata * share * static_cast<double>(sizes.count()) * (1 + sizes.kRelativeError);
}

template <class Use>
void for_each_request(const Traffic& traffic, Use use) {
  const std::unique_ptr<sim::ArrivalStream> stream = traffic();
  std::array<sim::Arrival, 512> block;
  for (std::size_t got = block.size(); got == block.size();) {
    got = stream->fill(block);
    for (std::size_t i = 0; i < got; ++i) use(block[i]);
  }
}

bool apart(const sim::StepCost& cost, const sim::ContinuousConfig& engine) {
  return engine.prompts_first || cost.prompts_first;
}

// The part of the work that must be done before the first token.
double prompt_work(const sim::StepCost& cost, const sim::ContinuousConfig& engine, double prompt) {
  if (engine.cache_block > 0) return 0;
  const double passes = 1 + prompt / static_cast<double>(engine.token_budget);
  return std::max(0.0, prompt * cost.prefill + (apart(cost, engine) ? std::min(0.0, cost.with_prompts) * passes : 0));
}

// The number of requests that can be in progress at once if all meet their limits: those between arrival and deadline.
// Counted in slots of ten seconds, each request in every slot that it touches.
class Crowd {
 public:
  Crowd(const Limits& slo, const Traffic& traffic) {
    for_each_request(traffic, [&](const sim::Arrival& request) {
      const SimTime end = deadline(slo, request);
      if (end == sim::kNever) return;
      if (slot(end) + 1 >= changes_.size()) changes_.resize(slot(end) + 2);
      changes_[slot(request.at)] += 1;
      changes_[slot(end) + 1] -= 1;
    });
    for (std::size_t i = 1; i < changes_.size(); ++i) changes_[i] += changes_[i - 1];
  }

  double most(SimTime from, SimTime to) const {
    const auto at = [&](SimTime t) { return changes_.begin() + static_cast<std::ptrdiff_t>(slot(t)); };
    return static_cast<double>(*std::max_element(at(from), at(to) + 1));
  }

 private:
  static std::size_t slot(SimTime t) { return static_cast<std::size_t>(t / whole_seconds(10)); }
  std::vector<std::int64_t> changes_;  // then their sums
};

}  // namespace

double least_work(const sim::StepCost& cost, const sim::ContinuousConfig& engine, double prompt, double output,
                  double together) {
  const double batch = std::max(
      1.0, std::min({together, static_cast<double>(engine.max_sequences), static_cast<double>(engine.token_budget)}));
  // Prompts behind the weights of a step shorten its base; in separate passes they shorten the pass.
  const double hidden = apart(cost, engine) ? 0 : std::min(0.0, cost.with_prompts);
  const double base = std::max(0.0, cost.decode(batch, 0) - cost.sequence * batch + hidden);
  const double later = output - 1;
  return prompt_work(cost, engine, prompt) + later * (base / batch + cost.sequence) +
         cost.context * (later * prompt + later * (later - 1) / 2);
}

double least_supply(const std::vector<double>& demand, double width, double startup, double may_miss) {
  const double peak = demand.empty() ? 0 : *std::ranges::max_element(demand) / width;
  constexpr double kMostWhole = 16;
  double best = 0;
  for (const double price : {1.0, 2.0, 6.0, 24.0, 256.0}) {
    const double cost = peak <= kMostWhole
                            ? by_replicas(demand, width, startup, price, static_cast<int>(std::ceil(peak)))
                            : by_levels(demand, width, startup, price, peak);
    best = std::max(best, cost - price * may_miss);
  }
  return best;
}

Bound lower_bound(const ClusterConfig& config, const Traffic& traffic) {
  // Short intervals lose the requests at their edges, long ones the peaks; each gives a bound. They do not depend on
  // the start-up, so a longer start-up never lowers the bound.
  constexpr std::array<std::int64_t, 8> kWidths = {8, 15, 30, 60, 120, 240, 480, 960};
  std::array<SimTime, kWidths.size()> widths{};
  std::array<std::vector<double>, kWidths.size()> demand;
  std::transform(kWidths.begin(), kWidths.end(), widths.begin(), whole_seconds);
  const Crowd crowd(config.slo, traffic);
  LogHistogram<8> sizes;
  double work = 0;
  for_each_request(traffic, [&](const sim::Arrival& request) {
    const SimTime end = deadline(config.slo, request);
    if (config.until != sim::kNever && (end == sim::kNever || end >= config.until)) return;  // may stay unfinished
    work += least_work(config.cost, config.engine, request.size, request.output) * 1e-9;
    if (end == sim::kNever) return;
    const double taken =
        least_work(config.cost, config.engine, request.size, request.output, crowd.most(request.at, end)) * 1e-9;
    sizes.add(taken);
    const double prompt = prompt_work(config.cost, config.engine, request.size) * 1e-9;
    const SimTime first = config.slo.ttft == sim::kNever ? end : std::min(end, request.at + config.slo.ttft);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const auto at = static_cast<std::size_t>(request.at / widths[i]);
      const auto due_here = [&](SimTime time) { return static_cast<std::size_t>(time / widths[i]) == at; };
      if (!due_here(first)) continue;
      if (at >= demand[i].size()) demand[i].resize(at + 1);
      demand[i][at] += due_here(end) ? taken : prompt;
    }
  });
  const double missed = largest(sizes, config.slo.allowed);
  Bound bound{work, work};
  for (std::size_t i = 0; i < widths.size(); ++i) {
    bound.replica_seconds =
        std::max(bound.replica_seconds, least_supply(demand[i], static_cast<double>(widths[i]) * 1e-9,
                                                     static_cast<double>(config.startup) * 1e-9, missed));
  }
  return bound;
}

}  // namespace rightsize::autoscale
