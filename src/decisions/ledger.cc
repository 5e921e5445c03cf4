#include "decisions/ledger.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/json.h"
#include "base/located_json.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "decisions/tables.h"

namespace rightsize::decisions {
namespace {

using store::Row;
using store::Value;

constexpr const char* kSummaryColumns =
    "id, workload, team, author, decided_at, status, choice, gpu, gpus, provider, instance, instances, region, "
    "purchase, per, cost, before_cost, saving, ended_at, superseded_by";

Value value_of(const std::optional<Usd>& amount) { return amount ? Value(in_usd(*amount)) : Value(); }
Value value_of(const std::optional<double>& number) { return number ? Value(*number) : Value(); }
Value value_of(TimePoint time) { return static_cast<std::int64_t>(in_unix_seconds(time)); }

std::optional<Usd> usd_at(const Row& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(usd(row.number(column)));
}
std::optional<double> number_at(const Row& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.number(column));
}

Summary summary_of(const Row& row) {
  Summary summary;
  summary.id = row.integer(0);
  summary.workload = row.text(1);
  summary.team = row.text(2);
  summary.author = row.text(3);
  summary.decided_at = unix_seconds(static_cast<double>(row.integer(4)));
  summary.status = parse_status(row.text(5)).value_or(Status::kDecided);
  Choice& choice = summary.choice;
  choice.words = row.text(6);
  choice.gpu = row.text(7);
  choice.gpus = row.integer(8);
  choice.provider = row.text(9);
  choice.instance = row.text(10);
  choice.instances = row.integer(11);
  choice.region = row.text(12);
  choice.purchase = row.text(13);
  summary.per = parse_per(row.text(14)).value_or(Per::kMonth);
  summary.cost = usd_at(row, 15);
  summary.before = usd_at(row, 16);
  summary.saving = usd_at(row, 17);
  if (!row.is_null(18)) summary.ended_at = unix_seconds(static_cast<double>(row.integer(18)));
  return summary;
}

std::string request_text(const Request& request) {
  Json settings = Json::object();
  for (const auto& [name, value] : request) settings[name] = value;
  return settings.dump();
}

Request read_request_text(const std::string& text) {
  Request request;
  const Checked<LocatedJson> document = LocatedJson::parse("request", text);
  if (!document) return request;
  for (const JsonMember& member : document->root().members) request.emplace_back(member.name, member.value.text);
  return request;
}

Result<> insert_summary(store::Database& database, const Summary& s) {
  const Choice& c = s.choice;
  return database.run(
      "INSERT INTO decision (id, workload, team, author, decided_at, status, choice, gpu, gpus, provider, instance, "
      "instances, region, purchase, per, cost, before_cost, saving) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
      "$11, $12, $13, $14, $15, $16, $17, $18)",
      {s.id, s.workload, s.team, s.author, value_of(s.decided_at), std::string(name_of(s.status)), c.words, c.gpu,
       c.gpus, c.provider, c.instance, c.instances, c.region, c.purchase, std::string(name_of(s.per)), value_of(s.cost),
       value_of(s.before), value_of(s.saving)});
}

Result<> insert_rest(store::Database& database, const Decision& d) {
  const UsdRange none;
  const UsdRange& cost = d.cost ? *d.cost : none;
  const UsdRange& saving = d.saving ? *d.saving : none;
  Result<> done = database.run(
      "INSERT INTO decision_document (decision, why, what, command, catalogue, program, way_back, cost_low, cost_high, "
      "saving_low, saving_high, request, plan) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
      {d.summary.id, d.why, d.what, d.command, d.catalogue, d.program, d.way_back, value_of(cost.low),
       value_of(cost.high), value_of(saving.low), value_of(saving.high), request_text(d.request), d.plan});
  std::int64_t place = 0;
  for (const Prediction& p : d.predictions) {
    if (!done) return done;
    done = database.run(
        "INSERT INTO decision_prediction (decision, place, metric, low, likely, high, bound) VALUES ($1, $2, $3, $4, "
        "$5, $6, $7)",
        {d.summary.id, place++, p.metric, value_of(p.value.low), p.value.likely, value_of(p.value.high),
         value_of(p.limit)});
  }
  return done;
}

// " WHERE a = $1 AND ..." with its values.
class Where {
 public:
  explicit Where(const Filter& filter) {
    same("workload", filter.workload);
    same("team", filter.team);
    same("author", filter.author);
    same("gpu", filter.gpu);
    if (!filter.statuses.empty()) {
      std::string marks;
      for (const Status status : filter.statuses) {
        marks += fmt::format("{}{}", marks.empty() ? "" : ",", mark(std::string(name_of(status))));
      }
      add(fmt::format("status IN ({})", marks));
    }
    if (filter.since) add("decided_at >= " + mark(value_of(*filter.since)));
    if (filter.until) add("decided_at < " + mark(value_of(*filter.until)));
  }
  const std::string& text() const { return text_; }
  const std::vector<Value>& values() const { return values_; }

