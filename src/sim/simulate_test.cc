// Compares the simulator with queueing theory, with itself, and with a simple second implementation.
#include "sim/simulate.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"

namespace rightsize::sim {
namespace {

// ---- Queueing theory in closed form. Every function needs a stable queue (load below 1). ----

double load_of(RequestsPerSecond arrivals, Seconds service) { return arrivals * service / requests(1); }

// P(X >= k) for X ~ Poisson(mean).
double poisson_tail(double mean, int k) {
  double term = std::exp(-mean + k * std::log(mean) - std::lgamma(k + 1.0));
  double sum = 0;
  for (int j = k; term > 1e-18 * sum || j < mean; ++j) {
    sum += term;
    term *= mean / (j + 1);
    if (term == 0) break;
  }
  return sum;
}

// M/M/1: mean time in the system, 1 / (service rate - arrival rate).
Seconds mm1_mean_sojourn(RequestsPerSecond arrivals, Seconds mean_service) {
  return mean_service / (1 - load_of(arrivals, mean_service));
}

// M/M/1: time in the system is exponential.
Seconds mm1_sojourn_quantile(RequestsPerSecond arrivals, Seconds mean_service, double q) {
  return -std::log1p(-q) * mm1_mean_sojourn(arrivals, mean_service);
}

// M/D/1 (Pollaczek-Khinchine).
Seconds md1_mean_wait(RequestsPerSecond arrivals, Seconds service) {
  const double load = load_of(arrivals, service);
  return service * (load / (2 * (1 - load)));
}

// M/D/c (Crommelin 1932): E[W] = D sum_{i>=1} [ P(X_i >= ic) - P(X_i >= ic + 1) / load ], X_i ~ Poisson(i c load), load
// = rate D / c.
Seconds mdc_mean_wait(RequestsPerSecond arrivals, Seconds service, int servers) {
  const double load = load_of(arrivals, service) / servers;
  double wait = 0;
  for (int i = 1; i < 100000; ++i) {
    const double mean = i * servers * load;
    const double term = poisson_tail(mean, i * servers) - poisson_tail(mean, i * servers + 1) / load;
    wait += term;
    if (std::fabs(term) < 1e-12 * wait) break;
  }
  return wait * service;
}

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
  return *simulate(server, Poisson{requests_per_s(rate)}, {requests, seed});
}

// Service of 1 ms; a tolerance of three interval widths avoids false alarms.
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

// Batches with exactly equal times must not keep replicas in step with their router: neither a spread of 1 %, as in
// every real server, nor the seed may change the result.
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

// The same rule without events, for one executor.
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

// For all settings, every request is accounted for and Little's law holds to the nanosecond.
RC_GTEST_PROP(Simulate, LittlesLawHoldsInEveryRun, ()) {
  const Server server = any_server();
  const RequestsPerSecond rate = capacity(server) * *rc::gen::element(0.3, 0.8, 0.97, 1.3);
  const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1000));
  const LatencyProfile p = start_run(server, Poisson{rate}, seed)->to_the_end(3000);
  RC_ASSERT(p.completed + p.rejected == p.requests);
  RC_ASSERT(p.presence == p.latency_sum);
  RC_ASSERT(p.utilization <= 1.0);
  RC_ASSERT(p.mean_batch <= server.batching.max_batch);
}

RC_GTEST_PROP(Simulate, TheSameSeedGivesTheSameRun, ()) {
  const Server server = any_server();
  const LatencyProfile a = start_run(server, Poisson{requests_per_s(500)}, 5)->to_the_end(2000),
                       b = start_run(server, Poisson{requests_per_s(500)}, 5)->to_the_end(2000);
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

// Measuring a run on the way does not change its later results.
TEST(Run, MeasuringChangesNothing) {
  Server server = one_gpu(fixed_times({1, 1.5, 2}), 3, 0.5);
  server.gpus[0].count = 4;
  const Poisson arrivals{requests_per_s(4000)};
  const auto often = start_run(server, arrivals, 7, 500), once = start_run(server, arrivals, 7, 500);
  for (std::uint64_t at : {100u, 600u, 3'000u, 7'777u}) often->until(at);
  const LatencyProfile a = often->until(20'000), b = once->until(20'000);
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.batches, b.batches);
  EXPECT_EQ(a.requests, 19'500u);  // without the warm-up
  EXPECT_EQ(a.largest_batch, 3);
  EXPECT_NEAR(a.utilization, run(server, 4000).utilization, 0.02);
}

TEST(Simulate, AFasterReplicaGetsMoreOfTheWork) {
  Server server;
  server.gpus = {{fixed_times({1}), 1, 1}, {fixed_times({4}), 1, 1}};
  server.batching = {1, {}, 0};
  EXPECT_NEAR(in_requests_per_s(capacity(server)), 1250, 1e-6);
  const LatencyProfile p = run(server, 1000);
  EXPECT_LT(value_of(p.latency, Statistic::kMean), 8 * kMs);  // an even split would overload the second GPU
}

TEST(Simulate, HighPriorityRequestsWaitLess) {
  Server server = one_gpu(fixed_times({1}), 1);
  server.priorities = {1.0, 0.0};
  const double all_high = value_of(run(server, 900).latency, Statistic::kMean);
  server.priorities = {};
  EXPECT_NEAR(value_of(run(server, 900).latency, Statistic::kMean), all_high,
              1e-6 * all_high);  // a single level equals no priorities
}

TEST(Simulate, ATraceIsReplayedWithItsSizes) {
  Trace trace;
  trace.arrivals = {{0, 1, 1}, {0, 2, 1}, {999'999, 1, 1}};
  const Server server = one_gpu(fixed_times({1, 2, 3}), 3);
  const LatencyProfile p = start_run(server, std::make_shared<const Trace>(trace), 1)->to_the_end(3);
  EXPECT_EQ(p.requests, 3u);
  EXPECT_EQ(p.batches, 2u);  // the first request alone, because it arrived first, then 2 + 1 items
  EXPECT_EQ(p.elapsed, 4'000'000);
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
