#include "fit_outlook.h"

#include <cmath>

#include <fmt/format.h>

namespace rightsize::market_tools {
namespace {

constexpr int kAges[] = {1, 3, 7, 14, 28, 56, 91, 126, 182, 270, 365};
constexpr std::size_t kLeastPairs = 100;

// A reading and a later one, as logarithms relative to the machine's median on the first day.
struct Pair {
  double now = 0, later = 0;
  bool lowest = false;  // among the machine's zones on that day
};

struct Pairs {
  std::vector<Pair> spot, floor, list;
};

// The lowest spot price of a machine on a day, without floors.
double lowest_on(const History& history, const std::string& instance, int day) {
  double lowest = INFINITY;
  for (const std::size_t zone : history.machine.at(instance)) {
    const DayPrice* price = history.zones[zone].on(day);
    if (price != nullptr && !market::is_spot_floor(price->spot, price->on_demand))
      lowest = std::min(lowest, price->spot);
  }
  return lowest;
}

Pairs collect(const History& history, int age, int until) {
  Pairs pairs;
  std::map<std::pair<std::string, int>, double> lowest;
  std::map<std::pair<std::string, int>, std::optional<double>> medians;
  for (const ZoneSeries& zone : history.zones) {
    for (std::size_t i = 0; i < history.days.size(); i += 7) {
      const int day = history.days[i];
      if (day + age >= until) break;
      const DayPrice *now = zone.on(day), *later = zone.on(day + age);
      if (now == nullptr || later == nullptr) continue;
      const auto [median, is_new] = medians.try_emplace({zone.instance, day});
      if (is_new) median->second = median_on(history, zone.instance, day);
      const double middle = *median->second;
      const auto [least, unseen] = lowest.try_emplace({zone.instance, day});
      if (unseen) least->second = lowest_on(history, zone.instance, day);
      const bool floor = market::is_spot_floor(now->spot, now->on_demand);
      (floor ? pairs.floor : pairs.spot)
          .push_back({std::log(now->spot / middle), std::log(later->spot / middle), now->spot <= least->second});
      pairs.list.push_back({0, std::log(later->on_demand / now->on_demand)});
    }
  }
  return pairs;
}

// Least squares through the median: how much of a zone's distance from it remains.
double shrinkage(const std::vector<Pair>& pairs) {
  double xy = 0, xx = 0;
  for (const Pair& pair : pairs) {
    xy += pair.now * pair.later;
    xx += pair.now * pair.now;
  }
  return xx > 0 ? std::min(1.0, std::max(0.0, xy / xx)) : 1;
}

FittedRow fit(const char* kind, int age, const std::vector<Pair>& pairs, double weight) {
  // The cheapest zone is more often cheap by chance than other zones. If there are enough, low and high therefore come
  // from zones that would have been chosen.
  std::vector<double> factors, chosen;
  for (const Pair& pair : pairs) {
    factors.push_back(std::exp(pair.later - weight * pair.now));
    if (pair.lowest) chosen.push_back(factors.back());
  }
  const std::vector<double>& spread = chosen.size() >= kLeastPairs ? chosen : factors;
  FittedRow row;
  row.kind = kind;
  row.age_days = age;
  row.weight = weight;
  row.low = quantile(spread, 0.1);
  row.likely = mean(factors);
  row.high = quantile(spread, 0.9);
  row.pairs = pairs.size();
  return row;
}

std::pair<std::vector<Pair>, std::vector<Pair>> split(const std::vector<Pair>& pairs) {
  std::pair<std::vector<Pair>, std::vector<Pair>> sides;
  for (const Pair& pair : pairs) (pair.now < 0 ? sides.first : sides.second).push_back(pair);
  return sides;
}

void share_likely(FittedRow& a, FittedRow& b) {
  const auto n = static_cast<double>(a.pairs), m = static_cast<double>(b.pairs);
  a.likely = b.likely = (a.likely * n + b.likely * m) / (n + m);
}

FittedRow unmoved(const char* kind) {
  FittedRow row;
  row.kind = kind;
  return row;
}

}  // namespace

std::vector<FittedRow> fit_outlook(const History& history, int until) {
  std::vector<FittedRow> list{unmoved("list")}, spot{unmoved("spot")}, cheap{unmoved("cheap")}, floor{unmoved("floor")};
  for (const int age : kAges) {
    const Pairs pairs = collect(history, age, until);
    if (pairs.spot.size() >= kLeastPairs) {
      const auto [below, above] = split(pairs.spot);
      cheap.push_back(fit("cheap", age, below, shrinkage(below)));
      spot.push_back(fit("spot", age, above, shrinkage(above)));
      share_likely(cheap.back(), spot.back());
      list.push_back(fit("list", age, pairs.list, 1));
      list.back().likely = 1;  // the day of a price change cannot be predicted, so a list price is assumed to stay
    }
    // A floor is compared with itself, because other zones may be at the floor too.
    if (pairs.floor.size() >= kLeastPairs) floor.push_back(fit("floor", age, pairs.floor, 1));
  }
  list.insert(list.end(), spot.begin(), spot.end());
  list.insert(list.end(), cheap.begin(), cheap.end());
  list.insert(list.end(), floor.begin(), floor.end());
  return list;
}

market::OutlookTable to_table(const std::vector<FittedRow>& rows) {
  market::OutlookTable table;
  for (const FittedRow& row : rows) {
    (row.kind == "list"    ? table.list
     : row.kind == "spot"  ? table.spot
     : row.kind == "cheap" ? table.cheap
                           : table.floor)
        .push_back(row);
  }
  return table;
}

std::string to_csv(const std::vector<FittedRow>& rows, const History& history) {
  std::string text = fmt::format(
      "# How prices move with age. Fitted by tools/market to data/measurements/aws-gpu-daily-prices.csv.gz ({} zones "
      "of\n"
      "# {} machines, {} to {}): weight is what is left of a zone's distance (log) from its machine's median, low, "
      "likely\n"
      "# and high are the 10th percentile, mean and 90th percentile of what came after against that. list: on-demand.\n"
      "# spot, cheap: above and below the median, with one likely for both. floor: a tenth of on-demand, against "
      "itself.\n"
      "kind,age_days,weight,low,likely,high,pairs\n",
      history.zones.size(), history.machine.size(), format_date({history.days.front()}),
      format_date({history.days.back()}));
  for (const FittedRow& row : rows) {
    text += fmt::format("{},{:.0f},{:.3f},{:.3f},{:.3f},{:.3f},{}\n", row.kind, row.age_days, row.weight, row.low,
                        row.likely, row.high, row.pairs);
  }
  return text;
}

}  // namespace rightsize::market_tools
