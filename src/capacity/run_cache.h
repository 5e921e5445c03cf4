// Simulations shared between planners: the variants that `recommend` explores mostly need the same replicas under the
// same traffic, with other limits.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "capacity/assessment.h"
#include "capacity/replica.h"

namespace rightsize::capacity {

// A run that is measured at fixed numbers of arrivals. It continues from the last of them when a later one is needed.
class SharedRun {
 public:
  using Start = std::function<std::unique_ptr<sim::Run>()>;
  explicit SharedRun(std::vector<std::uint64_t> looks) : looks_(std::move(looks)) {}

  // The measurements after looks[look] arrivals. They do not depend on earlier calls, not even cancelled ones.
  // Thread-safe.
  sim::LatencyProfile at(std::size_t look, const Start& start);

 private:
  std::mutex mutex_;
  std::unique_ptr<sim::Run> run_;
  std::vector<std::uint64_t> looks_;
  std::vector<sim::LatencyProfile> seen_;
};

// Thread-safe.
class RunCache {
 public:
  // Equal traffic and replicas with equal times get equal numbers, whichever planner or GPU they belong to.
  std::size_t traffic_number(const Service& service);
  std::size_t replica_number(const Replica& replica);

  struct Key {
    std::size_t traffic = 0;
    std::uint64_t seed = 0;
    std::vector<ReplicaGroup> groups;  // ReplicaGroup::replica is a replica_number()
    sim::ContinuousConfig engine;
    sim::DynamicBatchConfig batching;
    int executors = 1;

    auto operator<=>(const Key&) const = default;
  };
  std::shared_ptr<SharedRun> run(const Key& key, const std::function<std::vector<std::uint64_t>()>& looks);

  // The cache of this process: questions to a server that differ only in limits or prices need the same runs. A full
  // cache is replaced by an empty one.
  static std::shared_ptr<RunCache> of_process();

 private:
  bool is_full() const;

  mutable std::mutex mutex_;
  std::vector<Service> traffic_;
  std::vector<Replica> replicas_;
  std::map<Key, std::shared_ptr<SharedRun>> runs_;
};

}  // namespace rightsize::capacity