 private:
  void same(const char* column, const std::string& wanted) {
    if (!wanted.empty()) add(fmt::format("{} = {}", column, mark(wanted)));
  }
  std::string mark(Value value) {
    values_.push_back(std::move(value));
    return fmt::format("${}", values_.size());
  }
  void add(const std::string& condition) { text_ += (text_.empty() ? " WHERE " : " AND ") + condition; }

  std::string text_;
  std::vector<Value> values_;
};

// Of the workload's live decisions, which a new one replaces.
Result<> supersede(store::Database& database, const Summary& fresh) {
  return database.run(
      "UPDATE decision SET status = $1, ended_at = $2, superseded_by = $3 WHERE workload = $4 AND id <> $3 AND status "
      "IN ('decided', 'rolling-out', 'in-force')",
      {std::string(name_of(Status::kSuperseded)), value_of(fresh.decided_at), fresh.id, fresh.workload});
}

Result<Ledger> no_ledger(const std::string& name) {
  return fail(unreadable(fmt::format("there is no ledger at {}", name))
                  .with_hint("'rightsize decide' begins one; --ledger names another"));
}

}  // namespace

std::string Ledger::url(std::string_view flag) { return store::usual_place(flag, "RIGHTSIZE_LEDGER", "decisions.db"); }

Result<Ledger> Ledger::open(const std::string& url, store::Access access, Seconds wait) {
  if (url.empty()) {
    return fail(bad_input("there is no home folder for the ledger of decisions").with_hint("name one with --ledger"));
  }
  std::error_code ignored;
  if (access == store::Access::kRead && !store::is_server(url) && !std::filesystem::exists(url, ignored)) {
    return no_ledger(url);
  }
  RIGHTSIZE_TRY(std::unique_ptr<store::Database> database, store::open(url, access));
  if (Result<> set = database->wait_at_most(wait); !set) return fail(std::move(set).error());
  if (access == store::Access::kRead) {
    RIGHTSIZE_TRY(const std::int64_t version, store::version_of(*database, ledger_schema()));
    if (version == 0) return no_ledger(database->name());
    if (version < static_cast<std::int64_t>(ledger_schema().steps.size())) {
      return open(url, store::Access::kWrite, wait);
    }
    return Ledger(std::move(database));
  }
  // What was acknowledged survives a power cut, too.
  if (!database->is_postgres()) {
    if (Result<> set = database->run("PRAGMA synchronous=FULL"); !set) return fail(std::move(set).error());
  }
  RIGHTSIZE_TRY(store::Readiness ready, store::bring_up_to_date(*database, ledger_schema()));
  Ledger ledger(std::move(database));
  ledger.backup_ = std::move(ready.backup);
  return ledger;
}

Result<Decision> Ledger::add(Decision decision) {
  store::Transaction change(*database_);
  if (Result<> begun = change.start(); !begun) return fail(std::move(begun).error());
  Summary& summary = decision.summary;
  Result<> done = database_->query("SELECT COALESCE(MAX(id), 0) FROM decision", {},
                                   [&](const Row& row) { summary.id = row.integer(0) + 1; });
  if (done) done = supersede(*database_, summary);
  if (done) done = insert_summary(*database_, summary);
  if (done) done = insert_rest(*database_, decision);
  if (done) done = change.commit();
  if (!done) return fail(std::move(done).error());
  return decision;
}

