// Prices with their history in a database: what was imported when, what holds now, what changed.
//
//   PriceStore store = *PriceStore::open(url);
//   store.save(import, {"skypilot", "aws/vms.csv", today(), true});   // all of it or, when anything fails, nothing
//   store.add_to(catalog);                                            // the newest prices enter every command
//
// An import is one transaction: killed at any point, the prices before it stand whole. History keeps one price a day.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "catalog/catalog.h"
#include "feeds/import.h"
#include "store/database.h"

namespace rightsize::feeds {

struct ImportLabel {
  std::string feed, file;
  Date date;
  bool complete = false;  // prices of its providers from the same feed that it does not name are withdrawn
};

// Which prices: empty means all. Compared as written.
struct PriceFilter {
  std::vector<std::string> providers = {}, instances = {}, regions = {}, zones = {};
  std::vector<catalog::Purchase> purchases = {};
  std::optional<Date> from = {}, until = {};
};

struct PricePoint {
  std::string provider, instance, region, zone;
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  Date date;
  double usd_per_hour = 0;
};

// A price that differs between two days; nothing on one side: new or withdrawn.
struct PriceChange {
  PricePoint offer;
  std::optional<double> before, after;
};

struct StoredImport {
  std::string feed, file;
  Date date;
  std::int64_t taken = 0, refused = 0;
};

class PriceStore {
 public:
  // `flag` when given, else $RIGHTSIZE_STORE, else rightsize/prices.db under the XDG data folder.
  static std::string url(std::string_view flag);
  // Opens and brings tables to this version; a store of a newer version is refused.
  static Result<PriceStore> open(const std::string& url);

  Result<Audit> save(const Import& import, const ImportLabel& label);
  // Newer prices replace the catalogue's of the same machine, region and terms; machines it does not know are added.
  Result<> add_to(catalog::Catalog& catalog);

  // By offer, then day.
  Result<std::vector<PricePoint>> history(const PriceFilter& filter);
  // What held on the two days: the last price at or before each, no older than 400 days.
  Result<std::vector<PriceChange>> diff(const PriceFilter& filter, Date before, Date after);
  Result<std::vector<InterruptionRow>> interruptions();
  Result<std::vector<StoredImport>> imports();
  // Forgets days before `date` except each offer's newest; says how many.
  Result<std::int64_t> forget_before(Date date);

  store::Database& database() { return *database_; }

 private:
  explicit PriceStore(std::unique_ptr<store::Database> database) : database_(std::move(database)) {}
  Result<> prepare();

  std::unique_ptr<store::Database> database_;
};

}  // namespace rightsize::feeds
