#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fleet/remedies.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

TEST(Analyse, EveryKindOfWasteIsClassified) {
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(mixed_fleet(), {book, speeds()});
  EXPECT_EQ(row(a, "GPU-busy").verdict, Verdict::kComputeBound);
  EXPECT_EQ(row(a, "GPU-held").verdict, Verdict::kIdleHeld);
  EXPECT_EQ(row(a, "GPU-free").verdict, Verdict::kIdle);
  EXPECT_EQ(row(a, "GPU-trickle").verdict, Verdict::kUnderused);
  EXPECT_EQ(a.totals.gpus, 4u);
  EXPECT_NEAR(in_gpu_hours(a.totals.gpu_time), 96, 1e-9);
  EXPECT_NEAR(in_usd(a.totals.spend), 192, 1e-9);
  EXPECT_NEAR(in_usd(a.ledger[static_cast<std::size_t>(Category::kIdleHeld)].spend), 48, 1e-9);
  EXPECT_NEAR(in_usd(a.ledger[static_cast<std::size_t>(Category::kIdle)].spend), 48, 1e-9);
  EXPECT_GT(in_usd(a.ledger[static_cast<std::size_t>(Category::kOversized)].spend), 30);
  EXPECT_EQ(in_usd(a.owners.front().waste), 48);
  std::set<std::string> kinds;
  for (const FleetAction& action : a.actions) kinds.insert(std::string(name_of(action.kind)));
  EXPECT_TRUE(kinds.contains("stop"));
  EXPECT_TRUE(kinds.contains("downsize"));
}

// A slower GPU takes longer for arithmetic and traffic, but not for kernel launches: less than the worst ratio.
TEST(Downsize, GrowthFollowsTheUseOfTime) {
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(mixed_fleet(), {book, speeds()});
  const GpuRow& trickling = row(a, "GPU-trickle");
  const Thresholds thresholds;
  const Running running = running_on(trickling, window_of(a.gpus), thresholds);
  const std::vector<KindOffers> offers = book.offers_instead_of(trickling.price, 1);
  int below_bound = 0;
  for (const Alternative& there : alternatives(trickling, running, {speeds(), thresholds, offers})) {
    if (there.slow.arithmetic < 1 || there.slow.memory < 1) continue;
    EXPECT_LE(there.speed.growth, there.slow.worst() * std::exp(there.slow.width) * 1.0001) << there.gpu->name;
    below_bound += there.speed.growth < there.slow.worst() ? 1 : 0;
  }
  EXPECT_GT(below_bound, 5);
}

// For any fleet, the ledger and the owners add up, and no dollar is saved twice.
RC_GTEST_PROP(Analyse, LedgerOwnersAndSavingsAddUp, ()) {
  using Activity = double (*)(int);
  const std::vector<Activity> kinds = {busy, nothing, trickle, mornings, evenings};
  UseAccumulator sum({});
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
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  double usd_sum = 0, hours_sum = 0, owners_usd = 0, owners_waste = 0;
  for (const LedgerLine& line : a.ledger) {
    usd_sum += in_usd(line.spend);
    hours_sum += in_gpu_hours(line.gpu_time);
    RC_ASSERT(line.spend >= Usd{});
  }
  for (const GroupLine& line : a.owners) {
    owners_usd += in_usd(line.spend);
    owners_waste += in_usd(line.waste);
  }
  RC_ASSERT(std::abs(usd_sum - in_usd(a.totals.spend)) < 1e-6);
  RC_ASSERT(std::abs(hours_sum - in_gpu_hours(a.totals.gpu_time)) < 1e-6);
  RC_ASSERT(std::abs(owners_usd - in_usd(a.totals.spend)) < 1e-6);
  RC_ASSERT(std::abs(owners_waste - in_usd(a.totals.waste)) < 1e-6);
  RC_ASSERT(in_usd_per_month(a.totals.saving) <= in_usd_per_month(a.totals.spend_rate) + 1e-6);
  RC_ASSERT(in_usd_per_month(a.totals.saving) <= in_usd_per_month(a.totals.saving_bound) + 1e-6);
  std::set<std::size_t> seen;
  for (const FleetAction& action : a.actions) {
    UsdPerSecond cost;
    for (std::size_t i : action.gpus) {
      RC_ASSERT(seen.insert(i).second);
      cost += a.gpus[i].spend_rate();
    }
    RC_ASSERT(action.saving <= cost + usd_per_month(1e-6));
    RC_ASSERT(!action.risk.empty() && !action.check.empty() && !action.rollback.empty());
  }
}

TEST(Analyse, TimeWithoutActivityIsUnknownNotUseful) {
  UseAccumulator sum({});
  const int number = sum.open({.uuid = "GPU-0", .name = "NVIDIA H100 80GB HBM3"});
  for (int m = 0; m < kDay; ++m) {
    sum.add(number, Metric::kMemoryUsed, kStart + seconds(60.0 * m), 30 * kGiB);
    if (m < kDay / 2) sum.add(number, Metric::kGpuUtil, kStart + seconds(60.0 * m), 0.9);
  }
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
  EXPECT_NEAR(in_usd(a.totals.spend), 48, 0.1);
  EXPECT_NEAR(in_usd(a.ledger[static_cast<std::size_t>(Category::kUnknown)].spend), 24, 0.3);
  EXPECT_LT(in_usd(a.totals.waste), 10);
}

TEST(Analyse, OwnerGroupsSumToTheTotals) {
  const DevicePrices book = book_at(2);
  const FleetAnalysis a = analyse(mixed_fleet(), {book, speeds()});
  const std::vector<GroupLine> teams =
      make_owners(a.gpus, [](const Owner& owner, const Device&) { return owner.team; });
  double sum = 0;
  for (const GroupLine& line : teams) sum += in_usd(line.spend);
  EXPECT_NEAR(sum, in_usd(a.totals.spend), 1e-9);
  EXPECT_EQ(teams.size(), 3u);  // a, b and unowned
}

// Idleness from nvidia-smi has the documented confidence: it is observed, not inferred, but three readings are too few.
TEST(Analyse, IdlenessOfAFewReadingsIsNotNinetyPercentSure) {
  for (const auto& [minutes, sure] : {std::pair{3, 0.63}, {60, 0.9}}) {
    UseAccumulator sum({});
    const int number = sum.open({.uuid = "GPU-0", .name = "NVIDIA H100 80GB HBM3"});
    for (int m = 0; m < minutes; ++m) sum.add(number, Metric::kGpuUtil, kStart + seconds(60.0 * m), 0.0);
    const DevicePrices book = book_at(2);
    const FleetAnalysis a = analyse(sum.finish(), {book, speeds()});
    EXPECT_NEAR(a.ledger[static_cast<std::size_t>(Category::kIdle)].confidence, sure, 1e-9) << minutes;
  }
}

}  // namespace
}  // namespace rightsize::fleet
