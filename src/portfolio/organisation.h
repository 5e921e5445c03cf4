// An organisation: pools of GPUs, and workloads with the options to run each.
//
//   Checked<Organisation> organisation = read_organisation(path, text, catalog);
//
// optimum.h finds the cheapest plan. docs/portfolio.md describes the file and the cost of a plan. Dollars are plain
// numbers here, per month, because solvers use them as costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml_reader.h"
#include "catalog/catalog.h"
#include "mig/geometry.h"
#include "mig/workloads.h"
#include "model/job.h"
#include "solve/cluster.h"

namespace rightsize::portfolio {

// A part of every month, such as all nights; its hours are summed over the days.
struct Block {
  std::string name;
  double hours = 0;
};

// GPUs of one kind in one place.
struct Pool {
  std::string name;
  const catalog::Gpu* gpu = nullptr;
  double usd_per_gpu_hour = 0;  // on demand
  int gpus_per_machine = 1;
  std::optional<int> quota;              // on-demand GPUs at a time
  int reserved = 0;                      // GPUs that are owned or committed
  double reserved_usd = 0;               // their cost per month, used or not
  std::optional<double> offer_usd;       // per month and additional reserved GPU, for a one-year term
  std::optional<double> long_offer_usd;  // the same for three years
  bool mig = false;
  std::optional<mig::Geometry> geometry;  // set if its GPUs may be partitioned
  std::string region;                     // empty: unknown
};

// How an option shares its GPUs. The names are those of the JSON.
// Begins with the values of sharing::Mechanism.
enum class How { kDedicated, kMig, kMps, kTimeSlicing, kSleep, kLora, kScaleToZero, kSpot, kQueue, kBought };
std::string_view name_of(How how);

// One way to run a workload.
struct Option {
  std::string where;
  int pool = -1;           // index of the pool; -1: bought by itself
  std::vector<int> gpus;   // whole GPUs by block; of a pool only
  std::vector<int> needs;  // MIG instances by position in Geometry::plain_profiles(); empty: none
  double usd = 0;          // per month, in addition to the GPUs
  double kwh = 0;          // per month, with hosts and cooling; 0: unknown
  How how = How::kDedicated;
  std::string region;                            // of an option bought by itself
  std::string takes;                             // of one bought by itself: "8x h100-sxm"; empty: unknown
  std::vector<std::optional<Seconds>> p95 = {};  // of requests to a small model, or to each member of a group

  bool in_pool() const { return pool >= 0; }
};

struct Workload {
  std::string name;
  std::string team;
  std::vector<Option> options;
  std::optional<mig::Workload> small;  // instead of options: a model that may share a GPU
  std::vector<std::size_t> members;    // of a group of small models (small_models.h): positions in the file
  std::vector<model::Setting> work;    // instead of options: a request of `recommend`
  double runs = 1;                     // of a job, per month
  std::vector<std::pair<std::string, std::string>> rate_by_block;  // of a service: block, rate
  std::vector<std::string> regions;                                // allowed regions of its data; empty: anywhere
  std::string apart;                // workloads with the same word run in different pools
  std::vector<std::string> blocks;  // the only blocks in which it may run; empty: all
  std::optional<int> now;           // the option in use
  std::string left_out;             // a cheaper recommended plan without enough evidence, in words
  std::vector<int> dropped;         // positions of options that break `regions` or `blocks`, ascending
  Place place;

  bool allows(int option) const;
};

// A group of workloads with a budget.
struct Team {
  std::string name;
  std::optional<double> budget;  // dollars per month
};

// Machines and the pods that run on them: packed as a whole, at no cost in the plan.
struct Cluster {
  std::vector<solve::ClusterNode> nodes;
  std::vector<solve::ClusterTask> pods;
};

// Demand relative to that of the file.
struct DemandRange {
  double low = 1, likely = 1, high = 1;
};

struct Organisation {
  std::vector<Block> blocks;
  std::vector<Pool> pools;
  std::vector<Workload> workloads;
  std::vector<Team> teams;
  std::optional<Cluster> cluster;
  std::optional<DemandRange> demand;
  std::optional<double> budget;    // dollars per month for all workloads together
  std::optional<int> moves;        // workloads that may change their option at once
  std::vector<std::string> notes;  // what the file has and the plan does not use

  double month_hours() const;
  double reserved_usd() const;  // of all pools
  // An option in a pool, without GPUs.
  Option in_pool(std::size_t pool, How how) const;
};

// The capacity an option uses: "4 GPUs", "3 GPUs day, 1 night", "2x 1g.10gb".
std::string needs_of(const Organisation& organisation, const Option& option);

// One option for each workload, by position.
using Choice = std::vector<int>;

// Reads and checks the whole file; every mistake has its line. Workloads with `work` have no options yet
// (work_options.h).
Checked<Organisation> read_organisation(const std::string& file, std::string text, const catalog::Catalog& catalog,
                                        const KeyNames& names = {});

// Marks the options that break a workload's regions or blocks. Fails if none is left.
Result<> apply_rules(const Organisation& organisation, Workload& workload);

}  // namespace rightsize::portfolio
