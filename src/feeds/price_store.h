// Prices with their history in a database: imports, current prices, changes.
//
//   PriceStore store = *PriceStore::open(url, store::Access::kWrite);
//   store.save(import, {"skypilot", "aws/vms.csv", today(), true});   // everything or, if anything fails, nothing
//   store.add_to(catalog);                                            // the newest prices, for every command
//
// An import is one transaction: if it is killed, the previous prices stay. History keeps one price per day.
//
// The order of imports does not matter: the newest price of an offer counts, within a feed and between feeds, and a
// price that is missing from a newer complete list of its feed is withdrawn. Imports of the same feed and day replace
// each other, which makes corrections possible.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/date.h"
#include "catalog/catalog.h"
#include "feeds/import.h"
#include "store/database.h"

namespace rightsize::feeds {

struct ImportLabel {
  std::string feed, file;
  Date date;
  bool complete = false;  // earlier prices of this feed that it lacks are withdrawn
  bool dated = true;      // false: the day is only that of the file, so nothing is withdrawn
};

// Selects prices; empty means all. Texts are compared exactly.
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

  auto key() const { return std::tie(provider, instance, region, zone, purchase); }  // of the offer
};

// A price that differs between two days; one side is empty if it is new or withdrawn.
struct PriceChange {
  PricePoint offer;
  std::optional<double> before, after;

  // Relative; empty if one side has no price.
  std::optional<double> ratio() const { return before && after ? std::optional(*after / *before - 1) : std::nullopt; }
};

class PriceStore {
 public:
  // `flag` if given, else $RIGHTSIZE_STORE, else rightsize/prices.db under the XDG data folder.
  static std::string url(std::string_view flag);
  // A store of a newer version is refused. Read access creates and changes nothing: a missing store is empty.
  static Result<PriceStore> open(const std::string& url, store::Access access);

  Result<Audit> save(const Import& import, const ImportLabel& label);
  // Newer prices replace the catalogue's of the same machine, region and terms; unknown machines are added.
  Result<> add_to(catalog::Catalog& catalog);

  // By offer, then day.
  Result<std::vector<PricePoint>> history(const PriceFilter& filter);
  // The prices in effect on the two days: the last price at or before each, at most 400 days old.
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
