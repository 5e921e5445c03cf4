// rightsize batch: latency of a batching server, and the cheapest setting that meets its SLOs.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>

#include "base/list_of.h"
#include "capacity/busiest.h"
#include "rightsize/batch/input.h"
#include "rightsize/batch/report.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

using capacity::Configuration;
using sim::SimTime;

Seconds since(std::chrono::steady_clock::time_point start) {
  return seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

int first_or(const std::vector<int>& values, int otherwise) { return values.empty() ? otherwise : values.front(); }

capacity::Planner planner_of(const BatchInput& input) {
  return capacity::Planner(input.service, list_of(input.offers, &BatchOffer::replica), input.seed);
}

// The configuration that the flags describe, without a search.
Configuration configuration_of(const BatchInput& input) {
  Configuration c = input.usual;
  c.groups = input.fleet;
  if (c.groups.empty()) c.groups = {{0, first_or(input.replicas, 1)}};
  c.executors = first_or(input.instances, 1);
  if (!input.continuous)
    c.batching.max_batch = input.max_batches.empty() ? input.largest_batch() : input.max_batches.back();
  if (!input.delays.empty()) c.batching.max_delay = input.delays.front();
  c.engine.max_sequences = first_or(input.max_batches, capacity::kMostSequences);
  return c;
}

// Latency at other rates of the same traffic, up to 95 % of capacity.
std::vector<LoadPoint> load_curve(const BatchInput& input, const capacity::Planner& planner, const Configuration& c) {
  constexpr double kLoads[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<LoadPoint> curve;
  const double most = planner.capacity(c), rate = input.rate();
  if (!(rate > 0) || !(most > 0)) return curve;
  // Bursts and daily cycles are long, so the simulation needs many requests to cover enough of them.
  const bool steady = std::holds_alternative<sim::Poisson>(input.service.arrivals);
  const sim::RunLength length{steady ? 20'000u : 200'000u, input.seed};
  for (double load : kLoads) {
    if (const auto run = planner.assess(c, length, load * most / rate))
      curve.push_back({load * most, run->profile.latency});
  }
  return curve;
}

Checked<Outcome> run_one(const BatchInput& input) {
  const Configuration c = configuration_of(input);
  if (Result<> valid = sim::check(c.batching); !valid) return fail(valid.error());
  const capacity::Planner planner = planner_of(input);
  const auto start = std::chrono::steady_clock::now();
  // A recording is replayed completely: its percentiles are those of all of its requests.
  const auto run = planner.is_part_of_recording() ? planner.replay(c) : planner.assess(c, {input.requests, input.seed});
  const Seconds wall = since(start);
  if (!run) return overloaded_outcome(input, c, planner.capacity(c));
  return assessed_outcome(input, *run, load_curve(input, planner, c), wall);
}

// ---- Search ----

// Delays worth trying, as shares of the SLO: a delay near it would leave no time to compute.
std::vector<SimTime> delays_to_try(const BatchInput& input) {
  if (!input.delays.empty()) return input.delays;
  std::vector<SimTime> delays{0};
  for (double share : {0.02, 0.05, 0.1, 0.2, 0.3, 0.5})
    delays.push_back(sim::to_sim_time(input.service.slos.front().limit * share));
  return delays;
}

// From the fewest GPUs that carry the load up to what batches of one need: first one by one, then in growing steps.
std::vector<int> replicas_to_try(const BatchInput& input, double best_rate, double worst_rate) {
  if (!input.replicas.empty()) return input.replicas;
  constexpr int kMostGpus = 4096;
  double rate = in_requests_per_s(sim::peak_rate(input.service.arrivals).value_or(RequestsPerSecond{}));
  constexpr std::uint64_t kBusiest = 64'000;
  if (const auto part = capacity::busiest_part_of(input.service.arrivals, kBusiest))
    rate = std::max(rate, in_requests_per_s(sim::mean_rate(part).value_or(RequestsPerSecond{})));
  const int fewest = std::clamp(static_cast<int>(std::ceil(input.rate() / best_rate)), 1, kMostGpus);
  const int most = std::clamp(static_cast<int>(std::ceil(1.5 * rate / worst_rate)) + 2, fewest + 7, kMostGpus + 8);
  std::vector<int> counts;
  for (int n = fewest; n <= most; n = n < fewest + 8 ? n + 1 : n + std::max(1, n / 8)) counts.push_back(n);
  return counts;
}

// Without prices, the fewest GPUs are the cheapest.
double price_of(const BatchInput& input, const std::vector<capacity::ReplicaGroup>& groups) {
  double sum = 0;
  for (const capacity::ReplicaGroup& group : groups) {
    const BatchOffer& offer = input.offers[group.replica];
    sum += offer.usd_per_hour ? offer.usd_per_hour_of(group.count) : group.count * offer.replica.gpus;
  }
  return sum;
}

// Adds every batch size, delay and number of instances for one type and number of replicas.
void add_batch_settings(const BatchInput& input, Configuration c, std::vector<Configuration>& all) {
  const capacity::Replica& replica = input.offers[c.groups.front().replica].replica;
  std::set<int> sizes(input.max_batches.begin(), input.max_batches.end());
  if (sizes.empty()) sizes.insert(replica.sizes.begin(), replica.sizes.end());
  sizes.insert(1);
  for (int size : sizes) {
    c.batching.max_batch = size;
    for (int executors : input.instances) {
      c.executors = executors;
      for (SimTime delay : size == 1 ? std::vector<SimTime>{0} : delays_to_try(input)) {
        c.batching.max_delay = delay;
        all.push_back(c);
      }
    }
  }
}

void add_token_settings(const BatchInput& input, Configuration c, std::vector<Configuration>& all) {
  std::vector<int> sizes = input.max_batches;
  if (sizes.empty()) sizes = {1, 8, 16, 32, 64, 128, 256};
  const std::int64_t usual = c.engine.token_budget;
  for (int size : sizes) {
    c.engine.max_sequences = size;
    for (std::int64_t budget : std::set<std::int64_t>{512, 2048, usual}) {
      c.engine.token_budget = budget;
      all.push_back(c);
    }
  }
}

// The capacity of one replica of each offer, in requests per second.
std::vector<double> rates_of(const BatchInput& input, const capacity::Planner& planner) {
  std::vector<double> rates;
  for (std::size_t o = 0; o < input.offers.size(); ++o) {
    Configuration c = input.usual;
    c.groups = {{o, 1}};
    c.batching.preferred_sizes.clear();
    if (!input.continuous) c.batching.max_batch = input.largest_batch();
    c.engine.max_sequences = input.max_batches.empty() ? capacity::kMostSequences : input.max_batches.back();
    rates.push_back(planner.capacity(c));
  }
  return rates;
}

std::vector<Configuration> configurations(const BatchInput& input, const std::vector<double>& rates) {
  std::vector<Configuration> all;
  for (std::size_t o = 0; o < input.offers.size(); ++o) {
    const double worst = input.continuous ? rates[o] / 4 : in_requests_per_s(input.offers[o].replica.times.rate(1));
    for (int replicas : replicas_to_try(input, rates[o], worst)) {
      Configuration c = input.usual;
      c.batching.preferred_sizes.clear();
      c.groups = {{o, replicas}};
      c.price = price_of(input, c.groups);
      input.continuous ? add_token_settings(input, c, all) : add_batch_settings(input, c, all);
    }
  }
  return all;
}

void limit_to(const BatchInput& input, Configuration& c, std::int64_t size) {
  if (input.continuous)
    c.engine.max_sequences = size;
  else
    c.batching.max_batch = static_cast<int>(size);
}

// Two types of GPU behind one router: fewer of the first than it would take alone, and enough of the second to carry
// the rest, plus up to three. Only mixtures cheaper than the best single type are tried, with half, the same and twice
// its batch size.
std::vector<Configuration> mixtures(const BatchInput& input, const std::vector<double>& rates,
                                    const Configuration& best) {
  std::vector<Configuration> all;
  if (!input.replicas.empty() || input.offers.size() < 2) return all;
  constexpr std::size_t kMost = 4'000;
  const double load = input.rate();
  const std::int64_t size = input.continuous ? best.engine.max_sequences : best.batching.max_batch;
  for (std::size_t a = 0; a < input.offers.size(); ++a) {
    for (std::size_t b = 0; b < input.offers.size(); ++b) {
      if (a == b) continue;
      const int alone = static_cast<int>(std::min(64.0, std::ceil(load / rates[a])));
      for (int first = std::max(1, alone - 8); first <= alone; ++first) {
        const int fewest = std::max(1, static_cast<int>(std::ceil((load - first * rates[a]) / rates[b])));
        for (int second = fewest; second < fewest + 4; ++second) {
          Configuration mixed = best;
          mixed.groups = {{a, first}, {b, second}};
          mixed.price = price_of(input, mixed.groups);
          if (mixed.price >= best.price * (1 - 1e-9)) continue;
          for (std::int64_t limit : {size / 2, size, size * 2}) {
            limit_to(input, mixed, limit);
            const bool known = input.continuous || limit <= input.largest_batch();
            if (limit >= 1 && known && all.size() < kMost) all.push_back(mixed);
          }
        }
      }
    }
  }
  return all;
}

// The best setting is a row of the table, in place of those that cost as much and are slower.
void add_best_row(capacity::ConfigurationSearch& found, const capacity::Service& service) {
  const capacity::Assessment best = *found.best;
  const double price = best.configuration.price, excess = best.excess(service);
  std::erase_if(found.frontier, [&](const capacity::Assessment& a) {
    return a.configuration.price >= price && a.excess(service) >= excess;
  });
  const auto later = std::ranges::find_if(found.frontier,
                                          [&](const capacity::Assessment& a) { return a.configuration.price > price; });
  found.frontier.insert(later, best);
}

// Every type of GPU alone, then cheaper mixtures of two.
Checked<Outcome> run_search(const BatchInput& input) {
  const capacity::Planner planner = planner_of(input);
  const std::vector<double> rates = rates_of(input, planner);
  capacity::SearchOptions options;
  options.confirming_requests = input.requests;
  if (input.continuous) {  // a request takes many steps
    constexpr std::uint64_t kEnough = 50'000;
    const sim::Trace* trace = sim::trace_of(input.service.arrivals);
    options.screening_requests = 1'500 + (trace == nullptr ? 0 : trace->warm_up);
    if (trace == nullptr) options.confirming_requests = std::min(input.requests, kEnough);
  }
  const auto start = std::chrono::steady_clock::now();
  capacity::ConfigurationSearch found = capacity::search(planner, configurations(input, rates), options, input.seed);
  if (found.best) {
    const std::vector<Configuration> mixed = mixtures(input, rates, found.best->configuration);
    const capacity::ConfigurationSearch more =
        mixed.empty() ? capacity::ConfigurationSearch{} : capacity::search(planner, mixed, options, input.seed);
    found.considered += more.considered, found.unstable += more.unstable, found.bounded += more.bounded;
    found.simulated += more.simulated, found.confirmed += more.confirmed;
    if (more.best) found.best = more.best;
    add_best_row(found, input.service);
  }
  return searched_outcome(input, found, since(start));
}

Checked<Outcome> run_batch(BatchFlags flags) {
  if (const auto gpus = take_replica_gpus(flags.gpu); gpus && flags.tp.empty()) flags.tp = {*gpus};
  RIGHTSIZE_TRY(const BatchInput input, read_input(flags));
  return input.service.slos.empty() ? run_one(input) : run_search(input);
}

}  // namespace

Run add_batch(FlagSet& command) {
  auto flags = std::make_shared<BatchFlags>();
  declare(command, *flags);
  return [flags] { return run_batch(*flags); };
}

}  // namespace rightsize::app
