#include "market/interruptions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace rightsize::market {
namespace {

// The parameters of the equations, in hours. `between` is infinite without interruptions.
struct Process {
  double work = 0, interval = 0, save = 0, restart = 0, between = INFINITY;

  double segment() const { return interval + save; }
  // Start-up not included.
  double expected() const { return work * time_per_work(hours(interval), hours(save), hours(restart), hours(between)); }
};

Process process_of(const InterruptibleJob& job, const JobAssumptions& a) {
  const double taken_back = job.purchase == catalog::Purchase::kSpot ? a.spot_interruptions_per_hour * job.machines : 0;
  const double rate = taken_back + a.failures_per_gpu_hour * job.gpus;
  Process process{in_hours(job.work), in_hours(job.work), 0, in_hours(a.restart), INFINITY};
  if (!(rate > 0)) return process;
  constexpr double kSmallPart = 1.0 / 3600;  // hours; the most that work in small parts loses
  const bool saves = job.save > Seconds{};
  process.between = 1 / rate;
  if (job.starts_over) return process;  // one segment: the whole job
  process.save = saves ? in_hours(job.save) : kSmallPart;
  const double longest = saves ? std::min(process.work, in_hours(a.checkpoint_every)) : process.work;
  process.interval = std::min(in_hours(checkpoint_interval(hours(process.save), hours(process.between))),
                              std::max(process.save, longest));
  return process;
}

// One run of the job, start-up not included.
double draw_duration(const Process& p, Random& random) {
  double total = 0, left = p.work;
  while (true) {
    const double needed = left + p.save * std::ceil(left / p.interval);
    const double until = p.between * random.exponential();
    if (until >= needed) return total + needed;
    left -= std::min(left, std::floor(until / p.segment()) * p.interval);
    total += until;
    for (double next = p.between * random.exponential(); next < p.restart; next = p.between * random.exponential())
      total += next;  // the restart was interrupted, too
    total += p.restart;
  }
}

// The variance of the time that one segment takes. The number of failed attempts is geometric. Each takes a truncated
// exponential time and a restart, which is itself repeated until it succeeds.
double segment_variance(const Process& p) {
  const double m = p.between, s = p.segment(), r = p.restart;
  const double success = std::exp(-s / m), failures = std::expm1(s / m), fails = -std::expm1(-s / m);
  const double attempt = m - s * success / fails;
  const double attempt_squared = (2 * m * m - success * (s * s + 2 * s * m + 2 * m * m)) / fails;
  const double restart = m * std::expm1(r / m);
  const double restart_variance = m * m * (std::exp(2 * r / m) - 2 * (r / m) * std::exp(r / m) - 1);
  const double each = attempt_squared - attempt * attempt + restart_variance;
  return failures * each + failures * (1 + failures) * (attempt + restart) * (attempt + restart);
}

// The middle 80 % of a lognormal price with the outlook's mean.
double draw_price(const PriceOutlook& price, Random& random) {
  constexpr double kTenthToNinetieth = 2 * 1.2815515655;  // standard deviations between them
  const double low = in_usd_per_machine_hour(price.low), high = in_usd_per_machine_hour(price.high);
  const double likely = in_usd_per_machine_hour(price.likely);
  if (low <= 0 || high <= low) return likely;
  const double spread = std::log(high / low) / kTenthToNinetieth;
  return likely * std::exp(spread * random.normal() - spread * spread / 2);
}

}  // namespace

Seconds save_time(Bytes checkpoint, const JobAssumptions& a, int writers) {
  const BytesPerSecond rate = a.checkpoint_total.value_or(a.checkpoint_rate * static_cast<double>(writers));
  return checkpoint > Bytes{} ? std::max(seconds(1), checkpoint / rate) : Seconds{};
}

double time_per_work(Seconds interval, Seconds save, Seconds restart, Seconds between_interruptions) {
  const double m = in_hours(between_interruptions), segment = in_hours(interval + save);
  if (std::isinf(m)) return segment / in_hours(interval);
  return m * std::exp(in_hours(restart) / m) * std::expm1(segment / m) / in_hours(interval);
}

