#include "decisions/ledger.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/list_of.h"
#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/suggest.h"

namespace rightsize::decisions {
namespace {

using store::Row;
using store::Value;

// Version by version. Times are seconds since 1970, money is in dollars. A list reads only the first table, which stays
// narrow because the plan is in another table.
const store::Schema kSchema{
    "decision_version",
    {"decision", "decision_prediction", "decision_document", "decision_stage", "decision_sample"},
    {{"CREATE TABLE decision (id BIGINT PRIMARY KEY, workload TEXT NOT NULL, team TEXT NOT NULL, author TEXT NOT NULL, "
      "decided_at BIGINT NOT NULL, status TEXT NOT NULL, choice TEXT NOT NULL, gpu TEXT NOT NULL, gpus BIGINT NOT "
      "NULL, provider TEXT NOT NULL, instance TEXT NOT NULL, instances BIGINT NOT NULL, region TEXT NOT NULL, purchase "
      "TEXT NOT NULL, per TEXT NOT NULL, cost DOUBLE PRECISION, before_cost DOUBLE PRECISION, saving DOUBLE PRECISION, "
      "ended_at BIGINT, superseded_by BIGINT)",
      "CREATE INDEX decision_of_workload ON decision (workload)", "CREATE INDEX decision_of_team ON decision (team)",
      "CREATE TABLE decision_prediction (decision BIGINT NOT NULL, place BIGINT NOT NULL, metric TEXT NOT NULL, low "
      "DOUBLE PRECISION, likely DOUBLE PRECISION NOT NULL, high DOUBLE PRECISION, bound DOUBLE PRECISION, PRIMARY KEY "
      "(decision, metric))",
      "CREATE TABLE decision_document (decision BIGINT PRIMARY KEY, why TEXT NOT NULL, what TEXT NOT NULL, command "
      "TEXT NOT NULL, catalogue TEXT NOT NULL, program TEXT NOT NULL, way_back TEXT NOT NULL, cost_low DOUBLE "
      "PRECISION, cost_high DOUBLE PRECISION, saving_low DOUBLE PRECISION, saving_high DOUBLE PRECISION, request TEXT "
      "NOT NULL, plan TEXT NOT NULL)"},
     // Version 2: rollouts and measurements.
     {"CREATE TABLE decision_stage (decision BIGINT NOT NULL, place BIGINT NOT NULL, stage TEXT NOT NULL, state TEXT "
      "NOT NULL, started_at BIGINT NOT NULL, ended_at BIGINT, author TEXT NOT NULL, how TEXT NOT NULL, note TEXT NOT "
      "NULL, PRIMARY KEY (decision, place))",
      "CREATE TABLE decision_sample (decision BIGINT NOT NULL, place BIGINT NOT NULL, metric TEXT NOT NULL, value "
      "DOUBLE PRECISION NOT NULL, taken_at BIGINT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (decision, place))"}}};

const std::vector<std::string> kSummaryColumns = {"id",     "workload", "team", "author",   "decided_at",  "status",
                                                  "choice", "gpu",      "gpus", "provider", "instance",    "instances",
                                                  "region", "purchase", "per",  "cost",     "before_cost", "saving"};
constexpr const char* kIsLive = "status IN ('decided', 'rolling-out', 'in-force')";

Value value_of(const std::optional<Usd>& amount) { return amount ? Value(in_usd(*amount)) : Value(); }
Value value_of(const std::optional<double>& number) { return number ? Value(*number) : Value(); }
std::int64_t seconds_of(TimePoint time) { return static_cast<std::int64_t>(in_unix_seconds(time)); }
Value value_of(TimePoint time) { return seconds_of(time); }
template <class Enum>
std::string text_of(Enum value) {
  return std::string(name_of(value));
}

std::optional<Usd> usd_at(const Row& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(usd(row.number(column)));
}
TimePoint time_at(const Row& row, int column) { return unix_seconds(static_cast<double>(row.integer(column))); }
std::optional<double> number_at(const Row& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.number(column));
}

std::string select_summaries() {
  return fmt::format("SELECT {}, ended_at, superseded_by FROM decision", fmt::join(kSummaryColumns, ", "));
}

DecisionSummary summary_of(const Row& row) {
  DecisionSummary s;
  ChosenPlan& c = s.choice;
  s.id = row.integer(0);
  s.workload = row.text(1);
  s.team = row.text(2);
  s.author = row.text(3);
  s.decided_at = time_at(row, 4);
  s.status = parse<DecisionStatus>(row.text(5)).value_or(DecisionStatus::kDecided);
  c.words = row.text(6);
  c.gpu = row.text(7);
  c.gpus = row.integer(8);
  c.provider = row.text(9);
  c.instance = row.text(10);
  c.instances = row.integer(11);
  c.region = row.text(12);
  c.purchase = row.text(13);
  s.per = parse<Per>(row.text(14)).value_or(Per::kMonth);
  s.cost = usd_at(row, 15);
  s.before = usd_at(row, 16);
  s.saving = usd_at(row, 17);
  if (!row.is_null(18)) s.ended_at = time_at(row, 18);
  return s;
}

std::string request_text(const RequestSettings& request) {
  Json settings = Json::object();
  for (const auto& [name, value] : request) settings[name] = value;
  return settings.dump();
}

RequestSettings read_request_text(const std::string& text) {
  RequestSettings request;
  const Checked<LocatedJson> document = LocatedJson::parse("request", text);
  if (!document) return request;
  for (const JsonMember& member : document->root().members) request.emplace_back(member.name, member.value.text);
  return request;
}

Result<> insert(store::Database& database, const Decision& d) {
  const DecisionSummary& s = d.summary;
  const ChosenPlan& c = s.choice;
  const UsdRange cost = d.cost.value_or(UsdRange{}), saving = d.saving.value_or(UsdRange{});
  std::int64_t place = 0;
  return store::put(database, "decision", kSummaryColumns,
                    {s.id, s.workload, s.team, s.author, value_of(s.decided_at), text_of(s.status), c.words, c.gpu,
                     c.gpus, c.provider, c.instance, c.instances, c.region, c.purchase, text_of(s.per),
                     value_of(s.cost), value_of(s.before), value_of(s.saving)})
      .and_then([&] {
        return store::put(
            database, "decision_document",
            {"decision", "why", "what", "command", "catalogue", "program", "way_back", "cost_low", "cost_high",
             "saving_low", "saving_high", "request", "plan"},
            {s.id, d.why, d.what, d.command, d.catalogue, d.program, d.rollback, value_of(cost.low),
             value_of(cost.high), value_of(saving.low), value_of(saving.high), request_text(d.request), d.plan});
      })
      .and_then([&] {
        return store::insert_all(database, "decision_prediction",
                                 {"decision", "place", "metric", "low", "likely", "high", "bound"}, d.predictions,
                                 [&](const PredictedMetric& p) -> std::vector<Value> {
                                   return {s.id,
                                           place++,
                                           p.metric,
                                           value_of(p.value.low),
                                           p.value.likely,
                                           value_of(p.value.high),
                                           value_of(p.limit)};
                                 });
      });
}

store::Where where(const Filter& filter) {
  store::Where where;
  where.among("workload", {filter.workload});
  where.among("team", {filter.team});
  where.among("author", {filter.author});
  where.among("gpu", {filter.gpu});
  where.among("status", list_of(filter.statuses, [](DecisionStatus status) { return text_of(status); }));
  if (filter.since) where.compare("decided_at >=", seconds_of(*filter.since));
  if (filter.until) where.compare("decided_at <", seconds_of(*filter.until));
  return where;
}

// A new decision replaces the workload's live one.
Result<> supersede(store::Database& database, const DecisionSummary& fresh) {
  return database.run(
      fmt::format("UPDATE decision SET status = $1, ended_at = $2, superseded_by = $3 WHERE workload = $4 AND id <> $3 "
                  "AND {}",
                  kIsLive),
      {text_of(DecisionStatus::kSuperseded), value_of(fresh.decided_at), fresh.id, fresh.workload});
}

Result<Ledger> no_ledger(const std::string& name) {
  return fail(unreadable(fmt::format("there is no ledger at {}", name))
                  .with_hint("'rightsize decide' creates one; --ledger names another"));
}

}  // namespace

