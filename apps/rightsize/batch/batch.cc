// rightsize batch: how long requests wait at a batching server, and the cheapest setting that keeps a promise.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/batch/input.h"
#include "rightsize/batch/report.h"

namespace rightsize::app {
namespace {

using sim::Candidate;
using sim::SimTime;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int first_or(const std::vector<int>& values, int otherwise) { return values.empty() ? otherwise : values.front(); }

// What the flags describe, when nothing is searched.
sim::Server server_of(const BatchInput& input, int max_batch) {
  sim::Server server;
  const int executors = first_or(input.instances, 1);
  std::vector<std::pair<std::size_t, int>> fleet = input.fleet;
  if (fleet.empty()) fleet = {{0, first_or(input.replicas, 1)}};
  for (const auto& [offer, count] : fleet) {
    const sim::ServiceTimes times = sim::tabulate(*input.offers[offer].time, max_batch, input.overhead);
    server.gpus.insert(server.gpus.end(), static_cast<std::size_t>(count), {times, executors, input.overlap});
  }
  server.batching = input.batching;
  server.batching.max_batch = max_batch;
  if (!input.delays.empty()) server.batching.max_delay = input.delays.front();
  server.queue = input.queue;
  server.priorities = input.priorities;
  return server;
}

sim::ContinuousServer continuous_server_of(const BatchInput& input) {
  sim::ContinuousServer server;
  std::vector<std::pair<std::size_t, int>> fleet = input.fleet;
  if (fleet.empty()) fleet = {{0, first_or(input.replicas, 1)}};
  for (const auto& [offer, count] : fleet) {
    server.replicas.insert(server.replicas.end(), static_cast<std::size_t>(count), input.offers[offer].step);
  }
  server.batching = input.llm;
  server.batching.max_sequences = first_or(input.max_batches, 256);
  return server;
}

constexpr double kCurveLoads[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

// The same traffic thinner and denser, up to near the most the server can do.
template <class Simulate>
std::vector<LoadPoint> load_curve(const BatchInput& input, double most, const Simulate& run) {
  std::vector<LoadPoint> curve;
  const std::optional<double> rate = sim::mean_rate(input.arrivals);
  if (!rate || !(most > 0)) return curve;
  // Bursts and days are long: it takes many requests to see enough of them.
  const std::uint64_t requests = std::holds_alternative<sim::Poisson>(input.arrivals) ? 20'000 : 200'000;
  for (double load : kCurveLoads) {
    const sim::RunLength length{requests, input.seed, 0, sim::Statistic::kP99};
    auto profile = run(sim::scaled(input.arrivals, load * most / *rate), length);
    if (profile) curve.push_back({load * most, profile->latency});
  }
  return curve;
}

Checked<Outcome> run_dynamic(const BatchInput& input) {
  const int max_batch = input.max_batches.empty() ? input.largest_batch() : input.max_batches.back();
  const sim::Server server = server_of(input, max_batch);
  if (Result<> valid = sim::check(server.batching); !valid) return fail(one(valid.error()));
  const double most = sim::capacity(server);
  const auto start = std::chrono::steady_clock::now();
  const auto profile = sim::simulate(server, input.arrivals, {input.requests, input.seed, 0, sim::Statistic::kP99});
  const double wall = seconds_since(start);
  if (!profile) return unstable_outcome(input, most, fmt::format("batches of {}", max_batch));
  Outcome outcome = simulated_outcome(input, server, *profile, most, wall);
  add_load_curve(outcome,
                 load_curve(input, most, [&](const sim::ArrivalProcess& arrivals, const sim::RunLength& length) {
                   return sim::simulate(server, arrivals, length);
                 }));
  add_hand_over(outcome, input, server.batching, server.batching.max_batch, input.llm,
                {input.name, input.offers[0].gpu, static_cast<int>(server.gpus.size()), first_or(input.instances, 1), 1,
                 sim::mean_rate(input.arrivals).value_or(0) / static_cast<double>(server.gpus.size())});
  return outcome;
}

Checked<Outcome> run_continuous(const BatchInput& input) {
  const sim::ContinuousServer server = continuous_server_of(input);
  const double most = sim::capacity(server, sim::mean_shape(input.arrivals, input.shape));
  const auto start = std::chrono::steady_clock::now();
  const auto profile =
      sim::simulate(server, input.arrivals, input.shape, {input.requests, input.seed, 0, sim::Statistic::kP99});
  const double wall = seconds_since(start);
  if (!profile) return unstable_outcome(input, most, "the batch as full as its limits and the cache allow");
  Outcome outcome = continuous_outcome(input, server, *profile, most, wall);
  using Latency = std::optional<sim::LatencyProfile>;
  add_load_curve(outcome,
                 load_curve(input, most, [&](const sim::ArrivalProcess& arrivals, const sim::RunLength& length) {
                   auto run = sim::simulate(server, arrivals, input.shape, length);
                   return run ? Latency(run->all) : Latency();
                 }));
  add_hand_over(
      outcome, input, {}, 1, with_cache_of(server.batching, input.offers[0]),
      {input.name, input.offers[0].gpu, static_cast<int>(server.replicas.size()), 1, input.offers[0].gpus_each,
       sim::mean_rate(input.arrivals).value_or(0) / static_cast<double>(server.replicas.size())});
  return outcome;
}

// ---- Search ----

// Delays worth trying: shares of the promise, for a delay near it leaves no time to compute.
std::vector<SimTime> delays_to_try(const BatchInput& input) {
  if (!input.delays.empty()) return input.delays;
  std::vector<SimTime> delays{0};
  for (double share : {0.02, 0.05, 0.1, 0.2, 0.3, 0.5}) {
    delays.push_back(static_cast<SimTime>(share * static_cast<double>(input.promise->limit)));
  }
  return delays;
}

// From the fewest GPUs that can carry the load, one by one, then in growing steps to what batches of one need.
std::vector<int> replicas_to_try(const BatchInput& input, double best_rate, double worst_rate) {
  if (!input.replicas.empty()) return input.replicas;
  constexpr int kMostGpus = 4096;
  const double rate = sim::peak_rate(input.arrivals).value_or(0);
  const double mean = sim::mean_rate(input.arrivals).value_or(0);
  const int fewest = std::clamp(static_cast<int>(std::ceil(mean / best_rate)), 1, kMostGpus);
  const int most = std::clamp(static_cast<int>(std::ceil(1.5 * rate / worst_rate)) + 2, fewest + 7, kMostGpus + 8);
  std::vector<int> counts;
  for (int n = fewest; n <= most; n = n < fewest + 8 ? n + 1 : n + std::max(1, n / 8)) counts.push_back(n);
  return counts;
}

// Without a price GPUs are counted: the fewest is the cheapest.
double price_of(const BatchInput& input, std::size_t offer, int replicas) {
  return replicas * input.offers[offer].usd_per_hour.value_or(input.offers[offer].gpus_each);
}

std::vector<Candidate> dynamic_candidates(const BatchInput& input, const std::vector<sim::ServiceTimes>& times) {
  std::vector<Candidate> candidates;
  for (std::size_t o = 0; o < input.offers.size(); ++o) {
    std::set<int> sizes(input.max_batches.begin(), input.max_batches.end());
    if (sizes.empty()) sizes.insert(input.offers[o].sizes.begin(), input.offers[o].sizes.end());
    sizes.insert(1);
    double best = 0;
    for (int size : sizes) best = std::max(best, times[o].rate(size));
    for (int replicas : replicas_to_try(input, best, times[o].rate(1))) {
      for (int size : sizes) {
        for (int executors : input.instances) {
          for (SimTime delay : size == 1 ? std::vector<SimTime>{0} : delays_to_try(input)) {
            candidates.push_back({o, replicas, size, executors, delay, 0, price_of(input, o, replicas)});
          }
        }
      }
    }
  }
  return candidates;
}

std::vector<Candidate> continuous_candidates(const BatchInput& input) {
  std::vector<int> sizes = input.max_batches;
  if (sizes.empty()) sizes = {1, 8, 16, 32, 64, 128, 256};
  std::vector<Candidate> candidates;
  const sim::RequestShape shape = sim::mean_shape(input.arrivals, input.shape);
  for (std::size_t o = 0; o < input.offers.size(); ++o) {
    sim::ContinuousServer server{{input.offers[o].step}, input.llm};
    server.batching.max_sequences = sizes.back();
    const double best = sim::capacity(server, shape);
    for (int replicas : replicas_to_try(input, best, best / 4)) {
      for (int size : sizes) {
        for (std::int64_t budget : std::set<std::int64_t>{512, 2048, input.llm.token_budget}) {
          candidates.push_back({o, replicas, size, 1, 0, budget, price_of(input, o, replicas)});
        }
      }
    }
  }
  return candidates;
}

// Two kinds of GPU behind one router, for what whole replicas of one kind leave over: fewer of the first than it would
// take alone, and as many of the second as carry the rest, up to three more. Only those cheaper than the best of one
// kind are of interest, with its settings and those beside it. `rates` are requests a second of one replica.
std::vector<Candidate> mixed_candidates(const BatchInput& input, const std::vector<double>& rates,
                                        const Candidate& best) {
  std::vector<Candidate> candidates;
  if (!input.replicas.empty() || input.offers.size() < 2) return candidates;
  constexpr std::size_t kMost = 4'000;
  const double load = sim::mean_rate(input.arrivals).value_or(0);
  for (std::size_t a = 0; a < input.offers.size(); ++a) {
    for (std::size_t b = 0; b < input.offers.size(); ++b) {
      if (a == b) continue;
      const int alone = static_cast<int>(std::min(64.0, std::ceil(load / rates[a])));
      for (int first = std::max(1, alone - 8); first <= alone; ++first) {
        const int fewest = std::max(1, static_cast<int>(std::ceil((load - first * rates[a]) / rates[b])));
        for (int second = fewest; second < fewest + 4; ++second) {
          Candidate mixed = best;
          mixed.offer = a, mixed.replicas = first, mixed.other_offer = b, mixed.other_replicas = second;
          mixed.usd_per_hour = price_of(input, a, first) + price_of(input, b, second);
          if (mixed.usd_per_hour >= best.usd_per_hour * (1 - 1e-9)) continue;
          for (int size : {best.max_batch / 2, best.max_batch, best.max_batch * 2}) {
            mixed.max_batch = size;
            const bool known = input.continuous || size <= input.largest_batch();
            if (size >= 1 && known && candidates.size() < kMost) candidates.push_back(mixed);
          }
        }
      }
    }
  }
  return candidates;
}

// Kinds of GPU by themselves, then, where that found an answer, mixtures that are cheaper.
sim::SearchResult search_all(const BatchInput& input, const sim::SearchProblem& problem,
                             std::vector<Candidate> candidates, const std::vector<double>& rates) {
  sim::SearchOptions options;
  options.seed = input.seed;
  options.confirming_requests = input.requests;
  if (input.continuous) {  // each request takes many steps
    options.screening_requests = 1'500;
    options.confirming_requests = std::min<std::uint64_t>(input.requests, 50'000);
  }
  sim::SearchResult found = sim::search(problem, std::move(candidates), *input.promise, options);
  if (!found.best) return found;
  const std::vector<Candidate> mixed = mixed_candidates(input, rates, found.best->candidate);
  if (mixed.empty()) return found;
  const sim::SearchResult more = sim::search(problem, mixed, *input.promise, options);
  found.considered += more.considered, found.unstable += more.unstable, found.bounded += more.bounded;
  found.simulated += more.simulated, found.confirmed += more.confirmed;
  if (more.best) found.best = more.best;
  return found;
}

Checked<Outcome> run_search(const BatchInput& input) {
  std::unique_ptr<sim::SearchProblem> problem;
  std::vector<Candidate> candidates;
  std::vector<double> rates;
  if (input.continuous) {
    std::vector<sim::StepCost> costs;
    const sim::RequestShape shape = sim::mean_shape(input.arrivals, input.shape);
    for (const BatchOffer& offer : input.offers) {
      costs.push_back(offer.step);
      rates.push_back(sim::capacity({{offer.step}, input.llm}, shape));
    }
    problem = std::make_unique<sim::ContinuousProblem>(costs, input.llm, input.shape, input.arrivals, *input.promise);
    candidates = continuous_candidates(input);
  } else {
    std::vector<sim::ServiceTimes> times;
    const int most = std::max(input.largest_batch(), input.max_batches.empty() ? 1 : input.max_batches.back());
    for (const BatchOffer& offer : input.offers) {
      times.push_back(sim::tabulate(*offer.time, most, input.overhead));
      rates.push_back(times.back().rate(most));
    }
    candidates = dynamic_candidates(input, times);
    problem = std::make_unique<sim::DynamicProblem>(times, input.overlap, input.arrivals, *input.promise, input.queue,
                                                    input.priorities);
  }
  const auto start = std::chrono::steady_clock::now();
  const sim::SearchResult found = search_all(input, *problem, std::move(candidates), rates);
  return searched_outcome(input, found, seconds_since(start));
}

Checked<Outcome> run(const BatchFlags& flags) {
  RIGHTSIZE_TRY(const BatchInput input, read_input(flags));
  if (input.promise) return run_search(input);
  return input.continuous ? run_continuous(input) : run_dynamic(input);
}

}  // namespace

Run add_batch(FlagSet& command) {
  auto flags = std::make_shared<BatchFlags>();
  declare(command, *flags);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
