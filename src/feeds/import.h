// From feed rows to prices the catalogue can use, with a count and reason for every row.
//
//   Importer importer(catalog, today(), "skypilot");
//   read_feed("skypilot", path, {.provider = "aws", .catalog = &catalog}, importer);
//   const Import import = importer.finish();
//
// A row is taken, passed over (not a GPU machine), or refused with a reason. Prices that are taken but doubtful are
// listed as suspicious; where the price itself is in doubt the row says so (`unverified`), so that no recommendation
// puts it first. Memory is bounded whatever the feed: rows beyond kMostPrices are refused.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "feeds/feed.h"

namespace rightsize::feeds {

// No provider lists more prices of GPU machines than this; a feed that does is damaged or not a price list.
inline constexpr std::size_t kMostPrices = 500'000;

// How often something happened, with the first examples.
struct Finding {
  long count = 0;
  std::vector<std::string> examples;  // at most five
};
using Findings = std::map<std::string, Finding>;

struct Audit {
  long taken = 0, passed = 0, refused_rows = 0;
  long older = 0;       // prices that are older than those on file: kept in the history only
  long undated = 0;     // prices without a date that differ from those on file, or are new
  long dateless = 0;    // rows without a date
  Findings refused;     // not taken
  Findings suspicious;  // taken
  Findings corrected;   // mistakes in the feed
  long withdrawn = 0;   // prices of the provider that the feed no longer lists
};

struct Import {
  std::vector<catalog::Price> prices;      // one per provider, instance, terms, region and zone, in that order
  std::vector<catalog::Machine> machines;  // that are not in the catalogue
  std::vector<InterruptionRow> interruptions;
  std::set<std::string> providers;
  Audit audit;
};

// What is known about the day of prices without a date.
enum class DateIs {
  kStated,   // the user says so
  kFetched,  // the provider's own answer or list, fetched on that day
  kCopied,   // a copy of a list, fetched on that day: its prices may be much older
  kWritten,  // the file was written then; a checkout or a download says nothing about its prices
};

class Importer : public FeedSink {
 public:
  // Rows without a date get `date`. `catalog` must outlive the importer; new prices are compared with its prices.
  //
  // A price is as old as its last change or confirmation, not as its copy. From a copy, a price that is the same as on
  // file keeps the date on file; one that differs from what the same source said before, or is missing there, has
  // changed since. All others, and all that differ in a file that was only written on the day, have an unconfirmed date
  // (`unverified`).
  Importer(const catalog::Catalog& catalog, Date date, std::string source, DateIs known = DateIs::kStated);

  void take(FeedRow row) override;
  void take(InterruptionRow row) override;
  void refuse(std::string_view why, std::string_view what, long line) override;
  void pass() override { ++import_.audit.passed; }

  Import finish();

 private:
  using MachineKey = std::pair<std::string, std::string>;  // provider, instance
  // By provider, instance, terms, region and zone: prices that may be merged are neighbours.
  struct ByOffer {
    bool operator()(const catalog::Price& a, const catalog::Price& b) const;
  };
  using Prices = std::set<catalog::Price, ByOffer>;

  const catalog::Machine* machine_of(const FeedRow& row);
  const catalog::Machine* new_machine(const FeedRow& row);
  const catalog::Machine& machine_of(const catalog::Price& price) const;
  bool is_plausible(const FeedRow& row, const catalog::Machine& machine);
  void keep(const FeedRow& row);
  void suspect(const std::string& why, const catalog::Price& price);
  void doubt(const catalog::Price& price, const std::string& why);
  // Removes and refuses every price for which `wrong` holds.
  void refuse_prices(const std::string& why, const std::function<bool(const catalog::Price&)>& wrong);
  void check_spot();
  void check_band();
  void check_zones();
  void check_jumps();
  void settle_dates();
  std::set<std::string> providers_with_chosen_regions() const;
  bool convert(FeedRow& row);
  void correct_memory(FeedRow& row) const;
  // Replaces neighbours that `same_group` puts together by what `merge` makes of them.
  void merge_groups(
      const std::function<bool(const catalog::Price&, const catalog::Price&)>& same_group,
      const std::function<std::optional<catalog::Price>(const std::vector<const catalog::Price*>&)>& merge);

  const catalog::Catalog& catalog_;
  Date date_;
  DateIs date_is_;
  std::string source_;
  std::map<MachineKey, const catalog::Machine*> machines_;  // of the catalogue
  std::map<MachineKey, catalog::Machine> new_machines_;
  Prices prices_;
  Import import_;
};

}  // namespace rightsize::feeds
