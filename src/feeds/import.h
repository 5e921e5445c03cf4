// From feed rows to prices the catalogue can use, with a count and reason for every row.
//
//   Importer importer(catalog, today(), "skypilot");
//   read_feed("skypilot", path, {.provider = "aws", .catalog = &catalog}, importer);
//   const Import import = importer.finish();
//
// A row is accepted, skipped (not a GPU machine), or refused with a reason. Doubtful prices are accepted but listed as
// suspicious; if the price itself is in doubt, the row is marked `unverified`, and no recommendation puts it first.
// Memory is bounded for any feed: prices are packed, and rows beyond kMostPrices are refused.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "feeds/feed.h"

namespace rightsize::feeds {

// The number of occurrences, with the first examples.
struct Finding {
  long count = 0;
  std::vector<std::string> examples;  // at most five
};
using Findings = std::map<std::string, Finding>;

struct Audit {
  long taken = 0, passed = 0, refused_rows = 0;
  long older = 0;       // prices older than those on file: kept only in the history
  long undated = 0;     // prices without a date that differ from those on file, or are new
  long dateless = 0;    // rows without a date
  Findings refused;     // not accepted
  Findings suspicious;  // accepted
  Findings corrected;   // mistakes in the feed
  long withdrawn = 0;   // prices of the provider that the feed no longer lists
};

// Data shared by many prices, stored once.
class Shared {
 public:
  std::string_view text(std::string_view text);
  const catalog::ExchangeRate* rate(const catalog::ExchangeRate& rate);
  std::size_t bytes() const { return bytes_; }  // of texts

 private:
  std::set<std::string, std::less<>> texts_;
  std::map<std::pair<std::string, int>, catalog::ExchangeRate> rates_;  // by currency and day
  std::size_t bytes_ = 0;
};

// A catalog::Price in a quarter of its size; texts and rate belong to Import::shared.
struct ImportedPrice {
  std::string_view provider, instance, region, zone, note = {};
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  bool undated = false, doubted = false;  // no source confirms the date or the price
  Date date = {};
  double usd_per_hour = 0;                      // of the machine
  const catalog::ExchangeRate* rate = nullptr;  // null: listed in dollars
  double list_price = 0;                        // in the currency of the rate

  std::vector<std::string> unverified() const;
};

// By provider, instance, terms, region and zone: prices that may be merged are neighbours.
struct ByOffer {
  bool operator()(const ImportedPrice& a, const ImportedPrice& b) const;
};

struct Import {
  std::string source;
  std::vector<ImportedPrice> prices;       // one per offer, in the order of ByOffer
  std::vector<catalog::Machine> machines;  // machines that are not in the catalogue
  std::vector<InterruptionRow> interruptions;
  std::set<std::string> providers;
  Audit audit;
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
};

// The origin of the date of prices without their own.
enum class DateIs {
  kStated,   // given by the user
  kFetched,  // the provider's own answer or list, fetched on that day
  kCopied,   // a copy of a list, fetched on that day: its prices may be much older
  kWritten,  // the file was written on that day, which says nothing about its prices
};

class Importer : public FeedSink {
 public:
  // Rows without a date get `date`. `catalog` must outlive the importer; new prices are compared with its prices.
  //
  // The age of a price counts from its last change or confirmation, not from its copy. In a copy, a price that equals
  // the one on file keeps the date on file; one that differs from the same source's earlier price, or is new there, has
  // changed since. All others, and all that differ in a file that was only written on the day, have an unconfirmed date
  // (`unverified`).
  Importer(const catalog::Catalog& catalog, Date date, std::string source, DateIs known = DateIs::kStated);

  void take(FeedRow row) override;
  void take(InterruptionRow row) override;
  void refuse(std::string_view why, std::string_view what, long line) override;
  void pass() override { ++import_.audit.passed; }

  Import finish();

 private:
  using MachineKey = std::pair<std::string_view, std::string_view>;  // provider, instance
  using Price = ImportedPrice;

  const catalog::Machine* machine_of(const FeedRow& row);
  const catalog::Machine* new_machine(const FeedRow& row);
  const catalog::Machine& machine_of(const Price& price) const;
  const std::vector<const catalog::Gpu*>& matching_gpus(const std::string& spelled);
  bool is_plausible(const FeedRow& row, const catalog::Machine& machine);
  void keep(const FeedRow& row);
  void suspect(const std::string& why, const Price& price);
  void doubt(const Price& price, const std::string& why);
  // Refuses every price that is `wrong`.
  void refuse_prices(const std::string& why, const std::function<bool(const Price&)>& wrong);
  void check_spot();
  void check_band();
  void check_zones();
  void check_jumps();
  void settle_dates();
  std::set<std::string_view> providers_with_chosen_regions() const;
  bool convert(FeedRow& row);
  void correct_memory(FeedRow& row);
  // Replaces neighbours of the same group by the result of `merge`.
  void merge_groups(const std::function<bool(const Price&, const Price&)>& same_group,
                    const std::function<std::optional<Price>(const std::vector<const Price*>&)>& merge);

  const catalog::Catalog& catalog_;
  Date date_;
  DateIs date_is_;
  std::map<MachineKey, const catalog::Machine*> machines_;  // of the catalogue
  std::map<MachineKey, catalog::Machine> new_machines_;
  std::map<std::string, std::vector<const catalog::Gpu*>> matched_;  // by spelling
  std::set<Price, ByOffer> prices_;
  Import import_;
};

}  // namespace rightsize::feeds
