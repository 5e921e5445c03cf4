// The simulator against queueing theory, against itself, and against a plain second implementation.
#include "sim/simulate.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "sim/closed_form.h"

namespace rightsize::sim {
namespace {

constexpr double kMs = 1e6;

double nanoseconds(Seconds t) { return in_seconds(t) * 1e9; }

ServiceTimes fixed_times(std::vector<double> ms) {
  ServiceTimes times{{0}, {0}};
  for (double t : ms) {
    times.shortest.push_back(static_cast<SimTime>(t * kMs));
    times.scale.push_back(0);
  }
  return times;
}

Server one_gpu(const ServiceTimes& times, int max_batch, double delay_ms = 0, int executors = 1, double overlap = 1) {
  Server server;
  server.gpus = {{times, executors, overlap}};
  server.batching = {max_batch, {}, static_cast<SimTime>(delay_ms * kMs)};
  return server;
}

LatencyProfile run(const Server& server, double rate, std::uint64_t requests = 400'000, std::uint64_t seed = 1) {
  return *simulate(server, Poisson{requests_per_s(rate)}, {requests, seed, 0, Statistic::kP99});
}

// Service of 1 ms at load 0.2, 0.5, 0.8, 0.9; three intervals' width of room keeps the test honest and quiet.
TEST(Simulate, AgreesWithMD1) {
  for (double load : {0.2, 0.5, 0.8, 0.9}) {
    const LatencyProfile p = run(one_gpu(fixed_times({1}), 1), load * 1000, 1'000'000);
    const double expected = kMs + nanoseconds(md1_mean_wait(requests_per_s(load * 1e3), milliseconds(1)));
    EXPECT_NEAR(value_of(p.latency, Statistic::kMean), expected,
                3 * value_of(p.interval.half_widths(), Statistic::kMean))
        << load;
    EXPECT_NEAR(p.utilization, load, 0.01);
    EXPECT_EQ(p.mean_batch, 1);
  }
}

TEST(Simulate, AgreesWithMM1InMeanAndTail) {
  ServiceTimes exponential{{0, 0}, {0, kMs}};
  for (double load : {0.3, 0.7}) {
    const LatencyProfile p = run(one_gpu(exponential, 1), load * 1000, 1'000'000);
    EXPECT_NEAR(value_of(p.latency, Statistic::kMean),
                nanoseconds(mm1_mean_sojourn(requests_per_s(load * 1e3), milliseconds(1))),
                3 * value_of(p.interval.half_widths(), Statistic::kMean));
    for (auto [q, which] : {std::pair{0.5, Statistic::kP50}, {0.95, Statistic::kP95}, {0.99, Statistic::kP99}}) {
      const double expected = nanoseconds(mm1_sojourn_quantile(requests_per_s(load * 1e3), milliseconds(1), q));
      EXPECT_NEAR(value_of(p.latency, which), expected,
                  3 * value_of(p.interval.half_widths(), which) + 0.004 * expected);
    }
  }
}

TEST(Simulate, AgreesWithMDc) {
  for (int servers : {2, 4}) {
    const double load = 0.8;
    const LatencyProfile p = run(one_gpu(fixed_times({1}), 1, 0, servers), load * 1000 * servers, 1'000'000);
    const double expected =
        kMs + nanoseconds(mdc_mean_wait(requests_per_s(load * servers * 1e3), milliseconds(1), servers));
    EXPECT_NEAR(value_of(p.latency, Statistic::kMean), expected,
                3 * value_of(p.interval.half_widths(), Statistic::kMean))
        << servers;
  }
}

// Two executors that share a GPU evenly do the work of one: M/D/1 by processor sharing has the mean 1 / (1 - load).
TEST(Simulate, SharedExecutorsAddNoCapacity) {
  const Server shared = one_gpu(fixed_times({1}), 1, 0, 2, 0);
  EXPECT_NEAR(in_requests_per_s(capacity(shared)), 1000, 1e-6);
  EXPECT_FALSE(simulate(shared, Poisson{requests_per_s(1001)}, {}));
  const LatencyProfile p = run(shared, 500);
  EXPECT_NEAR(p.utilization, 0.375, 0.1);
  EXPECT_GT(value_of(p.latency, Statistic::kMean), 1.4 * kMs);
  EXPECT_LT(value_of(p.latency, Statistic::kMean), 2.1 * kMs);
}

// Batches that take exactly as long must not keep replicas in step with their router: a percent of spread, as every
// real server has, changes nothing, and neither does the seed.
TEST(Simulate, ExactBatchTimesAreNoFasterThanNearlyExactOnes) {
  Server server = one_gpu(fixed_times({13.5, 21}), 2);
  server.gpus[0].count = 30;
  Server spread = server;
  for (double& scale : spread.gpus[0].times.scale) scale = 0.01 * 13.5 * kMs;
  const auto p95 = [](const Server& s, std::uint64_t seed) {
    return value_of(run(s, 1941, 200'000, seed).latency, Statistic::kP95);
  };
  const double expected = p95(spread, 1);
  for (std::uint64_t seed : {1U, 2U, 3U, 4U}) EXPECT_NEAR(p95(server, seed), expected, 0.05 * expected) << seed;
}

// The same rule once more, without events: one executor, delay or full batch.
StatisticValues reference(const std::vector<double>& ms, int max_batch, double delay, double rate, std::size_t count,
                          double& mean_batch) {
  std::vector<Arrival> arrivals(count);
  open_stream(Poisson{requests_per_s(rate)}, 1)->fill(arrivals);
  LatencyStatistics statistics;
  SimTime free = 0;
  std::size_t i = 0, batches = 0;
  while (i < count) {
    SimTime start = std::max(free, arrivals[i].at + static_cast<SimTime>(delay * kMs));
    const std::size_t full = i + static_cast<std::size_t>(max_batch) - 1;
    if (full < count) start = std::min(start, std::max(free, arrivals[full].at));
    std::size_t end = i;
    while (end < count && end <= full && arrivals[end].at <= start) ++end;
    free = start + static_cast<SimTime>(ms[end - i - 1] * kMs);
    for (; i < end; ++i) statistics.add(free - arrivals[i].at);
    ++batches;
  }
  mean_batch = static_cast<double>(count) / static_cast<double>(batches);
  return statistics.values();
}

TEST(Simulate, MatchesASimpleReferenceLoopToTheNanosecond) {
  const std::vector<double> ms{2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5};
  for (auto [delay, rate] : {std::pair{0.0, 800.0}, {5.0, 300.0}, {5.0, 1200.0}, {20.0, 200.0}}) {
    double mean_batch = 0;
    const StatisticValues expected = reference(ms, 8, delay, rate, 100'000, mean_batch);
    const LatencyProfile p = run(one_gpu(fixed_times(ms), 8, delay), rate, 100'000);
    EXPECT_EQ(p.latency, expected) << delay << " " << rate;
    EXPECT_EQ(p.mean_batch, mean_batch);
  }
}

Server any_server() {
  Server server;
  const int gpus = *rc::gen::inRange(1, 4);
  const int max_batch = *rc::gen::inRange(1, 9);
  for (int g = 0; g < gpus; ++g) {
    std::vector<double> ms;
    for (int b = 1; b <= max_batch; ++b) ms.push_back(1 + g + 0.3 * b);
    server.gpus.push_back({fixed_times(ms), *rc::gen::inRange(1, 4), *rc::gen::element(0.0, 0.5, 1.0)});
  }
  server.batching = {max_batch, {}, *rc::gen::element<SimTime>(0, 1'000'000, 7'000'000)};
  if (max_batch > 2 && *rc::gen::arbitrary<bool>()) server.batching.preferred_sizes = {2, max_batch};
  if (*rc::gen::arbitrary<bool>()) server.queue.timeout = 8'000'000;
  if (*rc::gen::arbitrary<bool>()) server.queue.on_timeout = QueuePolicy::OnTimeout::kDelay;
  if (*rc::gen::arbitrary<bool>()) server.queue.max_queue = 20;
  if (*rc::gen::arbitrary<bool>()) server.priorities = {0.3, 0.7};
  return server;
}

// Whatever the settings: nobody is lost, and Little's law holds to the nanosecond.
RC_GTEST_PROP(Simulate, LittlesLawHoldsInEveryRun, ()) {
  const Server server = any_server();
  const RequestsPerSecond rate = capacity(server) * *rc::gen::element(0.3, 0.8, 0.97, 1.3);
  const LatencyProfile p = simulate_anyway(
      server, Poisson{rate}, {3000, static_cast<std::uint64_t>(*rc::gen::inRange(1, 1000)), 0, Statistic::kP99});
  RC_ASSERT(p.completed + p.rejected == p.requests);
  RC_ASSERT(p.presence == p.latency_sum);
  RC_ASSERT(p.utilization <= 1.0);
  RC_ASSERT(p.mean_batch <= server.batching.max_batch);
}

RC_GTEST_PROP(Simulate, TheSameSeedGivesTheSameRun, ()) {
  const Server server = any_server();
  const RunLength length{2000, 5, 0, Statistic::kP99};
  const LatencyProfile a = simulate_anyway(server, Poisson{requests_per_s(500)}, length),
                       b = simulate_anyway(server, Poisson{requests_per_s(500)}, length);
  RC_ASSERT(a.latency == b.latency);
  RC_ASSERT(a.presence == b.presence);
  RC_ASSERT(a.batches == b.batches);
}

TEST(Simulate, OverloadIsRefusedUnlessRequestsAreShed) {
  Server server = one_gpu(fixed_times({1, 1.5}), 2);
  EXPECT_NEAR(in_requests_per_s(capacity(server)), 2000 / 1.5, 1e-6);
  EXPECT_FALSE(simulate(server, Poisson{requests_per_s(1400)}, {}));
  EXPECT_TRUE(simulate(server, Poisson{requests_per_s(1300)}, {}));
  server.queue.max_queue = 10;
  const auto shed = simulate(server, Poisson{requests_per_s(5000)}, {});
  ASSERT_TRUE(shed);
  EXPECT_GT(shed->rejected, shed->requests / 2);
  EXPECT_NEAR(static_cast<double>(shed->completed) / in_seconds(from_sim_time(shed->elapsed)), 1333, 15);
}

TEST(Simulate, ARunStopsWhenTheIntervalIsTight) {
  const Server server = one_gpu(fixed_times({1}), 1);
  const auto p = simulate(server, Poisson{requests_per_s(500)}, {10'000'000, 1, 0.02, Statistic::kP99});
  EXPECT_TRUE(p->tight);
  EXPECT_LT(p->requests, 1'000'000u);
  EXPECT_LE(value_of(p->interval.half_widths(), Statistic::kP99), 0.03 * value_of(p->latency, Statistic::kP99));
}

// Whoever stops to look sees what a run of that length has seen so far, and changes nothing of what comes.
TEST(BatchRun, LooksChangeNothing) {
  Server server = one_gpu(fixed_times({1, 1.5, 2}), 3, 0.5);
  server.gpus[0].count = 4;
  const Poisson arrivals{requests_per_s(4000)};
  BatchRun often(server, arrivals, 7, 500), once(server, arrivals, 7, 500);
  for (std::uint64_t at : {100u, 600u, 3'000u, 7'777u}) often.until(at);
  const LatencyProfile a = often.until(20'000), b = once.until(20'000);
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.batches, b.batches);
  EXPECT_EQ(a.requests, 19'500u);  // those before are not counted
  EXPECT_EQ(a.largest_batch, 3);
  EXPECT_NEAR(a.utilization, run(server, 4000).utilization, 0.02);
}

TEST(Simulate, AFasterReplicaGetsMoreOfTheWork) {
  Server server;
  server.gpus = {{fixed_times({1}), 1, 1}, {fixed_times({4}), 1, 1}};
  server.batching = {1, {}, 0};
  EXPECT_NEAR(in_requests_per_s(capacity(server)), 1250, 1e-6);
  const LatencyProfile p = run(server, 1000);
  EXPECT_LT(value_of(p.latency, Statistic::kMean), 8 * kMs);  // half the work to each would never end
}

TEST(Simulate, HighPriorityRequestsWaitLess) {
  Server server = one_gpu(fixed_times({1}), 1);
  server.priorities = {1.0, 0.0};
  const double all_high = value_of(run(server, 900).latency, Statistic::kMean);
  server.priorities = {};
  EXPECT_NEAR(value_of(run(server, 900).latency, Statistic::kMean), all_high, 1e-6 * all_high);  // one level is plain
}

TEST(Simulate, ATraceIsReplayedWithItsSizes) {
  Trace trace;
  trace.arrivals = {{0, 1, 1}, {0, 2, 1}, {999'999, 1, 1}};
  const Server server = one_gpu(fixed_times({1, 2, 3}), 3);
  const LatencyProfile p = simulate_anyway(server, std::make_shared<const Trace>(trace), {});
  EXPECT_EQ(p.requests, 3u);
  EXPECT_EQ(p.batches, 2u);  // the first alone (it was there first), then 2 + 1 items
  EXPECT_EQ(p.elapsed, 4'000'000);
}

// Never above what is simulated.
RC_GTEST_PROP(LowerBound, HoldsForEverySimulation, ()) {
  std::vector<double> ms;
  double t = 1;
  for (int b = 1; b <= 8; ++b) ms.push_back(t += 0.1 * *rc::gen::inRange(0, 10));
  const Server server = one_gpu(fixed_times(ms), *rc::gen::inRange(1, 9), *rc::gen::element(0.0, 3.0));
  const RequestsPerSecond rate = capacity(server) * *rc::gen::element(0.2, 0.6, 0.9);
  const LatencyProfile p = run(server, in_requests_per_s(rate), 30'000);
  for (Statistic s : {Statistic::kMean, Statistic::kP50, Statistic::kP99}) {
    const double room = s == Statistic::kMean && server.batching.max_batch == 1
                            ? 1.25
                            : 1.02;  // M/D/1 is a mean, not a bound of one run
    RC_ASSERT(in_seconds(latency_lower_bound(server, Poisson{rate}, s)) * 1e9 <= value_of(p.latency, s) * room);
  }
  RC_ASSERT(std::isinf(in_seconds(latency_lower_bound(server, Poisson{capacity(server)}, Statistic::kP99))));
}

TEST(ClosedForm, MatchesTextbookValues) {
  const Seconds second = seconds(1);
  EXPECT_NEAR(in_seconds(md1_mean_wait(requests_per_s(0.5), second)), 0.5, 1e-12);
  // M/D/1 is M/D/c with one server; two servers wait about half as long as in M/M/2.
  EXPECT_NEAR(in_seconds(mdc_mean_wait(requests_per_s(0.5), second, 1)), 0.5, 1e-9);
  EXPECT_NEAR(in_seconds(mdc_mean_wait(requests_per_s(1.6), second, 2)) / (0.5 * 16.0 / 9.0), 1, 0.03);
  EXPECT_NEAR(in_seconds(mm1_mean_sojourn(requests_per_s(0.5), second)), 2, 1e-12);
}

}  // namespace
}  // namespace rightsize::sim
