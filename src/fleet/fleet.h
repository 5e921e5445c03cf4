// The cost of a fleet's GPUs, the waste by owner, and the actions that reduce it.
//
//   std::vector<GpuUse> gpus = sum.finish();   // accumulate.h; from a server: scan.h; from a job log: jobs.h
//   FleetAnalysis found = analyse(std::move(gpus), {prices, speeds, {}});
//   found.ledger;                              // parts that add up to what was spent
//   found.actions;                             // by dollars per month; no dollar is saved twice
//
// Waste is the cost that a cheaper way of doing the same work would avoid. Every part of the ledger has a rule, and
// every GPU its evidence. Time without reported activity is a separate part ("unknown"), neither useful nor wasted.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/cycle.h"
#include "diagnose/diagnose.h"
#include "fleet/price.h"
#include "gpu_use/use.h"
#include "perf/constants/sustained_rates.h"

namespace rightsize::fleet {

using namespace gpu_use;  // a fleet is priced and judged GPU use

// How a GPU's time was used.
enum class Category { kUseful, kIdle, kIdleHeld, kInefficient, kOversized, kOverprovisioned, kUnknown };
inline constexpr std::size_t kCategories = 7;
std::string_view name_of(Category category);  // "useful", "idle", "idle-held", ...
std::string_view rule_of(Category category);  // the rule for this category

// A GPU whose activity is at most this for 95 % of the time is almost idle: too much to stop it, too little to keep it
// unasked.
inline constexpr double kNearlyIdle = 0.03;

// The limits for actions; docs/fleet.md explains each. `idle` is used while reading.
struct Thresholds {
  IdleRule idle = {};
  double target_activity = 0.85;   // p95 activity at which a GPU is full
  double memory_headroom = 0.90;   // share of a GPU's memory that may be used
  double sharing_headroom = 0.80;  // highest activity and bandwidth of several jobs together
  double stop_idle_share = 0.90;   // a GPU idle for a larger share may be stopped after min_age
  Seconds park_after = hours(4);   // idle periods of at least this length can be parked
  double park_share = 0.25;        // ... if they make up this share of the time
  double stable_share = 0.95;      // a GPU present for this share of the time may be committed to
  double most_overload = 0.01;     // share of the recorded time for which a new GPU may be too small
  double most_slowdown = 1.5;      // latency at p95 and at the peak on a smaller GPU, relative to today
  Seconds min_age = hours(24);     // no action on younger workloads, unless they existed when the window began; nothing
                                   // is stopped or parked before it was watched for as long
  bool across_teams = false;       // whether jobs of different or unknown teams may share a GPU without MIG
};

// A GPU, a MIG instance, or the unused part of a partitioned GPU.
struct GpuRow {
  GpuUse use;
  GpuPrice price;
  diagnose::Verdict verdict = diagnose::Verdict::kIdle;
  double confidence = 0;  // 0-1
  std::vector<std::string> evidence;
  diagnose::TimeShares time;                // how the active time was spent
  std::optional<diagnose::Cycle> cycle;     // waits of reinforcement learning, which are not waste
  GpuTime gpu_time;                         // in terms of a whole GPU
  std::optional<Usd> spend;                 // not set: no price
  std::array<double, kCategories> share{};  // of its time; adds up to 1
  double presence = 1;                      // share of the fleet's window it was present

