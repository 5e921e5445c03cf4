// A fleet's GPUs in dollars: what they cost, how much of it is wasted, who wastes it, and what to do about it.
//
//   std::vector<GpuUse> gpus = ...;                       // accumulate.h from files, scan.h from a server, jobs.h
//   FleetAnalysis a = analyse(std::move(gpus), {prices, speeds, {}});
//   a.ledger                                              // parts that add up to what was spent
//   a.actions                                             // by dollars a month; no dollar is saved twice
//
// Waste is what a cheaper way of doing the same work would not cost. Every part of the ledger names its rule, and every
// GPU the evidence. The time a source says nothing about is a part of its own ("unknown"), neither useful nor wasted.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"
#include "fleet/price.h"
#include "fleet/use.h"
#include "perf/calibration/sustained_rates.h"

namespace rightsize::fleet {

// Where a GPU's time went.
enum class Category { kUseful, kIdle, kIdleHeld, kInefficient, kOversized, kOverprovisioned, kUnknown };
inline constexpr std::size_t kCategories = 7;
std::string_view name_of(Category category);  // "useful", "idle", "idle-held", ...
std::string_view rule_of(Category category);  // one sentence: when time falls here

// What the search for actions goes by; docs/fleet.md says where each comes from. `idle` is used while reading.
struct Thresholds {
  IdleRule idle = {};
  double target_activity = 0.85;   // a GPU this active at the 95th percentile is full
  double memory_headroom = 0.90;   // of a GPU's memory that may be planned with
  double sharing_headroom = 0.80;  // of activity and bandwidth that several jobs together may reach
  double stop_idle_share = 0.90;   // idle for more of the time: may be stopped, once it has been quiet for min_age
  Seconds park_after = hours(4);   // idle stretches at least this long can be parked
  double park_share = 0.25;        // ... when they make up this share of the time
  double stable_share = 0.95;      // there for this share of the time, and active: may be committed to
  double most_overload = 0.01;     // share of the recorded time for which a new place may be too small
  Seconds min_age = hours(24);     // nothing younger is acted on, unless it was there when the window began
  bool across_teams = false;       // whether jobs of different or unknown teams may share a GPU without MIG
};

// One GPU, MIG instance, or what is left of a partitioned GPU.
struct GpuRow {
  GpuUse use;
  GpuPrice price;
  diagnose::Verdict verdict = diagnose::Verdict::kIdle;
  double confidence = 0;  // 0-1
  std::vector<std::string> evidence;
  diagnose::TimeShares time;                // what the active time was spent on, as far as counters tell
  GpuTime gpu_time;                         // of a whole GPU: a MIG instance's time times its share
  std::optional<Usd> spend;                 // nothing: no price
  std::array<double, kCategories> share{};  // of its time; adds up to 1
  double presence = 1;                      // share of the fleet's window in which it reported

  double share_of(Category category) const { return share[static_cast<std::size_t>(category)]; }
  double waste_share() const { return 1 - share_of(Category::kUseful) - share_of(Category::kUnknown); }
  void set_cost();  // gpu_time and spend, from `use` and `price`
  std::optional<Usd> spend_on(Category category) const;
  std::optional<Usd> waste() const;
  UsdPerSecond spend_rate() const;  // at this presence; 0 without a price
  const Owner& owner() const;       // the one with the most time
  Bytes memory_capacity() const;
  Bytes memory_peak() const;  // 0 when unknown
};

struct LedgerLine {
  Category category = Category::kUseful;
  GpuTime gpu_time;
  Usd spend;
  double confidence = 0;  // of the verdicts behind it, weighed by dollars
  std::size_t gpus = 0;   // with any time here
};

// What one owner, namespace, workload, user or label value had.
struct OwnerLine {
  std::string owner, team;
  std::size_t gpus = 0;
  GpuTime gpu_time, idle;
  Usd spend, waste;
};

// Jobs of a scheduler's accounting that have something in common: their user, account, partition or state.
struct JobLine {
  std::string name;
  std::size_t jobs = 0;
  GpuTime gpu_time;
  Usd spend;
  std::optional<GpuTime> idle;  // of GPUs that were measured; nothing: none was
  GpuTime unsuccessful;         // failed, timed out, cancelled, preempted
};

// Why GPU-hours of jobs bought nothing, or less than they could.
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
  GpuTime lost;                      // of the unused GPUs only where others of the job worked
  Usd spend;                         // for it
  std::vector<JobExample> examples;  // the largest
};

struct JobLedger {
  std::size_t jobs = 0, priced = 0, measured = 0;
  std::size_t without_gpu = 0, never_started = 0;
  GpuTime gpu_time;
  Usd spend;
  std::vector<JobLine> users, accounts, partitions, states;  // the most hours first
  std::vector<JobIssueLine> issues;                          // the most hours first; a job's hours count once
};

