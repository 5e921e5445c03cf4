#include "autoscale/cluster.h"

#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "autoscale/bound.h"
#include "autoscale/traffic.h"
#include "sim/sessions.h"

namespace rightsize::autoscale {
namespace {

using sim::Statistic;

// A service of a few replicas under traffic that rises and falls, small enough for hundreds of runs.
struct RandomService {
  ClusterConfig config;
  std::vector<double> rates;
  sim::RequestShape shape;
  std::uint64_t seed = 1;

  RandomService() {
    const auto between = [](int from, int to) { return static_cast<double>(*rc::gen::inRange(from, to)); };
    config.cost = {.base = between(10, 40) * 1e6,
                   .prefill = between(10, 70) * 1e3,
                   .sequence = between(20, 300) * 1e3,
                   .context = between(0, 20)};
    config.engine = {.token_budget = *rc::gen::element(512, 2048), .max_sequences = *rc::gen::inRange(2, 16)};
    config.startup = whole_seconds(*rc::gen::inRange(0, 240));
    config.slo = {.ttft = whole_seconds(*rc::gen::inRange(1, 5)),
                  .tpot = static_cast<SimTime>(config.cost.base * 2 + 16 * config.cost.sequence)};
    shape = {.size = between(50, 600), .output = between(10, 100), .size_variation = 0.8, .output_variation = 0.6};
    const double work = least_work(config.cost, config.engine, shape.size, shape.output) * 1e-9;
    for (int i = 0; i < 6; ++i) rates.push_back(between(0, 40) / 10 / work);
    rates.push_back(0.1 / work);
    seed = static_cast<std::uint64_t>(*rc::gen::inRange(1, 1'000'000));
  }
  Traffic traffic() const { return by_slots(rates, whole_seconds(120), shape, seed, whole_seconds(840)); }
};

std::string random_policy() {
  const int target = *rc::gen::inRange(1, 24), top = *rc::gen::inRange(1, 12);
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return fmt::format("fixed:replicas={}", top);
    case 1:
      return fmt::format("hpa:target={},max={},down=60s", target, top + 2);
    case 2:
      return fmt::format("keda:threshold={},min=0,max={},cooldown=60s", target, top + 2);
    case 3:
      return fmt::format("schedule:every=2m,lead=30s,plan={}/{}/1/{}", top, target, top);
    case 4:
      return fmt::format("knative:target={},min=0", target);
    case 5:
      return fmt::format("dynamo:rate=0.{},interval=30s", target);
    case 6:
      return "variant:period=20s,down=60s";
    default:
      return fmt::format("skyserve:rate=0.{},up-delay=40s,down-delay=60s", target);
  }
}

std::uint64_t count_of(const Traffic& traffic) {
  return static_cast<std::uint64_t>(demand_of(traffic, whole_seconds(60)).total.requests);
}

RC_GTEST_PROP(Cluster, NoPolicyThatMeetsTheSloIsBelowTheBound, ()) {
  RandomService service;
  const Traffic traffic = service.traffic();
  const Bound bound = lower_bound(service.config, traffic);
  RC_ASSERT(bound.replica_seconds >= bound.work_seconds);
  const ScalingRun run = simulate(service.config, traffic, *parse_policy(random_policy()));
  RC_ASSERT(run.paid_seconds >= bound.work_seconds * (1 - 1e-9) || run.unserved > 0);
  if (run.meets(service.config.slo)) RC_ASSERT(run.paid_seconds >= bound.replica_seconds * (1 - 1e-9));
}

RC_GTEST_PROP(Cluster, ALongerStartUpNeverLowersTheBound, ()) {
  RandomService service;
  const Traffic traffic = service.traffic();
  double before = 0;
  for (const int startup : {0, 5, 20, 60, 110, 300}) {
    service.config.startup = whole_seconds(startup);
    const double now = lower_bound(service.config, traffic).replica_seconds;
    RC_ASSERT(now >= before * (1 - 1e-9));
    before = now;
  }
}

RC_GTEST_PROP(Cluster, EveryRequestIsAccountedForAndEverySecondIsPaid, ()) {
  RandomService service;
  const Traffic traffic = service.traffic();
  service.config.cost.wait_few = *rc::gen::inRange(0, 4), service.config.cost.wait_many = *rc::gen::inRange(0, 20);
  const ScalingRun run = simulate(service.config, traffic, *parse_policy(random_policy()));
  RC_ASSERT(run.requests + run.unserved + run.rejected == count_of(traffic));
  RC_ASSERT(run.ttft.count() == run.requests);
  std::uint64_t requests = 0, over = 0;
  for (const Slot& slot : run.slots) {
    RC_ASSERT(slot.over <= slot.requests);
    requests += slot.requests, over += slot.over;
  }
  RC_ASSERT(requests == run.requests + run.unserved);
  RC_ASSERT(over == run.over + run.unserved);
  RC_ASSERT(run.paid_seconds >= run.ready_seconds - 1e-6);
  double paid = 0, ready = 0, all = 0, weighted = 0;
  for (const Slot& slot : run.slots) paid += slot.paid, ready += slot.ready;
  for (std::size_t n = 0; n < run.seconds_at.size(); ++n)
    all += run.seconds_at[n], weighted += static_cast<double>(n) * run.seconds_at[n];
  RC_ASSERT(std::abs(paid - run.paid_seconds) < 1e-3);
  RC_ASSERT(std::abs(ready - run.ready_seconds) < 1e-3);
  RC_ASSERT(std::abs(weighted - run.paid_seconds) < 1e-3);
  RC_ASSERT(std::abs(all - static_cast<double>(run.end) * 1e-9) < 1e-3);
}

RC_GTEST_PROP(Cluster, TheSameSeedGivesTheSameRun, ()) {
  RandomService service;
  const Policy policy = *parse_policy(random_policy());
  const ScalingRun a = simulate(service.config, service.traffic(), policy);
  const ScalingRun b = simulate(service.config, service.traffic(), policy);
  RC_ASSERT(a.paid_seconds == b.paid_seconds);
  RC_ASSERT(a.over == b.over);
  RC_ASSERT(a.end == b.end);
}

// `batch` sends a request to the replica with the least outstanding work; if all requests have one length, that is the
// replica with the fewest requests.
RC_GTEST_PROP(Cluster, FixedReplicasEqualBatch, ()) {
  RandomService service;
  service.shape.size_variation = service.shape.output_variation = 0;
  const int replicas = *rc::gen::inRange(1, 5);
  const double work = least_work(service.config.cost, service.config.engine, service.shape.size, service.shape.output);
  const sim::Poisson arrivals{requests_per_s(0.6 * replicas / (work * 1e-9))};
  const SimTime horizon = whole_seconds(300);
  const Traffic traffic = replay(arrivals, service.shape, service.seed, horizon);
  const std::uint64_t count = count_of(traffic);
  RC_PRE(count > 10u);
  const ScalingRun run = simulate(service.config, traffic, *parse_policy(fmt::format("fixed:replicas={}", replicas)));
  sim::ContinuousServer server{std::vector<sim::StepCost>(static_cast<std::size_t>(replicas), service.config.cost),
                               service.config.engine};
  const auto batch = sim::start_run(server, arrivals, service.shape, service.seed)->to_the_end(count);
  RC_ASSERT(batch.completed == run.requests);
  RC_ASSERT(sim::value_of(batch.ttft, Statistic::kP99) == run.ttft.quantile(0.99));
  RC_ASSERT(sim::value_of(batch.tpot, Statistic::kP50) == run.tpot.quantile(0.5));
  RC_ASSERT(batch.elapsed == run.end);
}

// Conversations with users who wait for answers: one replica serves them as in `batch`, and any policy answers all.
RC_GTEST_PROP(Cluster, UsersWhoWaitAreServedAsInBatch, ()) {
  RandomService service;
  const sim::Sessions sessions{.users = static_cast<double>(*rc::gen::inRange(1, 30)),
                               .turns = 3,
                               .think = seconds(*rc::gen::inRange(1, 20)),
                               .system = 64,
                               .turn_in = 50,
                               .turn_out = 20,
                               .fan_out = static_cast<double>(*rc::gen::inRange(1, 3))};
  sim::Trace trace = sim::trace_of(sessions, {.rate = sessions.rate(seconds(1)),
                                              .answer = seconds(1),
                                              .closed = true,
                                              .requests = 200,
                                              .out_variation = 0.5,
                                              .seed = service.seed});
  trace.warm_up = 0;
  ClusterConfig& config = service.config;
  config.engine.cache_block = 16;
  config.prompts = trace.prompts, config.closed = trace.closed, config.closed_requests = trace.arrivals.size();
  const auto shared = std::make_shared<const sim::Trace>(trace);
  const Traffic traffic = replay(shared, {}, 1, sim::kNever);
  const ScalingRun run = simulate(config, traffic, *parse_policy("fixed:replicas=1"));
  const sim::ContinuousServer server{{config.cost}, config.engine};
  const auto batch = sim::start_run(server, shared, {}, 1)->to_the_end(trace.arrivals.size());
  RC_ASSERT(batch.completed == run.requests);
  RC_ASSERT(sim::value_of(batch.ttft, Statistic::kP99) == run.ttft.quantile(0.99));
  RC_ASSERT(batch.elapsed == run.end);
  const ScalingRun scaled = simulate(config, traffic, *parse_policy("hpa:target=3,max=6,down=60s"));
  RC_ASSERT(scaled.requests + scaled.rejected == trace.arrivals.size());
}

RC_GTEST_PROP(Cluster, AReplicaThatDiesLosesNoRequest, ()) {
  RandomService service;
  service.config.failure = whole_seconds(*rc::gen::inRange(1, 800));
  const Traffic traffic = service.traffic();
  const ScalingRun run = simulate(service.config, traffic, *parse_policy("fixed:replicas=4"));
  RC_ASSERT(run.requests + run.rejected == count_of(traffic));
}

// Requests are drawn once and shared by all runs.
RC_GTEST_PROP(Traffic, EveryStreamHasTheRequestsOfTheProcess, ()) {
  const sim::Diurnal process{requests_per_s(*rc::gen::inRange(1, 40)), 1.8, hours(24)};
  const sim::RequestShape shape{.size = 300, .output = 100, .size_variation = 1, .output_variation = 1};
  const SimTime end = whole_seconds(*rc::gen::inRange(1, 2000));
  const Traffic traffic = replay(process, shape, 7, end);
  const auto all_of = [&](const std::unique_ptr<sim::ArrivalStream>& stream) {
    std::vector<sim::Arrival> all(100'000);
    all.resize(stream->fill(all));
    std::erase_if(all, [&](const sim::Arrival& arrival) { return arrival.at >= end; });
    return all;
  };
  const std::vector<sim::Arrival> expected = all_of(sim::open_stream(process, 7, shape));
  RC_ASSERT(all_of(traffic()) == expected);
  RC_ASSERT(all_of(traffic()) == expected);
}

// One request, one replica from zero: polled at 30 s, ready 100 s later; a prompt of 100 tokens, then 3 output tokens.
TEST(Cluster, AStartFromZeroMatchesAHandCalculation) {
  sim::Trace trace;
  trace.arrivals = {{0, 100, 4}};
  trace.has_tokens = true;
  ClusterConfig config;
  config.cost = {.base = 10e6, .prefill = 1e5};
  config.startup = whole_seconds(100);
  const Traffic traffic = replay(std::make_shared<const sim::Trace>(trace), {}, 1, sim::kNever);
  const ScalingRun run = simulate(config, traffic, *parse_policy("keda:threshold=5,min=0"));
  EXPECT_EQ(run.end, whole_seconds(130) + 20'000'000 + 3 * 10'000'000);
  EXPECT_NEAR(run.paid_seconds, 100.05, 1e-9);
  EXPECT_EQ(run.starts, 1);
  EXPECT_NEAR(run.ttft.quantile(1), 130.02e9, 1e9);
}

TEST(Cluster, AClockThatStopsCountsFinishedRequestsOnly) {
  sim::Trace trace;
  for (int i = 0; i < 100; ++i) trace.arrivals.push_back({whole_seconds(i), 10, 1});
  trace.has_tokens = true;
  ClusterConfig config;
  config.cost = {.base = 1e9};
  config.until = whole_seconds(50);
  const Traffic traffic = replay(std::make_shared<const sim::Trace>(trace), {}, 1, sim::kNever);
  const ScalingRun run = simulate(config, traffic, *parse_policy("fixed:replicas=1"));
  EXPECT_EQ(run.requests, 49u);
  EXPECT_EQ(run.end, whole_seconds(50));
  config.until = sim::kNever;
  config.most_in_flight = 1;
  const ScalingRun one = simulate(config, traffic, *parse_policy("fixed:replicas=4"));
  EXPECT_EQ(one.requests, 100u);
  EXPECT_NEAR(one.ttft.quantile(1) / one.ttft.quantile(0.01), 1, 0.01) << "each is sent when the one before has left";
}

// ---- The supply problem of the bound, compared with every possible plan of a few intervals ----

double exhaustive(const std::vector<double>& demand, double width, double startup, int most) {
  std::vector<int> plan(demand.size(), 0);
  double best = 1e300;
  for (;;) {
    double cost = 0;
    bool enough = true;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      enough = enough && plan[i] * width >= demand[i];
      cost += plan[i] * width + (i > 0 ? startup * std::max(0, plan[i] - plan[i - 1]) : 0);
    }
    if (enough) best = std::min(best, cost);
    std::size_t at = 0;
    while (at < plan.size() && ++plan[at] > most) plan[at++] = 0;
    if (at == plan.size()) return best;
  }
}

RC_GTEST_PROP(LeastSupply, IsBelowEveryPlanAndEqualToTheBestForWholeDemand, ()) {
  const double width = 60, startup = *rc::gen::inRange(60, 200);
  std::vector<double> demand, whole;
  for (int i = 0; i < 5; ++i) {
    const int replicas = *rc::gen::inRange(0, 4);
    whole.push_back(replicas * width);
    demand.push_back(replicas * width * *rc::gen::inRange(1, 11) / 10);
  }
  RC_ASSERT(least_supply(demand, width, startup, 0) <= exhaustive(demand, width, startup, 3) + 1e-6);
  RC_ASSERT(std::abs(least_supply(whole, width, startup, 0) - exhaustive(whole, width, startup, 3)) < 1e-6);
  RC_ASSERT(least_supply(demand, width, startup, 100) <= least_supply(demand, width, startup, 0) + 1e-6);
  RC_ASSERT(least_supply(demand, width, startup, 0) >= std::accumulate(demand.begin(), demand.end(), 0.0) - 1e-6);
}

}  // namespace
}  // namespace rightsize::autoscale
