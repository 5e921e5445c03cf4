#include "sim/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::sim {
namespace {

constexpr std::string_view kMetricNames[] = {"mean", "p50", "p90", "p95", "p99", "ttft", "tpot"};
constexpr double kOfInterest = 10;        // settings that cannot come within so many times the promise are left out
constexpr std::size_t kPerPrice = 3;      // the best of the screening at each price are confirmed
constexpr double kRejectedDoubt = 2;      // the same for the share that is turned away
constexpr double kScreeningDoubt = 1.15;  // how far a short run may be off

Statistic statistic_of(Metric metric) {
  switch (metric) {
    case Metric::kMean:
      return Statistic::kMean;
    case Metric::kP50:
      return Statistic::kP50;
    case Metric::kP90:
      return Statistic::kP90;
    case Metric::kP95:
      return Statistic::kP95;
    default:
      return Statistic::kP99;
  }
}

// Calls work(i) for every i below count, on several threads.
template <class Work>
void in_parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  auto worker = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (unsigned k = 1; k < threads && k < count; ++k) others.emplace_back(worker);
  worker();
  for (std::thread& other : others) other.join();
}

bool cheaper(const Assessed& a, const Assessed& b) {
  if (a.candidate.usd_per_hour != b.candidate.usd_per_hour) return a.candidate.usd_per_hour < b.candidate.usd_per_hour;
  return a.value < b.value;
}

// Every candidate that survives the bounds, with its short run.
std::vector<Assessed> screen(const SearchProblem& problem, const std::vector<Candidate>& candidates,
                             const Promise& promise, const SearchOptions& options, SearchResult& result) {
  std::vector<std::optional<Assessed>> runs(candidates.size());
  std::atomic<std::size_t> unstable{0}, bounded{0};
  in_parallel(candidates.size(), options.threads, [&](std::size_t i) {
    const double bound = problem.lower_bound(candidates[i]);
    if (std::isinf(bound)) {
      ++unstable;
    } else if (bound > kOfInterest * static_cast<double>(promise.limit)) {
      ++bounded;
    } else {
      runs[i] = problem.assess(candidates[i], {options.screening_requests, options.seed, 0, Statistic::kP99});
    }
  });
  result.considered = candidates.size();
  result.unstable = unstable;
  result.bounded = bounded;
  std::vector<Assessed> screened;
  for (auto& run : runs) {
    if (run) screened.push_back(*std::move(run));
  }
  result.simulated = screened.size();
  std::stable_sort(screened.begin(), screened.end(), cheaper);
  return screened;
}

// At each price the best few, if they promise less latency than everything cheaper.
std::vector<Candidate> worth_confirming(const std::vector<Assessed>& screened, const Promise& promise) {
  std::vector<Candidate> chosen;
  double best_below = std::numeric_limits<double>::infinity(), price = -1;
  double best_here = best_below;
  std::size_t here = 0;
  for (const Assessed& run : screened) {
    // What clearly turns away too many is no answer, however fast the rest is served.
    if (run.rejected_share() > kRejectedDoubt * promise.most_rejected + 0.001) continue;
    if (run.candidate.usd_per_hour != price) {
      best_below = std::min(best_below, best_here);
      price = run.candidate.usd_per_hour;
      here = 0;
      best_here = run.value;
    }
    const bool near = run.value <= kOfInterest * static_cast<double>(promise.limit);
    if (near && here < kPerPrice && run.value < best_below * kScreeningDoubt) {
      chosen.push_back(run.candidate);
      ++here;
    }
  }
  return chosen;
}

RunLength confirming(const SearchOptions& options, const Promise& promise) {
  return {options.confirming_requests, options.seed + 1, options.tight_enough, statistic_of(promise.metric)};
}

