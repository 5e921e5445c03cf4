// A small database behind one interface: SQLite in a file, PostgreSQL by URL.
//
//   auto db = store::open("postgres://localhost/prices");        // or a path: ~/prices.db
//   store::Transaction change(**db);
//   db->run("INSERT INTO t VALUES ($1, $2)", {1, "x"});
//   change.commit();                                             // without it, everything is undone
//
// Statements are the SQL both understand, with $1, $2 ... for values. A change that is not committed leaves no trace,
// also when the program is killed.
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

// One row of an answer. Columns count from 0; what is NULL is 0 or empty unless asked for.
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

  // kUnreadableSource with the database's own words when it fails.
  virtual Result<> run(const std::string& sql, const std::vector<Value>& values) = 0;
  Result<> run(const std::string& sql) { return run(sql, {}); }
  virtual Result<> query(const std::string& sql, const std::vector<Value>& values,
                         const std::function<void(const Row&)>& take) = 0;
  // Many rows of one statement at the least cost: prepared once, for PostgreSQL by COPY. `next` fills the values and
  // says whether there was a row.
  virtual Result<> insert(const std::string& table, const std::vector<std::string>& columns,
                          const std::function<bool(std::vector<Value>&)>& next) = 0;

  // Nobody else changes anything until the transaction ends; they may read what was before.
  virtual Result<> begin() = 0;
  virtual Result<> commit() = 0;
  virtual Result<> roll_back() = 0;

  // How long a change waits for another writer before it fails; 30 s unless set.
  virtual Result<> wait_at_most(Seconds limit) = 0;

  virtual bool is_postgres() const = 0;
  // "prices.db", "postgres://host/prices": without password.
  virtual std::string name() const = 0;
};

enum class Access {
  kRead,   // nothing is made or changed: a file that is not there fails, one on read-only media opens
  kWrite,  // a file that is not there is made, with its folder
};

// A URL that begins with postgres:// or postgresql:// is a server, everything else a file.
Result<std::unique_ptr<Database>> open(const std::string& url, Access access = Access::kWrite);
bool is_server(std::string_view url);

// Begins with start(), is undone unless commit() succeeded.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (open_) (void)database_.roll_back();
  }

  Result<> start() {
    Result<> begun = database_.begin();
    open_ = begun.has_value();
    return begun;
  }
  Result<> commit() {
    open_ = false;
    return database_.commit();
  }

 private:
  Database& database_;
  bool open_ = false;
};

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access);
Result<std::unique_ptr<Database>> open_postgres(const std::string& url);

// Where a database of ours lies: what the flag names, else the environment variable, else the file in the user's XDG
// data folder; empty where there is no home.
std::string usual_place(std::string_view flag, const char* variable, const char* file);

}  // namespace rightsize::store
