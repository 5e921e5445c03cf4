// A fleet's GPUs in dollars: what they cost, how much of it is wasted, who wastes it, and what cures it.
//
//   std::vector<GpuUse> gpus = ...;                       // accumulate.h from files, scan.h from a server
//   FleetAnalysis a = analyse(std::move(gpus), book, {});
//   a.ledger                                              // parts that add up to what was spent
//   a.actions                                             // by dollars a month; no dollar is saved twice
//
// Waste is what a cheaper way of doing the same work would not cost. Every part of the ledger names its rule, and every
// GPU the evidence; thresholds are the article's where it has one that measurement supports (docs/fleet.md says which),
// and every one can be set.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"
#include "fleet/price.h"
#include "fleet/use.h"

namespace rightsize::fleet {

// Where a GPU's time went.
enum class Category { kUseful, kIdle, kIdleHeld, kInefficient, kOversized, kOverprovisioned };
inline constexpr std::size_t kCategories = 6;
std::string_view name_of(Category category);  // "useful", "idle", "idle-held", ...
std::string_view rule_of(Category category);  // one sentence: when time falls here

struct Thresholds {
  IdleRule idle = {};
  double target_activity = 0.85;   // a GPU this active is full: the upper end of the article's good zone
  double memory_headroom = 0.90;   // of a GPU's memory that may be planned with
  double sharing_headroom = 0.80;  // of activity and bandwidth that several jobs together may reach
  double stop_idle_share = 0.90;   // idle for more of the time: a candidate to stop
  double park_hours = 4;           // idle stretches at least this long can be parked
  double park_share = 0.25;        // ... when they make up this share of the time
  double stable_share = 0.95;      // there for this share of the time, and active: a candidate for a commitment
};

// One GPU, MIG instance, or what is left of a partitioned GPU.
struct GpuRow {
  GpuUse use;
  GpuPrice price;
  diagnose::Verdict verdict = diagnose::Verdict::kIdle;
  double confidence = 0;  // 0-1
  std::vector<std::string> evidence;
  diagnose::TimeShares time;                // what the active time was spent on, as far as counters tell
  double gpu_hours = 0;                     // of a whole GPU: a MIG instance's hours times its share
  std::optional<double> spend_usd;          // nothing: no price
  std::array<double, kCategories> share{};  // of its time; adds up to 1
  double presence = 1;                      // share of the fleet's window in which it reported

  double waste_share() const { return 1 - share[static_cast<std::size_t>(Category::kUseful)]; }
  std::optional<double> usd(Category category) const;
  std::optional<double> waste_usd() const;
  double usd_per_month() const;  // at this presence; 0 without a price
  const Owner& owner() const;    // the one with the most time
  Bytes memory_capacity() const;
  double memory_peak() const;  // bytes; 0 when unknown
};

struct LedgerLine {
  Category category = Category::kUseful;
  double gpu_hours = 0, usd = 0;
  double confidence = 0;  // of the verdicts behind it, weighed by dollars
  std::size_t gpus = 0;   // with any time here
};

struct OwnerLine {
  std::string owner, team;
  std::size_t gpus = 0;
  double gpu_hours = 0, usd = 0, waste_usd = 0, idle_gpu_hours = 0;
};

enum class ActionKind { kStop, kConsolidate, kMig, kBatch, kDownsize, kQuantize, kCommit };
std::string_view name_of(ActionKind kind);  // "stop", "consolidate", "mig", ...

struct Action {
  ActionKind kind = ActionKind::kStop;
  std::string what, from, to;
  double usd_per_month = 0;
  std::string risk, check, rollback;
  std::string owner;
  double confidence = 0;
  std::vector<std::size_t> gpus;        // rows of FleetAnalysis::gpus
  std::vector<std::string> instead_of;  // other cures for the same GPUs that save less
};

struct Totals {
  std::size_t gpus = 0, priced = 0;
  double gpu_hours = 0, idle_gpu_hours = 0;
  double spend_usd = 0, waste_usd = 0;
  double usd_per_month = 0, savings_usd_per_month = 0;
  double window_seconds = 0;

  double waste_share() const { return spend_usd > 0 ? waste_usd / spend_usd : 0; }
};

struct FleetAnalysis {
  std::vector<GpuRow> gpus;
  Totals totals;
  std::vector<LedgerLine> ledger;  // by category, all of them; sums to the totals
  std::vector<OwnerLine> owners;   // the most waste first
  std::vector<Action> actions;     // the most dollars first
  std::vector<std::string> notes;  // what a reader must know before trusting a number
};

FleetAnalysis analyse(std::vector<GpuUse> gpus, const PriceBook& book, const Thresholds& thresholds);

// The stages of analyse(), for tests.
std::vector<GpuRow> judge(std::vector<GpuUse> gpus, const PriceBook& book, const Thresholds& thresholds);
void mark_overprovisioned(std::vector<GpuRow>& gpus, const Thresholds& thresholds);
std::vector<LedgerLine> make_ledger(const std::vector<GpuRow>& gpus);
std::vector<OwnerLine> make_owners(const std::vector<GpuRow>& gpus);
std::vector<Action> plan_actions(const std::vector<GpuRow>& gpus, const PriceBook& book, const Thresholds& thresholds);

}  // namespace rightsize::fleet
