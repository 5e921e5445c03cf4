// The ledger's rollouts and measurements.
#include <algorithm>

#include <fmt/format.h>

#include "decisions/ledger.h"

namespace rightsize::decisions {
namespace {

using store::Row;
using store::Value;

Value value_of(TimePoint time) { return static_cast<std::int64_t>(in_unix_seconds(time)); }
TimePoint time_at(const Row& row, int column) { return unix_seconds(static_cast<double>(row.integer(column))); }

Error not_live(std::int64_t decision, Status status) {
  return bad_input(fmt::format("{} is {}: there is nothing to roll out", label(decision), name_of(status)))
      .with_hint("'rightsize decide' takes a new decision");
}

const StageRecord* running(const std::vector<StageRecord>& stages) {
  return !stages.empty() && stages.back().state == StageState::kRunning ? &stages.back() : nullptr;
}

}  // namespace

Result<> Ledger::add_samples(std::int64_t decision, const std::vector<Sample>& samples) {
  if (samples.empty()) return {};
  store::Transaction change(*database_);
  Result<> done = change.start();
  std::int64_t place = 0;
  if (done) {
    done = database_->query("SELECT COALESCE(MAX(place), 0) FROM decision_sample WHERE decision = $1", {decision},
                            [&](const Row& row) { place = row.integer(0); });
  }
  std::size_t next = 0;
  if (done) {
    done = database_->insert("decision_sample", {"decision", "place", "metric", "value", "taken_at", "source"},
                             [&](std::vector<Value>& values) {
                               if (next == samples.size()) return false;
                               const Sample& s = samples[next++];
                               values = {decision, ++place, s.metric, s.value, value_of(s.taken_at), s.source};
                               return true;
                             });
  }
  return done ? change.commit() : done;
}

Result<std::vector<Sample>> Ledger::samples(std::int64_t decision) {
  std::vector<Sample> found;
  Result<> read = database_->query(
      "SELECT metric, value, taken_at, source FROM decision_sample WHERE decision = $1 ORDER BY place", {decision},
      [&](const Row& row) {
        found.push_back({std::string(row.text(0)), row.number(1), time_at(row, 2), std::string(row.text(3))});
      });
  if (!read) return fail(std::move(read).error());
  return found;
}

Result<std::vector<StageRecord>> Ledger::stages(std::int64_t decision) {
  std::vector<StageRecord> found;
  Result<> read = database_->query(
      "SELECT stage, state, started_at, ended_at, author, how, note FROM decision_stage WHERE decision = $1 ORDER BY "
      "place",
      {decision}, [&](const Row& row) {
        StageRecord record;
        record.stage = parse_stage(row.text(0)).value_or(Stage::kOneJob);
        record.state = parse_stage_state(row.text(1)).value_or(StageState::kRunning);
        record.started_at = time_at(row, 2);
        if (!row.is_null(3)) record.ended_at = time_at(row, 3);
        record.by = row.text(4);
        record.how = row.text(5);
        record.note = row.text(6);
        found.push_back(std::move(record));
      });
  if (!read) return fail(std::move(read).error());
  return found;
}

Result<std::vector<std::int64_t>> Ledger::in_practice() {
  std::vector<std::int64_t> found;
  Result<> read =
      database_->query("SELECT decision FROM decision_stage UNION SELECT decision FROM decision_sample ORDER BY 1", {},
                       [&](const Row& row) { found.push_back(row.integer(0)); });
  if (!read) return fail(std::move(read).error());
  return found;
}

Result<Status> Ledger::status_of(std::int64_t decision) {
  Status status = Status::kDecided;
  Result<> read = database_->query("SELECT status FROM decision WHERE id = $1", {decision}, [&](const Row& row) {
    status = parse_status(row.text(0)).value_or(Status::kDecided);
  });
  if (!read) return fail(std::move(read).error());
  return status;
}

Result<> Ledger::set_status(std::int64_t decision, Status status, std::optional<TimePoint> ended_at) {
  return database_->run("UPDATE decision SET status = $1, ended_at = $2 WHERE id = $3",
                        {std::string(name_of(status)), ended_at ? value_of(*ended_at) : Value(), decision});
}

Result<> Ledger::start_stage(std::int64_t decision, Stage stage, TimePoint now, const std::string& by) {
  store::Transaction change(*database_);
  if (Result<> begun = change.start(); !begun) return begun;
  RIGHTSIZE_TRY(const Status status, status_of(decision));
  if (!is_live(status)) return fail(not_live(decision, status));
  RIGHTSIZE_TRY(const std::vector<StageRecord> so_far, stages(decision));
  if (const StageRecord* now_running = running(so_far)) {
    return fail(bad_input(fmt::format("{}: the stage '{}' runs already", label(decision), name_of(now_running->stage)))
                    .with_hint(fmt::format("'rightsize rollout confirm {}' ends it", label(decision))));
  }
  Result<> done = database_->run(
      "INSERT INTO decision_stage (decision, place, stage, state, started_at, author, how, note) VALUES ($1, $2, $3, "
      "$4, "
      "$5, $6, '', '')",
      {decision, static_cast<std::int64_t>(so_far.size()), std::string(name_of(stage)),
       std::string(name_of(StageState::kRunning)), value_of(now), by});
  if (done) done = set_status(decision, Status::kRollingOut, std::nullopt);
  return done ? change.commit() : done;
}

Result<> Ledger::end_stage(std::int64_t decision, StageState state, TimePoint now, const StageRecord& how) {
  return database_->run(
      "UPDATE decision_stage SET state = $1, ended_at = $2, author = $3, how = $4, note = $5 WHERE decision = $6 AND "
      "state = $7",
      {std::string(name_of(state)), value_of(now), how.by, how.how, how.note, decision,
       std::string(name_of(StageState::kRunning))});
}

Result<> Ledger::pass_stage(std::int64_t decision, Stage stage, TimePoint now, const StageRecord& how) {
  store::Transaction change(*database_);
  if (Result<> begun = change.start(); !begun) return begun;
  RIGHTSIZE_TRY(const Status status, status_of(decision));
  if (!is_live(status)) return fail(not_live(decision, status));
  RIGHTSIZE_TRY(const std::vector<StageRecord> so_far, stages(decision));
  const StageRecord* current = running(so_far);
  if (current == nullptr || current->stage != stage) {
    return fail(bad_input(fmt::format("{}: the stage '{}' does not run any more", label(decision), name_of(stage)))
                    .with_hint("somebody else confirmed it or rolled it back"));
  }
  Result<> done = end_stage(decision, StageState::kPassed, now, how);
  if (done && stage == Stage::kAll) {
    done = set_status(decision, Status::kInForce, std::nullopt);
  } else if (done) {
    const Stage next = static_cast<Stage>(static_cast<int>(stage) + 1);
    done = database_->run(
        "INSERT INTO decision_stage (decision, place, stage, state, started_at, author, how, note) VALUES ($1, $2, $3, "
        "$4, $5, $6, '', '')",
        {decision, static_cast<std::int64_t>(so_far.size()), std::string(name_of(next)),
         std::string(name_of(StageState::kRunning)), value_of(now), how.by});
  }
  return done ? change.commit() : done;
}

Result<> Ledger::roll_back(std::int64_t decision, TimePoint now, const StageRecord& how) {
  store::Transaction change(*database_);
  if (Result<> begun = change.start(); !begun) return begun;
  RIGHTSIZE_TRY(const Status status, status_of(decision));
  if (!is_live(status)) return fail(not_live(decision, status));
  Result<> done = end_stage(decision, StageState::kFailed, now, how);
  if (done) done = set_status(decision, Status::kRolledBack, now);
  return done ? change.commit() : done;
}

}  // namespace rightsize::decisions
