#include <charconv>

#include <fmt/format.h>

#include "store/database.h"
#include "store/libpq.h"

namespace rightsize::store {
namespace {

struct Clear {
  void operator()(PGresult* result) const { libpq().PQclear(result); }
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
    return {libpq().PQgetvalue(result_, row_, column),
            static_cast<std::size_t>(libpq().PQgetlength(result_, row_, column))};
  }
  bool is_null(int column) const override { return libpq().PQgetisnull(result_, row_, column) != 0; }

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
  const std::optional<std::string> text = as_text(value);
  if (!text) {
    line += "\\N";
    return;
  }
  for (const char c : *text) {
    switch (c) {
      case '\\':
        line += "\\\\";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\r':
        line += "\\r";
        break;
      default:
        line += c;
    }
  }
}

std::string without_password(const std::string& url) {
  const std::size_t at = url.find('@'), scheme = url.find("://");
  if (at == std::string::npos || scheme == std::string::npos) return url.substr(0, url.find('?'));
  return (url.substr(0, scheme + 3) + url.substr(at + 1)).substr(0, url.find('?'));
}

class Postgres : public Database {
 public:
  Postgres(PGconn* connection, std::string name) : connection_(connection), name_(std::move(name)) {}
  ~Postgres() override { libpq().PQfinish(connection_); }

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
    const Answer answer(libpq().PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr,
                                             pointers.data(), nullptr, nullptr, 0));
    const ExecStatusType status = libpq().PQresultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return fail(wrong(answer.get()));
    for (int row = 0; row < libpq().PQntuples(answer.get()); ++row) take(PostgresRow(answer.get(), row));
    return {};
  }

  Result<> insert(const std::string& table, const std::vector<std::string>& columns,
                  const std::function<bool(std::vector<Value>&)>& next) override {
    const std::string sql = fmt::format("COPY {} ({}) FROM STDIN", table, fmt::join(columns, ","));
    const Answer started(libpq().PQexec(connection_, sql.c_str()));
    if (libpq().PQresultStatus(started.get()) != PGRES_COPY_IN) return fail(wrong());
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
    if (!send(block) || libpq().PQputCopyEnd(connection_, nullptr) != 1) return fail(wrong());
    bool good = true;
    while (const Answer answer = Answer(libpq().PQgetResult(connection_))) {
      good = good && libpq().PQresultStatus(answer.get()) == PGRES_COMMAND_OK;
    }
    if (!good) return fail(wrong());
    return {};
  }

  // An advisory lock is the one writer's place; readers are not held up.
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
        block.empty() || libpq().PQputCopyData(connection_, block.data(), static_cast<int>(block.size())) == 1;
    block.clear();
    return sent;
  }

  // The server's words, and what they mean for the user where its code is one of those people meet.
  Error wrong(const PGresult* answer = nullptr) const {
    std::string words = libpq().PQerrorMessage(connection_);
    while (!words.empty() && words.back() == '\n') words.pop_back();
    const char* state = answer == nullptr ? nullptr : libpq().PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    const std::string_view code = state == nullptr ? "" : state;
    std::string hint;
    if (code == "55P03") hint = "another process is writing; nothing was changed: try again";
    if (code == "53100") hint = "the server's disk is full; nothing was changed";
    if (code == "25006") hint = "this server only reads (a standby?); nothing was changed";
    return unreadable(fmt::format("{}: {}", name_, words)).with_hint(std::move(hint));
  }

  PGconn* connection_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(const std::string& url) {
  if (!libpq().loaded) return fail(libpq().loaded.error());
  PGconn* connection = libpq().PQconnectdb(url.c_str());
  auto database = std::make_unique<Postgres>(connection, without_password(url));
  if (libpq().PQstatus(connection) != CONNECTION_OK) {
    std::string words = libpq().PQerrorMessage(connection);
    while (!words.empty() && words.back() == '\n') words.pop_back();
    return fail(unreadable(fmt::format("{}: {}", database->name(), words)));
  }
  libpq().PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
  return database;
}

}  // namespace rightsize::store
