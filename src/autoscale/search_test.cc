#include "autoscale/search.h"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "autoscale/bound.h"
#include "autoscale/purchase.h"
#include "base/random.h"

namespace rightsize::autoscale {
namespace {

struct RandomDay {
  ClusterConfig config;
  Traffic traffic;

  explicit RandomDay(std::uint64_t seed = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1'000'000))) {
    Random random(seed);
    const auto between = [&](int from, int to) { return std::floor(from + random.uniform() * (to - from)); };
    config.cost = {.base = between(15, 30) * 1e6, .prefill = between(20, 60) * 1e3, .sequence = between(50, 200) * 1e3};
    config.engine = {.token_budget = 2048, .max_sequences = 12};
    config.startup = whole_seconds(static_cast<std::int64_t>(between(5, 180)));
    config.slo = {.ttft = whole_seconds(3), .tpot = static_cast<SimTime>(config.cost.base * 3)};
    const sim::RequestShape shape{.size = between(100, 600), .output = between(20, 80)};
    const double work = least_work(config.cost, config.engine, shape.size, shape.output) * 1e-9;
    std::vector<double> rates;
    for (int i = 0; i < 4; ++i) rates.push_back(between(2, 30) / 10 / work);
    traffic = by_slots(rates, whole_seconds(300), shape, 7, whole_seconds(1200));
  }
};

TEST(PolicySearchTest, TheBestMeetsTheSloAtNoMoreThanFixedReplicasAndNoLessThanTheBound) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {  // each simulates about two hundred settings
    const RandomDay day(seed);
    const PolicySearch found = search(day.config, day.traffic);
    ASSERT_TRUE(found.fixed.has_value());
    const SimulatedPolicy& best = found.best.front();
    EXPECT_TRUE(best.run.meets(day.config.slo));
    EXPECT_LE(best.run.paid_seconds, found.fixed->run.paid_seconds);
    EXPECT_GE(best.run.paid_seconds, lower_bound(day.config, day.traffic).replica_seconds * (1 - 1e-9));
    std::set<Kind> kinds;
    for (const SimulatedPolicy& policy : found.best) EXPECT_TRUE(kinds.insert(policy.policy.kind).second);
  }
}

// The cheapest of many settings of one kind that meets the SLO.
double brute_force(const ClusterConfig& config, const Traffic& traffic, Kind kind, int most, double most_rate) {
  std::vector<Policy> all;
  const auto add = [&](Policy p) {
    for (int min = 1; min <= most; ++min) {
      p.kind = kind, p.max = 2 * most + 2, p.min = min, p.initial = min;
      all.push_back(p);
    }
  };
  for (double share = 0.2; share <= 1.3; share *= 1.07) {
    for (const std::int64_t seconds : {30, 60, 120, 300}) {
      Policy p;
      p.target = std::max(0.5, share * static_cast<double>(config.engine.max_sequences)), p.rate = share * most_rate;
      p.down = p.window = p.interval = p.down_delay = whole_seconds(seconds), p.up_delay = whole_seconds(30);
      add(p);
    }
  }
  double least = std::numeric_limits<double>::infinity();
  for (const SimulatedPolicy& p : simulate_all(config, traffic, all))
    if (p.run.meets(config.slo)) least = std::min(least, p.run.paid_seconds);
  return least;
}

// If the prompt alone exceeds a limit, the search must not try thousands of replicas.
TEST(PolicySearchTest, AnImpossibleSloIsAnsweredWithFewReplicas) {
  RandomDay day(3);
  day.config.slo.ttft = sim::to_sim_time(milliseconds(0.01));
  const PolicySearch found = search(day.config, day.traffic);
  EXPECT_FALSE(found.fixed.has_value());
  for (const SimulatedPolicy& policy : found.best) EXPECT_LT(policy.run.most_ready, 500) << describe(policy.policy);
}

// Bursts with other seeds than those used to choose the settings.
TEST(PolicySearchTest, TheChosenSettingIsWithinATenthOfTheBestOfItsKind) {
  for (std::uint64_t seed = 11; seed <= 16; ++seed) {
    RandomDay day(seed);
    if (seed % 2 == 0) {
      const sim::Mmpp bursts{requests_per_s(2), requests_per_s(9), seconds(120), seconds(60)};
      day.traffic = replay(bursts, {.size = 300, .output = 40}, seed, whole_seconds(1200));
    }
    const PolicySearch found = search(day.config, day.traffic);
    const SimulatedPolicy& best = found.best.front();
    const Kind kind = best.policy.kind;
    if (kind == Kind::kFixed || kind == Kind::kSchedule || kind == Kind::kVariant) continue;
    const double rate = rate_within(day.config, demand_of(day.traffic, whole_seconds(5)));
    const double least = brute_force(day.config, day.traffic, kind, found.fixed->policy.replicas, rate);
    EXPECT_LE(best.run.paid_seconds, 1.1 * least) << seed << " " << describe(best.policy);
  }
}

