#include <charconv>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/lazy_library.h"
#include "base/url.h"
#include "store/database.h"

namespace rightsize::store {
namespace {

struct Libpq : LazyLibrary {
  Libpq() : LazyLibrary("libpq.so.5") {}
  RIGHTSIZE_SYMBOL(PQ, clear);
  RIGHTSIZE_SYMBOL(PQ, connectdb);
  RIGHTSIZE_SYMBOL(PQ, conninfoFree);
  RIGHTSIZE_SYMBOL(PQ, conninfoParse);
  RIGHTSIZE_SYMBOL(PQ, errorMessage);
  RIGHTSIZE_SYMBOL(PQ, exec);
  RIGHTSIZE_SYMBOL(PQ, execParams);
  RIGHTSIZE_SYMBOL(PQ, finish);
  RIGHTSIZE_SYMBOL(PQ, getResult);
  RIGHTSIZE_SYMBOL(PQ, getisnull);
  RIGHTSIZE_SYMBOL(PQ, getlength);
  RIGHTSIZE_SYMBOL(PQ, getvalue);
  RIGHTSIZE_SYMBOL(PQ, ntuples);
  RIGHTSIZE_SYMBOL(PQ, putCopyData);
  RIGHTSIZE_SYMBOL(PQ, putCopyEnd);
  RIGHTSIZE_SYMBOL(PQ, resultErrorField);
  RIGHTSIZE_SYMBOL(PQ, resultStatus);
  RIGHTSIZE_SYMBOL(PQ, setNoticeProcessor);
  RIGHTSIZE_SYMBOL(PQ, status);
};

const Libpq& libpq() {
  static const Libpq kLibrary;
  return kLibrary;
}

struct Clear {
  void operator()(PGresult* result) const { libpq().clear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

class PostgresRow : public Row {
 public:
  PostgresRow(const PGresult* result, int row) : result_(result), row_(row) {}
  std::int64_t integer(int column) const override {
    std::int64_t value = 0;
    const std::string_view from = text(column);
    std::from_chars(from.data(), from.data() + from.size(), value);
    return value;
  }
  double number(int column) const override {
    double value = 0;
    const std::string_view from = text(column);
    std::from_chars(from.data(), from.data() + from.size(), value);
    return value;
  }
  std::string_view text(int column) const override {
    return {libpq().getvalue(result_, row_, column),
            static_cast<std::size_t>(libpq().getlength(result_, row_, column))};
  }
  bool is_null(int column) const override { return libpq().getisnull(result_, row_, column) != 0; }

 private:
  const PGresult* result_;
  int row_;
};

std::optional<std::string> as_text(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

// A cell of COPY's text format.
void add_cell(std::string& line, const Value& value) {
  constexpr std::string_view kSpecial = "\\\t\n\r", kWritten = "\\tnr";
  const std::optional<std::string> text = as_text(value);
  if (!text) line += "\\N";
  for (const char c : text.value_or("")) {
    const std::size_t special = kSpecial.find(c);
    if (special == std::string_view::npos)
      line += c;
    else
      line += {'\\', kWritten[special]};
  }
}

std::string message_of(const PGconn* connection) {
  std::string text = libpq().errorMessage(connection);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Postgres : public Database {
 public:
  Postgres(PGconn* connection, std::string name) : connection_(connection), name_(std::move(name)) {}
  ~Postgres() override { libpq().finish(connection_); }

  using Database::run;
  Result<> run(const std::string& sql, const std::vector<Value>& values) override {
    return query(sql, values, [](const Row&) {});
  }

  Result<> query(const std::string& sql, const std::vector<Value>& values,
                 const std::function<void(const Row&)>& take) override {
    std::vector<std::optional<std::string>> texts;
    for (const Value& value : values) texts.push_back(as_text(value));
    std::vector<const char*> pointers;
    for (const auto& text : texts) pointers.push_back(text ? text->c_str() : nullptr);
    const Answer answer(libpq().execParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr,
                                           pointers.data(), nullptr, nullptr, 0));
    const ExecStatusType status = libpq().resultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return fail(wrong(answer.get()));
    for (int row = 0; row < libpq().ntuples(answer.get()); ++row) take(PostgresRow(answer.get(), row));
    return {};
  }

  Result<> insert(const std::string& table, const std::vector<std::string>& columns,
                  const std::function<bool(std::vector<Value>&)>& next) override {
    const std::string sql = fmt::format("COPY {} ({}) FROM STDIN", table, fmt::join(columns, ","));
    const Answer started(libpq().exec(connection_, sql.c_str()));
    if (libpq().resultStatus(started.get()) != PGRES_COPY_IN) return fail(wrong());
    std::vector<Value> values;
    std::string block;
    while (next(values)) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0) block += '\t';
        add_cell(block, values[i]);
      }
      block += '\n';
      if (block.size() > (1U << 16) && !send(block)) return fail(wrong());
    }
    if (!send(block) || libpq().putCopyEnd(connection_, nullptr) != 1) return fail(wrong());
    bool good = true;
    while (const Answer answer = Answer(libpq().getResult(connection_)))
      good = good && libpq().resultStatus(answer.get()) == PGRES_COMMAND_OK;
    if (!good) return fail(wrong());
    return {};
  }

