// What was found by simulation, kept for whoever asks the same again: the variants of a request that `recommend`
// explores mostly ask for the same replicas under the same load.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "serving/assessment.h"
#include "serving/replica.h"

namespace rightsize::serving {

class Findings {
 public:
  // Everything the answer depends on, as numbers: service_key(), replica_key(), the number of replicas.
  using Key = std::vector<double>;
  using Find = std::function<std::optional<Assessment>()>;

  // Calls `find` for the first to ask; others who ask meanwhile wait for it. Safe to call from several threads, but
  // `find` must not ask for its own key.
  std::optional<Assessment> of(const Key& key, const Find& find);

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_future<std::optional<Assessment>>> known_;
};

// The traffic and limits of a service, the seed of its runs. A trace counts by its content.
Findings::Key service_key(const Service& service, std::uint64_t seed);
// The times of a replica, whichever GPU they were found for.
void append_replica(const Replica& replica, Findings::Key& key);

}  // namespace rightsize::serving
