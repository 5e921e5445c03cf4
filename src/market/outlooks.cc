#include "market/outlooks.h"

#include <algorithm>
#include <cmath>

namespace rightsize::market {
namespace {

using catalog::Purchase;

constexpr double kFreshDays = in_days(kYear);

double dollars(const Offer& offer) { return in_usd_per_machine_hour(offer.rate()); }

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

Outlooks::Outlooks(const std::vector<Offer>& offers, Date day, const OutlookTable& table) : day_(day), table_(&table) {
  std::map<Key, std::vector<const Offer*>> groups;
  for (const Offer& offer : offers) {
    groups[{offer.machine, offer.price->purchase}].push_back(&offer);
    bool& fresh = fresh_[{offer.gpu, offer.price->purchase}];
    fresh = fresh || is_fresh(offer);
    if (offer.price->purchase == Purchase::kOnDemand) {
      on_demand_[{offer.machine, offer.price->region}] = dollars(offer);
    }
  }
  for (const auto& [key, group] : groups) standings_[key] = stand(group);
}

std::optional<double> Outlooks::age_days(const Offer& offer) const {
  if (offer.is_own() || !offer.price->provenance.date) return std::nullopt;
  return std::max(0, day_ - *offer.price->provenance.date);
}

bool Outlooks::is_fresh(const Offer& offer) const { return age_days(offer).value_or(0) <= kFreshDays; }

std::optional<double> Outlooks::on_demand(const Offer& offer) const {
  for (const std::string_view region : {std::string_view(offer.price->region), std::string_view("any")}) {
    const auto found = on_demand_.find({offer.machine, region});
    if (found != on_demand_.end()) return found->second;
  }
  return std::nullopt;
}

bool Outlooks::is_floor(const Offer& offer) const {
  if (offer.price->purchase != Purchase::kSpot) return false;
  const std::optional<double> list = on_demand(offer);
  return list && is_spot_floor(dollars(offer), *list);
}

// Floors say nothing of what a machine costs, unless there is nothing else.
Outlooks::Standing Outlooks::stand(const std::vector<const Offer*>& offers) const {
  std::vector<double> all, real, fresh;
  for (const Offer* offer : offers) {
    all.push_back(dollars(*offer));
    if (is_floor(*offer)) continue;
    real.push_back(dollars(*offer));
    if (is_fresh(*offer)) fresh.push_back(dollars(*offer));
  }
  std::vector<double>& counted = real.empty() ? all : real;
  Standing standing;
  standing.peers = static_cast<int>(counted.size());
  standing.median = median_of(counted);
  if (!fresh.empty()) standing.fresh = median_of(fresh);
  return standing;
}

PriceOutlook Outlooks::of(const Offer& offer, Seconds job) const {
  const auto found = standings_.find({offer.machine, offer.price->purchase});
  const Standing standing = found == standings_.end() ? Standing{dollars(offer), 1, {}} : found->second;
  const std::optional<double> age = age_days(offer);
  PriceOutlook outlook;
  outlook.listed = offer.rate();
  outlook.median = usd_per_machine_hour(standing.median);
  outlook.peers = standing.peers;
  outlook.community = offer.machine->community;
  if (!age) {
    outlook.low = outlook.likely = outlook.high = outlook.listed;  // the user's own price is what it is
    return outlook;
  }
  outlook.age = days(*age);
  const bool floor = is_floor(offer);
  const std::optional<Date>& since = offer.price->since;
  outlook.floor = floor && !(since && *offer.price->provenance.date - *since >= kLaunchDays);
  const std::vector<std::string>& doubts = offer.price->provenance.unverified;
  outlook.unconfirmed = std::find(doubts.begin(), doubts.end(), "price") != doubts.end();
  const auto gpu = fresh_.find({offer.gpu, offer.price->purchase});
  outlook.outdated = !is_fresh(offer) && gpu != fresh_.end() && gpu->second;

  PriceReading reading;
  reading.now = dollars(offer);
  reading.median = standing.median;
  reading.age_days = *age + in_days(job) / 2;
  if (offer.price->purchase == Purchase::kSpot) {
    reading.kind = floor ? PriceReading::kFloor : PriceReading::kSpot;
    reading.most = on_demand(offer);
  } else if (outlook.outdated) {
    reading.fresh = standing.fresh;
  }
  const PriceInterval interval = table_->predict(reading);
  outlook.low = usd_per_machine_hour(interval.low);
  outlook.likely = usd_per_machine_hour(interval.likely);
  outlook.high = usd_per_machine_hour(interval.high);
  return outlook;
}

}  // namespace rightsize::market