enum class ActionKind { kStop, kConsolidate, kMig, kBatch, kDownsize, kQuantize, kCommit };
std::string_view name_of(ActionKind kind);  // "stop", "consolidate", "mig", ...

// A share of time, of which a curve of steps tells only bounds.
struct ShareBounds {
  double low = 0, likely = 0, high = 0;
};

// A stretch of the recorded time in which the new place would have been fullest.
struct WorstStep {
  TimePoint begin;
  Seconds width;
  double load = 0;  // at the peak of the stretch; 1 is full
};

// What the recorded load would have done to the new place.
struct Forecast {
  double load_p95 = 0, load_peak = 0;               // 1 is full
  std::optional<double> latency_p95, latency_peak;  // times today's; nothing: work would pile up
  ShareBounds too_small;                            // share of the recorded time with a load above 1
  std::vector<WorstStep> worst;
};

// One workload and where it goes.
struct Move {
  std::size_t gpu = 0;  // row of FleetAnalysis::gpus
  Owner owner;          // with its pod or job; empty: nobody the labels name
  std::string from;     // the GPU: "node-1/3"
  std::string to;       // "node-4/0", "node-4/0 slice 2g.20gb at 4", "l4 (aws g6.xlarge)", "none"
};

struct Action {
  ActionKind kind = ActionKind::kStop;
  std::string what, from, to;
  UsdPerSecond saving;
  std::string risk, check, rollback;
  std::string owner;
  double confidence = 0;
  std::vector<std::size_t> gpus;        // rows of FleetAnalysis::gpus
  std::vector<Move> moves;              // one a workload that runs there now
  std::optional<Forecast> forecast;     // of the GPU that fares worst; nothing: no work moves
  std::vector<std::string> commands;    // that do it, one a line
  std::string manifest;                 // a file the commands apply; empty: none is needed
  std::vector<std::string> instead_of;  // other remedies for the same GPUs that save less
};

// The plan, and how much better another one could be.
struct ActionPlan {
  std::vector<Action> actions;  // the most dollars first
  UsdPerSecond saving;          // of all of them
  UsdPerSecond bound;           // no choice among the remedies that were found saves more
  std::size_t considered = 0;   // remedies
};

// What an owner wastes on GPUs that no action changes.
struct UnplannedWaste {
  std::string owner;
  std::size_t gpus = 0;
  UsdPerSecond rate;
  diagnose::Verdict verdict = diagnose::Verdict::kUnknown;  // of most of it
};

struct Totals {
  std::size_t gpus = 0, priced = 0;
  GpuTime gpu_time, idle;
  Usd spend, waste;
  UsdPerSecond spend_rate, saving, saving_bound;
  Seconds window;
  std::size_t remedies = 0;

  double waste_share() const { return share_of_spend(waste); }
  double share_of_spend(Usd part) const { return spend > Usd{} ? part / spend : 0; }
};

struct FleetAnalysis {
  std::vector<GpuRow> gpus;
  Totals totals;
  std::vector<LedgerLine> ledger;  // by category, all of them; sums to the totals
  std::vector<OwnerLine> owners;   // the most waste first
  std::optional<JobLedger> jobs;   // where a scheduler's accounting was read
  std::vector<Action> actions;     // the most dollars first
  std::vector<UnplannedWaste>
      unplanned;  // the most dollars first; a twentieth of all waste and a tenth of their cost, at least
  std::vector<std::string> notes;  // what a reader must know before trusting a number
};

// What a fleet is judged by.
struct Assumptions {
  const DevicePrices& prices;
  const perf::SpeedTable& speeds;  // of the same catalogue, with the user's own measurements
  Thresholds thresholds = {};
};

FleetAnalysis analyse(std::vector<GpuUse> gpus, const Assumptions& assumptions);

// The stages of analyse(), for tests.
std::vector<GpuRow> judge(std::vector<GpuUse> gpus, const DevicePrices& prices);
// Instances get their part of their GPU, layout by layout, and what no instance was made of the rest.
void settle_partitioned(std::vector<GpuRow>& gpus);
void mark_overprovisioned(std::vector<GpuRow>& gpus, const Thresholds& thresholds);
std::vector<LedgerLine> make_ledger(const std::vector<GpuRow>& gpus);
ActionPlan plan_actions(const std::vector<GpuRow>& gpus, const Assumptions& assumptions);

// GPU-hours and dollars by whatever `key` makes of an owner and the GPU; "" is shown as "(nobody)". The most waste
// first; sums to the totals.
using OwnerKey = std::function<std::string(const Owner& owner, const Device& device)>;
std::vector<OwnerLine> make_owners(const std::vector<GpuRow>& gpus, const OwnerKey& key);
std::vector<OwnerLine> make_owners(const std::vector<GpuRow>& gpus);  // by Owner::shown()

}  // namespace rightsize::fleet
