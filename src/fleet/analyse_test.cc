#include <set>

#include <rapidcheck/gtest.h>

#include "fleet/remedies.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

TEST(Analyse, EveryCaseInItsPlace) {
  const PriceBook book = book_at(2);
  const FleetAnalysis a = analyse(mixed_fleet(), book, {});
  EXPECT_EQ(row(a, "GPU-busy").verdict, Verdict::kComputeBound);
  EXPECT_EQ(row(a, "GPU-held").verdict, Verdict::kIdleHeld);
  EXPECT_EQ(row(a, "GPU-free").verdict, Verdict::kIdle);
  EXPECT_EQ(row(a, "GPU-trickle").verdict, Verdict::kUnderused);
  EXPECT_EQ(a.totals.gpus, 4u);
  EXPECT_NEAR(a.totals.gpu_hours, 96, 1e-9);
  EXPECT_NEAR(a.totals.spend_usd, 192, 1e-9);
  EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdleHeld)].usd, 48, 1e-9);
  EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdle)].usd, 48, 1e-9);
  EXPECT_GT(a.ledger[static_cast<std::size_t>(Category::kOversized)].usd, 30);
  EXPECT_EQ(a.owners.front().waste_usd, 48);
  std::set<std::string> kinds;
  for (const Action& action : a.actions) kinds.insert(std::string(name_of(action.kind)));
  EXPECT_TRUE(kinds.contains("stop"));
  EXPECT_TRUE(kinds.contains("downsize"));
}

// A slower GPU takes longer for what is arithmetic and traffic, not for starting kernels: less than the worst ratio.
TEST(Downsize, GrowthFollowsWhatTheTimeWasSpentOn) {
  const PriceBook book = book_at(2);
  FleetAnalysis a = analyse(mixed_fleet(), book, {});
  GpuRow trickling = row(a, "GPU-trickle");
  const std::map<std::string, double> growth = projected_growth(trickling, speeds());
  const catalog::Gpu& here = *trickling.price.gpu;
  int below_bound = 0;
  for (const auto& [name, times] : growth) {
    const catalog::Gpu& there = **facts().find_gpu(name);
    const perf::Slowdown slow =
        *perf::slowdown(*speeds().find(here), *speeds().find(there), catalog::NumberFormat::kBf16);
    if (slow.arithmetic < 1 || slow.memory < 1) continue;
    EXPECT_LE(times, slow.worst() * std::exp(slow.width) * 1.0001) << name;
    below_bound += times < slow.worst() ? 1 : 0;
  }
  EXPECT_GT(below_bound, 5);
  EXPECT_TRUE(projected_growth(row(a, "GPU-busy"), speeds()).empty());  // it would only be slower
  trickling.use.metrics[static_cast<std::size_t>(Metric::kTensorActive)].reset();
  EXPECT_TRUE(projected_growth(trickling, speeds()).empty());  // nobody knows what it did: the bound stands
}

// The ledger adds up, owners add up, and no dollar is saved twice, whatever the fleet.
RC_GTEST_PROP(Analyse, DollarsAddUp, ()) {
  using Activity = double (*)(int);
  const std::vector<Activity> kinds = {busy, nothing, trickle, mornings, evenings};
  Accumulator sum({});
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    Life life;
    life.uuid = "GPU-" + std::to_string(i);
    life.team = *rc::gen::element<std::string>("a", "b", "");
    life.pod = *rc::gen::element<std::string>("x-0", "y-1", "z-7d4b9c6f5-x2x5z");
    life.memory = *rc::gen::element(0.4, 5.0, 30.0, 70.0) * kGiB;
    life.model = *rc::gen::element<std::string>("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB", "Voodoo 2");
    live(sum, life, *rc::gen::inRange(2, kDay), *rc::gen::elementOf(kinds));
  }
  const PriceBook book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), book, {});
  double usd_sum = 0, hours_sum = 0, owners_usd = 0, owners_waste = 0;
  for (const LedgerLine& line : a.ledger) {
    usd_sum += line.usd;
    hours_sum += line.gpu_hours;
    RC_ASSERT(line.usd >= 0);
  }
  for (const OwnerLine& line : a.owners) {
    owners_usd += line.usd;
    owners_waste += line.waste_usd;
  }
  RC_ASSERT(std::abs(usd_sum - a.totals.spend_usd) < 1e-6);
  RC_ASSERT(std::abs(hours_sum - a.totals.gpu_hours) < 1e-6);
  RC_ASSERT(std::abs(owners_usd - a.totals.spend_usd) < 1e-6);
  RC_ASSERT(std::abs(owners_waste - a.totals.waste_usd) < 1e-6);
  RC_ASSERT(a.totals.savings_usd_per_month <= a.totals.usd_per_month + 1e-6);
  RC_ASSERT(a.totals.savings_usd_per_month <= a.totals.savings_bound_usd_per_month + 1e-6);
  std::set<std::size_t> seen;
  for (const Action& action : a.actions) {
    double cost = 0;
    for (std::size_t i : action.gpus) {
      RC_ASSERT(seen.insert(i).second);
      cost += a.gpus[i].usd_per_month();
    }
    RC_ASSERT(action.usd_per_month <= cost + 1e-6);
    RC_ASSERT(!action.risk.empty() && !action.check.empty() && !action.rollback.empty());
  }
}

TEST(Analyse, TimeWithoutActivityIsUnknownNotUseful) {
  Accumulator sum({});
  const int number = sum.open({.uuid = "GPU-0", .name = "NVIDIA H100 80GB HBM3"});
  for (int m = 0; m < kDay; ++m) {
    sum.add(number, Metric::kMemoryUsed, kStart + 60.0 * m, 30 * kGiB);
    if (m < kDay / 2) sum.add(number, Metric::kGpuUtil, kStart + 60.0 * m, 0.9);
  }
  const PriceBook book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), book, {});
  EXPECT_NEAR(a.totals.spend_usd, 48, 0.1);
  EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kUnknown)].usd, 24, 0.3);
  EXPECT_LT(a.totals.waste_usd, 10);
}

TEST(Analyse, GroupsSumToTheTotals) {
  const PriceBook book = book_at(2);
  const FleetAnalysis a = analyse(mixed_fleet(), book, {});
  const std::vector<OwnerLine> teams =
      make_owners(a.gpus, [](const Owner& owner, const Device&) { return owner.team; });
  double sum = 0;
  for (const OwnerLine& line : teams) sum += line.usd;
  EXPECT_NEAR(sum, a.totals.spend_usd, 1e-9);
  EXPECT_EQ(teams.size(), 3u);  // a, b and nobody
}

// The verdict on idleness is as sure from nvidia-smi as the manual says: seen, not inferred, but not from three
// readings.
TEST(Analyse, IdlenessOfAFewReadingsIsNotNinetyPercentSure) {
  for (const auto& [minutes, sure] : {std::pair{3, 0.63}, {60, 0.9}}) {
    Accumulator sum({});
    const int number = sum.open({.uuid = "GPU-0", .name = "NVIDIA H100 80GB HBM3"});
    for (int m = 0; m < minutes; ++m) sum.add(number, Metric::kGpuUtil, kStart + 60.0 * m, 0.0);
    const PriceBook book = book_at(2);
    const FleetAnalysis a = analyse(sum.finish(), book, {});
    EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdle)].confidence, sure, 1e-9) << minutes;
  }
}

}  // namespace
}  // namespace rightsize::fleet
