// The capacity planner, shared by all commands: the performance of a configuration, and the fewest replicas that meet
// every SLO.
//
//   Planner planner(service, {replica});
//   planner.assess(configuration, {.requests = 20'000});   // the performance of these replicas under this load
//   planner.fewest(0, {.step = 8, .most = 64});            // the fewest that meet every SLO
//
// The search for the fewest: formulas guess a count (screen.h); bisection over short simulations finds the smallest
// count that may be enough; from there upwards, longer simulations confirm or refuse counts. A count is confirmed when
// the upper end of the 95 % confidence interval of every SLO's statistic is within its limit, in two runs with
// different seeds. A value with an interval within 3 % that contains the limit is refused. All counts and settings see
// the same requests (common random numbers). The same seed gives the same answer. Of the settings that meet the SLOs
// with this count, the one with the most room is returned.
//
// For a recording, the busiest hour decides (busiest.h). Its percentiles count, not their intervals, because the replay
// is exact. The whole recording is then replayed once to verify the choice.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "capacity/run_cache.h"

namespace rightsize::capacity {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Which numbers of replicas are allowed.
struct ReplicaCounts {
  int step = 1;      // only multiples of this
  int most = 4096;   // at most this many
  int at_least = 1;  // at least this many
  int together = 1;  // Configuration::together
};

class Planner {
 public:
  // Either all replicas serve batches or all generate tokens. Planners with the same cache share simulations.
  explicit Planner(Service service, std::vector<Replica> replicas = {}, std::uint64_t seed = 1,
                   std::shared_ptr<RunCache> cache = RunCache::of_process());

  const Service& service() const { return service_; }
  const std::vector<Replica>& replicas() const { return replicas_; }
  std::size_t add(Replica replica);
  // Requests per second that one of these replicas serves within the SLOs, by formulas; see screen.h.
  double screened(std::size_t replica) const { return screened_[replica]; }

  // Requests per second with batches as large as limits and cache allow.
  double capacity(const Configuration& configuration) const;

  // A lower bound on the ratio of a value to its limit, over all SLOs: the latency of an idle replica. Infinite if the
  // load is above max_load, or above the remaining capacity after the loss of replicas that fail together.
  double bound(const Configuration& configuration) const;

  // The performance of a configuration in a run of this length; empty if the load is at or above capacity. `density`
  // scales the traffic. Thread-safe.
  std::optional<Assessment> assess(const Configuration& configuration, const sim::RunLength& length,
                                   double density = 1) const;

  // The same for a configuration with the same run as this one.
  std::optional<Assessment> assess_like(const Configuration& configuration, const Assessment& same) const;

  // The same in a run that continues until every SLO's interval has this relative half width, or for `most_requests`.
  std::optional<Assessment> assess_until_tight(const Configuration& configuration, std::uint64_t most_requests,
                                               std::uint64_t seed, double tight) const;

  // The performance over the whole recording; the planner otherwise uses only the busiest hour. Empty if the recording
  // is not longer, or if the configuration falls behind.
  std::optional<Assessment> replay(const Configuration& configuration) const;
  bool is_part_of_recording() const { return whole_ != nullptr; }

  // The performance of a configuration if it is confirmed to meet every SLO; otherwise empty.
  std::optional<Assessment> confirm(const Configuration& configuration) const;

  // The fewest replicas of one kind that are confirmed to meet every SLO, with the engine's default limits or, if those
  // fail, with other limits. Empty if no allowed number does.
  std::optional<Assessment> fewest(std::size_t replica, const ReplicaCounts& counts) const;

  // The number of replicas from which requests hardly ever meet: if these miss an SLO, more replicas miss it too.
  int idle_from(std::size_t replica) const;

  // A lower estimate of fewest() from short runs, which take much less time. At most counts.most.
  int at_least(std::size_t replica, const ReplicaCounts& counts) const;

 private:
  struct Range;
  struct Decision {
    std::optional<Assessment> last;  // empty: overloaded
    bool kept = false;
  };
  static constexpr std::size_t kAtAGlance = 0, kFirst = 3;  // numbers of looks at a run

  double capacity(const Configuration& configuration, const sim::RequestShape& lengths) const;
  Assessment assessed(const Configuration& configuration, sim::LatencyProfile profile,
                      const sim::ArrivalProcess& arrivals) const;
  std::unique_ptr<sim::Run> start(const Configuration& configuration, const sim::ArrivalProcess& arrivals,
                                  std::uint64_t seed, std::uint64_t warm_up) const;
  bool keeps_all_day(const Configuration& configuration) const;
  bool overloaded(const Configuration& configuration, const sim::ArrivalProcess& arrivals) const;
  double in_flight(const Configuration& configuration) const;
  double correlated(const Configuration& configuration) const;
  std::uint64_t warm_up(const Configuration& configuration) const;
  std::vector<std::uint64_t> looks(const Configuration& configuration) const;
  std::optional<Assessment> look(const Configuration& configuration, std::size_t number, std::uint64_t seed) const;
  sim::LatencyProfile measured(const Configuration& configuration, std::size_t number, std::uint64_t seed) const;
  RunCache::Key key_of(const Configuration& configuration, std::size_t traffic, std::uint64_t seed) const;
  Decision decide(const Configuration& configuration, std::uint64_t seed) const;
  Decision decide(const Configuration& configuration) const;

  // The search.
  Range range_of(std::size_t replica, const ReplicaCounts& counts) const;
  std::vector<Configuration> settings(const Configuration& replicas, double delay) const;
  bool may_improve(const Configuration& configuration, const Assessment& other, bool lower_ends, double share) const;
  bool may_keep(const Configuration& replicas) const;
  std::optional<Assessment> kept_with(const Configuration& replicas) const;
  Assessment with_most_room(Assessment kept) const;
  int first_candidate(std::size_t replica, const Range& range) const;

  double mean_rate() const;
  sim::Server server_of(const Configuration& configuration) const;
  sim::ContinuousServer engine_of(const Configuration& configuration) const;
  bool continuous(const Configuration& c) const { return replicas_[c.groups.front().replica].continuous; }

  std::shared_ptr<const sim::Trace> whole_;  // the whole recording; null if service_ already has all of it
  Service service_;
  std::vector<Replica> replicas_;
  std::vector<double> screened_;
  std::vector<std::size_t> numbers_;  // of the replicas in the cache
  std::uint64_t seed_;
  std::shared_ptr<RunCache> cache_;
  std::size_t traffic_, whole_traffic_;  // in the cache
};

}  // namespace rightsize::capacity
