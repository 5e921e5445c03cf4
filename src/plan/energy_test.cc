// Power, energy and carbon of plans: they add up, limits hold, and the objective finds the minimum.
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

TEST(Energy, APowerLimitHoldsForEveryPlan) {
  for (const Given& work : works()) {
    const Recommendation free = energy_answer(work);
    ASSERT_FALSE(free.plans.empty());
    const Watts limit = free.plans.front().power * 1.01;
    const Recommendation found = energy_answer(work, {{"max-power", std::to_string(in_watts(limit))}});
    ASSERT_FALSE(found.plans.empty());
    for (const Plan& p : found.plans) EXPECT_LE(p.power, limit);
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
