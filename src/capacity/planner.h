// The planner of services, for every command: what a configuration delivers, and the cheapest one that keeps every SLO.
//
//   Planner planner(service, {*token_replica(...)});
//   planner.assess(configuration, {.requests = 20'000});   // what these replicas deliver under this load
//   planner.fewest(0, {.step = 8, .most = 64});            // the fewest that keep every SLO
//
// Formulas only screen (screen.h): what a user is shown has been simulated, step by step, with the same engine and the
// same times whichever command asks. Percentiles are those asked for. The same seed gives the same answer.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "capacity/findings.h"
#include "capacity/replica.h"
#include "capacity/service.h"
#include "sim/simulate.h"

namespace rightsize::capacity {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// How many replicas may be taken.
struct Counts {
  int step = 1;      // whole multiples of it
  int most = 4096;   // at most so many
  int at_least = 1;  // not fewer than this
};

class Planner {
 public:
  // Replicas all answer in batches or all make tokens.
  // Planners given the same findings do not simulate twice what they have in common.
  explicit Planner(Service service, std::vector<Replica> replicas = {}, std::uint64_t seed = 1,
                   std::shared_ptr<Findings> findings = std::make_shared<Findings>());

  const Service& service() const { return service_; }
  const std::vector<Replica>& replicas() const { return replicas_; }
  std::size_t add(Replica replica);
  // Requests a second that one of these replicas takes if means decided; see screen.h.
  double screened(std::size_t replica) const { return screened_[replica]; }

  // Requests a second at most.
  double capacity(const Configuration& configuration) const;

  // The worst of the SLOs at best, as a share of its limit; infinite when the load is more than max_load allows, or
  // more than what is left when a replica is lost. No run can go below it.
  double bound(const Configuration& configuration) const;

  // What a configuration delivers; nothing when the load is at or above its capacity. `density` scales the traffic.
  // Safe to call from several threads.
  std::optional<Assessment> assess(const Configuration& configuration, const sim::RunLength& length,
                                   double density = 1) const;

  // The same with as long a run as it takes to tell whether the SLOs are kept; nothing when they clearly are not.
  std::optional<Assessment> confirm(const Configuration& configuration) const;

  // The fewest replicas of one kind that keep every SLO, confirmed, with the engine's usual limits where they do and
  // others where only those do. Nothing when no allowed number does.
  std::optional<Assessment> fewest(std::size_t replica, const Counts& counts) const;

  // How many it will take at least, by first looks at some numbers: less work than fewest(). `doubt`: so far a first
  // look may be off, and other limits of the engine help.
  int at_least(std::size_t replica, const Counts& counts, double doubt, int most_looks) const;

 private:
  struct Glanced;
  // A run that has been decided, and its looks on the way.
  struct Watched {
    Assessment glance, first, last;
    std::optional<Assessment> kept;
  };

  Assessment assessed(const Configuration& configuration, const sim::ContinuousProfile& run,
                      const sim::ArrivalProcess& arrivals) const;
  void add_load(const sim::ArrivalProcess& arrivals, Assessment& assessment) const;
  // Runs are gone on with as far as needed. After how many requests they are looked at.
  std::vector<std::uint64_t> looks(const Configuration& configuration) const;
  std::optional<Assessment> look(const Configuration& configuration, std::uint64_t requests, std::uint64_t seed) const;
  KeptRun::Begin run_from_the_start(const Configuration& configuration, std::uint64_t seed) const;
  std::uint64_t run_of(const Configuration& configuration, double turnovers, std::uint64_t fewest) const;
  std::uint64_t warm_up(const Configuration& configuration) const;
  // Tokens (tokens.cc).
  std::vector<std::uint64_t> token_looks(const Configuration& configuration) const;
  std::uint64_t settled_after(const Configuration& configuration) const;
  Watched watch(const Configuration& configuration) const;
  bool may_do_better(const Configuration& configuration, const Watched& than, double slack,
                     bool glance_first = true) const;
  std::optional<double> clear_at_a_glance(Configuration configuration, double aim) const;
  // The worst SLO over its limit that so many replicas come to, as far as first looks tell; see bracket().
  double excess_of_tokens(std::size_t replica, int count, double aim, bool at_best) const;
  bool tokens_may_do_with(const Assessment& kept, int fewer) const;
  std::optional<Assessment> kept_by_engine(std::size_t replica, int count) const;
  // Batches (batches.cc).
  std::vector<std::uint64_t> batch_looks(const Configuration& configuration) const;
  Watched watch_batches(const Configuration& configuration) const;
  std::vector<Glanced> glances(std::size_t replica, int count, double delay) const;
  std::vector<Configuration> worth_trying(std::size_t replica, int count) const;
  double excess_of_batches(std::size_t replica, int count, double aim, bool at_best) const;
  bool batches_may_do_with(const Assessment& kept, int fewer) const;
  std::optional<Assessment> kept_by_batches(std::size_t replica, int count) const;
  std::optional<Assessment> settled(const Assessment& found) const;
  // Either (fewest.cc). The first limits tried with which so many replicas keep every SLO, confirmed. Simulated once.
  std::optional<Assessment> kept_by(std::size_t replica, int count) const;
  bool may_do_with(const Assessment& kept, int fewer) const;
  // Numbers of replicas in steps: what the load allows at least, what means would take, the most.
  struct Steps {
    int least = 1, guess = 1, last = 0;
  };
  Steps steps_of(std::size_t replica, const Counts& counts) const;
  // The last that is too few and the first that is enough for a worst SLO at `aim` of its limit, as far as some first
  // looks tell; `at_best`: by the lower ends of what they saw. Where to begin, nothing more.
  std::pair<int, int> bracket(std::size_t replica, int step, const Steps& steps, double aim, int most_looks,
                              bool at_best) const;
  int first_enough(std::size_t replica, int step, const Steps& steps) const;
  double known_over_first(const Configuration& configuration) const;
  int predicted_enough(const Configuration& seen, int step, int from, int above, int guess) const;
  int looks_of(std::size_t replica) const;
  Configuration usual(std::size_t replica, int count) const;
  double left_of(const Configuration& configuration) const;
  double mean_rate() const;
  sim::Server server_of(const Configuration& configuration) const;
  sim::ContinuousServer engine_of(const Configuration& configuration) const;
  bool continuous(const Configuration& c) const { return replicas_[c.groups.front().replica].continuous; }

  Service service_;
  std::vector<Replica> replicas_;
  std::vector<double> screened_;
  std::uint64_t seed_;
  std::shared_ptr<Findings> findings_;
  Findings::Key traffic_key_, service_key_;
};

}  // namespace rightsize::capacity
