#include "capacity/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/cancel.h"
#include "base/long_work.h"
#include "base/threads.h"

namespace rightsize::capacity {
namespace {

constexpr double kFarOff = 10;            // settings with a bound this far above an SLO are not simulated
constexpr std::size_t kPerPrice = 3;      // settings that are confirmed at each price
constexpr double kScreeningError = 1.15;  // how far a short run may be off
constexpr double kRejectedError = 2;      // the same for the share of rejected requests

struct Ranked {
  Assessment run;
  double excess = 0;  // the worst SLO's value over its limit
};

bool cheaper(const Ranked& a, const Ranked& b) {
  // A limit that no run reaches changes nothing but the room: the wider one is at the smaller share of its capacity.
  const auto key = [](const Ranked& one) { return std::tuple(one.run.configuration.price, one.excess, one.run.load); };
  return key(a) < key(b);
}

class ConfigurationSearcher {
 public:
  ConfigurationSearcher(const Planner& planner, const SearchOptions& options, std::uint64_t seed)
      : planner_(planner), service_(planner.service()), options_(options), seed_(seed) {}

  ConfigurationSearch run(const std::vector<Configuration>& configurations) {
    screen(configurations);
    const std::vector<Configuration> chosen = worth_confirming();
    std::vector<Ranked> confirmed =
        assess_all(chosen, "settings confirmed", [this](const Configuration& c) { return confirm(c); });
    result_.confirmed = confirmed.size();
    if (cancelled() && confirmed.empty()) confirmed = screened_;  // cancelled: report the short runs
    double lowest = std::numeric_limits<double>::infinity();
    for (const Ranked& one : confirmed) {
      if (!result_.best && one.run.keeps(service_)) result_.best = one.run;
      if (one.excess >= lowest * 0.99) continue;  // an improvement below 1 % is not worth more money
      if (!result_.frontier.empty() && result_.frontier.back().configuration.price == one.run.configuration.price)
        continue;
      lowest = one.excess;
      result_.frontier.push_back(one.run);
    }
    result_.unbatched = cheapest_unbatched();
    return std::move(result_);
  }

 private:
  // Configurations that are not overloaded, cheapest first. Those that differ only in the sequences of a replica are
  // assessed together, the highest limit first: a limit that no replica reaches gives the same run.
  template <class Assess>
  std::vector<Ranked> assess_all(const std::vector<Configuration>& configurations, const char* what,
                                 const Assess& assess) {
    const LongWork counted(what, configurations.size());
    std::vector<std::optional<Assessment>> runs(configurations.size());
    std::map<RunCache::Key, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const Configuration& c = configurations[i];
      RunCache::Key key{0, 0, c.groups, c.engine, c.batching, c.executors};
      key.engine.max_sequences = 0;
      alike[key].push_back(i);
    }
    std::vector<std::vector<std::size_t>> together;
    for (auto& [key, members] : alike) together.push_back(std::move(members));
    for_each_index(together.size(), options_.threads, [&](std::size_t group) {
      const auto limit = [&](std::size_t i) { return configurations[i].engine.max_sequences; };
      std::sort(together[group].begin(), together[group].end(),
                [&](std::size_t a, std::size_t b) { return limit(a) > limit(b); });
      const Assessment* wider = nullptr;
      for (const std::size_t i : together[group]) {
        if (cancelled()) return;
        const bool same = wider != nullptr && wider->profile.largest_batch < limit(i);
        runs[i] = same ? planner_.assess_like(configurations[i], *wider) : assess(configurations[i]);
        if (cancelled()) runs[i].reset();  // incomplete
        if (runs[i]) wider = &*runs[i];
        LongWork::step();
      }
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

  // Simulates every configuration within the bounds for a short time.
  void screen(const std::vector<Configuration>& configurations) {
    std::vector<Configuration> possible;
    for (const Configuration& c : configurations) {
      const double bound = planner_.bound(c);
      if (std::isinf(bound)) {
        ++result_.unstable;
      } else if (bound > kFarOff) {
        ++result_.bounded;
      } else {
        possible.push_back(c);
      }
    }
    result_.considered = configurations.size();
    const sim::RunLength length{options_.screening_requests, seed_};
    screened_ =
        assess_all(possible, "settings simulated", [&](const Configuration& c) { return planner_.assess(c, length); });
    result_.simulated = screened_.size();
  }

  // The best few at each price, if they are faster than everything cheaper.
  std::vector<Configuration> worth_confirming() const {
    std::vector<Configuration> chosen;
    double best_below = std::numeric_limits<double>::infinity(), price = -1;
    double best_here = best_below;
    std::size_t here = 0;
    for (const Ranked& one : screened_) {
      // Rejecting too many requests is not acceptable, however fast the others are.
      if (one.run.rejected_share() > kRejectedError * service_.most_rejected + 0.001) continue;
      if (one.run.configuration.price != price) {
        best_below = std::min(best_below, best_here);
        price = one.run.configuration.price;
        here = 0;
        best_here = one.excess;
      }
      if (one.excess <= kFarOff && here < kPerPrice && one.excess < best_below * kScreeningError) {
        chosen.push_back(one.run.configuration);
        ++here;
      }
    }
    return chosen;
  }

  std::optional<Assessment> confirm(const Configuration& c) const {
    return planner_.assess_until_tight(c, options_.confirming_requests, seed_ + 1, options_.tight_enough);
  }

  std::optional<Assessment> cheapest_unbatched() const {
    for (const Ranked& one : screened_) {
      if (cancelled()) break;
      if (!is_unbatched(planner_, one.run.configuration) || one.excess > kScreeningError) continue;
      std::optional<Assessment> confirmed = confirm(one.run.configuration);
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
  ConfigurationSearch result_;
};

}  // namespace

bool is_unbatched(const Planner& planner, const Configuration& c) {
  return planner.replicas()[c.groups.front().replica].continuous ? c.engine.max_sequences == 1
                                                                 : c.batching.max_batch == 1;
}

ConfigurationSearch search(const Planner& planner, const std::vector<Configuration>& configurations,
                           const SearchOptions& options, std::uint64_t seed) {
  return ConfigurationSearcher(planner, options, seed).run(configurations);
}

}  // namespace rightsize::capacity