const store::Schema& ledger_schema() { return kSchema; }

std::string Ledger::url(std::string_view flag) {
  return store::default_location(flag, "RIGHTSIZE_LEDGER", "decisions.db");
}

Result<Ledger> Ledger::open(const std::string& url, store::Access access, Seconds wait) {
  if (url.empty())
    return fail(bad_input("there is no home folder for the ledger of decisions").with_hint("name one with --ledger"));
  RIGHTSIZE_TRY(const bool exists, store::exists(url));
  if (access == store::Access::kRead && !exists) return no_ledger(url);
  RIGHTSIZE_TRY(store::OpenStore opened, store::open(url, access, kSchema, wait));
  if (access == store::Access::kRead && opened.ready.was == 0) return no_ledger(opened.database->name());
  // Acknowledged changes must survive a power failure.
  if (access == store::Access::kWrite && !opened.database->is_postgres()) {
    if (Result<> set = opened.database->run("PRAGMA synchronous=FULL"); !set) return fail(std::move(set).error());
  }
  Ledger ledger(std::move(opened.database));
  ledger.backup_ = std::move(opened.ready.backup);
  return ledger;
}

Result<Decision> Ledger::add(Decision decision) {
  DecisionSummary& summary = decision.summary;
  Result<> added = store::in_transaction(*database_, [&] {
    return database_
        ->query("SELECT COALESCE(MAX(id), 0) FROM decision", {},
                [&](const Row& row) { summary.id = row.integer(0) + 1; })
        .and_then([&] { return supersede(*database_, summary); })
        .and_then([&] { return insert(*database_, decision); });
  });
  if (!added) return fail(std::move(added).error());
  return decision;
}

