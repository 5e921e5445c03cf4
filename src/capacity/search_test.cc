#include "capacity/search.h"

#include <cmath>

#include <gtest/gtest.h>

namespace rightsize::capacity {
namespace {

using sim::SimTime;

// 10 ms for one item, 1 ms for every further one, times `slower`.
Replica replica_to(int max_batch, int slower = 1) {
  Replica replica;
  replica.continuous = false;
  replica.times = {{0}, {0}};
  for (int b = 1; b <= max_batch; ++b) {
    replica.times.shortest.push_back(std::int64_t{1'000'000} * (9 + b) * slower);
    replica.times.scale.push_back(0);
    replica.sizes.push_back(b);
  }
  return replica;
}

Configuration configuration(int gpus, int batch, SimTime delay = 0) {
  Configuration c;
  c.groups = {{0, gpus}};
  c.batching = {batch, {}, delay};
  c.price = 2.0 * gpus;
  return c;
}

std::vector<Configuration> grid(int most_gpus, const std::vector<int>& batches, const std::vector<SimTime>& delays) {
  std::vector<Configuration> all;
  for (int gpus = 1; gpus <= most_gpus; ++gpus) {
    for (int batch : batches) {
      for (SimTime delay : delays) all.push_back(configuration(gpus, batch, delay));
    }
  }
  return all;
}

Service service_of(double rate, Slo slo) {
  Service service;
  service.arrivals = sim::Poisson{requests_per_s(rate)};
  service.slos = {slo};
  return service;
}
Slo latency(Statistic at, double ms) { return {Quantity::kLatency, at, milliseconds(ms)}; }

TEST(Search, MatchesExhaustiveLongSimulations) {
  const Planner planner(service_of(600, latency(Statistic::kP99, 40)), {replica_to(16)});
  const auto all = grid(6, {1, 4, 8, 16}, {0, 5'000'000});
  const ConfigurationSearch found = search(planner, all);
  double cheapest = INFINITY;
  for (const Configuration& c : all) {
    const auto long_run = planner.assess(c, {300'000, 9});
    if (long_run && long_run->keeps(planner.service())) cheapest = std::min(cheapest, c.price);
  }
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.best->configuration.price, cheapest);
  EXPECT_EQ(found.considered, all.size());
  EXPECT_GT(found.unstable, 0u);
  EXPECT_EQ(found.considered, found.unstable + found.bounded + found.simulated);
  for (std::size_t i = 1; i < found.frontier.size(); ++i) {
    EXPECT_LT(found.frontier[i].excess(planner.service()), found.frontier[i - 1].excess(planner.service()));
    EXPECT_GT(found.frontier[i].configuration.price, found.frontier[i - 1].configuration.price);
  }
}

// Of settings with the same runs, the one with the most room is reported, in whatever order they come.
TEST(Search, ALimitThatIsNeverReachedIsTheWidest) {
  for (const double rate : {5.0, 20.0, 40.0}) {
    const Planner planner(service_of(rate, latency(Statistic::kP95, 60)), {replica_to(64)});
    for (const std::vector<int>& batches :
         {std::vector{16, 32, 64}, std::vector{64, 16, 32}, std::vector{32, 64, 16}}) {
      const ConfigurationSearch found = search(planner, grid(2, batches, {0}));
      ASSERT_TRUE(found.best) << rate;
      EXPECT_LT(found.best->profile.largest_batch, 16) << rate;
      EXPECT_EQ(found.best->configuration.batching.max_batch, 64) << rate;
    }
  }
}

TEST(Search, ThreadsDoNotChangeTheAnswer) {
  const Planner planner(service_of(400, latency(Statistic::kP95, 30)), {replica_to(8)});
  SearchOptions alone, together;
  alone.threads = 1;
  together.threads = 4;
  const auto a = search(planner, grid(5, {1, 8}, {0, 2'000'000}), alone);
  const auto b = search(planner, grid(5, {1, 8}, {0, 2'000'000}), together);
  ASSERT_EQ(a.frontier.size(), b.frontier.size());
  for (std::size_t i = 0; i < a.frontier.size(); ++i)
    EXPECT_EQ(a.frontier[i].profile.latency, b.frontier[i].profile.latency);
}

TEST(Search, AnImpossibleSloHasNoPlan) {
  const Planner planner(service_of(50, latency(Statistic::kP99, 1)), {replica_to(4)});  // a single item takes 10 ms
  const ConfigurationSearch found = search(planner, grid(3, {1, 4}, {0}));
  EXPECT_FALSE(found.best);
  EXPECT_FALSE(found.unbatched);
  EXPECT_FALSE(planner.fewest(0, {}));
}

// One GPU without batching serves 100 requests/s. With a queue of four, a good part of 120 requests/s is rejected and
// the others wait at most 50 ms: fast, but too many rejected.
TEST(Search, RejectedRequestsCountAgainstTheSlo) {
  Service service = service_of(120, latency(Statistic::kP99, 60));
  service.most_rejected = 0.01;
  service.queue = {0, sim::QueuePolicy::OnTimeout::kReject, 4};
  const Planner planner(service, {replica_to(1)});
  const auto alone = planner.assess(configuration(1, 1), {50'000, 1});
  ASSERT_TRUE(alone);
  EXPECT_GT(alone->rejected_share(), 0.15);
  EXPECT_LT(alone->excess(service), 1);
  EXPECT_FALSE(alone->keeps(service));
  const ConfigurationSearch found = search(planner, grid(4, {1}, {0}));
  ASSERT_TRUE(found.best);
  EXPECT_GT(found.best->configuration.replicas(), 1);
  EXPECT_LE(found.best->rejected_share(), 0.01);
  service.most_rejected = 1;
  EXPECT_EQ(search(Planner(service, {replica_to(1)}), grid(4, {1}, {0})).best->configuration.replicas(), 1);
}

TEST(Search, PrioritiesAffectTheSearch) {
  Service levels = service_of(80, latency(Statistic::kP99, 200));
  const Planner plain(levels, {replica_to(1)});
  levels.priorities = {0.2, 0.8};
  const Planner with(levels, {replica_to(1)});
  const sim::RunLength length{50'000, 1};
  const Slo slo = levels.slos.front();  // low priority waits for high priority
  EXPECT_GT(with.assess(configuration(1, 1), length)->value(slo),
            plain.assess(configuration(1, 1), length)->value(slo));
}

// A slow and a fast GPU behind one router, which sends requests to the one that would finish first.
TEST(Search, ConfigurationsMayMixTwoGpuTypes) {
  const Planner planner(service_of(90, latency(Statistic::kP99, 100)), {replica_to(1), replica_to(1, 4)});
  Configuration mixed = configuration(1, 1);
  mixed.groups.push_back({1, 1});
  EXPECT_NEAR(planner.capacity(mixed), 125, 1e-6);
  const sim::RunLength length{50'000, 1};
  const Slo mean = latency(Statistic::kMean, 1);
  EXPECT_LT(planner.assess(mixed, length)->value(mean), planner.assess(configuration(1, 1), length)->value(mean));
}

}  // namespace
}  // namespace rightsize::capacity