// The cheapest without batching that holds in a long run; tried in order of price.
std::optional<Assessed> cheapest_unbatched(const SearchProblem& problem, const std::vector<Assessed>& screened,
                                           const Promise& promise, const SearchOptions& options) {
  for (const Assessed& run : screened) {
    const bool hopeful =
        run.candidate.max_batch == 1 && run.value <= kScreeningDoubt * static_cast<double>(promise.limit);
    if (!hopeful) continue;
    std::optional<Assessed> confirmed = problem.assess(run.candidate, confirming(options, promise));
    if (confirmed && confirmed->meets(promise)) return confirmed;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Metric metric) { return kMetricNames[static_cast<std::size_t>(metric)]; }

Result<Promise> parse_promise(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string name = to_lower(trim(text.substr(0, equals)));
  const std::vector<std::string> names(std::begin(kMetricNames), std::end(kMetricNames));
  const auto found = std::find(names.begin(), names.end(), name);
  if (equals == std::string_view::npos || found == names.end()) {
    return fail(bad_input(fmt::format("'{}' is not a promise", text))
                    .with_hint(found == names.end() ? did_you_mean(name, names) : "")
                    .with_hint("a promise names a statistic and a time: p99=100ms, p95=50ms, mean=20ms, ttft=500ms"));
  }
  RIGHTSIZE_TRY(const Seconds limit, parse_duration(text.substr(equals + 1)));
  if (!(limit > seconds(0))) return fail(bad_input(fmt::format("a promise of no time cannot be kept: '{}'", text)));
  return Promise{static_cast<Metric>(found - names.begin()), to_sim_time(limit)};
}

Server DynamicProblem::server_of(const Candidate& candidate) const {
  Server server;
  server.gpus.assign(static_cast<std::size_t>(candidate.replicas),
                     {times_[candidate.offer], candidate.executors, overlap_});
  server.gpus.insert(server.gpus.end(), static_cast<std::size_t>(candidate.other_replicas),
                     {times_[candidate.other_offer], candidate.executors, overlap_});
  server.queue = queue_;
  server.priorities = priorities_;
  server.batching = {candidate.max_batch, {}, candidate.delay};
  return server;
}

double DynamicProblem::lower_bound(const Candidate& candidate) const {
  return latency_lower_bound(server_of(candidate), arrivals_, statistic_of(promise_.metric));
}

std::optional<Assessed> DynamicProblem::assess(const Candidate& candidate, const RunLength& length) const {
  std::optional<LatencyProfile> profile = simulate(server_of(candidate), arrivals_, length);
  if (!profile) return std::nullopt;
  const Statistic which = statistic_of(promise_.metric);
  return Assessed{candidate, value_of(profile->latency, which), value_of(profile->half_width, which), *profile, {}, {}};
}

ContinuousServer ContinuousProblem::server_of(const Candidate& candidate) const {
  ContinuousServer server;
  server.replicas.assign(static_cast<std::size_t>(candidate.replicas), costs_[candidate.offer]);
  server.replicas.insert(server.replicas.end(), static_cast<std::size_t>(candidate.other_replicas),
                         costs_[candidate.other_offer]);
  server.batching = config_;
  server.batching.max_sequences = candidate.max_batch;
  server.batching.token_budget = candidate.token_budget;
  return server;
}

double ContinuousProblem::lower_bound(const Candidate& candidate) const {
  const RequestShape shape = mean_shape(arrivals_, shape_);
  if (overloads(arrivals_, capacity(server_of(candidate), shape))) {
    return std::numeric_limits<double>::infinity();
  }
  // No first token, and no next one, without a step.
  const double base = costs_[candidate.offer].base;
  return candidate.other_replicas > 0 ? std::min(base, costs_[candidate.other_offer].base) : base;
}

std::optional<Assessed> ContinuousProblem::assess(const Candidate& candidate, const RunLength& length) const {
  std::optional<ContinuousProfile> profile = simulate(server_of(candidate), arrivals_, shape_, length);
  if (!profile) return std::nullopt;
  const Statistic which = statistic_of(promise_.metric);
  const StatisticValues& values = promise_.metric == Metric::kTtft   ? profile->ttft
                                  : promise_.metric == Metric::kTpot ? profile->tpot
                                                                     : profile->all.latency;
  const StatisticValues& widths = promise_.metric == Metric::kTtft   ? profile->ttft_half_width
                                  : promise_.metric == Metric::kTpot ? profile->tpot_half_width
                                                                     : profile->all.half_width;
  return Assessed{candidate,    value_of(values, which), value_of(widths, which),
                  profile->all, profile->ttft,           profile->tpot};
}

SearchResult search(const SearchProblem& problem, std::vector<Candidate> candidates, const Promise& promise,
                    const SearchOptions& options) {
  SearchResult result;
  const std::vector<Assessed> screened = screen(problem, candidates, promise, options, result);
  const std::vector<Candidate> chosen = worth_confirming(screened, promise);
  std::vector<std::optional<Assessed>> runs(chosen.size());
  in_parallel(chosen.size(), options.threads,
              [&](std::size_t i) { runs[i] = problem.assess(chosen[i], confirming(options, promise)); });
  std::vector<Assessed> confirmed;
  for (auto& run : runs) {
    if (run) confirmed.push_back(*std::move(run));
  }
  result.confirmed = confirmed.size();
  std::stable_sort(confirmed.begin(), confirmed.end(), cheaper);
  double lowest = std::numeric_limits<double>::infinity();
  for (const Assessed& run : confirmed) {
    if (!result.best && run.meets(promise)) result.best = run;
    if (run.value >= lowest * 0.99) continue;  // less than a percent better is not worth more money
    if (!result.frontier.empty() && result.frontier.back().candidate.usd_per_hour == run.candidate.usd_per_hour)
      continue;
    lowest = run.value;
    result.frontier.push_back(run);
  }
  result.unbatched = cheapest_unbatched(problem, screened, promise, options);
  return result;
}

}  // namespace rightsize::sim
