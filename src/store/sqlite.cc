#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/url.h"
#include "store/database.h"

namespace rightsize::store {
namespace {

class Statement {
 public:
  Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement); }
  sqlite3_stmt* statement = nullptr;
};

class SqliteRow : public Row {
 public:
  explicit SqliteRow(sqlite3_stmt* statement) : statement_(statement) {}
  std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  double number(int column) const override { return sqlite3_column_double(statement_, column); }
  std::string_view text(int column) const override {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? std::string_view{}
                           : std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  bool is_null(int column) const override { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* statement_;
};

// SQLite treats $1 as a name; its numbered parameters are ?1.
std::string numbered(std::string sql) {
  for (std::size_t i = 0; i + 1 < sql.size(); ++i) {
    if (sql[i] == '$' && sql[i + 1] >= '0' && sql[i + 1] <= '9') sql[i] = '?';
  }
  return sql;
}

class Sqlite : public Database {
 public:
  Sqlite(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  ~Sqlite() override { sqlite3_close(handle_); }

  using Database::run;
  Result<> run(const std::string& sql, const std::vector<Value>& values) override {
    return query(sql, values, [](const Row&) {});
  }

  Result<> query(const std::string& sql, const std::vector<Value>& values,
                 const std::function<void(const Row&)>& take) override {
    Statement prepared;
    if (Result<> ready = prepare(sql, prepared); !ready) return ready;
    bind(prepared.statement, values);
    int step = 0;
    while ((step = sqlite3_step(prepared.statement)) == SQLITE_ROW) take(SqliteRow(prepared.statement));
    if (step != SQLITE_DONE) return fail(wrong());
    return {};
  }

  Result<> insert(const std::string& table, const std::vector<std::string>& columns,
                  const std::function<bool(std::vector<Value>&)>& next) override {
    std::string marks;
    for (std::size_t i = 1; i <= columns.size(); ++i) marks += fmt::format("{}?{}", i == 1 ? "" : ",", i);
    Statement prepared;
    const std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(columns, ","), marks);
    if (Result<> ready = prepare(sql, prepared); !ready) return ready;
    std::vector<Value> values;
    while (next(values)) {
      bind(prepared.statement, values);
      if (sqlite3_step(prepared.statement) != SQLITE_DONE) return fail(wrong());
      sqlite3_reset(prepared.statement);
    }
    return {};
  }

  // Locks immediately, to avoid a deadlock of two imports.
  Result<> begin() override { return run("BEGIN IMMEDIATE"); }
  Result<> commit() override { return run("COMMIT"); }
  Result<> roll_back() override { return run("ROLLBACK"); }
  Result<> wait_at_most(Seconds limit) override {
    sqlite3_busy_timeout(handle_, static_cast<int>(in_milliseconds(limit)));
    waits_ = limit;
    return {};
  }
  bool is_postgres() const override { return false; }
  int error_code() const { return sqlite3_errcode(handle_); }
  std::string name() const override { return path_; }

 private:
  // SQLite's message, with a hint for common failures.
  Error wrong() const {
    static constexpr std::pair<int, const char*> kHints[] = {
        {SQLITE_READONLY, "the file, its folder or the disk is read-only; nothing was changed"},
        {SQLITE_CANTOPEN, "the folder is missing or not writable"},
        // Also when there is no space for a lock file.
        {SQLITE_IOERR, "the disk is full or failing; nothing was changed"},
        {SQLITE_FULL, "free some space and try again; nothing was changed"},
        {SQLITE_NOTADB, "the file is damaged or is not a rightsize database"},
        {SQLITE_CORRUPT, "the file is damaged or is not a rightsize database"}};
    const std::string words = fmt::format("{}: {}", path_, sqlite3_errmsg(handle_));
    const int code = error_code();
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
      return unreadable(fmt::format("{} by another process for {:.3g} s", words, in_seconds(waits_)))
          .with_hint("nothing was changed: try again when it is done");
    const auto* hint = std::ranges::find(kHints, code, &std::pair<int, const char*>::first);
    return unreadable(words).with_hint(hint == std::end(kHints) ? "" : hint->second);
  }

  Result<> prepare(const std::string& sql, Statement& into) {
    const std::string text = numbered(sql);
    if (sqlite3_prepare_v2(handle_, text.c_str(), -1, &into.statement, nullptr) != SQLITE_OK) return fail(wrong());
    return {};
  }

  static void bind(sqlite3_stmt* statement, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int at = static_cast<int>(i) + 1;
      if (const auto* integer = std::get_if<std::int64_t>(&values[i])) {
        sqlite3_bind_int64(statement, at, *integer);
      } else if (const auto* number = std::get_if<double>(&values[i])) {
        sqlite3_bind_double(statement, at, *number);
      } else if (const auto* text = std::get_if<std::string>(&values[i])) {
        sqlite3_bind_text(statement, at, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
      } else {
        sqlite3_bind_null(statement, at);
      }
    }
  }

  sqlite3* handle_;
  std::string path_;
  Seconds waits_ = seconds(30);
};

Result<std::unique_ptr<Sqlite>> open_file(const std::string& path, const std::string& address, int flags) {
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(address.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  auto database = std::make_unique<Sqlite>(handle, path);
  if (opened != SQLITE_OK) return fail(unreadable(fmt::format("{}: {}", path, sqlite3_errstr(opened))));
  sqlite3_busy_timeout(handle, 30'000);
  return database;
}

// In WAL mode SQLite needs lock files even for reading, and a read-only or full disk has no room for them.
Result<std::unique_ptr<Database>> open_to_read(const std::string& path) {
  RIGHTSIZE_TRY(std::unique_ptr<Sqlite> database, open_file(path, path, SQLITE_OPEN_READONLY));
  if (database->run("SELECT COUNT(*) FROM sqlite_master")) return database;
  const int why = database->error_code();
  if (why == SQLITE_CANTOPEN || why == SQLITE_READONLY || why == SQLITE_IOERR) return open_unchanging(path);
  return database;
}

// SQLite does not wait here when several programs open a new file at once.
Result<> use_log(Sqlite& database) {
  Result<> set;
  for (int tries = 0; tries < 50; ++tries) {
    set = database.run("PRAGMA journal_mode=WAL", {});
    if (set || set.error().message.find("locked") == std::string::npos) return set;
    sqlite3_sleep(20 + tries);
  }
  return set;
}

}  // namespace

// Changes that are still in the log would not be visible.
Result<std::unique_ptr<Database>> open_unchanging(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::file_size(path + "-wal", ignored) > 0 && !ignored)
    return fail(unreadable(fmt::format("{}: its last changes are in {}-wal and cannot be merged here", path, path))
                    .with_hint("copy both files to a folder that can be written and read them there"));
  return open_file(path, "file:" + percent_encoded(path, "/") + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access) {
  if (access == Access::kRead) return open_to_read(path);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  RIGHTSIZE_TRY(std::unique_ptr<Sqlite> database, open_file(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  // In WAL mode readers see the last complete import while another is written.
  if (Result<> set = use_log(*database); !set) return fail(std::move(set).error());
  for (const char* setting : {"PRAGMA synchronous=NORMAL", "PRAGMA cache_size=-16000"}) {
    if (Result<> set = database->run(setting, {}); !set) return fail(std::move(set).error());
  }
  return database;
}

}  // namespace rightsize::store
