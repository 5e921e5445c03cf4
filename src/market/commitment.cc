#include "market/commitment.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rightsize::market {
namespace {

constexpr double kHoursOfYear = in_hours(kYear);

// weight x (at - c)+
struct Hinge {
  double at = 0, weight = 0;
};

// Demands ascending, equal ones merged: a year of hours has few different numbers of GPUs.
Demand merged(const Demand& demand) {
  std::map<double, double> shares;
  for (std::size_t i = 0; i < demand.gpus.size(); ++i) {
    shares[demand.gpus[i]] += demand.shares.empty() ? 1.0 / static_cast<double>(demand.gpus.size()) : demand.shares[i];
  }
  Demand levels{{}, demand.interruptible, {}};
  for (const auto& [gpus, share] : shares) {
    levels.gpus.push_back(gpus);
    levels.shares.push_back(share);
  }
  return levels;
}

}  // namespace

double break_even_use(double committed, double on_demand) { return committed / on_demand; }

// In an hour with demand d and an interruptible share s, the cost beyond c committed GPUs is on-demand for ((1-s) d -
// c)+ and spot for the interruptible part: together (on_demand - spot) ((1-s) d - c)+ + spot (d - c)+.
CommitmentPlanner::Hinges::Hinges(const Demand& demand, double scale, double on_demand, std::optional<double> spot) {
  const bool mixed = spot && *spot < on_demand && demand.interruptible > 0;
  std::vector<Hinge> hinges;
  beyond_ = {1};
  below_ = {0};
  for (std::size_t i = 0; i < demand.gpus.size(); ++i) {
    const double d = demand.gpus[i] * scale, share = demand.shares[i], hours = kHoursOfYear * share;
    levels_.push_back(d);
    below_.push_back(below_.back() + d * share);
    beyond_.push_back(beyond_.back() - share);
    demanded_ += d * hours;
    if (mixed) hinges.push_back({(1 - demand.interruptible) * d, (on_demand - *spot) * hours});
    hinges.push_back({d, (mixed ? *spot : on_demand) * hours});
  }
  std::sort(hinges.begin(), hinges.end(), [](const Hinge& a, const Hinge& b) { return a.at < b.at; });
  corners_.resize(hinges.size());
  weight_.assign(hinges.size() + 1, 0);
  moment_.assign(hinges.size() + 1, 0);
  for (std::size_t i = hinges.size(); i-- > 0;) {
    corners_[i] = hinges[i].at;
    weight_[i] = weight_[i + 1] + hinges[i].weight;
    moment_[i] = moment_[i + 1] + hinges[i].weight * hinges[i].at;
  }
}

double CommitmentPlanner::Hinges::cost(double c) const {
  const auto above = static_cast<std::size_t>(std::upper_bound(corners_.begin(), corners_.end(), c) - corners_.begin());
  return moment_[above] - c * weight_[above];
}

double CommitmentPlanner::Hinges::slope(double c) const {
  const auto above = static_cast<std::size_t>(std::upper_bound(corners_.begin(), corners_.end(), c) - corners_.begin());
  return weight_[above];
}

double CommitmentPlanner::Hinges::best(double price_per_year) const {
  if (slope(0) <= price_per_year) return 0;
  const auto enough = std::partition_point(corners_.begin(), corners_.end(),
                                           [&](const double& corner) { return slope(corner) > price_per_year; });
  return enough == corners_.end() ? corners_.back() : *enough;
}

double CommitmentPlanner::Hinges::used(double c) const {
  const auto under = static_cast<std::size_t>(std::lower_bound(levels_.begin(), levels_.end(), c) - levels_.begin());
  return below_[under] + c * (under == levels_.size() ? 0 : beyond_[under]);
}

CommitmentPlanner::CommitmentPlanner(const Demand& demand, CommitmentPrices prices, std::vector<Future> futures)
    : demand_(merged(demand)), prices_(prices), futures_(std::move(futures)) {
  for (const Future& future : futures_) {
    weight_ += future.probability;
    std::vector<Hinges>& years = years_.emplace_back();
    for (int year = 0; year < kPlanYears; ++year) years.push_back(hinges(future, year));
  }
}

CommitmentPlanner::Hinges CommitmentPlanner::hinges(const Future& future, int year) const {
  const double price = future.prices[year];
  return {demand_, future.demand[year], prices_.on_demand * price,
          prices_.spot ? std::optional(*prices_.spot * price) : std::nullopt};
}

double CommitmentPlanner::first_year_price(double gpus, double price) const { return gpus * price * kHoursOfYear; }

// The second or third year of a known future, with the best one-year commitment on top of the three-year ones.
double CommitmentPlanner::later_cost(double three_years, std::size_t future, int year) const {
  const Hinges& hinge = years_[future][static_cast<std::size_t>(year)];
  double more = 0, price = 0;
  if (prices_.one_year) {
    price = *prices_.one_year * futures_[future].prices[year] * kHoursOfYear;
    more = std::max(0.0, hinge.best(price) - three_years);
  }
  return price * more + hinge.cost(three_years + more);
}