  // The advisory lock admits one writer at a time and does not delay readers.
  Result<> begin() override {
    if (Result<> begun = run("BEGIN"); !begun) return begun;
    return run("SELECT pg_advisory_xact_lock(7416281)");
  }
  Result<> commit() override { return run("COMMIT"); }
  Result<> roll_back() override { return run("ROLLBACK"); }
  Result<> wait_at_most(Seconds limit) override {
    return run(fmt::format("SET lock_timeout = {}", static_cast<std::int64_t>(in_milliseconds(limit))));
  }
  bool is_postgres() const override { return true; }
  std::string name() const override { return name_; }

 private:
  bool send(std::string& block) {
    const bool sent =
        block.empty() || libpq().putCopyData(connection_, block.data(), static_cast<int>(block.size())) == 1;
    block.clear();
    return sent;
  }

  // The server's message, with a hint for common failures.
  Error wrong(const PGresult* answer = nullptr) const {
    const char* state = answer == nullptr ? nullptr : libpq().resultErrorField(answer, PG_DIAG_SQLSTATE);
    const std::string_view code = state == nullptr ? "" : state;
    std::string hint;
    if (code == "55P03") hint = "another process is writing; nothing was changed: try again";
    if (code == "53100") hint = "the server's disk is full; nothing was changed";
    if (code == "25006") hint = "this server is read-only (a standby?); nothing was changed";
    return unreadable(fmt::format("{}: {}", name_, message_of(connection_))).with_hint(std::move(hint));
  }

  PGconn* connection_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(const std::string& url, Access access) {
  if (!libpq().loaded()) return fail(libpq().loaded().error());
  PGconn* connection = libpq().connectdb(url.c_str());
  auto database = std::make_unique<Postgres>(connection, shown_url(url));
  if (libpq().status(connection) != CONNECTION_OK) {
    // libpq's message repeats its idea of the host, port or parameters, which may include part of an unescaped
    // password.
    PQconninfoOption* parsed = libpq().conninfoParse(url.c_str(), nullptr);
    libpq().conninfoFree(parsed);
    if (parsed == nullptr || may_hide_password(url))
      return fail(unreadable(fmt::format("{}: no connection", database->name()))
                      .with_hint("percent-encode special characters in user name and password: '@' is %40"));
    return fail(unreadable(fmt::format("{}: {}", database->name(), message_of(connection))));
  }
  libpq().setNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  if (access == Access::kRead) {
    if (Result<> set = database->run("SET default_transaction_read_only TO on"); !set) return fail(set.error());
  }
  return database;
}

}  // namespace rightsize::store