  double share_of(Category category) const { return share[static_cast<std::size_t>(category)]; }
  double waste_share() const { return 1 - share_of(Category::kUseful) - share_of(Category::kUnknown); }
  void set_cost();  // gpu_time and spend, from `use` and `price`
  std::optional<Usd> waste() const;
  UsdPerSecond spend_rate() const;       // with this presence; 0 without a price
  std::optional<Joules> energy() const;  // mean power over the GPU's time; a MIG instance: its share of the GPU's
  const Owner& owner() const;            // the owner with the most time
  Bytes memory_capacity() const;
  Bytes memory_peak() const;  // 0 when unknown
};

struct LedgerLine {
  Category category = Category::kUseful;
  GpuTime gpu_time;
  Usd spend;
  std::optional<double> share;  // of all spend; not set: no price is known
  double confidence = 0;        // of the verdicts behind it, weighted by dollars
  std::size_t gpus = 0;         // with any time here
};

// The use by one owner, namespace, workload or label value, or by one user, account, partition or state of Slurm jobs.
struct GroupLine {
  std::string name, team = {};
  std::size_t gpus = 0;  // 0 in lines of a job log
  std::size_t jobs = 0;  // 0 in all other lines
  GpuTime gpu_time = {};
  std::optional<GpuTime> idle = {};  // not set: not measured
  GpuTime unsuccessful = {};         // of jobs that failed, timed out, were cancelled or preempted
  Usd spend = {}, waste = {};
  bool waste_known = true;            // false for a partition or state of jobs
  bool priced = false;                // some of it has a known price
  std::optional<Joules> energy = {};  // of the GPUs alone; not set: no power was reported
};

// Why GPU-hours of jobs gave no result, or less than possible.
enum class JobIssue {
  kFailed,
  kTimedOut,
  kCancelled,
  kOutOfMemory,
  kNodeFailed,
  kPreempted,
  kGpusUnused,
  kTooManyGpus,
  kTimeLimitTooLong,
};
std::string_view name_of(JobIssue issue);  // "failed", "timed-out", "gpus-unused", ...
std::string_view explain(JobIssue issue);  // one sentence

struct JobExample {
  std::string id, user, name;
  GpuTime gpu_time;
};

struct JobIssueLine {
  JobIssue issue = JobIssue::kFailed;
  std::size_t jobs = 0;
  GpuTime lost;                      // of the unused GPUs only, if others of the job worked
  std::optional<Usd> spend;          // not set: no price is known
  std::vector<JobExample> examples;  // the largest
};

// How long the jobs of a partition waited.
struct WaitLine {
  std::string partition;
  std::size_t jobs = 0;
  Seconds median, p95;
};

struct JobLedger {
  std::size_t jobs = 0, priced = 0, measured = 0;
  std::size_t without_gpu = 0, never_started = 0;
  GpuTime gpu_time;
  Usd spend;
  GpuTime unsuccessful;  // of jobs that failed, timed out, were cancelled, preempted or requeued
  Usd unsuccessful_spend;
  GpuTime requested, used;      // of ended jobs with a time limit: GPUs times the limit, and times the elapsed time
  std::vector<WaitLine> waits;  // by partition; empty if the log has no submission times
  std::vector<GroupLine> users, accounts, partitions, states;  // the most dollars first, then the most hours
  std::vector<JobIssueLine> issues;                            // the most hours first; a job's hours count once
};

enum class ActionKind { kStop, kConsolidate, kMig, kBatch, kDownsize, kQuantize, kCommit, kWatch };
inline constexpr std::size_t kActionKinds = 8;
std::string_view name_of(ActionKind kind);  // "stop", "consolidate", "mig", ...

// Bounds on a share of time that is known only per step.
struct ShareBounds {
  double low = 0, likely = 0, high = 0;
};

// A period in which the load on the new GPU would have been highest.
struct WorstStep {
  TimePoint begin;
  Seconds width;
  double load = 0;  // at its peak; 1 is full
};

// The recorded load on the new GPU.
struct Forecast {
  double load_p95 = 0, load_peak = 0;               // 1 is full
  std::optional<double> latency_p95, latency_peak;  // relative to today; not set: work would pile up
  ShareBounds too_small;                            // share of the recorded time with a load above 1
  std::vector<WorstStep> worst;
};

// A workload and its destination.
struct Move {
  std::string gpu;   // Device::key()
  Owner owner;       // with its pod or job; empty: no label names one
  std::string from;  // the GPU: "node-1/3"
  std::string to;    // "node-4/0", "node-4/0 slice 2g.20gb at 4", "l4 (aws g6.xlarge)", "none"
};

struct FleetAction {
  ActionKind kind = ActionKind::kStop;
  std::string what, from, to;
  UsdPerSecond saving;
  bool counted = true;  // in the fleet's saving; false if work slows down too much or was observed too briefly
  std::string risk, check, rollback;
  std::string owner;
  double confidence = 0;
  std::vector<std::size_t> gpus;        // rows of FleetAnalysis::gpus
  std::vector<std::string> gpu_ids;     // Device::key() of each
  std::size_t rank = 0;                 // by saving, from 1
  std::vector<Move> moves;              // one per workload that runs there now
  std::optional<Forecast> forecast;     // of the worst GPU; not set: no work moves
  std::vector<std::string> commands;    // to carry it out
  std::string manifest;                 // a file for the commands; may be empty
  std::vector<std::string> instead_of;  // remedies for the same GPUs that save less
};

// The actions, and a bound on what any other choice could save.
struct ActionPlan {
  std::vector<FleetAction> actions;  // the most dollars first
  UsdPerSecond saving;               // of those that count
  UsdPerSecond bound;                // no choice among the remedies saves more
  std::size_t considered = 0;        // remedies
};

// An owner's waste on GPUs without an action.
struct UnplannedWaste {
  std::string owner;
  std::size_t gpus = 0;
  UsdPerSecond rate;
  diagnose::Verdict verdict = diagnose::Verdict::kUnknown;  // behind most of it
  bool memory_known = true;                                 // of all its GPUs
};

struct FleetTotals {
  std::size_t gpus = 0, priced = 0;
  GpuTime gpu_time, idle;
  Usd spend, waste;
  UsdPerSecond spend_rate, saving, saving_bound;
  UsdPerSecond not_counted;  // additional savings of the actions that do not count
  Seconds window;
  bool measured = false;  // some GPU reported activity; otherwise waste is not 0 but unknown
  std::size_t remedies = 0;
  double share_read = 1;         // of the GPUs or files; the caller sets it
  std::optional<Joules> energy;  // of GPUs that reported power,
  GpuTime powered;               // and their time

