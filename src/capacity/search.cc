#include "capacity/search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/cancel.h"
#include "base/long_work.h"
#include "base/threads.h"

namespace rightsize::capacity {
namespace {

constexpr double kOfInterest = 10;        // settings that cannot come within so many times the SLO are left out
constexpr std::size_t kPerPrice = 3;      // the best of the screening at each price are confirmed
constexpr double kRejectedDoubt = 2;      // the same for the share that is turned away
constexpr double kScreeningDoubt = 1.15;  // how far a short run may be off

// Calls work(i) for every i below count, on several threads.
template <class Work>
void in_parallel(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  auto worker = [&, flag = cancellation()] {
    const CancelScope scope(flag);
    for (std::size_t i = next++; i < count && !cancelled(); i = next++) {
      work(i);
      LongWork::step();
    }
  };
  in_threads(std::min<unsigned>(threads, static_cast<unsigned>(count)), worker);
}

// An assessment with what it is ranked by.
struct Ranked {
  Assessment run;
  double excess = 0;  // the worst SLO's value over its limit
};

bool cheaper(const Ranked& a, const Ranked& b) {
  const double price_a = a.run.configuration.price, price_b = b.run.configuration.price;
  return price_a != price_b ? price_a < price_b : a.excess < b.excess;
}

class Search {
 public:
  Search(const Planner& planner, const SearchOptions& options, std::uint64_t seed)
      : planner_(planner), service_(planner.service()), options_(options), seed_(seed) {}

  SearchResult run(const std::vector<Configuration>& configurations) {
    screen(configurations);
    const std::vector<Configuration> chosen = worth_confirming();
    std::vector<Ranked> confirmed = assess_all(chosen, confirming(), "settings confirmed");
    result_.confirmed = confirmed.size();
    if (cancelled() && confirmed.empty()) confirmed = screened_;  // asked to stop: the short runs are what there is
    double lowest = std::numeric_limits<double>::infinity();
    for (const Ranked& one : confirmed) {
      if (!result_.best && one.run.keeps(service_)) result_.best = one.run;
      if (one.excess >= lowest * 0.99) continue;  // less than a percent better is not worth more money
      if (!result_.frontier.empty() && result_.frontier.back().configuration.price == one.run.configuration.price)
        continue;
      lowest = one.excess;
      result_.frontier.push_back(one.run);
    }
    result_.unbatched = cheapest_unbatched();
    return std::move(result_);
  }

 private:
  // Those that ran, cheapest first.
  std::vector<Ranked> assess_all(const std::vector<Configuration>& configurations, const sim::RunLength& length,
                                 const char* what) {
    const LongWork counted(what, configurations.size());
    std::vector<std::optional<Assessment>> runs(configurations.size());
    in_parallel(configurations.size(), options_.threads, [&](std::size_t i) {
      runs[i] = planner_.assess(configurations[i], length);
      if (cancelled()) runs[i].reset();  // cut off in the middle
    });
    std::vector<Ranked> ranked;
    for (auto& run : runs) {
      if (!run) continue;
      const double excess = run->excess(service_);
      ranked.push_back({*std::move(run), excess});
    }
    std::stable_sort(ranked.begin(), ranked.end(), cheaper);
    return ranked;
  }

  // Every configuration that survives the bounds, with its short run.
  void screen(const std::vector<Configuration>& configurations) {
    std::vector<Configuration> possible;
    for (const Configuration& c : configurations) {
      const double bound = planner_.bound(c);
      if (std::isinf(bound)) {
        ++result_.unstable;
      } else if (bound > kOfInterest) {
        ++result_.bounded;
      } else {
        possible.push_back(c);
      }
    }
    result_.considered = configurations.size();
    screened_ = assess_all(possible, {options_.screening_requests, seed_, 0, Statistic::kP99}, "settings simulated");
    result_.simulated = screened_.size();
  }

  // At each price the best few, if they promise less latency than everything cheaper.
  std::vector<Configuration> worth_confirming() const {
    std::vector<Configuration> chosen;
    double best_below = std::numeric_limits<double>::infinity(), price = -1;
    double best_here = best_below;
    std::size_t here = 0;
    for (const Ranked& one : screened_) {
      // What clearly turns away too many is no answer, however fast the rest is served.
      if (one.run.rejected_share() > kRejectedDoubt * service_.most_rejected + 0.001) continue;
      if (one.run.configuration.price != price) {
        best_below = std::min(best_below, best_here);
        price = one.run.configuration.price;
        here = 0;
        best_here = one.excess;
      }
      if (one.excess <= kOfInterest && here < kPerPrice && one.excess < best_below * kScreeningDoubt) {
        chosen.push_back(one.run.configuration);
        ++here;
      }
    }
    return chosen;
  }

  sim::RunLength confirming() const {
    return {options_.confirming_requests, seed_ + 1, options_.tight_enough, service_.slos.front().at};
  }

  // Tried in order of price.
  std::optional<Assessment> cheapest_unbatched() const {
    for (const Ranked& one : screened_) {
      if (cancelled()) break;
      if (!is_unbatched(planner_, one.run.configuration) || one.excess > kScreeningDoubt) continue;
      std::optional<Assessment> confirmed = planner_.assess(one.run.configuration, confirming());
      if (cancelled()) break;
      if (confirmed && confirmed->keeps(service_)) return confirmed;
    }
    return std::nullopt;
  }

  const Planner& planner_;
  const Service& service_;
  const SearchOptions& options_;
  std::uint64_t seed_;
  std::vector<Ranked> screened_;
  SearchResult result_;
};

}  // namespace

bool is_unbatched(const Planner& planner, const Configuration& c) {
  return planner.replicas()[c.groups.front().replica].continuous ? c.engine.max_sequences == 1
                                                                 : c.batching.max_batch == 1;
}

SearchResult search(const Planner& planner, const std::vector<Configuration>& configurations,
                    const SearchOptions& options, std::uint64_t seed) {
  return Search(planner, options, seed).run(configurations);
}

}  // namespace rightsize::capacity
