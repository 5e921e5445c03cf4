// The likely cost of an offer over a job, rather than on the day its price was read.
//
// A list price holds until the provider changes it. A spot price does not: a zone that was cheap drifts back towards
// the other zones of its machine, the faster the older the row is. So a spot price is shrunk towards the median of its
// machine over zones and regions, by a weight that falls with age, and the interval widens with age. The weights are in
// data/price_outlook.csv, fitted by tools/market to 16 months of daily AWS prices; docs/market.md has the backtest.
//
//   const PriceOutlook outlook = book.outlook(offer, days(7));
//   outlook.likely;               // dollars per machine-hour to rank by: the mean over the job
//   outlook.low, outlook.high;    // the middle 80 %
//   outlook.may_lead();           // false: never first in a recommendation
//   outlook.age, outlook.sources; // how old the price is, and how many independent sources agree with it
//
// A price over kAgedDays old with one source is unconfirmed. It leads only if every offer of the GPU on these terms is
// as old; a commitment always needs a recent date or a second source within kAgreement. A price over a year old never
// leads. A planner compares only the offers that its request allows. Sources are those of the row itself, and other
// providers with about the same price for the same GPU and terms in the last kAgedDays.
#pragma once

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "base/units.h"
#include "market/offers.h"

namespace rightsize::market {

struct PriceOutlook {
  UsdPerMachineSecond low, likely, high;
  UsdPerMachineSecond listed;  // the price of the row
  UsdPerMachineSecond median;  // of the machine on these terms over zones and regions, launch floors left out
  int peers = 0;               // rows behind that median, including the offer's own
  std::optional<Seconds> age;  // of the row; empty: the user's own price or undated

  int sources = 1;  // independent ones that agree on it; 1: single-source
  int others = 0;   // of them, other providers that charge about as much for this GPU

  bool floor = false;        // spot at exactly a tenth of on-demand, and possibly a launch price
  bool unconfirmed = false;  // the catalogue marks the price or its date as unverified
  bool outdated = false;     // over a year old
  bool aged = false;         // is_old(), and a fresher price exists
  bool community = false;    // peer-hosted or resold

  // Over kAgedDays old, and single-source.
  bool is_old() const;

  // Whether a recommendation may put the offer first: confirmed, recent or confirmed by a second source, and not a
  // launch floor. Peer-hosted offers need OfferFilter::community.
  // Old prices of one source without fresher ones may lead, but are in doubt as well: 'prices' marks them, and a
  // recommendation names the cheapest plan with a confirmed price beside them.
  bool in_doubt() const { return !may_lead() || is_old(); }
  bool may_lead() const { return !floor && !unconfirmed && !outdated && !aged; }
};

// A price older than this needs a second source to lead; that source may differ by this share.
inline constexpr int kAgedDays = 60;
inline constexpr double kAgreement = 0.25;
inline bool PriceOutlook::is_old() const { return sources <= 1 && age && *age > days(kAgedDays); }

// The input of a prediction, in dollars per hour of one machine.
struct PriceReading {
  double now = 0;                    // the row
  double median = 0;                 // of its machine over zones and regions
  std::optional<double> most = {};   // upper limit: on-demand in the same region
  std::optional<double> fresh = {};  // of an outdated list price: the median of rows of this year
  double age_days = 0;               // at the middle of the job
  enum Kind { kList, kSpot, kFloor } kind = kList;
};

struct PriceInterval {
  double low = 0, likely = 0, high = 0;
};

// How prices of one kind move with age; rows of data/price_outlook.csv.
struct OutlookRow {
  double age_days = 0;
  double weight = 1;                     // of the row against the median
  double low = 1, likely = 1, high = 1;  // factors: 10th percentile, mean, 90th percentile of what came after
};

class OutlookTable {
 public:
  static Checked<OutlookTable> parse(std::string_view file, std::string_view text);
  // The built-in table.
  static const OutlookTable& built_in();

  PriceInterval predict(const PriceReading& reading) const;

  // By age. A spot price below its machine's median is `cheap`: it rises faster than a price above the median falls.
  // Both have the same `likely` at the median, so a higher price never has a lower outlook.
  std::vector<OutlookRow> list, spot, cheap, floor;

 private:
  OutlookRow at(const PriceReading& reading) const;
};

// AWS does not let a spot price fall below a tenth of on-demand. A price at that floor does not yet reflect demand:
// over 16 months of data it was 2.2 times as high eight weeks later.
bool is_spot_floor(double spot, double on_demand);

// For this many days after an offer's first price, a floor may be a launch price. The floor of an older offer is an
// ordinary price (docs/market.md: waiting 30 days or more made choices 0-2 % more expensive).
inline constexpr int kLaunchDays = 14;

// The outlook of every offer, given the other offers of its machine: medians and floors.
class Outlooks {
 public:
  // `offers` ordered as sort_offers() does; they must outlive this object. Ages are counted until `day`.
  Outlooks(const std::vector<Offer>& offers, Date day, const OutlookTable& table = OutlookTable::built_in());

  // Over a job that begins on the day and runs this long.
  PriceOutlook of(const Offer& offer, Seconds job) const;

 private:
  // The prices of one machine on one term, in dollars per hour.
  struct Standing {
    double median = 0;
    int peers = 0;
    std::optional<double> fresh;  // the median of rows of this year
  };
  struct OfMachine {
    std::array<Standing, std::size(catalog::kPurchases)> standings;  // by term
    std::vector<std::pair<std::string_view, double>> on_demand;      // by region, in order
  };
  using Terms = std::array<std::vector<const Offer*>, std::size(catalog::kPurchases)>;

  // Recent confirmed prices of one GPU on one term, from providers' own machines that can still be ordered: dollars per
  // GPU-hour, ascending, by provider. Empty if no recent price is confirmed.
  using Recent = std::map<std::string_view, std::vector<double>>;

  void note_recent(const Offer& offer);
  int others_near(const Offer& offer) const;
  std::optional<double> age_days(const Offer& offer) const;
  bool is_fresh(const Offer& offer) const;
  bool is_floor(const Offer& offer, const OfMachine& machine) const;
  OfMachine stand(const Terms& terms) const;
  Standing stand(const std::vector<const Offer*>& offers, const OfMachine& machine) const;

  Date day_;
  const OutlookTable* table_;
  std::unordered_map<const catalog::Machine*, OfMachine> machines_;
  std::map<std::pair<const catalog::Gpu*, catalog::Purchase>, Recent> recent_;
};

}  // namespace rightsize::market
