// From feed rows to prices the catalogue can use, with an account of every row.
//
//   Importer importer(catalog, today(), "skypilot");
//   read_feed("skypilot", path, {.provider = "aws", .catalog = &catalog}, importer);
//   const Import import = importer.finish();
//
// A row is taken, passed over (not a GPU machine), or refused with a reason. What is taken but should not be trusted
// alone is suspicious: the audit names it, and where the price itself is in doubt the row says so (`unverified`), so
// that no recommendation puts it first.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "feeds/feed.h"

namespace rightsize::feeds {

// How often something happened and the first few times it did.
struct Finding {
  long count = 0;
  std::vector<std::string> examples;  // at most five
};
using Findings = std::map<std::string, Finding>;

struct Audit {
  long taken = 0, passed = 0, refused_rows = 0;
  Findings refused;     // not taken
  Findings suspicious;  // taken
  Findings corrected;   // mistakes of the feed that were undone
  long withdrawn = 0;   // prices of the provider that the feed no longer names
};

struct Import {
  std::vector<catalog::Price> prices;      // one a key, by provider, instance, region, zone and purchase
  std::vector<catalog::Machine> machines;  // that the catalogue does not know yet
  std::vector<InterruptionRow> interruptions;
  std::set<std::string> providers;
  Audit audit;
};

class Importer : public FeedSink {
 public:
  // Rows without a date of their own are of `date`. `catalog` must outlive the importer; its prices are what jumps are
  // measured against.
  Importer(const catalog::Catalog& catalog, Date date, std::string source);

  void take(FeedRow row) override;
  void take(InterruptionRow row) override;
  void refuse(std::string_view why, std::string_view what, long line) override;
  void pass() override { ++import_.audit.passed; }

  Import finish();

 private:
  using MachineKey = std::pair<std::string, std::string>;                                         // provider, instance
  using Key = std::tuple<std::string, std::string, std::string, std::string, catalog::Purchase>;  // + region, zone

  const catalog::Machine* machine_of(const FeedRow& row);
  const catalog::Machine* new_machine(const FeedRow& row);
  bool is_plausible(const FeedRow& row, const catalog::Machine& machine);
  void keep(const FeedRow& row);
  void suspect(const std::string& why, const catalog::Price& price);
  void check_spot();
  void check_band();
  void check_zones();
  void check_jumps();
  void merge_zones();
  void merge_regions();

  const catalog::Catalog& catalog_;
  Date date_;
  std::string source_;
  std::map<MachineKey, const catalog::Machine*> machines_;  // of the catalogue
  std::map<MachineKey, catalog::Machine> new_machines_;
  std::map<Key, catalog::Price> prices_;
  Import import_;
};

}  // namespace rightsize::feeds