  double waste_share() const { return share_of_spend(waste); }
  double share_of_spend(Usd part) const { return spend > Usd{} ? part / spend : 0; }
};

// A power cap on the GPUs of one kind and verdict.
struct CapLine {
  diagnose::Verdict verdict = diagnose::Verdict::kUnknown;
  std::string gpu;
  std::size_t gpus = 0;
  Watts drawn;      // mean of a GPU while active
  Watts cap;        // of each GPU
  double time = 1;  // of the work under the cap, relative to today
  Watts saved;      // of all of them, mean over the window
};

struct FleetAnalysis {
  std::vector<GpuRow> gpus;
  FleetTotals totals;
  std::vector<LedgerLine> ledger;    // by category, all of them; sums to the totals
  std::vector<GroupLine> owners;     // the most waste first
  std::optional<JobLedger> jobs;     // if a scheduler's accounting was read
  std::vector<FleetAction> actions;  // the most dollars first
  std::vector<CapLine> caps;         // the most energy first; empty if no GPU reported power
  std::vector<UnplannedWaste>
      unplanned;                   // the most dollars first; at least 5 % of all waste and 10 % of the owner's cost
  std::vector<std::string> notes;  // caveats
};

struct FleetAssumptions {
  const DevicePrices& prices;
  const perf::SpeedTable& speeds;  // of the same catalogue, with the user's own measurements
  Thresholds thresholds = {};
  std::optional<Watts> power_cap = {};  // of every GPU; not set: the best for each kind and verdict
};

FleetAnalysis analyse(std::vector<GpuUse> gpus, const FleetAssumptions& assumptions);

// The stages of analyse(), for tests.
std::vector<GpuRow> judge(std::vector<GpuUse> gpus, const DevicePrices& prices);
// Gives MIG instances their share of the GPU, layout by layout, and the free part the rest.
void settle_partitioned(std::vector<GpuRow>& gpus);
void mark_overprovisioned(std::vector<GpuRow>& gpus, const Thresholds& thresholds);
std::vector<LedgerLine> make_ledger(const std::vector<GpuRow>& gpus);
// Without a given cap, finds the caps that save the most energy and slow work by at most 5 %.
std::vector<CapLine> find_caps(const std::vector<GpuRow>& gpus, const FleetAssumptions& assumptions);
ActionPlan plan_actions(const std::vector<GpuRow>& gpus, const FleetAssumptions& assumptions);

// The bottleneck of a GPU in each period of the window, by the same rules as for the whole window. Metrics without a
// curve, such as tensor activity, are assumed to have been constant while the GPU was active. Empty without a profile.
struct VerdictsOverTime {
  Seconds width;                                           // of a period: a day, or a part of a shorter window
  std::vector<std::optional<diagnose::Verdict>> verdicts;  // from the start of the profile; not set without readings
};

VerdictsOverTime verdicts_over_time(const GpuRow& gpu);

// GPU-hours and dollars by `key`; "" becomes kUnowned. The most waste first; sums to the totals.
using OwnerKey = std::function<std::string(const Owner& owner, const Device& device)>;
std::vector<GroupLine> make_owners(const std::vector<GpuRow>& gpus, const OwnerKey& key);
std::vector<GroupLine> make_owners(const std::vector<GpuRow>& gpus);  // by Owner::shown()

}  // namespace rightsize::fleet
