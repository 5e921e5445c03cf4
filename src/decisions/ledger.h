// The ledger: every decision with what was predicted of it, in SQLite or PostgreSQL.
//
//   Ledger ledger = *Ledger::open(Ledger::url(flag), store::Access::kWrite);
//   Decision kept = *ledger.add(decision);       // returns when it is on the disk; a killed program leaves no half
//   ledger.list({.team = "search"});
//
// Several programs may write at once: a change takes the one writer's place for milliseconds. Numbers are given in
// order, and a workload has one live decision: a later one takes the place of the earlier.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decisions/decision.h"
#include "decisions/evidence.h"
#include "decisions/rollout.h"
#include "store/database.h"

namespace rightsize::decisions {

// Empty means any. Compared as written.
struct Filter {
  std::string workload = {}, team = {}, author = {}, gpu = {};
  std::vector<Status> statuses = {};
  std::optional<TimePoint> since = {}, until = {};  // decided at or after; before
  std::int64_t most = 0;                            // newest first; 0: all
};

// What a list would hold, however long it is.
struct Totals {
  std::int64_t decisions = 0, live = 0;
  Usd saving;  // a month, predicted of the live ones
};

class Ledger {
 public:
  // `flag` when given, else $RIGHTSIZE_LEDGER, else rightsize/decisions.db under the XDG data folder.
  static std::string url(std::string_view flag);
  // To read: fails where there is no ledger, opens one on read-only media. An older ledger is brought up to date, which
  // needs the right to write; `backup()` then says where the copy of it is.
  static Result<Ledger> open(const std::string& url, store::Access access, Seconds wait = seconds(30));

  // Keeps a decision and everything about it, or nothing. Comes back with its number.
  Result<Decision> add(Decision decision);
  // Newest first.
  Result<std::vector<Summary>> list(const Filter& filter);
  Result<Totals> totals(const Filter& filter);
  // Those that were rolled out or measured, oldest first.
  Result<std::vector<std::int64_t>> in_practice();
  // "12", "D12", or a workload: its newest decision. An unknown name gets a suggestion.
  Result<Decision> find(std::string_view name);

  // What was measured, in the order it was added.
  Result<> add_samples(std::int64_t decision, const std::vector<Sample>& samples);
  Result<std::vector<Sample>> samples(std::int64_t decision);

  // The rollout so far. Each change looks at the state in the same transaction, so that two people who confirm the same
  // stage do not confirm two.
  Result<std::vector<StageRecord>> stages(std::int64_t decision);
  Result<> start_stage(std::int64_t decision, Stage stage, TimePoint now, const std::string& by);
  // Ends the running stage, which must be `stage`. Passed: the next one begins at once; after the last the decision is
  // in force.
  Result<> pass_stage(std::int64_t decision, Stage stage, TimePoint now, const StageRecord& how);
  // Ends rollout and decision: the workload runs as before.
  Result<> roll_back(std::int64_t decision, TimePoint now, const StageRecord& how);

  const std::string& backup() const { return backup_; }
  store::Database& database() { return *database_; }

 private:
  explicit Ledger(std::unique_ptr<store::Database> database) : database_(std::move(database)) {}
  Result<std::int64_t> number_of(std::string_view name);
  Result<Decision> read(std::int64_t id);
  Result<> end_stage(std::int64_t decision, StageState state, TimePoint now, const StageRecord& how);
  Result<> set_status(std::int64_t decision, Status status, std::optional<TimePoint> ended_at);
  Result<Status> status_of(std::int64_t decision);

  std::unique_ptr<store::Database> database_;
  std::string backup_;
};

}  // namespace rightsize::decisions
