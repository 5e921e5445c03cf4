#include "store/schema.h"

#include <filesystem>

#include <fmt/format.h>

namespace rightsize::store {
namespace {

// SQLite: a file next to the store.
Result<std::string> copy_file(Database& database, std::int64_t version) {
  std::string path;
  std::error_code ignored;
  for (int number = 0; path.empty() || std::filesystem::exists(path, ignored); ++number)
    path = fmt::format("{}.v{}{}.backup", database.name(), version, number == 0 ? "" : fmt::format("-{}", number));
  if (Result<> made = database.run("VACUUM INTO $1", {path}); !made) return fail(std::move(made).error());
  return path;
}

// PostgreSQL: a separate schema.
Result<std::string> copy_tables(Database& database, const Schema& schema, std::int64_t version) {
  const std::string name = fmt::format("{}_v{}_backup", schema.version_table, version);
  if (Result<> made = database.run(fmt::format("CREATE SCHEMA {}", name)); !made) return fail(std::move(made).error());
  for (const std::string& table : schema.tables) {
    // Tables of a later version do not exist yet.
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
  if (read && there)
    read = database.query(fmt::format("SELECT number FROM {}", schema.version_table), {},
                          [&](const Row& row) { version = row.integer(0); });
  if (!read) return fail(std::move(read).error());
  const auto known = static_cast<std::int64_t>(schema.steps.size());
  if (version > known) {
    return fail(unreadable(fmt::format("{}: written by a newer rightsize (table version {}, this program knows {})",
                                       database.name(), version, known))
                    .with_hint("it was not changed; use the newer program"));
  }
  return version;
}

Result<Readiness> bring_up_to_date(Database& database, const Schema& schema) {
  const auto wanted = static_cast<std::int64_t>(schema.steps.size());
  // An up-to-date store is only read: reading must never wait for a writer.
  RIGHTSIZE_TRY(std::int64_t version, version_of(database, schema));
  Readiness ready;
  ready.was = version;
  if (version == wanted) return ready;
  if (version > 0 && !database.is_postgres()) {
    RIGHTSIZE_TRY(ready.backup, copy_file(database, version));
  }
  Result<> upgraded = in_transaction(database, [&]() -> Result<> {
    // Another program may have upgraded it while this one waited.
    RIGHTSIZE_TRY(version, version_of(database, schema));
    if (version == wanted) return {};
    if (version > 0 && database.is_postgres()) {
      RIGHTSIZE_TRY(ready.backup, copy_tables(database, schema, version));
    }
    return take_steps(database, schema, version);
  });
  if (!upgraded) return fail(std::move(upgraded).error());
  return ready;
}

Result<OpenStore> open(const std::string& url, Access access, const Schema& schema, Seconds wait) {
  RIGHTSIZE_TRY(std::unique_ptr<Database> database, open(url, access));
  if (Result<> set = database->wait_at_most(wait); !set) return fail(std::move(set).error());
  if (access == Access::kRead) {
    RIGHTSIZE_TRY(const std::int64_t version, version_of(*database, schema));
    const bool old = version > 0 && version < static_cast<std::int64_t>(schema.steps.size());
    if (old) return open(url, Access::kWrite, schema, wait);
    return OpenStore{std::move(database), {version, {}}};
  }
  RIGHTSIZE_TRY(Readiness ready, bring_up_to_date(*database, schema));
  return OpenStore{std::move(database), std::move(ready)};
}

}  // namespace rightsize::store
