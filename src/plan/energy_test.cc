// Power, energy and carbon of plans: they add up, limits hold, and the objective finds the minimum.
#include <cmath>

#include <gtest/gtest.h>

#include "plan/candidates.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

Recommendation energy_answer(Given settings, const Given& more = {}, bool plans_only = true) {
  settings.insert(settings.end(), more.begin(), more.end());
  Request request = request_of(settings);
  request.plans_only = plans_only;
  return recommend(request, built_in_prices(), built_in_constants());
}

const std::vector<Given>& works() {
  static const std::vector<Given> kWorks = {
      {{"model", "llama-3.2-1b"}, {"tokens", "2B"}, {"gpu", "h100-sxm,a100-80gb-sxm,l40s"}, {"top", "6"}},
      {{"model", "llama-3.1-8b"},
       {"rate", "3/s"},
       {"isl", "500"},
       {"osl", "200"},
       {"gpu", "h100-sxm,l40s"},
       {"top", "4"}},
      {{"model", "llama-3.1-8b"},
       {"items", "100k"},
       {"isl", "500"},
       {"osl", "200"},
       {"gpu", "h100-sxm,l4"},
       {"top", "4"}}};
  return kWorks;
}

TEST(Energy, AddsUp) {
  for (const Given& work : works()) {
    const Recommendation found = energy_answer(work, {{"carbon", "250"}});
    ASSERT_FALSE(found.plans.empty());
    for (const Plan& p : found.plans) {
      const double gpus = in_watts(p.gpu_power) * p.gpus;
      EXPECT_GT(in_watts(p.power), gpus) << "hosts draw power too";
      EXPECT_LT(in_watts(p.power), p.machines * p.offer.machine->gpus * (in_watts(*p.offer.gpu->tdp) + 200));
      EXPECT_NEAR(p.energy_kwh(), in_watts(p.power) * p.pue * in_hours(p.time.total()) / 1e3, 1e-9 * p.energy_kwh());
      ASSERT_TRUE(p.carbon);
      EXPECT_EQ(p.carbon->grams_per_kwh, 250);
    }
  }
}

// Limits on power and on CO2 hold for every plan. If nothing meets one, the suggested limit has a plan that meets it.
TEST(Energy, LimitsHoldForEveryPlanAndASuggestedLimitHasAPlan) {
  struct Limit {
    const char* name;
    RequestChangeKind suggestion;
    double (*used)(const Plan&);
  };
  constexpr Limit kLimits[] = {
      {"max-power", RequestChangeKind::kMorePower, [](const Plan& p) { return in_watts(p.power); }},
      {"max-carbon", RequestChangeKind::kMoreCarbon, [](const Plan& p) { return p.co2_kg().value_or(INFINITY); }}};
  for (const Given& work : works()) {
    const std::pair<const char*, const char*> grid = {"carbon", "250"};
    const Recommendation free = energy_answer(work, {grid});
    ASSERT_FALSE(free.plans.empty());
    for (const Limit& limit : kLimits) {
      const double most = limit.used(free.plans.front()) * 1.01;
      const Recommendation found = energy_answer(work, {grid, {limit.name, std::to_string(most)}});
      ASSERT_FALSE(found.plans.empty());
      for (const Plan& p : found.plans) EXPECT_LE(limit.used(p), most) << limit.name;

      const Recommendation none = energy_answer(work, {grid, {limit.name, std::to_string(most / 1000)}}, false);
      EXPECT_TRUE(none.plans.empty());
      const auto change = std::find_if(none.changes.begin(), none.changes.end(),
                                       [&](const RequestChange& c) { return c.kind == limit.suggestion; });
      ASSERT_NE(change, none.changes.end()) << limit.name;
      const double suggested = std::stod(change->flags.substr(change->flags.find(' ')));
      EXPECT_LE(limit.used(change->plan), suggested) << change->flags;
      EXPECT_GT(limit.used(change->plan), most / 1000);
    }
  }
}

TEST(Energy, TheObjectiveFindsTheMinimum) {
  const Recommendation cheap = energy_answer(works()[0]), least = energy_answer(works()[0], {{"objective", "energy"}});
  ASSERT_FALSE(least.plans.empty());
  for (const Plan& p : cheap.plans) EXPECT_LE(least.plans.front().energy_kwh(), p.energy_kwh() * 1.021);
  // Also of the listed plans, with the overhead of their data centers.
  for (const Plan& p : least.plans) EXPECT_LE(least.plans.front().energy_kwh(), p.energy_kwh() * 1.021);
}

// The best cap needs no more energy than no cap and meets the deadline.
TEST(Energy, TheBestCapSavesEnergyWithinTheDeadline) {
  const Given& work = works()[0];
  const Recommendation free = energy_answer(work, {{"objective", "energy"}});
  ASSERT_FALSE(free.plans.empty());
  for (double slack : {1.02, 1.1, 1.5}) {
    const Seconds deadline = free.plans.front().time.total() * slack;
    const Given limit = {{"deadline", std::to_string(in_seconds(deadline)) + "s"}, {"power-cap", "best"}};
    const Recommendation found = energy_answer(work, limit);
    ASSERT_FALSE(found.plans.empty());
    EXPECT_LE(found.plans.front().energy_kwh(), free.plans.front().energy_kwh() * 1.001) << slack;
    for (const Plan& p : found.plans) {
      EXPECT_LE(p.time.total(), deadline);
      if (!p.cap) continue;
      EXPECT_GE(*p.cap->time, 0.999);
      EXPECT_LT(p.cap->cap, *p.offer.gpu->tdp);
    }
  }
}

// No plan of the trade-off is beaten in cost, time and energy at once.
TEST(Energy, TheTradeOffHasNoPlanThatAnotherBeats) {
  Given settings = works()[0];
  const Recommendation found = energy_answer(settings, {}, false);
  ASSERT_GT(found.trade_off.size(), 1u);
  for (const Plan& a : found.trade_off) {
    for (const Plan& b : found.trade_off) {
      const bool beaten =
          b.cost < a.cost * 0.999 && b.time.total() < a.time.total() * 0.999 && b.energy_kwh() < a.energy_kwh() * 0.999;
      EXPECT_FALSE(beaten && !a.extrapolated && !b.extrapolated);
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