MixCost CommitmentPlanner::cost(const CommitmentMix& mix) const {
  const double three = prices_.three_years ? first_year_price(mix.three_years, *prices_.three_years) : 0;
  const double one = prices_.one_year ? first_year_price(mix.one_year, *prices_.one_year) : 0;
  const double held = mix.one_year + mix.three_years;
  MixCost found;
  double used = 0, demanded = 0;
  for (std::size_t i = 0; i < futures_.size(); ++i) {
    const double share = futures_[i].probability / weight_;
    found.first_year += share * (one + three + years_[i][0].cost(held));
    used += share * years_[i][0].used(held);
    demanded += share * years_[i][0].demanded() / kHoursOfYear;
    for (int year = 1; year < kPlanYears; ++year) {
      found.total += share * (three + later_cost(mix.three_years, i, year));
    }
  }
  found.total += found.first_year;
  found.first_year_used = held > 0 ? used / held : 1;
  found.first_year_covered = demanded > 0 ? used / demanded : 0;
  return found;
}

// For each three-year amount, the best one-year amount is a quantile of the combined demand of all futures. The cost is
// then convex in the three-year amount with corners at demands, so bisection on the slope finds the best corner.
CommitmentMix CommitmentPlanner::best() const {
  const auto with_one_year = [&](double three_years) {
    CommitmentMix mix{0, three_years};
    if (!prices_.one_year) return mix;
    const double price = *prices_.one_year * kHoursOfYear;
    const auto saves = [&](double c) {
      double slope = 0;
      for (std::size_t i = 0; i < futures_.size(); ++i) {
        slope += futures_[i].probability / weight_ * years_[i][0].slope(c);
      }
      return slope;
    };
    if (saves(three_years) <= price) return mix;
    std::vector<double> corners;
    for (const std::vector<Hinges>& years : years_) {
      corners.insert(corners.end(), years[0].corners().begin(), years[0].corners().end());
    }
    std::sort(corners.begin(), corners.end());
    const auto enough =
        std::partition_point(corners.begin(), corners.end(), [&](double c) { return saves(c) > price; });
    mix.one_year = std::max(0.0, (enough == corners.end() ? corners.back() : *enough) - three_years);
    return mix;
  };
  if (!prices_.three_years) return with_one_year(0);
  std::vector<double> corners{0};
  for (const std::vector<Hinges>& years : years_) {
    for (const Hinges& year : years) corners.insert(corners.end(), year.corners().begin(), year.corners().end());
  }
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  const auto total = [&](std::size_t i) { return cost(with_one_year(corners[i])).total; };
  // The function is convex, so the first corner that is no more expensive than the next is the minimum.
  std::size_t low = 0, high = corners.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const double here = total(middle), next = total(middle + 1);
    if (next < here - 1e-12 * std::fabs(here)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return with_one_year(corners[low]);
}

double CommitmentPlanner::uncommitted() const {
  return CommitmentPlanner(demand_, {prices_.on_demand, prices_.spot, {}, {}}, futures_).cost({}).total;
}

double CommitmentPlanner::regret(const CommitmentMix& mix, const Future& future) const {
  const CommitmentPlanner certain(demand_, prices_, {future});
  return certain.cost(mix).total - certain.cost(certain.best()).total;
}

double CommitmentPlanner::laddered_cost(const CommitmentMix& mix, int parts, const Future& future) const {
  const CommitmentPlanner certain(demand_, prices_, {future});
  const bool falls = future.demand[0] < 1;
  double total = 0, held = 0;
  CommitmentMix part{mix.one_year / parts, mix.three_years / parts}, bought;
  for (int i = 0; i < parts; ++i) {
    // If demand falls, this is noticed after the first part, and the rest is not bought.
    if (i == 0 || !falls) {
      bought.one_year += part.one_year;
      bought.three_years += part.three_years;
    }
    held = bought.one_year + bought.three_years;
    const double committed = (prices_.one_year ? first_year_price(bought.one_year, *prices_.one_year) : 0) +
                             (prices_.three_years ? first_year_price(bought.three_years, *prices_.three_years) : 0);
    total += (committed + certain.years_[0][0].cost(held)) / parts;
  }
  for (int year = 1; year < kPlanYears; ++year) {
    total += (prices_.three_years ? first_year_price(bought.three_years, *prices_.three_years) : 0) +
             certain.later_cost(bought.three_years, 0, year);
  }
  return total;
}

double paid_monthly(const Payment& payment, int years, double interest) {
  // The present value of one dollar per year, paid throughout the term.
  const double annuity = interest > 0 ? -std::expm1(-interest * years) / interest : years;
  const double rest = 1 - payment.upfront;
  return payment.usd_per_gpu_hour * (payment.upfront * years / annuity + rest);
}

const Payment& cheapest_payment(const std::vector<Payment>& payments, int years, double interest) {
  return *std::min_element(payments.begin(), payments.end(), [&](const Payment& a, const Payment& b) {
    const double x = paid_monthly(a, years, interest), y = paid_monthly(b, years, interest);
    return x != y ? x < y : a.upfront < b.upfront;
  });
}

}  // namespace rightsize::market