Result<std::vector<DecisionSummary>> Ledger::list(const Filter& filter) {
  const store::Where wanted = where(filter);
  std::string sql = fmt::format("{}{} ORDER BY id DESC", select_summaries(), wanted.text());
  if (filter.most > 0) sql += fmt::format(" LIMIT {}", filter.most);
  return store::rows(*database_, sql, wanted.values(), summary_of);
}

Result<LedgerTotals> Ledger::totals(const Filter& filter) {
  const store::Where wanted = where(filter);
  const std::string sql = fmt::format(
      "SELECT COUNT(*), COALESCE(SUM(CASE WHEN {0} THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN {0} AND per = "
      "'month' THEN saving ELSE 0 END), 0) FROM decision{1}",
      kIsLive, wanted.text());
  RIGHTSIZE_TRY(const std::vector<LedgerTotals> found,
                store::rows(*database_, sql, wanted.values(), [](const Row& row) {
                  return LedgerTotals{row.integer(0), row.integer(1), usd(row.number(2))};
                }));
  return found.front();
}

Result<std::int64_t> Ledger::number_of(std::string_view name) {
  std::string_view digits = name;
  if (digits.starts_with("D") || digits.starts_with("d")) digits.remove_prefix(1);
  if (const Result<std::int64_t> number = parse_integer(digits)) return *number;
  RIGHTSIZE_TRY(const std::vector<std::int64_t> newest,
                store::rows(*database_, "SELECT COALESCE(MAX(id), 0) FROM decision WHERE workload = $1",
                            {std::string(name)}, [](const Row& row) { return row.integer(0); }));
  if (newest.front() > 0) return newest.front();
  RIGHTSIZE_TRY(const std::vector<std::string> workloads,
                store::rows(*database_, "SELECT DISTINCT workload FROM decision", {},
                            [](const Row& row) { return std::string(row.text(0)); }));
  return fail(bad_input(fmt::format("there is no decision about a workload '{}'", name))
                  .with_hint(did_you_mean(name, workloads))
                  .with_hint("'rightsize decisions list' shows them all"));
}