Result<std::vector<Summary>> Ledger::list(const Filter& filter) {
  const Where where(filter);
  std::string sql = fmt::format("SELECT {} FROM decision{} ORDER BY id DESC", kSummaryColumns, where.text());
  if (filter.most > 0) sql += fmt::format(" LIMIT {}", filter.most);
  std::vector<Summary> found;
  Result<> read = database_->query(sql, where.values(), [&](const Row& row) { found.push_back(summary_of(row)); });
  if (!read) return fail(std::move(read).error());
  return found;
}

Result<Totals> Ledger::totals(const Filter& filter) {
  const Where where(filter);
  const std::string live = "status IN ('decided', 'rolling-out', 'in-force')";
  const std::string sql = fmt::format(
      "SELECT COUNT(*), COALESCE(SUM(CASE WHEN {0} THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN {0} AND per = "
      "'month' "
      "THEN saving ELSE 0 END), 0) FROM decision{1}",
      live, where.text());
  Totals totals;
  Result<> read = database_->query(sql, where.values(), [&](const Row& row) {
    totals.decisions = row.integer(0);
    totals.live = row.integer(1);
    totals.saving = usd(row.number(2));
  });
  if (!read) return fail(std::move(read).error());
  return totals;
}

Result<std::int64_t> Ledger::number_of(std::string_view name) {
  std::string_view digits = name;
  if (digits.starts_with("D") || digits.starts_with("d")) digits.remove_prefix(1);
  if (const Result<std::int64_t> number = parse_integer(digits)) return *number;
  std::int64_t newest = 0;
  Result<> read = database_->query("SELECT COALESCE(MAX(id), 0) FROM decision WHERE workload = $1", {std::string(name)},
                                   [&](const Row& row) { newest = row.integer(0); });
  if (!read) return fail(std::move(read).error());
  if (newest > 0) return newest;
  std::vector<std::string> workloads;
  read = database_->query("SELECT DISTINCT workload FROM decision", {},
                          [&](const Row& row) { workloads.emplace_back(row.text(0)); });
  if (!read) return fail(std::move(read).error());
  return fail(bad_input(fmt::format("there is no decision about a workload '{}'", name))
                  .with_hint(did_you_mean(name, workloads))
                  .with_hint("'rightsize decisions list' shows them all"));
}

Result<Decision> Ledger::find(std::string_view name) {
  RIGHTSIZE_TRY(const std::int64_t id, number_of(name));
  return read(id);
}

Result<Decision> Ledger::read(std::int64_t id) {
  Decision d;
  Result<> done = database_->query(fmt::format("SELECT {} FROM decision WHERE id = $1", kSummaryColumns), {id},
                                   [&](const Row& row) {
                                     d.summary = summary_of(row);
                                     d.superseded_by = row.integer(19);
                                   });
  if (done && d.summary.id == 0) {
    return fail(bad_input(fmt::format("there is no decision {}", label(id)))
                    .with_hint("'rightsize decisions list' shows them all"));
  }
  if (done) {
    done = database_->query(
        "SELECT why, what, command, catalogue, program, way_back, cost_low, cost_high, saving_low, saving_high, "
        "request, plan FROM decision_document WHERE decision = $1",
        {id}, [&](const Row& row) {
          d.why = row.text(0);
          d.what = row.text(1);
          d.command = row.text(2);
          d.catalogue = row.text(3);
          d.program = row.text(4);
          d.way_back = row.text(5);
          if (d.summary.cost) d.cost = UsdRange{usd_at(row, 6), *d.summary.cost, usd_at(row, 7)};
          if (d.summary.saving) d.saving = UsdRange{usd_at(row, 8), *d.summary.saving, usd_at(row, 9)};
          d.request = read_request_text(std::string(row.text(10)));
          d.plan = row.text(11);
        });
  }
  if (done) {
    done = database_->query(
        "SELECT metric, low, likely, high, bound FROM decision_prediction WHERE decision = $1 ORDER BY place", {id},
        [&](const Row& row) {
          const std::string metric(row.text(0));
          d.predictions.push_back({metric,
                                   {number_at(row, 1), row.number(2), number_at(row, 3)},
                                   worse_side(metric).value_or(Worse::kAbove),
                                   number_at(row, 4)});
        });
  }
  if (!done) return fail(std::move(done).error());
  return d;
}

}  // namespace rightsize::decisions