Seconds checkpoint_interval(Seconds save, Seconds between_interruptions) {
  const double d = in_hours(save), m = in_hours(between_interruptions);
  if (d >= 2 * m) return between_interruptions;
  return hours(std::sqrt(2 * d * m) * (1 + std::sqrt(d / (2 * m)) / 3 + d / (18 * m)) - d);
}

namespace {

std::optional<RunningTime> time_in_one_piece(const InterruptibleJob& job, const JobAssumptions& a) {
  RunningTime time{job.work, a.startup, {}, {}, {}, 0};
  const Process process = process_of(job, a);
  if (std::isinf(process.between) || !(job.work > Seconds{})) return time;
  constexpr double kLongest = 10;  // times the work itself
  const double expected = process.expected();
  if (!(expected <= kLongest * process.work)) return std::nullopt;
  time.saving = hours(process.work * process.save / process.interval);
  time.redoing = hours(expected) - time.work - time.saving;
  if (job.save > Seconds{}) time.interval = hours(process.interval);
  time.interruptions = expected / process.between;
  return time;
}

}  // namespace

std::optional<RunningTime> running_time(const InterruptibleJob& job, const JobAssumptions& a) {
  std::optional<RunningTime> time = time_in_one_piece(job, a);
  if (!time || !(job.window > Seconds{}) || time->total() <= job.window) return time;
  constexpr double kLeastShare = 0.1;
  const Seconds each = job.window - a.startup - job.save;
  if (each < job.window * kLeastShare) return std::nullopt;
  const double windows = std::ceil((time->total() - time->startup) / each);
  time->startup = a.startup * windows;
  time->saving += job.save * windows;
  if (time->interval > Seconds{}) time->interval = std::min(time->interval, each);
  return time;
}

std::optional<SpotCost> spot_cost(InterruptibleJob job, const PriceOutlook& price,
                                  std::optional<UsdPerMachineSecond> on_demand, const JobAssumptions& a,
                                  std::uint64_t seed) {
  constexpr int kDraws = 2000;
  constexpr double kMostDrawn = 50;  // interruptions; with more, the sum of many segments is normal
  job.purchase = catalog::Purchase::kSpot;
  const std::optional<RunningTime> time = running_time(job, a);
  if (!time) return std::nullopt;
  const Process process = process_of(job, a);
  const double startup = in_hours(a.startup), expected = in_hours(time->total()) - startup;
  const bool certain = time->interruptions == 0, normal = time->interruptions > kMostDrawn;
  const double deviation = normal ? std::sqrt(segment_variance(process) * process.work / process.interval) : 0;
  Random random(seed);
  std::vector<double> bills;
  for (int i = 0; i < kDraws; ++i) {
    const double duration = certain  ? expected
                            : normal ? std::max(process.work, expected + deviation * random.normal())
                                     : draw_duration(process, random);
    bills.push_back((startup + duration) * draw_price(price, random) * job.machines);
  }
  std::sort(bills.begin(), bills.end());
  SpotCost cost{*time,
                usd(bills[kDraws / 10]),
                price.likely * machines(job.machines) * time->total(),
                usd(bills[kDraws * 9 / 10]),
                {},
                {},
                {}};
  if (!on_demand) return cost;
  job.purchase = catalog::Purchase::kOnDemand;
  const std::optional<RunningTime> there = running_time(job, a);
  if (!there) return cost;
  cost.on_demand = *on_demand * machines(job.machines) * there->total();
  const auto cheaper = std::lower_bound(bills.begin(), bills.end(), in_usd(*cost.on_demand)) - bills.begin();
  cost.chance_cheaper = static_cast<double>(cheaper) / kDraws;
  // Moving repeats half an interval and a start once; on average, half of the job is then left.
  const double repeated = process.interval / 2 + process.restart;
  cost.leave_above = *on_demand * ((there->total() / time->total()) * (1 + repeated / (process.work / 2)));
  return cost;
}

double interruptions_per_hour(double share_per_month) { return -std::log(1 - share_per_month) / in_hours(kMonth); }

Usd side_costs(Seconds total, Bytes kept, const JobAssumptions& a) {
  constexpr double kGigabyte = 1e9;
  return usd(in_bytes(a.storage.value_or(kept)) / kGigabyte * a.storage_usd_per_gb_month * (total / kMonth) +
             in_bytes(a.egress) / kGigabyte * a.egress_usd_per_gb);
}

}  // namespace rightsize::market
