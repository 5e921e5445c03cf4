#include "backtest.h"

#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "fit_outlook.h"

namespace rightsize::market_tools {
namespace {

constexpr int kJobDays = 7;
constexpr int kLeastFitDays = 90;

// Dense 16-bit TFLOP/s of a GPU from data/gpus.csv. A GPU without a rate is compared only with itself.
const std::map<std::string, double> kPeaks = {{"T4", 65},
                                              {"A10G", 70},
                                              {"V100", 125},
                                              {"V100-32GB", 125},
                                              {"L4", 121},
                                              {"L40S", 362},
                                              {"A100", 312},
                                              {"A100-80GB", 312},
                                              {"H100", 989},
                                              {"H200", 989},
                                              {"B200", 2250},
                                              {"B300", 2250},
                                              {"RTX PRO Server 6000", 500}};

struct Choice {
  const ZoneSeries* zone = nullptr;
  market::PriceInterval said;
  double unit = 1;  // units of work per hour
};

std::set<int> first_days(const History& history) {
  std::map<std::string, int> first;
  for (const int day : history.days) first.try_emplace(format_date({day}).substr(0, 7), day);
  std::set<int> days;
  for (const auto& [month, day] : first) days.insert(day);
  return days;
}

// The price of the zone over the week; on-demand on days without a price.
double paid(const ZoneSeries& zone, int day, double on_demand) {
  double sum = 0;
  for (int d = day; d < day + kJobDays; ++d) sum += zone.on(d) != nullptr ? zone.on(d)->spot : on_demand;
  return sum / kJobDays;
}

struct Offered {
  const ZoneSeries* zone;
  DayPrice price;
  market::PriceInterval outlook;
  bool launch;  // at a floor that may be a launch price
};

std::vector<Offered> offered_on(const History& history, int day, int age, const market::OutlookTable& table) {
  std::vector<Offered> offers;
  for (const ZoneSeries& zone : history.zones) {
    const DayPrice* price = zone.on(day - age);
    if (price == nullptr) continue;
    market::PriceReading reading;
    reading.now = price->spot;
    reading.median = *median_on(history, zone.instance, day - age);
    reading.most = price->on_demand;
    reading.age_days = age + kJobDays / 2.0;
    const bool floor = market::is_spot_floor(price->spot, price->on_demand);
    const bool launch = floor && day - age - zone.days.begin()->first < market::kLaunchDays;
    reading.kind = floor ? market::PriceReading::kFloor : market::PriceReading::kSpot;
    offers.push_back({&zone, *price, table.predict(reading), launch});
  }
  return offers;
}

struct Job {
  std::function<double(const ZoneSeries&)> work_per_hour;  // 0: unsuitable for this job
};

std::vector<Job> jobs_of(const History& history) {
  std::set<std::string> gpus;
  for (const ZoneSeries& zone : history.zones) gpus.insert(zone.gpu);
  std::vector<Job> jobs;
  jobs.push_back({[](const ZoneSeries& zone) {
    const auto peak = kPeaks.find(zone.gpu);
    return peak == kPeaks.end() ? 0 : peak->second * zone.gpus;
  }});
  for (const std::string& gpu : gpus) {
    jobs.push_back({[gpu](const ZoneSeries& zone) { return zone.gpu == gpu ? zone.gpus : 0; }});
  }
  return jobs;
}

struct Both {
  const Offered *lowest = nullptr, *ours = nullptr, *with_floors = nullptr;
};

Both choose(const std::vector<Offered>& offers, const Job& job) {
  Both both;
  double least_row = INFINITY, least_likely = INFINITY, least_any = INFINITY;
  for (const Offered& offer : offers) {
    const double work = job.work_per_hour(*offer.zone);
    if (work <= 0) continue;
    if (offer.price.spot / work < least_row) {
      least_row = offer.price.spot / work;
      both.lowest = &offer;
    }
    if (offer.outlook.likely / work < least_any) {
      least_any = offer.outlook.likely / work;
      both.with_floors = &offer;
    }
    if (!offer.launch && offer.outlook.likely / work < least_likely) {
      least_likely = offer.outlook.likely / work;
      both.ours = &offer;
    }
  }
  return both;
}

// The price per unit of work of the zone that turned out cheapest, among those with a price on the day of reading.
double best_in_hindsight(const std::vector<Offered>& offers, const Job& job, int day) {
  double least = INFINITY;
  for (const Offered& offer : offers) {
    const double work = job.work_per_hour(*offer.zone);
    if (work > 0) least = std::min(least, paid(*offer.zone, day, offer.price.on_demand) / work);
  }
  return least;
}

}  // namespace

std::vector<MonthResult> backtest_choice(const History& history, int age) {
  std::vector<MonthResult> months;
  const std::vector<Job> jobs = jobs_of(history);
  for (const int day : first_days(history)) {
    if (day - history.days.front() < std::max(kLeastFitDays, age) || day + kJobDays > history.days.back()) continue;
    const std::vector<Offered> offers = offered_on(history, day, age, to_table(fit_outlook(history, day)));
    std::vector<double> row, likely, against, floors, hindsight, on_demand, inside;
    for (const Job& job : jobs) {
      const Both both = choose(offers, job);
      if (both.lowest == nullptr || both.ours == nullptr) continue;
      const double lowest_paid = paid(*both.lowest->zone, day, both.lowest->price.on_demand);
      const double ours_paid = paid(*both.ours->zone, day, both.ours->price.on_demand);
      const double lowest_work = job.work_per_hour(*both.lowest->zone), work = job.work_per_hour(*both.ours->zone);
      const market::PriceInterval& said = both.ours->outlook;
      row.push_back(lowest_paid / both.lowest->price.spot);
      likely.push_back(ours_paid / said.likely);
      against.push_back(ours_paid / work / (lowest_paid / lowest_work));
      floors.push_back(paid(*both.with_floors->zone, day, both.with_floors->price.on_demand) /
                       job.work_per_hour(*both.with_floors->zone) / (lowest_paid / lowest_work));
      hindsight.push_back(best_in_hindsight(offers, job, day) / (lowest_paid / lowest_work));
      on_demand.push_back(ours_paid / both.ours->price.on_demand);
      inside.push_back(ours_paid >= said.low * 0.999 && ours_paid <= said.high * 1.001 ? 1 : 0);
    }
    if (row.empty()) continue;
    months.push_back({day, static_cast<int>(row.size()), mean(row), mean(likely), mean(against), mean(floors),
                      mean(hindsight), mean(on_demand), mean(inside)});
  }
  return months;
}

std::string to_markdown(const std::vector<MonthResult>& months, int age) {
  std::string text = fmt::format(
      "Prices read {} days before the job:\n\n"
      "| month | jobs | lowest row: paid / row | outlook: paid / likely | outlook / lowest row, paid | the same "
      "with floors allowed | hindsight / lowest row | outlook / on-demand | inside low-high "
      "|\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
      age);
  MonthResult sum;
  for (const MonthResult& month : months) {
    text += fmt::format("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} % |\n",
                        format_date({month.day}).substr(0, 7), month.jobs, month.lowest_paid_over_row,
                        month.ours_paid_over_likely, month.ours_paid_over_lowest, month.floors_paid_over_lowest,
                        month.hindsight_over_lowest, month.ours_paid_over_on_demand, 100 * month.inside);
    sum.jobs += month.jobs;
    const double n = month.jobs;
    sum.lowest_paid_over_row += n * month.lowest_paid_over_row;
    sum.ours_paid_over_likely += n * month.ours_paid_over_likely;
    sum.ours_paid_over_lowest += n * month.ours_paid_over_lowest;
    sum.floors_paid_over_lowest += n * month.floors_paid_over_lowest;
    sum.hindsight_over_lowest += n * month.hindsight_over_lowest;
    sum.ours_paid_over_on_demand += n * month.ours_paid_over_on_demand;
    sum.inside += n * month.inside;
  }
  const double n = std::max(1, sum.jobs);
  return text + fmt::format("| all | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} % |\n", sum.jobs,
                            sum.lowest_paid_over_row / n, sum.ours_paid_over_likely / n, sum.ours_paid_over_lowest / n,
                            sum.floors_paid_over_lowest / n, sum.hindsight_over_lowest / n,
                            sum.ours_paid_over_on_demand / n, 100 * sum.inside / n);
}

std::vector<CommitmentResult> backtest_commitment(const History& history, double discount) {
  std::vector<CommitmentResult> months;
  for (const int day : first_days(history)) {
    CommitmentResult result{day};
    std::vector<double> saved, even, covered;
    std::set<std::pair<std::string, std::string>> seen;
    for (const ZoneSeries& zone : history.zones) {
      const DayPrice* bought = zone.on(day);
      if (bought == nullptr || !seen.insert({zone.instance, zone.region}).second) continue;
      double on_demand = 0, committed = 0;
      int counted = 0;
      for (auto at = zone.days.lower_bound(day); at != zone.days.end() && at->first < day + 365; ++at) {
        on_demand += at->second.on_demand;
        committed += bought->on_demand * (1 - discount);
        ++counted;
      }
      if (counted < 90) continue;
      saved.push_back(1 - committed / on_demand);
      even.push_back(committed / on_demand);
      covered.push_back(counted / 365.0 * 12);
    }
    if (saved.empty()) continue;
    result.machines = static_cast<int>(saved.size());
    result.months = mean(covered);
    result.saved = mean(saved);
    result.worst = quantile(saved, 0);
    result.break_even = mean(even);
    months.push_back(result);
  }
  return months;
}

std::string to_markdown(const std::vector<CommitmentResult>& months, double discount) {
  std::string text = fmt::format(
      "A year bought at {:.0f} % below the on-demand price of the day:\n\n"
      "| bought | machines and regions | months seen | saved, mean | saved, worst | break-even use |\n"
      "|---|--:|--:|--:|--:|--:|\n",
      100 * discount);
  for (const CommitmentResult& month : months) {
    text +=
        fmt::format("| {} | {} | {:.1f} | {:.0f} % | {:.0f} % | {:.0f} % |\n", format_date({month.day}).substr(0, 7),
                    month.machines, month.months, 100 * month.saved, 100 * month.worst, 100 * month.break_even);
  }
  return text;
}

}  // namespace rightsize::market_tools
