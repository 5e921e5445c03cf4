// The tables of a store, and how an older store is upgraded.
//
//   const store::Schema schema{"decision_version", {"decision"}, {{"CREATE TABLE decision (id BIGINT)"}}};
//   Result<store::OpenStore> ledger = store::open("ledger.db", store::Access::kWrite, schema);
//
// A step's number is the version it leads to. All missing steps are one transaction. A store that is not empty is
// copied before its first step; a store of a newer program is refused and left as it is.
#pragma once

#include <string>
#include <vector>

#include "store/database.h"

namespace rightsize::store {

struct Schema {
  std::string version_table;                    // holds one row: the version
  std::vector<std::string> tables;              // copied before an upgrade
  std::vector<std::vector<std::string>> steps;  // statements of version 1, 2, ...
};

struct Readiness {
  std::int64_t was = 0;  // 0: the store was empty
  std::string backup;    // the copy made before an upgrade; empty: none was needed
};

Result<Readiness> bring_up_to_date(Database& database, const Schema& schema);

struct OpenStore {
  std::unique_ptr<Database> database;
  Readiness ready;
};

// Opens a store. With write access, its tables are created or upgraded. With read access, nothing changes unless its
// tables are of an older version; these are upgraded first. `wait`: how long a change waits for another writer.
Result<OpenStore> open(const std::string& url, Access access, const Schema& schema, Seconds wait = seconds(30));

// The version of the tables; 0 if there are none. Fails on a version newer than the schema's.
Result<std::int64_t> version_of(Database& database, const Schema& schema);

}  // namespace rightsize::store