RC_GTEST_PROP(Screening, FixedReplicasCostTheSameAsSimulated, ()) {
  const RandomDay day;
  const Policy policy = *parse_policy(fmt::format("fixed:replicas={}", *rc::gen::inRange(4, 9)));
  const ScalingRun screened = screen(day.config, demand_of(day.traffic, whole_seconds(5)), policy, 0.9);
  const ScalingRun run = simulate(day.config, day.traffic, policy);
  RC_PRE(run.over_share() < 0.05);
  RC_ASSERT(std::abs(screened.paid_seconds / run.paid_seconds - 1) < 0.05);
}

// The page shows these GPU-hours while a slider moves, unless mean traffic alone is often over the SLO.
RC_GTEST_PROP(Screening, GpuHoursOfAutoscalersAreCloseToTheSimulation, ()) {
  RandomDay day;
  const sim::Diurnal process{requests_per_s(*rc::gen::inRange(1, 9)), 1.8, hours(6)};
  const sim::RequestShape shape{.size = 512, .output = 128, .size_variation = 1, .output_variation = 1};
  const SimTime horizon = sim::to_sim_time(process.period);
  day.config.engine = {.token_budget = 8192, .max_sequences = 256};
  const int target = *rc::gen::inRange(6, 24);
  const Policy policy = *parse_policy(*rc::gen::element(fmt::format("hpa:target={},max=64", target),
                                                        fmt::format("keda:threshold={},min=1,max=64", target)));
  const ScalingRun run = simulate(day.config, replay(process, shape, 3, horizon), policy);
  const ScalingRun screened = screen(day.config, drawn_demand(process, shape, 3, horizon, whole_seconds(5)), policy, 1);
  RC_PRE(screened.over_share() <= day.config.slo.allowed / 10);
  RC_ASSERT(std::abs(screened.paid_seconds / run.paid_seconds - 1) < 0.15);
  const double mean = static_cast<double>(screened.requests) / static_cast<double>(run.requests + run.unserved);
  RC_ASSERT(std::abs(mean - 1) < 0.1);
}

RC_GTEST_PROP(Purchase, NeverCostsMoreThanOnDemandAndCommitsOnlyWhatIsUsed, ()) {
  const RandomDay day;
  const ScalingRun run = simulate(day.config, day.traffic, *parse_policy("hpa:target=6,max=9,down=60s"));
  const HourlyPrices prices{3.0, *rc::gen::element<double>(1.5, 2.8), *rc::gen::element<double>(1.0, 2.0, 3.5)};
  const auto purchase = cheapest_purchase(run, 2, prices);
  RC_ASSERT(purchase.has_value());
  RC_ASSERT(purchase->usd() <= purchase->on_demand_usd * (1 + 1e-9));
  RC_ASSERT(purchase->committed < static_cast<int>(run.seconds_at.size()));
  RC_ASSERT(std::abs(purchase->on_demand_usd - run.paid_seconds * 2 / 3600 * 3) < 1e-6);
  const auto alone = cheapest_purchase(run, 2, {3.0, {}, {}});
  RC_ASSERT(std::abs(alone->usd() - alone->on_demand_usd) < 1e-6);
}

// Every request of a stream is in exactly one of its parts.
RC_GTEST_PROP(TrafficParts, AddUpToTheWholeTraffic, ()) {
  const RandomDay day;
  const SimTime cut = whole_seconds(*rc::gen::inRange(0, 1300));
  const auto count = [](const Traffic& t) { return demand_of(t, whole_seconds(60)).total; };
  const Demand all = count(day.traffic), first = count(part(day.traffic, 0, cut)),
               rest = count(part(day.traffic, cut, sim::kNever));
  RC_ASSERT(first.requests + rest.requests == all.requests);
  RC_ASSERT(first.prompt_tokens + rest.prompt_tokens == all.prompt_tokens);
}

// Every policy stays within the replicas that the user allows.
TEST(Bounds, EverySettingStaysWithinThem) {
  Random random(17);
  for (int i = 0; i < 500; ++i) {
    ClusterConfig config;
    config.least_replicas = static_cast<int>(random.uniform() * 10);
    config.most_replicas = config.least_replicas + 1 + static_cast<int>(random.uniform() * 10);
    Policy policy;
    policy.min = static_cast<int>(random.uniform() * 30),
    policy.max = policy.min + static_cast<int>(random.uniform() * 30);
    policy.initial = policy.min, policy.replicas = 1 + static_cast<int>(random.uniform() * 30);
    policy.plan = {policy.min, policy.max};
    const Policy within = bounded(policy, config);
    for (const int replicas :
         {within.min, within.max, *within.initial, within.replicas, within.plan[0], within.plan[1]}) {
      EXPECT_GE(replicas, config.least_replicas);
      EXPECT_LE(replicas, config.most_replicas);
    }
    EXPECT_LE(within.min, within.max);
  }
}

// A maximum that the user states is the policy's own, not the need that was estimated.
TEST(Bounds, AStatedMaximumIsTheMaximumOfEverySetting) {
  RandomDay day(3);
  const DemandSeries demand = demand_of(day.traffic, whole_seconds(5));
  for (const int most : {1, 6, 40}) {
    day.config.most_replicas = most;
    for (const Policy& policy : settings_for(day.config, demand)) EXPECT_EQ(policy.max, most) << describe(policy);
  }
}

}  // namespace
}  // namespace rightsize::autoscale
