// The outlook of every offer beside the others of its machine: the medians and floors a single row does not know.
#pragma once

#include <map>
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
  using Key = std::pair<const catalog::Machine*, catalog::Purchase>;

  std::optional<double> age_days(const Offer& offer) const;
  bool is_fresh(const Offer& offer) const;
  bool is_floor(const Offer& offer) const;
  std::optional<double> on_demand(const Offer& offer) const;
  Standing stand(const std::vector<const Offer*>& offers) const;

  Date day_;
  const OutlookTable* table_;
  std::map<Key, Standing> standings_;
  std::map<std::pair<const catalog::Gpu*, catalog::Purchase>, bool> fresh_;
  std::map<std::pair<const catalog::Machine*, std::string_view>, double> on_demand_;  // by region
};

}  // namespace rightsize::market
