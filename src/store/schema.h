// The tables of a store, and how an older store becomes one of today.
//
//   const Schema schema{"ledger", "decision_version", {"decision"}, {{"CREATE TABLE decision ..."}, {"ALTER TABLE
//   ..."}}}; auto ready = bring_up_to_date(*database, schema);
//
// A step's number is the version it leads to. All missing steps are one transaction. A store that holds something is
// copied before its first step; one of a newer program is refused and left as it is.
#pragma once

#include <string>
#include <vector>

#include "store/database.h"

namespace rightsize::store {

struct Schema {
  std::string version_table;                    // holds one row: the version
  std::vector<std::string> tables;              // to be copied before a change
  std::vector<std::vector<std::string>> steps;  // statements of version 1, 2, ...
};

struct Readiness {
  std::int64_t was = 0;  // 0: the store was empty
  std::string backup;    // where the copy is; empty: none was needed
};

Result<Readiness> bring_up_to_date(Database& database, const Schema& schema);

// The version of the tables; 0 where there are none. Fails on a version newer than the schema's.
Result<std::int64_t> version_of(Database& database, const Schema& schema);

}  // namespace rightsize::store
