// The outlook of every offer, given the other offers of its machine: medians and floors.
#pragma once

#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/date.h"
#include "market/offers.h"
#include "market/price_outlook.h"

namespace rightsize::market {

class Outlooks {
 public:
  // `offers` ordered as sort_offers() does; they must outlive this. Ages are counted until `day`.
  Outlooks(const std::vector<Offer>& offers, Date day, const OutlookTable& table = OutlookTable::built_in());

  // Over a job that begins on the day and runs this long.
  PriceOutlook of(const Offer& offer, Seconds job) const;

 private:
  // The prices of one machine on one term, in dollars an hour.
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

  std::optional<double> age_days(const Offer& offer) const;
  bool is_fresh(const Offer& offer) const;
  bool is_floor(const Offer& offer, const OfMachine& machine) const;
  OfMachine stand(const Terms& terms) const;
  Standing stand(const std::vector<const Offer*>& offers, const OfMachine& machine) const;

  Date day_;
  const OutlookTable* table_;
  std::unordered_map<const catalog::Machine*, OfMachine> machines_;
  std::map<std::pair<const catalog::Gpu*, catalog::Purchase>, bool> fresh_;
};

}  // namespace rightsize::market
