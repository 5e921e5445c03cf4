// Remedies for waste, found one kind at a time. Each involves some GPUs and saves some dollars per month.
// plan_actions() chooses among them, at most one per GPU, and joins those that belong to one action (describe.cc).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/alternatives.h"
#include "fleet/commands.h"
#include "fleet/fleet.h"
#include "fleet/running.h"

namespace rightsize::fleet {

enum class RemedyKind {
  kStop,        // end what holds a GPU without using it
  kGiveBack,    // release a GPU that nothing holds
  kPark,        // scale to zero in the hours without work
  kReplicas,    // fewer replicas of one workload
  kBatch,       // fewer replicas by batching requests
  kSideBySide,  // workloads share a GPU by time slicing or MPS
  kMig,         // ... or as MIG instances
  kDownsize,    // a smaller GPU
  kQuantize,    // 8-bit weights on a smaller GPU
  kCommit,      // the same GPU for a year
  kWatch,       // idle, but not observed for long enough
  kReview,      // almost idle: only its owner knows whether the rest is needed
};
ActionKind kind_of(RemedyKind kind);

// Remedies of one kind with the same owner, GPU and `to` become one action.
struct Remedy {
  RemedyKind kind = RemedyKind::kStop;
  std::vector<std::size_t> gpus = {};  // rows it involves
  UsdPerSecond saving = {};
  double confidence = 0;  // 0-1
  std::string owner = {}, gpu = {}, to = {};
  std::size_t keeps = 0;                              // GPUs that stay
  std::pair<std::size_t, std::size_t> replicas = {};  // kReplicas, kBatch: pods now and afterwards
  std::vector<Move> moves = {};
  std::optional<Forecast> forecast = {};
  std::optional<Replacement> instead = {};  // what is paid for afterwards, if it changes
  std::optional<double> speed = {};         // of work that fills its GPU, relative to today
  std::string manifest = {};
  bool counted = true;          // FleetAction::counted
  bool has_step = true;         // there is a command or a file that does it
  bool moves_provider = false;  // to another provider, or today's is unknown
  bool loses_link = false;      // a pod or job on several GPUs would lose NVLink
  DailyHours hours = {};        // kPark: when it works
};

struct RemedyInput {
  const std::vector<GpuRow>& gpus;
  const std::vector<Running>& running;  // one per row
  const DevicePrices& prices;
  const Thresholds& thresholds;
  const perf::SpeedTable& speeds;
};

std::vector<Running> all_running(const std::vector<GpuRow>& gpus, const Thresholds& thresholds);

std::vector<Remedy> find_stops(const RemedyInput& input);      // stop, give back, park
std::vector<Remedy> find_downsizes(const RemedyInput& input);  // and quantization
std::vector<Remedy> find_commitments(const RemedyInput& input);
std::vector<Remedy> find_replica_cuts(const RemedyInput& input);  // and batching
std::vector<Remedy> find_consolidations(const RemedyInput& input);
std::vector<Remedy> find_partitions(const RemedyInput& input);

// The remedies with the largest total saving that share no GPU.
struct Choice {
  std::vector<std::size_t> remedies;  // ascending
  UsdPerSecond saving, bound;         // no choice among them saves more than the bound
};
Choice choose_remedies(const std::vector<Remedy>& remedies, std::size_t gpus);

// Describes the remedies of one action.
FleetAction describe(const std::vector<const Remedy*>& remedies, const RemedyInput& input);

// Whether these GPUs include all GPUs of every pod or job that runs on them. Otherwise stopping it would also end work
// on other GPUs.
bool are_whole_instances(const RemedyInput& input, const std::vector<std::size_t>& gpus);

// The load of several GPUs at the same moment, in GPUs: its peak, and its p95 if single readings are known.
struct SharedLoad {
  double peak = 0;
  std::optional<double> p95 = {};
};
SharedLoad shared_load(const std::vector<const GpuRow*>& gpus, TimePoint since);

// Everything that runs on a GPU now moves to `to`.
std::vector<Move> moves_of(const RemedyInput& input, std::size_t gpu, const std::string& to);

inline constexpr const char* kSeveralTeams = "several teams";

std::string place_of(const GpuRow& gpu);  // "node-1/3"
std::string gpu_name(const GpuRow& gpu);

}  // namespace rightsize::fleet
