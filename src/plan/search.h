// The searches: for every class of machines and every number of them, the fastest settings. The hourly price does not
// depend on the settings, so the fastest settings are the cheapest.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plan/hardware.h"
#include "plan/memory_table.h"
#include "plan/plan.h"

namespace rightsize::plan {

// The best way to use some machines of one class.
struct Option {
  std::size_t machines_class = 0;
  int machines = 1;
  int gpus = 1;
  model::Job job;
  double units_per_second = 0;
  perf::Interval interval;  // of units_per_second and times
  // Serving and offline.
  int replicas = 0;
  double running = 0;  // mean number of requests running on a replica
  // Serving: first screened by formulas, then sized with the fewest machines, then confirmed by simulation.
  bool sized = true, confirmed = true;
  std::size_t replica = 0;                       // index in the capacity planner
  int replicas_each = 1;                         // per machine, or per `machines_each` machines where a replica spans several
  int machines_each = 1;                         // that a replica spans
  double replica_takes = 0;                      // most requests per second of one replica
  int least_machines = 1;                        // fewer would not survive the loss of a replica
  double requests_per_second = 0;                // arrival rate
  double load = 0;                               // of the capacity, 0-1
  double busy = 0;                               // share of the time with work on the GPU
  Seconds ttft = {}, tpot = {};                  // at the SLO's percentile; without tokens ttft is the latency
  Seconds latency = {};                          // of a whole request, mean
  std::int64_t sequences = 0, token_budget = 0;  // the engine's limits
  Seconds delay = {};                            // longest time a batch waits for more requests
  std::vector<double> machine_takes = {};        // requests per second of one machine, by size of request
};

// Why configurations of one GPU were rejected: how many, and the one closest to working.
struct Obstacle {
  double count = 0;
  double distance = 1e300;  // of the nearest: need over have
  Shortfall nearest = {};

  // Records rejected configurations.
  void add(double configurations, double how_far, const Shortfall& shortfall) {
    count += configurations;
    if (how_far >= distance) return;
    distance = how_far;
    nearest = shortfall;
  }
};
using Obstacles = std::map<std::pair<std::string, Stage>, Obstacle>;  // by GPU name

struct SearchResult {
  std::vector<Option> options;
  Obstacles obstacles;
  Effort effort;
};

// Whether a setting turned out not to fit on a GPU when its exact memory was computed.
using Excluded = std::function<bool(const model::Job&, const catalog::Gpu&)>;

// `only`: only the classes of this GPU; nullptr: all.
SearchResult search_training(const Request& request, const std::vector<MachineClass>& classes,
                             const perf::Constants& constants, const perf::ModelWork& work, MemoryTable& memory,
                             const Excluded& excluded, const catalog::Gpu* only = nullptr);

// Offline jobs: the fastest replicas on each number of machines.
SearchResult search_offline(const Request& request, const std::vector<MachineClass>& classes,
                            const perf::Constants& constants, const perf::ModelWork& work);

// How far a model's weights are from fitting.
Shortfall missing_memory(const Request& request, const model::Job& job, const catalog::Gpu& gpu);

}  // namespace rightsize::plan
