// The planner of services, for every command: what a configuration delivers, and the cheapest one that keeps every SLO.
//
//   Planner planner(service, {*token_replica(...)});
//   planner.assess(configuration, {.requests = 20'000});   // what these replicas deliver under this load
//   planner.fewest(0, {.step = 8, .most = 64});            // the fewest that keep every SLO
//
// Formulas only screen (screen.h): what a user is shown has been simulated, step by step, with the same engine and the
// same times whichever command asks. Percentiles are those asked for. The same seed gives the same answer.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "serving/replica.h"
#include "serving/service.h"
#include "sim/simulate.h"

namespace rightsize::serving {

// Alike replicas of a configuration.
struct Group {
  std::size_t replica = 0;  // index into the planner's replicas
  int count = 1;

  bool operator==(const Group&) const = default;
};

// Replicas behind one router, and the limits their servers run with.
struct Configuration {
  std::vector<Group> groups;
  sim::DynamicBatchConfig batching = {};  // batches
  int executors = 1;                      // batches: model instances on each GPU
  sim::ContinuousConfig engine = {};      // tokens
  double price = 0;                       // of all replicas, in whatever unit they are compared by

  int replicas() const;
};

// What a configuration delivers under a service's load.
struct Assessment {
  Configuration configuration;
  sim::LatencyProfile profile;                                                // whole requests
  sim::StatisticValues ttft{}, tpot{}, ttft_half_width{}, tpot_half_width{};  // tokens only; nanoseconds
  std::uint64_t steps = 0, preemptions = 0;
  double output_tokens_per_second = 0;
  double capacity = 0;  // requests a second at most, batches as full as limits and cache allow
  double load = 0;      // arrivals over capacity; 0 for a trace without a rate
  double busy = 0;      // share of time with work on the GPU, in the long run: the empty start and end are left out

  Seconds value(Quantity quantity, Statistic at) const;
  Seconds value(const Slo& slo) const { return value(slo.quantity, slo.at); }
  // Of the 95 % interval; NaN when the run was short.
  Seconds half_width(const Slo& slo) const;
  double rejected_share() const;
  // The worst value over its limit; 0 without SLOs.
  double excess(const Service& service) const;
  // Every SLO with the upper end of its interval, and not too many turned away.
  bool keeps(const Service& service) const;
};

// How many replicas may be taken.
struct Counts {
  int step = 1;      // whole multiples of it
  int most = 4096;   // at most so many
  int at_least = 1;  // not fewer than this
};

class Planner {
 public:
  // Replicas all answer in batches or all make tokens.
  explicit Planner(Service service, std::vector<Replica> replicas = {}, std::uint64_t seed = 1)
      : service_(std::move(service)), replicas_(std::move(replicas)), seed_(seed) {
    service_.mean_lengths = mean_of(service_);
  }

  const Service& service() const { return service_; }
  const std::vector<Replica>& replicas() const { return replicas_; }
  std::size_t add(Replica replica);

  // Requests a second at most.
  double capacity(const Configuration& configuration) const;

  // The worst of the SLOs at best, as a share of its limit; infinite when the load is more than max_load allows. No run
  // can go below it.
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

 private:
  // The first limits tried with which so many replicas keep every SLO, confirmed.
  std::optional<Assessment> kept_by(std::size_t replica, int count) const;
  std::optional<Assessment> kept_by_engine(std::size_t replica, int count) const;
  std::optional<Assessment> kept_by_batches(std::size_t replica, int count) const;
  std::uint64_t run_of(const Configuration& configuration, double turnovers, std::uint64_t fewest) const;
  sim::Server server_of(const Configuration& configuration) const;
  sim::ContinuousServer engine_of(const Configuration& configuration) const;
  bool continuous(const Configuration& c) const { return replicas_[c.groups.front().replica].continuous; }

  Service service_;
  std::vector<Replica> replicas_;
  std::uint64_t seed_;
};

}  // namespace rightsize::serving
