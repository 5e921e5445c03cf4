#include "market/spot_plan.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace rightsize::market {
namespace {

constexpr int kDraws = 2000;
constexpr double kTenthToNinetieth = 2 * 1.2815515655;  // standard deviations between them

// One run of the job: attempts until an attempt is long enough for what is left. Hours.
double draw_time(double work, double interval, double save, double restart, double between, Random& random) {
  double total = 0, left = work;
  while (true) {
    const double needed = left + save * std::ceil(left / interval);
    const double until = between > 0 ? between * random.exponential() : INFINITY;
    if (until >= needed) return total + needed;
    const double saved = std::floor(until / (interval + save)) * interval;
    left -= std::min(saved, left);
    total += until + restart;
    if (total > 1000 * (work + restart)) return total;  // it never ends; the caller has refused such rates
  }
}

double draw_price(const SpotTerms& terms, Random& random) {
  const double low = in_usd_per_machine_hour(terms.low), high = in_usd_per_machine_hour(terms.high);
  const double likely = in_usd_per_machine_hour(terms.likely);
  if (low <= 0 || high <= low) return likely;
  const double spread = std::log(high / low) / kTenthToNinetieth;
  // The mean of exp(spread z - spread^2 / 2) is 1, so that `likely` stays the mean.
  return likely * std::exp(spread * random.normal() - spread * spread / 2);
}

}  // namespace

double interruptions_per_hour(double share_a_month) { return -std::log(1 - share_a_month) / in_hours(kMonth); }

Seconds checkpoint_interval(Seconds save, Seconds between_interruptions) {
  const double d = in_hours(save), m = in_hours(between_interruptions);
  if (d >= 2 * m) return between_interruptions;
  return hours(std::sqrt(2 * d * m) * (1 + std::sqrt(d / (2 * m)) / 3 + d / (18 * m)) - d);
}

std::optional<SpotPlan> plan_spot(const SpotJob& job, const SpotTerms& terms, std::uint64_t seed) {
  const double rate = terms.interruptions_per_hour * job.machines;
  const double work = in_hours(job.work), save = in_hours(job.save), restart = in_hours(job.restart);
  SpotPlan plan;
  double between = 0, interval = work;
  plan.time = job.work;
  plan.interruptions = 0;
  if (rate > 0) {
    between = 1 / rate;
    interval = std::min(work, in_hours(checkpoint_interval(job.save, hours(between))));
    // Less than one attempt in a hundred gets anything done.
    if (interval <= 0 || (interval + save) / between > std::log(100)) return std::nullopt;
    plan.time =
        hours(between * std::exp(restart / between) * std::expm1((interval + save) / between) * work / interval);
    plan.interruptions = in_hours(plan.time) / between;
  }
  plan.interval = hours(interval);
  Random random(seed);
  std::vector<double> bills;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double time = rate > 0 ? draw_time(work, interval, save, restart, between, random) : work;
    bills.push_back(time * draw_price(terms, random) * job.machines);
    sum += bills.back();
  }
  std::sort(bills.begin(), bills.end());
  plan.low = usd(bills[kDraws / 10]);
  plan.high = usd(bills[kDraws * 9 / 10]);
  plan.mean = usd(sum / kDraws);
  if (!terms.on_demand) return plan;
  const double list = in_usd_per_machine_hour(*terms.on_demand);
  plan.on_demand = usd(work * list * job.machines);
  const auto cheaper = std::lower_bound(bills.begin(), bills.end(), work * list * job.machines) - bills.begin();
  plan.chance_cheaper = static_cast<double>(cheaper) / kDraws;
  // An hour of work takes time/work hours here and one hour there, where moving does half an interval and a start again
  // once; averaged over the job half of it is left.
  const double slower = in_hours(plan.time) / work;
  plan.leave_above = usd_per_machine_hour(list * (1 + (interval / 2 + restart) / (work / 2)) / slower);
  return plan;
}

}  // namespace rightsize::market
