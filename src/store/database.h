// A small database behind one interface: SQLite in a file, PostgreSQL by URL.
//
//   Result<std::unique_ptr<store::Database>> db = store::open("postgres://localhost/prices");  // or a path
//   Result<> kept = store::in_transaction(
//       **db, [&] { return (*db)->run("INSERT INTO t VALUES ($1, $2)", {std::int64_t{1}, std::string("x")}); });
//
// Statements are SQL that both databases understand, with $1, $2 ... for values. A change that is not committed leaves
// no trace, even if the program is killed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rightsize::store {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;  // monostate: NULL

// One row of a result. Columns count from 0; NULL reads as 0 or empty.
class Row {
 public:
  virtual ~Row() = default;
  virtual std::int64_t integer(int column) const = 0;
  virtual double number(int column) const = 0;
  virtual std::string_view text(int column) const = 0;
  virtual bool is_null(int column) const = 0;
};

class Database {
 public:
  virtual ~Database() = default;

  // Fails with kUnreadableSource and the database's message.
  virtual Result<> run(const std::string& sql, const std::vector<Value>& values) = 0;
  Result<> run(const std::string& sql) { return run(sql, {}); }
  virtual Result<> query(const std::string& sql, const std::vector<Value>& values,
                         const std::function<void(const Row&)>& take) = 0;
  // Many rows at once: one prepared statement, or COPY in PostgreSQL. `next` fills the values of a row and returns
  // false after the last.
  virtual Result<> insert(const std::string& table, const std::vector<std::string>& columns,
                          const std::function<bool(std::vector<Value>&)>& next) = 0;

  // One writer at a time: others wait until the transaction ends, and may read the state before it.
  virtual Result<> begin() = 0;
  virtual Result<> commit() = 0;
  virtual Result<> roll_back() = 0;

  // How long a change waits for another writer before it fails; 30 s unless set.
  virtual Result<> wait_at_most(Seconds limit) = 0;

  virtual bool is_postgres() const = 0;
  // "prices.db", "postgres://host/prices": never a password.
  virtual std::string name() const = 0;
};

enum class Access {
  kRead,   // changes nothing: a missing file is an error, a full or read-only disk is not
  kWrite,  // creates a missing file and its folder
};

// A URL that begins with postgres:// or postgresql:// is a server, everything else a file; ":memory:" is neither.
Result<std::unique_ptr<Database>> open(const std::string& url, Access access = Access::kWrite);
bool is_server(std::string_view url);
// Whether there is a file, or `url` is a server. Fails if the folder may not be read; false for an empty URL.
Result<bool> exists(const std::string& url);

// Runs `work` in a transaction, which is committed when it succeeds and undone when it fails.
template <class Work>
Result<> in_transaction(Database& database, const Work& work) {
  if (Result<> begun = database.begin(); !begun) return begun;
  Result<> done = work();
  if (done) return database.commit();
  (void)database.roll_back();
  return done;
}

// The results of `read` for every row of a query.
template <class Read>
auto rows(Database& database, const std::string& sql, const std::vector<Value>& values, const Read& read)
    -> Result<std::vector<decltype(read(std::declval<const Row&>()))>> {
  std::vector<decltype(read(std::declval<const Row&>()))> found;
  Result<> done = database.query(sql, values, [&](const Row& row) { found.push_back(read(row)); });
  if (!done) return fail(std::move(done).error());
  return found;
}

// Inserts one row. With `key`, the columns of a unique key, it replaces a row of the same key.
Result<> put(Database& database, const std::string& table, const std::vector<std::string>& columns,
             const std::vector<Value>& values, const std::string& key = {});

// Database::insert() for a list of items: `make` returns the values of one.
template <class Items, class Make>
Result<> insert_all(Database& database, const std::string& table, const std::vector<std::string>& columns,
                    const Items& items, const Make& make) {
  auto next = items.begin();
  return database.insert(table, columns, [&](std::vector<Value>& values) {
    if (next == items.end()) return false;
    values = make(*next++);
    return true;
  });
}

// " WHERE a IN ($1, $2) AND b >= $3" with its values.
class Where {
 public:
  // Empty texts are left out; without any other, there is no condition.
  void among(const char* column, const std::vector<std::string>& wanted);
  void compare(const std::string& column_and_sign, const std::optional<std::int64_t>& value);
  const std::string& text() const { return text_; }
  const std::vector<Value>& values() const { return values_; }

 private:
  void add(const std::string& condition) { text_ += (text_.empty() ? " WHERE " : " AND ") + condition; }
  std::string mark(Value value);

  std::string text_;
  std::vector<Value> values_;
};

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access);
// A SQLite file that no other process changes, without lock files: for read-only and full disks.
Result<std::unique_ptr<Database>> open_unchanging(const std::string& path);
Result<std::unique_ptr<Database>> open_postgres(const std::string& url, Access access);

// The location of one of our databases: the flag, else the environment variable, else the file in the user's XDG data
// folder; empty without a home folder.
std::string default_location(std::string_view flag, const char* variable, const char* file);

}  // namespace rightsize::store
