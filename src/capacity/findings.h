// What was found by simulation, kept for whoever asks the same again: the variants of a request that `recommend`
// explores mostly ask for the same replicas under the same load.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "capacity/assessment.h"
#include "capacity/replica.h"

namespace rightsize::capacity {

// A simulation kept where it stopped: whoever wants to see more of it goes on from there.
class KeptRun {
 public:
  // What was seen when so many requests had arrived; each time more. Of batches only `all` says something.
  using Until = std::function<sim::ContinuousProfile(std::uint64_t requests)>;
  using Begin = std::function<Until()>;
  explicit KeptRun(Begin begin) : begin_(std::move(begin)), run_(begin_()) {}

  // When so many requests have arrived: the same whoever else has looked at it, when and how far. What others will ask
  // for (`looks`, ascending) is kept on the way; what nobody said takes a run of its own. Safe to call from several
  // threads.
  sim::ContinuousProfile at(std::uint64_t requests, const std::vector<std::uint64_t>& looks = {});

 private:
  std::mutex mutex_;
  Begin begin_;
  Until run_;
  std::uint64_t reached_ = 0;
  std::map<std::uint64_t, sim::ContinuousProfile> seen_;
};

class Findings {
 public:
  // Everything the answer depends on, as numbers: the service, the seed, the replica, the number of replicas.
  using Key = std::vector<double>;
  using Find = std::function<std::optional<Assessment>()>;

  // Calls `find` for the first to ask; others who ask meanwhile wait for it. Safe to call from several threads, but
  // `find` must not ask for its own key.
  std::optional<Assessment> of(const Key& key, const Find& find);

  // The run of this key: traffic_key(), seed, configuration. Services that differ in their SLOs share it.
  std::shared_ptr<KeptRun> run(const Key& key, const std::function<KeptRun::Begin()>& how);

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_future<std::optional<Assessment>>> known_;
  std::map<Key, std::shared_ptr<KeptRun>> runs_;
};

// What arrives and how it queues. A trace counts by its content.
Findings::Key traffic_key(const Service& service);
// The limits of a service.
void append_limits(const Service& service, Findings::Key& key);
// The times of a replica, whichever GPU they were found for.
void append_replica(const Replica& replica, Findings::Key& key);

}  // namespace rightsize::capacity
