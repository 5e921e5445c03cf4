// Remedies for waste, found one kind at a time: each takes some GPUs and saves some dollars a month. plan_actions()
// chooses among them, one remedy a GPU at most, joins those that read as one action and writes it down (describe.cc).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/fleet.h"
#include "fleet/running.h"

namespace rightsize::fleet {

enum class RemedyKind {
  kStop,        // end what holds a GPU without using it
  kGiveBack,    // nobody holds it
  kPark,        // scale to nothing in the hours without work
  kReplicas,    // fewer replicas of one workload
  kBatch,       // fewer replicas, because requests are batched
  kSideBySide,  // workloads share a GPU by time slicing or MPS
  kMig,         // ... or as MIG instances
  kDownsize,    // a smaller GPU
  kQuantize,    // 8-bit weights on a smaller GPU
  kCommit,      // the same GPU for a year
};
ActionKind kind_of(RemedyKind kind);

// Remedies of one kind with the same owner, GPU and `to` are told as one action.
struct Remedy {
  RemedyKind kind = RemedyKind::kStop;
  std::vector<std::size_t> gpus = {};  // rows it takes
  UsdPerSecond saving = {};
  double confidence = 0;  // 0-1
  std::string owner = {}, gpu = {}, to = {};
  std::size_t keeps = 0;  // of the GPUs it takes, so many stay
  std::vector<Move> moves = {};
  std::optional<Forecast> forecast = {};
  std::optional<Alternative> instead = {};  // what is paid for afterwards, when that is something else
  std::string manifest = {};
};

struct RemedyInput {
  const std::vector<GpuRow>& gpus;
  const std::vector<Running>& running;  // one a row
  const DevicePrices& prices;
  const Thresholds& thresholds;
  const perf::SpeedTable& speeds;
};

std::vector<Running> all_running(const std::vector<GpuRow>& gpus, const Thresholds& thresholds);

std::vector<Remedy> find_stops(const RemedyInput& input);  // stop, give back, park
std::vector<Remedy> find_downsizes(const RemedyInput& input);
std::vector<Remedy> find_quantizations(const RemedyInput& input);
std::vector<Remedy> find_commitments(const RemedyInput& input);
std::vector<Remedy> find_replica_cuts(const RemedyInput& input);  // and batching
std::vector<Remedy> find_consolidations(const RemedyInput& input);
std::vector<Remedy> find_partitions(const RemedyInput& input);

// The remedies that save most together, no GPU twice.
struct Choice {
  std::vector<std::size_t> remedies;  // ascending
  UsdPerSecond saving, bound;         // no choice among them saves more than the bound
};
Choice choose_remedies(const std::vector<Remedy>& remedies, std::size_t gpus);

// Remedies told as one action, in words.
Action describe(const std::vector<const Remedy*>& remedies, const RemedyInput& input);

// What diagnose knows of a stretch of samples, from what we kept of them.
diagnose::Summary summary_of(const GpuUse& use);

// How many times longer the active time would be on other GPUs, by name, from what it was spent on (diagnose's
// projection, at its slow end). Empty where counters do not tell arithmetic from traffic, or where the work takes what
// time it can get and would only be slower.
std::map<std::string, double> projected_growth(const GpuRow& gpu, const perf::SpeedTable& speeds);

bool has_room(const GpuRow& gpu);  // it works, but does not fill its GPU: it may share one, or have a smaller one
bool is_paced(const GpuRow& gpu);  // work arrives at its own pace: a slower GPU does the same, with longer answers

// Everything that runs on a GPU now goes there.
std::vector<Move> moves_of(const RemedyInput& input, std::size_t gpu, const std::string& to);

std::string place_of(const GpuRow& gpu);                          // "node-1/3"
std::string count_of(std::size_t count, std::string_view thing);  // "1 GPU", "3 GPUs", "3 l4"
std::string gpu_name(const GpuRow& gpu);

}  // namespace rightsize::fleet
