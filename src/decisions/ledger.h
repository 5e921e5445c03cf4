// The ledger: every decision with its predictions, in SQLite or PostgreSQL.
//
//   Ledger ledger = *Ledger::open(Ledger::url(flag), store::Access::kWrite);
//   Decision kept = *ledger.add(decision);       // returns when it is on disk
//   auto found = ledger.list({.team = "search"});
//
// Several programs may write at once; each change locks the ledger for milliseconds. Numbers are given in order, and a
// workload has one live decision: a later one supersedes it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decisions/decision.h"
#include "decisions/evidence.h"
#include "decisions/rollout.h"
#include "store/schema.h"

namespace rightsize::decisions {

// Empty means any. Names are compared exactly.
struct Filter {
  std::string workload = {}, team = {}, author = {}, gpu = {};
  std::vector<DecisionStatus> statuses = {};
  std::optional<TimePoint> since = {}, until = {};  // decided at or after; before
  std::int64_t most = 0;                            // newest first; 0: all
};

// Totals of a list without its limit.
struct LedgerTotals {
  std::int64_t decisions = 0, live = 0;
  Usd saving;  // per month, predicted, of the live ones
};

const store::Schema& ledger_schema();

class Ledger {
 public:
  // `flag` if given, else $RIGHTSIZE_LEDGER, else rightsize/decisions.db under the XDG data folder.
  static std::string url(std::string_view flag);
  // With read access, fails if there is no ledger. An older ledger is upgraded, which needs write access; backup() then
  // names the copy of the old one.
  static Result<Ledger> open(const std::string& url, store::Access access, Seconds wait = seconds(30));

  // Adds a decision completely or not at all. Returns it with its number.
  Result<Decision> add(Decision decision);
  // Newest first.
  Result<std::vector<DecisionSummary>> list(const Filter& filter);
  Result<LedgerTotals> totals(const Filter& filter);
  // Those that were rolled out or measured, oldest first.
  Result<std::vector<std::int64_t>> in_practice();
  // By "12", "D12" or a workload, which means its newest decision. An unknown name gets a suggestion.
  Result<Decision> find(std::string_view name);

  // The measurements, in the order in which they were added.
  Result<> add_samples(std::int64_t decision, const std::vector<MeasuredValue>& samples);
  Result<std::vector<MeasuredValue>> samples(std::int64_t decision);

  // The rollout so far. Two people who confirm the same stage at the same time confirm one.
  Result<std::vector<StageRecord>> stages(std::int64_t decision);
  Result<> start_stage(std::int64_t decision, RolloutStage stage, TimePoint now, const std::string& by);
  // Ends the running stage, which must be `stage`; the next one begins at once. After the last the decision is in
  // force.
  Result<> pass_stage(std::int64_t decision, RolloutStage stage, TimePoint now, const StageRecord& how);
  // Ends rollout and decision: the workload runs as before.
  Result<> roll_back(std::int64_t decision, TimePoint now, const StageRecord& how);

  const std::string& backup() const { return backup_; }
  store::Database& database() { return *database_; }

 private:
  explicit Ledger(std::unique_ptr<store::Database> database) : database_(std::move(database)) {}
  Result<std::int64_t> number_of(std::string_view name);
  Result<> change_rollout(std::int64_t decision,
                          const std::function<Result<>(const std::vector<StageRecord>&)>& change);
  Result<> begin_stage(std::int64_t decision, std::size_t place, RolloutStage stage, TimePoint now,
                       const std::string& by);
  Result<> end_stage(std::int64_t decision, StageState state, TimePoint now, const StageRecord& how);
  Result<> set_status(std::int64_t decision, DecisionStatus status, std::optional<TimePoint> ended_at);

  std::unique_ptr<store::Database> database_;
  std::string backup_;
};

}  // namespace rightsize::decisions