Result<Decision> Ledger::find(std::string_view name) {
  RIGHTSIZE_TRY(const std::int64_t id, number_of(name));
  Decision d;
  Result<> done = database_->query(select_summaries() + " WHERE id = $1", {id}, [&](const Row& row) {
    d.summary = summary_of(row);
    d.superseded_by = row.integer(19);
  });
  if (done && d.summary.id == 0)
    return fail(bad_input(fmt::format("there is no decision {}", label(id)))
                    .with_hint("'rightsize decisions list' shows them all"));
  if (done) {
    done = database_->query(
        "SELECT why, what, command, catalogue, program, way_back, cost_low, cost_high, saving_low, saving_high, "
        "request, plan FROM decision_document WHERE decision = $1",
        {id}, [&](const Row& row) {
          std::string* const texts[] = {&d.why, &d.what, &d.command, &d.catalogue, &d.program, &d.rollback};
          for (int column = 0; column < 6; ++column) *texts[column] = row.text(column);
          if (d.summary.cost) d.cost = UsdRange{usd_at(row, 6), *d.summary.cost, usd_at(row, 7)};
          if (d.summary.saving) d.saving = UsdRange{usd_at(row, 8), *d.summary.saving, usd_at(row, 9)};
          d.request = read_request_text(std::string(row.text(10)));
          d.plan = row.text(11);
        });
  }
  if (!done) return fail(std::move(done).error());
  RIGHTSIZE_TRY(
      d.predictions,
      store::rows(*database_,
                  "SELECT metric, low, likely, high, bound FROM decision_prediction WHERE decision = $1 ORDER BY place",
                  {id}, [](const Row& row) {
                    return PredictedMetric{std::string(row.text(0)),
                                           {number_at(row, 1), row.number(2), number_at(row, 3)},
                                           number_at(row, 4)};
                  }));
  // Metrics of a newer version: this program cannot compare them.
  std::erase_if(d.predictions, [](const PredictedMetric& p) { return find_metric(p.metric) == nullptr; });
  return d;
}

Result<> Ledger::add_samples(std::int64_t decision, const std::vector<MeasuredValue>& samples) {
  if (samples.empty()) return {};
  return store::in_transaction(*database_, [&] {
    std::int64_t place = 0;
    return database_
        ->query("SELECT COALESCE(MAX(place), 0) FROM decision_sample WHERE decision = $1", {decision},
                [&](const Row& row) { place = row.integer(0); })
        .and_then([&] {
          return store::insert_all(*database_, "decision_sample",
                                   {"decision", "place", "metric", "value", "taken_at", "source"}, samples,
                                   [&](const MeasuredValue& s) -> std::vector<Value> {
                                     return {decision, ++place, s.metric, s.value, value_of(s.taken_at), s.source};
                                   });
        });
  });
}

Result<std::vector<MeasuredValue>> Ledger::samples(std::int64_t decision) {
  return store::rows(
      *database_, "SELECT metric, value, taken_at, source FROM decision_sample WHERE decision = $1 ORDER BY place",
      {decision}, [](const Row& row) {
        return MeasuredValue{std::string(row.text(0)), row.number(1), time_at(row, 2), std::string(row.text(3))};
      });
}

Result<std::vector<StageRecord>> Ledger::stages(std::int64_t decision) {
  return store::rows(
      *database_,
      "SELECT stage, state, started_at, ended_at, author, how, note FROM decision_stage WHERE decision = $1 ORDER BY "
      "place",
      {decision}, [](const Row& row) {
        StageRecord record{parse<RolloutStage>(row.text(0)).value_or(RolloutStage::kOneJob),
                           parse<StageState>(row.text(1)).value_or(StageState::kRunning), time_at(row, 2)};
        if (!row.is_null(3)) record.ended_at = time_at(row, 3);
        record.by = row.text(4);
        record.how = row.text(5);
        record.note = row.text(6);
        return record;
      });
}

Result<std::vector<std::int64_t>> Ledger::in_practice() {
  return store::rows(*database_,
                     "SELECT decision FROM decision_stage UNION SELECT decision FROM decision_sample ORDER BY 1", {},
                     [](const Row& row) { return row.integer(0); });
}

