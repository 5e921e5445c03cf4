// Replicas that come and go: one policy on one stream of requests.
//
//   ClusterConfig config;                          // step times, limits of the engine, SLO
//   config.startup = sim::to_sim_time(seconds(110));
//   ScalingRun run = simulate(config, traffic, *parse_policy("hpa:target=12,max=20"));
//
// Each replica is the simulator's served engine (sim/continuous_engine.h), the same as in `rightsize batch`. A request
// goes to the ready replica with the fewest requests (among equals, the oldest) and stays there; without a ready
// replica it waits at the router. A replica is paid for from its start until it has drained. When scaling down,
// starting replicas are removed first, then the newest. The run ends with the last request.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "autoscale/policy.h"
#include "sim/arrivals.h"
#include "sim/continuous_batching.h"
#include "sim/quantiles.h"

namespace rightsize::autoscale {

// Limits on single requests; kNever: none.
struct Limits {
  SimTime ttft = sim::kNever, tpot = sim::kNever, latency = sim::kNever;
  double allowed = 0.01;  // share of requests that may exceed one of them

  bool exceeded(SimTime ttft_taken, SimTime latency_taken, std::int32_t output) const {
    // Division by the tokens would round.
    const bool slow =
        output > 1 && tpot != sim::kNever &&
        static_cast<double>(latency_taken - ttft_taken) > static_cast<double>(tpot) * static_cast<double>(output - 1);
    return ttft_taken > ttft || latency_taken > latency || slow;
  }
};

// Opens the stream of requests; the same one each time.
using Traffic = std::function<std::unique_ptr<sim::ArrivalStream>()>;

struct ClusterConfig {
  sim::StepCost cost = {};
  sim::ContinuousConfig engine = {};
  std::shared_ptr<const sim::Prompts> prompts = {};  // contents of prompts, for the prefix cache of each replica
  // Users who wait for their answers, instead of the stream. The run ends after `closed_requests`.
  std::shared_ptr<const sim::ClosedLoop> closed = {};
  std::uint64_t closed_requests = 0;
  SimTime startup = 0;
  Limits slo = {};
  std::size_t most_in_flight = 0;                        // later requests are sent when there is room; 0: no limit
  int least_replicas = 0, most_replicas = Policy{}.max;  // override the policy's
  SimTime until = sim::kNever;          // the clock stops here; requests that are not finished do not count
  std::optional<SimTime> failure = {};  // the oldest replica dies; its requests start again elsewhere
  std::uint64_t most_over = std::numeric_limits<std::uint64_t>::max();  // the run ends once more requests are over

  // Whether arrivals are independent of the policy.
  bool open_loop() const { return most_in_flight == 0 && !closed; }
};

// The policy limited to the cluster's minimum and maximum replicas.
Policy bounded(Policy policy, const ClusterConfig& config);

// Five minutes of a run. Requests belong to the slot in which they arrived; those that no replica ever served are over.
struct Slot {
  std::uint32_t requests = 0, over = 0;
  SimTime worst_ttft = 0;
  double ready = 0, paid = 0;  // replica-seconds
};
inline constexpr SimTime kSlot = whole_seconds(300);

struct ScalingRun {
  std::uint64_t requests = 0, over = 0;        // finished; over a limit
  std::uint64_t rejected = 0;                  // can never fit a replica's cache
  std::uint64_t unserved = 0;                  // still waiting when no more replicas will start
  double paid_seconds = 0, ready_seconds = 0;  // of replicas
  int most_ready = 0;
  int starts = 0;  // after the beginning
  SimTime end = 0;
  sim::LatencyHistogram ttft, tpot;
  std::vector<double> seconds_at;  // by number of replicas paid for
  std::vector<Slot> slots;

  double over_share() const {
    const double all = static_cast<double>(requests + unserved);
    return all > 0 ? static_cast<double>(over + unserved) / all : 0;
  }
  double mean_ready() const { return end > 0 ? ready_seconds / (static_cast<double>(end) * 1e-9) : 0; }
  bool meets(const Limits& slo) const { return over_share() <= slo.allowed; }
};

ScalingRun simulate(const ClusterConfig& config, const Traffic& traffic, const Policy& policy);

}  // namespace rightsize::autoscale
