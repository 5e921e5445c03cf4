#include "market/price_outlook.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"

namespace rightsize::market {
namespace {

Result<OutlookRow> read_row(const Csv& csv, const CsvRow& row) {
  OutlookRow read;
  const std::pair<const char*, double*> cells[] = {{"age_days", &read.age_days},
                                                   {"weight", &read.weight},
                                                   {"low", &read.low},
                                                   {"likely", &read.likely},
                                                   {"high", &read.high}};
  for (const auto& [column, value] : cells) {
    Result<double> number = parse_number(csv.cell(row, column));
    if (!number) return fail(std::move(number).error().at(csv.place(row, column)));
    *value = *number;
  }
  return read;
}

double between(double a, double b, double share) { return a + (b - a) * share; }

using catalog::Purchase;

constexpr double kFreshDays = in_days(kYear);

double dollars(const Offer& offer) { return in_usd_per_machine_hour(offer.rate()); }

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The on-demand price of the machine in the offer's region, or the price that applies everywhere.
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

bool is_spot_floor(double spot, double on_demand) {
  // Feeds round to four decimals of a dollar.
  return on_demand > 0 && std::fabs(spot - on_demand / 10) <= std::max(1e-4, on_demand / 10 * 5e-4);
}

Checked<OutlookTable> OutlookTable::parse(std::string_view file, std::string_view text) {
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(std::string(file), std::string(text)));
  OutlookTable table;
  Errors errors;
  for (const CsvRow& row : csv.rows()) {
    const std::string_view kind = csv.cell(row, "kind");
    std::vector<OutlookRow>* rows = kind == "list"    ? &table.list
                                    : kind == "spot"  ? &table.spot
                                    : kind == "cheap" ? &table.cheap
                                    : kind == "floor" ? &table.floor
                                                      : nullptr;
    if (rows == nullptr) {
      errors.push_back(bad_input("kind must be list, spot, cheap or floor").at(csv.place(row, "kind")));
      continue;
    }
    Result<OutlookRow> read = read_row(csv, row);
    if (!read) {
      errors.push_back(std::move(read).error());
    } else if (!rows->empty() && rows->back().age_days >= read->age_days) {
      errors.push_back(bad_input("ages of a kind must increase").at(csv.place(row, "age_days")));
    } else {
      rows->push_back(*read);
    }
  }
  if (table.list.empty() || table.spot.empty() || table.cheap.empty() || table.floor.empty()) {
    errors.push_back(bad_input(fmt::format("{}: needs rows of list, spot, cheap and floor", file)));
  }
  if (!errors.empty()) return fail(std::move(errors));
  return table;
}

const OutlookTable& OutlookTable::built_in() {
  static const OutlookTable kTable =
      *parse("data/price_outlook.csv", embedded_file("price_outlook.csv"));  // a test parses it
  return kTable;
}

// Interpolates linearly between two ages. Beyond the last age, which has no measurements, uses the last row.
OutlookRow OutlookTable::at(const PriceReading& reading) const {
  const double age_days = reading.age_days;
  const std::vector<OutlookRow>& rows = reading.kind == PriceReading::kList    ? list
                                        : reading.kind == PriceReading::kFloor ? floor
                                        : reading.now < reading.median         ? cheap
                                                                               : spot;
  const auto after = std::upper_bound(rows.begin(), rows.end(), age_days,
                                      [](double age, const OutlookRow& row) { return age < row.age_days; });
  if (after == rows.begin()) return rows.front();
  if (after == rows.end()) return rows.back();
  const OutlookRow &a = *(after - 1), &b = *after;
  const double share = (age_days - a.age_days) / (b.age_days - a.age_days);
  return {age_days, between(a.weight, b.weight, share), between(a.low, b.low, share),
          between(a.likely, b.likely, share), between(a.high, b.high, share)};
}

PriceInterval OutlookTable::predict(const PriceReading& reading) const {
  const OutlookRow row = at(reading);
  const double centre = reading.fresh.value_or(reading.median * std::pow(reading.now / reading.median, row.weight));
  PriceInterval found{centre * row.low, centre * row.likely, centre * row.high};
  // If there are fresh rows, an outdated one only widens the interval.
  if (reading.fresh) {
    found.low = std::min(found.low, reading.now);
    found.high = std::max(found.high, reading.now);
  }
  if (reading.most) {
    found.low = std::min(found.low, *reading.most);
    found.likely = std::min(found.likely, *reading.most);
    found.high = std::min(found.high, *reading.most);
  }
  found.likely = std::clamp(found.likely, found.low, found.high);
  return found;
}

Outlooks::Outlooks(const std::vector<Offer>& offers, Date day, const OutlookTable& table) : day_(day), table_(&table) {
  Terms terms;
  for (auto offer = offers.begin(); offer != offers.end();) {
    const catalog::Machine* machine = offer->machine;
    for (auto& rows : terms) rows.clear();
    for (; offer != offers.end() && offer->machine == machine; ++offer)
      terms[static_cast<std::size_t>(offer->price->purchase)].push_back(&*offer);
    machines_[machine] = stand(terms);
    for (const auto& rows : terms)
      for (const Offer* row : rows) note_recent(*row);
  }
  for (auto& [gpu, recent] : recent_) {
    for (auto& [provider, prices] : recent) std::sort(prices.begin(), prices.end());
  }
}

void Outlooks::note_recent(const Offer& offer) {
  if (offer.is_own() || offer.price->available || offer.machine->retired || offer.machine->community) return;
  if (age_days(offer).value_or(0) > kAgedDays) return;
  Recent& recent = recent_[{offer.gpu, offer.price->purchase}];
  if (offer.is_confirmed()) recent[offer.machine->provider].push_back(dollars(offer) / offer.machine->gpus);
}

// The number of other providers with a recent price nearby.
int Outlooks::others_near(const Offer& offer) const {
  int count = 0;
  const auto recent = recent_.find({offer.gpu, offer.price->purchase});
  if (recent == recent_.end()) return count;
  const double paid = dollars(offer) / offer.machine->gpus;
  for (const auto& [provider, prices] : recent->second) {
    if (provider == offer.machine->provider) continue;
    const auto near = std::lower_bound(prices.begin(), prices.end(), (1 - kAgreement) * paid);
    if (near != prices.end() && *near <= (1 + kAgreement) * paid) ++count;
  }
  return count;
}

Outlooks::OfMachine Outlooks::stand(const Terms& terms) const {
  OfMachine machine;
  for (const Offer* offer : terms[static_cast<std::size_t>(Purchase::kOnDemand)]) {
    if (!offer->is_confirmed()) continue;  // a doubtful price says nothing about spot prices
    auto& known = machine.on_demand;       // the last zone of a region counts
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

// Floors say nothing about the cost of a machine, so they count only if there are no other prices.
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
  outlook.unconfirmed = !offer.is_confirmed();
  if (!age) {
    outlook.low = outlook.likely = outlook.high = outlook.listed;  // the user's own price is certain
    return outlook;
  }
  outlook.age = days(*age);
  const bool floor = is_floor(offer, machine);
  const std::optional<Date>& since = offer.price->since;
  outlook.floor = floor && !(since && *offer.price->provenance.date - *since >= kLaunchDays);
  outlook.others = others_near(offer);
  outlook.sources = static_cast<int>(std::max<std::size_t>(1, offer.price->provenance.sources.size())) + outlook.others;
  // A commitment binds for years, so its price needs a recent date or a second source.
  const Purchase terms = offer.price->purchase;
  const bool commits = terms == Purchase::kOneYear || terms == Purchase::kThreeYears;
  outlook.aged = outlook.is_old() && (commits || recent_.contains({offer.gpu, terms}));
  outlook.outdated = !is_fresh(offer);

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
