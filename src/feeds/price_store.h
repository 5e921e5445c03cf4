// Prices with their history in a database: imports, current prices, changes.
//
//   PriceStore store = *PriceStore::open(url, store::Access::kWrite);
//   store.save(import, {"skypilot", "aws/vms.csv", today(), true});   // all of it or, when anything fails, nothing
//   store.add_to(catalog);                                            // the newest prices enter every command
//
// An import is one transaction: if it is killed, the previous prices stay. History keeps one price per day.
//
// The order of imports does not matter: of each feed the newest price of an offer counts, of several feeds the newest,
// and a price that is missing from a newer complete list of its feed is withdrawn. Imports of the same feed and day
// replace each other, so that a mistake can be corrected.
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
  bool dated = true;      // false: the day is only when the file was written, so nothing is withdrawn
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

  // Relative; empty if one side has no price.
  std::optional<double> ratio() const { return before && after ? std::optional(*after / *before - 1) : std::nullopt; }
};

class PriceStore {
 public:
  // `flag` when given, else $RIGHTSIZE_STORE, else rightsize/prices.db under the XDG data folder.
  static std::string url(std::string_view flag);
  // A store of a newer version is refused. To read, nothing is created or changed: a missing store reads as empty.
  static Result<PriceStore> open(const std::string& url, store::Access access);

  Result<Audit> save(const Import& import, const ImportLabel& label);
  // Newer prices replace the catalogue's of the same machine, region and terms; machines it does not know are added.
  Result<> add_to(catalog::Catalog& catalog);

  // By offer, then day.
  Result<std::vector<PricePoint>> history(const PriceFilter& filter);
  // What held on the two days: the last price at or before each, no older than 400 days.
  Result<std::vector<PriceChange>> diff(const PriceFilter& filter, Date before, Date after);
  Result<std::vector<InterruptionRow>> interruptions();
  // Removes prices from before `date` except each offer's newest; returns how many.
  Result<std::int64_t> forget_before(Date date);

  store::Database& database() { return *database_; }

 private:
  explicit PriceStore(std::unique_ptr<store::Database> database) : database_(std::move(database)) {}

  std::unique_ptr<store::Database> database_;
};

}  // namespace rightsize::feeds
