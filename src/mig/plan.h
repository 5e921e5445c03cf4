// Finds the cheapest GPUs for workloads that run in MIG slices: how many of which type, how each is partitioned, and
// which workload runs in which slice.
//
//   Result<SlicePlan> plan = plan_slices(file, types, speeds, {});
//   bool optimal = plan->rate == plan->least_rate;       // proved
//
// assign.h describes the method.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "market/price_book.h"
#include "mig/geometry.h"
#include "mig/workloads.h"

namespace rightsize::mig {

// A GPU that may be bought.
struct GpuType {
  const catalog::Gpu* gpu = nullptr;
  std::optional<Geometry> geometry;  // not set: it cannot be partitioned
  UsdPerGpuSecond rate;
  std::string price_from;  // the source of the price

  double usd_per_hour() const { return in_usd_per_gpu_hour(rate); }  // for solvers, which use plain numbers
};

// The GPU at its price in the book; empty if it has none on these terms.
std::optional<GpuType> priced_type(const market::PriceBook& prices, const catalog::Gpu& gpu,
                                   catalog::Purchase purchase);

// One replica of a workload: the workload's index in the file, and which of its replicas.
struct ReplicaId {
  std::size_t workload = 0;
  int number = 0;

  auto operator<=>(const ReplicaId&) const = default;
};

struct PlannedInstance {
  Instance where;
  std::vector<ReplicaId> replicas;  // more than one: they share it through MPS
};

struct PlannedGpu {
  std::size_t type = 0;
  std::vector<PlannedInstance> instances;  // by start
};

// A workload that fits no slice of the allowed GPUs.
struct Unplaceable {
  std::size_t workload = 0;
  std::string reason;     // against the largest slice allowed
  std::string would_fit;  // the cheapest whole GPU that fits, with its price; empty: none
};

struct SlicePlan {
  std::vector<PlannedGpu> gpus;
  std::vector<Unplaceable> unplaceable;  // not empty: there is no plan
  UsdPerSecond rate;
  UsdPerSecond least_rate;   // no plan costs less
  bool out_of_time = false;  // the time limit was reached: another machine may find another plan

  bool proved() const { return rate <= least_rate * (1 + 1e-9); }
  double gap() const { return least_rate > UsdPerSecond{} ? rate / least_rate - 1 : 0; }
};

inline constexpr std::size_t kMostMpsClients = 48;  // of one GPU or instance (CUDA MPS documentation)

struct PlanOptions {
  bool share = false;                         // workloads that allow it may share a slice through MPS
  Seconds limit = seconds(60);                // of each model; the node limit normally ends it earlier
  const market::PriceBook* prices = nullptr;  // of GPUs other than the allowed ones; null: none are suggested
};

Result<SlicePlan> plan_slices(const WorkloadFile& file, const std::vector<GpuType>& types,
                              const perf::SpeedTable& speeds, const PlanOptions& options);

// A way to run the workloads, to compare the MIG plan with.
struct Alternative {
  std::string name;       // "mig", "mps", ...
  std::string what;       // one line for people
  std::string isolation;  // how one workload can affect another
  bool feasible = false;
  std::string why_not = {};                                    // if not feasible
  std::vector<std::pair<std::string, std::size_t>> gpus = {};  // type and number, most frequent first
  std::size_t gpu_count = 0;
  UsdPerSecond rate = {}, least_rate = {};
};

}  // namespace rightsize::mig