// Changes the rollout of a live decision, and reads its stages in the same transaction.
Result<> Ledger::change_rollout(std::int64_t decision,
                                const std::function<Result<>(const std::vector<StageRecord>&)>& change) {
  return store::in_transaction(*database_, [&]() -> Result<> {
    RIGHTSIZE_TRY(const std::vector<std::optional<DecisionStatus>> status,
                  store::rows(*database_, "SELECT status FROM decision WHERE id = $1", {decision},
                              [](const Row& row) { return parse<DecisionStatus>(row.text(0)); }));
    if (!status.empty() && status[0] && !is_live(*status[0]))
      return fail(bad_input(fmt::format("{} is {}: nothing to roll out", label(decision), name_of(*status[0])))
                      .with_hint("'rightsize decide' makes a new decision"));
    RIGHTSIZE_TRY(const std::vector<StageRecord> so_far, stages(decision));
    return change(so_far);
  });
}

Result<> Ledger::begin_stage(std::int64_t decision, std::size_t place, RolloutStage stage, TimePoint now,
                             const std::string& by) {
  return store::put(*database_, "decision_stage",
                    {"decision", "place", "stage", "state", "started_at", "author", "how", "note"},
                    {decision, static_cast<std::int64_t>(place), text_of(stage), text_of(StageState::kRunning),
                     value_of(now), by, "", ""});
}

Result<> Ledger::end_stage(std::int64_t decision, StageState state, TimePoint now, const StageRecord& how) {
  return database_->run(
      "UPDATE decision_stage SET state = $1, ended_at = $2, author = $3, how = $4, note = $5 WHERE decision = $6 AND "
      "state = $7",
      {text_of(state), value_of(now), how.by, how.how, how.note, decision, text_of(StageState::kRunning)});
}

Result<> Ledger::set_status(std::int64_t decision, DecisionStatus status, std::optional<TimePoint> ended_at) {
  return database_->run("UPDATE decision SET status = $1, ended_at = $2 WHERE id = $3",
                        {text_of(status), ended_at ? value_of(*ended_at) : Value(), decision});
}

Result<> Ledger::start_stage(std::int64_t decision, RolloutStage stage, TimePoint now, const std::string& by) {
  return change_rollout(decision, [&](const std::vector<StageRecord>& so_far) -> Result<> {
    if (const StageRecord* current = running_stage(so_far))
      return fail(bad_input(fmt::format("{}: stage '{}' is already running", label(decision), name_of(current->stage)))
                      .with_hint(fmt::format("'rightsize rollout confirm {}' ends it", label(decision))));
    return begin_stage(decision, so_far.size(), stage, now, by).and_then([&] {
      return set_status(decision, DecisionStatus::kRollingOut, std::nullopt);
    });
  });
}

Result<> Ledger::pass_stage(std::int64_t decision, RolloutStage stage, TimePoint now, const StageRecord& how) {
  return change_rollout(decision, [&](const std::vector<StageRecord>& so_far) -> Result<> {
    const StageRecord* current = running_stage(so_far);
    if (current == nullptr || current->stage != stage)
      return fail(bad_input(fmt::format("{}: stage '{}' is no longer running", label(decision), name_of(stage)))
                      .with_hint("another person confirmed it or rolled it back"));
    return end_stage(decision, StageState::kPassed, now, how).and_then([&] {
      if (stage == RolloutStage::kAll) return set_status(decision, DecisionStatus::kInForce, std::nullopt);
      return begin_stage(decision, so_far.size(), next_stage(stage), now, how.by);
    });
  });
}

Result<> Ledger::roll_back(std::int64_t decision, TimePoint now, const StageRecord& how) {
  return change_rollout(decision, [&](const std::vector<StageRecord>&) {
    return end_stage(decision, StageState::kFailed, now, how).and_then([&] {
      return set_status(decision, DecisionStatus::kRolledBack, now);
    });
  });
}

}  // namespace rightsize::decisions
