// The searches: for every class of machines and every number of them, the fastest settings. The hourly price does not
// depend on the settings, so the fastest settings are the cheapest.
#pragma once

#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "memory/memory_table.h"
#include "plan/hardware.h"
#include "plan/plan.h"

namespace rightsize::plan {

// The best way to use a number of machines of one class.
struct Option : Deployment {
  std::size_t machines_class = 0;
  // Serving: first screened by formulas, then sized with the fewest machines, then confirmed by simulation.
  bool sized = true, confirmed = true;
  std::size_t replica = 0;   // index in the capacity planner
  int replicas_each = 1;     // per machine, or per `machines_each` machines if a replica spans several
  int machines_each = 1;     // machines that a replica spans
  double replica_takes = 0;  // most requests per second of one replica
  double screened = 0;       // replicas that the formulas ask for, before they are rounded up to whole machines
  int least_machines = 1;    // fewer could not carry the load, or not after the loss of a machine
  // Once confirmed: machines that meet the limits on latency if everything takes speed.high times as long, with the
  // best layout, and whether --max-gpus and the budget allow that many; 0: no number does. Empty: not simulated.
  std::optional<int> machines_if_slow = {};
  bool slow_is_allowed = true;
  std::vector<double> machine_takes = {};  // requests per second of one machine, by size of request
  std::vector<int> machines_by_hour = {};  // where the rate is known by hour
  double memory_used = 0;                  // training: share of the GPU's memory at the high end of the need

  // The paid share of a month if machines follow the hours: mean divided by maximum.
  double paid_share() const {
    if (machines_by_hour.empty()) return 1;
    const double all = std::accumulate(machines_by_hour.begin(), machines_by_hour.end(), 0.0);
    return all / (static_cast<double>(machines_by_hour.size()) * machines);
  }
};

// Why configurations of one GPU were rejected: how many, and the one closest to working.
struct Obstacle {
  double count = 0;
  double distance = 1e300;  // of the nearest: need divided by have
  Shortfall nearest = {};

  // Records rejected configurations.
  void add(double configurations, double how_far, const Shortfall& shortfall) {
    count += configurations;
    if (how_far >= distance) return;
    distance = how_far;
    nearest = shortfall;
  }
};
using Obstacles = std::map<std::pair<std::string, RejectionStage>, Obstacle>;  // by GPU name

struct FoundOptions {
  std::vector<Option> options;
  Obstacles obstacles;
  SearchEffort effort;

  // Counts rejected configurations: one for each offer of these machines.
  void reject(const MachineClass& machines, RejectionStage stage, double distance, const Shortfall& shortfall) {
    effort.unfit += machines.all_offers;
    obstacles[{machines.gpu->name, stage}].add(machines.all_offers, distance, shortfall);
  }
};

// Whether the exact memory of a setting proved too large for a GPU.
using Excluded = std::function<bool(const model::Job&, const catalog::Gpu&)>;

// `only`: only the classes of this GPU; nullptr: all.
FoundOptions search_training(const Request& request, const std::vector<MachineClass>& classes,
                             const perf::Constants& constants, const perf::ModelWork& work, memory::MemoryTable& memory,
                             const Excluded& excluded, const catalog::Gpu* only = nullptr);

// Offline jobs: the fastest replicas on each number of machines.
FoundOptions search_offline(const Request& request, const std::vector<MachineClass>& classes,
                            const perf::Constants& constants, const perf::ModelWork& work);

// How far a model's weights are from fitting.
Shortfall missing_memory(const Request& request, const model::Job& job, const catalog::Gpu& gpu);

}  // namespace rightsize::plan
