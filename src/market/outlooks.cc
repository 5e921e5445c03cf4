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

// What the machine costs in the offer's region, or where it is priced alike everywhere.
std::optional<double> on_demand_beside(const Offer& offer,
                                       const std::vector<std::pair<std::string_view, double>>& by_region) {
  for (const std::string_view region : {std::string_view(offer.price->region), std::string_view("any")}) {
    const auto found = std::lower_bound(by_region.begin(), by_region.end(), region,
                                        [](const auto& entry, std::string_view name) { return entry.first < name; });
    if (found != by_region.end() && found->first == region) return found->second;
  }
  return std::nullopt;
}

}  // namespace

Outlooks::Outlooks(const std::vector<Offer>& offers, Date day, const OutlookTable& table) : day_(day), table_(&table) {
  Terms terms;
  for (auto offer = offers.begin(); offer != offers.end();) {
    const catalog::Machine* machine = offer->machine;
    for (auto& rows : terms) rows.clear();
    for (; offer != offers.end() && offer->machine == machine; ++offer)
      terms[static_cast<std::size_t>(offer->price->purchase)].push_back(&*offer);
    machines_[machine] = stand(terms);
    for (const auto& rows : terms) {
      if (rows.empty()) continue;
      bool& fresh = fresh_[{rows.front()->gpu, rows.front()->price->purchase}];
      fresh = fresh || std::any_of(rows.begin(), rows.end(), [&](const Offer* row) { return is_fresh(*row); });
    }
  }
}

Outlooks::OfMachine Outlooks::stand(const Terms& terms) const {
  OfMachine machine;
  for (const Offer* offer : terms[static_cast<std::size_t>(Purchase::kOnDemand)]) {
    auto& known = machine.on_demand;  // of the zones of a region the last one stands
    if (!known.empty() && known.back().first == offer->price->region) known.pop_back();
    known.emplace_back(offer->price->region, dollars(*offer));
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!terms[i].empty()) machine.standings[i] = stand(terms[i], machine);
  }
  return machine;
}

std::optional<double> Outlooks::age_days(const Offer& offer) const {
  if (offer.is_own() || !offer.price->provenance.date) return std::nullopt;
  return std::max(0, day_ - *offer.price->provenance.date);
}

bool Outlooks::is_fresh(const Offer& offer) const { return age_days(offer).value_or(0) <= kFreshDays; }

bool Outlooks::is_floor(const Offer& offer, const OfMachine& machine) const {
  if (offer.price->purchase != Purchase::kSpot) return false;
  const std::optional<double> list = on_demand_beside(offer, machine.on_demand);
  return list && is_spot_floor(dollars(offer), *list);
}

// Floors say nothing of what a machine costs, unless there is nothing else.
Outlooks::Standing Outlooks::stand(const std::vector<const Offer*>& offers, const OfMachine& machine) const {
  std::vector<double> all, real, fresh;
  for (const Offer* offer : offers) {
    all.push_back(dollars(*offer));
    if (is_floor(*offer, machine)) continue;
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
  static const OfMachine kUnknown;
  const auto found = machines_.find(offer.machine);
  const OfMachine& machine = found == machines_.end() ? kUnknown : found->second;
  Standing standing = machine.standings[static_cast<std::size_t>(offer.price->purchase)];
  if (standing.peers == 0) standing = {dollars(offer), 1, {}};
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
  const bool floor = is_floor(offer, machine);
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
    reading.most = on_demand_beside(offer, machine.on_demand);
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
