#include "store/schema.h"

#include <filesystem>

#include <fmt/format.h>

namespace rightsize::store {
namespace {

// A SQLite file beside the store, a schema of its own in PostgreSQL.
Result<std::string> copy_file(Database& database, std::int64_t version) {
  std::string path;
  std::error_code ignored;
  for (int number = 0; path.empty() || std::filesystem::exists(path, ignored); ++number) {
    path = fmt::format("{}.v{}{}.backup", database.name(), version, number == 0 ? "" : fmt::format("-{}", number));
  }
  if (Result<> made = database.run("VACUUM INTO $1", {path}); !made) return fail(std::move(made).error());
  return path;
}

Result<std::string> copy_tables(Database& database, const Schema& schema, std::int64_t version) {
  const std::string name = fmt::format("{}_v{}_backup", schema.version_table, version);
  if (Result<> made = database.run(fmt::format("CREATE SCHEMA {}", name)); !made) return fail(std::move(made).error());
  for (const std::string& table : schema.tables) {
    // Tables that came with a later version are not there yet.
    bool there = false;
    Result<> asked = database.query("SELECT to_regclass($1) IS NOT NULL", {table},
                                    [&](const Row& row) { there = row.text(0) == "t"; });
    if (asked && there) asked = database.run(fmt::format("CREATE TABLE {}.{} AS TABLE {}", name, table, table));
    if (!asked) return fail(std::move(asked).error());
  }
  return name;
}

Result<> take_steps(Database& database, const Schema& schema, std::int64_t from) {
  Result<> done =
      database.run(fmt::format("CREATE TABLE IF NOT EXISTS {} (number BIGINT NOT NULL)", schema.version_table));
  for (auto step = static_cast<std::size_t>(from); done && step < schema.steps.size(); ++step) {
    for (const std::string& statement : schema.steps[step]) {
      if (done) done = database.run(statement);
    }
  }
  if (done) done = database.run(fmt::format("DELETE FROM {}", schema.version_table));
  if (!done) return done;
  return database.run(fmt::format("INSERT INTO {} (number) VALUES ($1)", schema.version_table),
                      {static_cast<std::int64_t>(schema.steps.size())});
}

}  // namespace

Result<std::int64_t> version_of(Database& database, const Schema& schema) {
  bool there = false;
  const std::string find = database.is_postgres() ? "SELECT 1 WHERE to_regclass($1) IS NOT NULL"
                                                  : "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1";
  Result<> read = database.query(find, {schema.version_table}, [&](const Row&) { there = true; });
  std::int64_t version = 0;
  if (read && there) {
    read = database.query(fmt::format("SELECT number FROM {}", schema.version_table), {},
                          [&](const Row& row) { version = row.integer(0); });
  }
  if (!read) return fail(std::move(read).error());
  const auto known = static_cast<std::int64_t>(schema.steps.size());
  if (version > known) {
    return fail(unreadable(fmt::format("{}: made by a newer rightsize (version {} of its tables, this one knows {})",
                                       database.name(), version, known))
                    .with_hint("it was left as it is; use the newer program"));
  }
  return version;
}

Result<Readiness> bring_up_to_date(Database& database, const Schema& schema) {
  const auto wanted = static_cast<std::int64_t>(schema.steps.size());
  // A store that is ready is only read, so that looking something up never waits for a writer.
  RIGHTSIZE_TRY(std::int64_t version, version_of(database, schema));
  Readiness ready;
  ready.was = version;
  if (version == wanted) return ready;
  if (version > 0 && !database.is_postgres()) {
    RIGHTSIZE_TRY(ready.backup, copy_file(database, version));
  }
  Transaction change(database);
  if (Result<> begun = change.start(); !begun) return fail(std::move(begun).error());
  // Another program may have done it while this one waited.
  RIGHTSIZE_TRY(version, version_of(database, schema));
  if (version == wanted) return ready;
  if (version > 0 && database.is_postgres()) {
    RIGHTSIZE_TRY(ready.backup, copy_tables(database, schema, version));
  }
  if (Result<> taken = take_steps(database, schema, version); !taken) return fail(std::move(taken).error());
  if (Result<> done = change.commit(); !done) return fail(std::move(done).error());
  return ready;
}

}  // namespace rightsize::store
