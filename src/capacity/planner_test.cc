#include "capacity/planner.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "presets/presets.h"

namespace rightsize::capacity {
namespace {

// Like an 8B model on a large GPU: 6 ms to read the weights, 15 us per prompt token.
Replica language_replica(double faster = 1) {
  Replica replica;
  replica.step = {.base = 6e6 / faster,
                  .prefill = 15e3 / faster,
                  .sequence = 20e3 / faster,
                  .context = 4 / faster,
                  .request = 1e6,
                  .kv_tokens = 400'000};
  return replica;
}

// `each` milliseconds for one item, a tenth of that for every further one.
Replica batch_replica_of(double each, int largest) {
  Replica replica;
  replica.continuous = false;
  replica.times = {{0}, {0}};
  for (int b = 1; b <= largest; ++b) {
    replica.times.shortest.push_back(static_cast<sim::SimTime>(each * 1e6 * (0.9 + 0.1 * b)));
    replica.times.scale.push_back(0);
  }
  for (int b = 1; b <= largest; b *= 2) replica.sizes.push_back(b);
  return replica;
}

Service language_service(double rate, double isl, double osl, std::vector<Slo> slos) {
  Service service;
  service.arrivals = sim::Poisson{requests_per_s(rate)};
  service.lengths = {isl, osl, false};
  service.slos = std::move(slos);
  return service;
}

Configuration of(int replicas) {
  Configuration c;
  c.groups = {{0, replicas}};
  return c;
}

// If idle replicas miss a limit, any number of them does, and this is detected without simulating thousands.
RC_GTEST_PROP(Fewest, NoNumberOfReplicasMeetsALimitThatIdleOnesMiss, ()) {
  const double rate = *rc::gen::element(0.5, 3.0, 20.0), isl = *rc::gen::element(500.0, 8000.0);
  Service service = language_service(rate, isl, 100, {{Quantity::kTtft, Statistic::kP95, seconds(1000)}});
  service.lengths.size_variation = 1;
  const Planner open(service, {language_replica()});
  const int idle = open.idle_from(0);
  const Seconds alone = open.assess(of(idle), {8'000, 1})->value(service.slos.front());
  service.slos.front().limit = alone * *rc::gen::element(0.93, 0.97);
  const Planner tight(service, {language_replica()});
  RC_ASSERT(!tight.fewest(0, {.most = 1 << 20}));
  service.slos.front().limit = alone * 1.1;
  RC_ASSERT(Planner(service, {language_replica()}).fewest(0, {.most = 1 << 20}).has_value());
}

// Short runs refuse most counts. What a long run would confirm is refused only if it is close to a limit.
RC_GTEST_PROP(Fewest, ShortRunsRefuseNoCountThatALongRunConfirmsWithRoom, ()) {
  constexpr double kClose = 0.95;
  const double rate = *rc::gen::element(5.0, 20.0, 60.0), isl = *rc::gen::element(200.0, 2000.0, 12000.0);
  Service service =
      language_service(rate, isl, *rc::gen::element(50.0, 400.0),
                       {{Quantity::kTtft, Statistic::kP95, milliseconds(*rc::gen::inRange(100, 2000))},
                        {Quantity::kTpot, *rc::gen::element(Statistic::kP50, Statistic::kP95, Statistic::kP99),
                         milliseconds(*rc::gen::inRange(8, 60))}});
  service.lengths.size_variation = *rc::gen::element(0.0, 1.2);
  service.lengths.output_variation = *rc::gen::element(0.0, 0.8);
  const Planner planner(service, {language_replica(*rc::gen::element(0.5, 1.0))});
  const auto found = planner.fewest(0, {.most = 64});
  const int from = found ? found->configuration.replicas() : 65;
  for (int fewer = from - 1; fewer > std::max(0, from - 4); --fewer) {
    if (planner.bound(of(fewer)) > 1) break;
    const auto confirmed = planner.confirm(of(fewer));
    if (confirmed) RC_ASSERT(confirmed->excess(service, 1) > kClose);  // RC_ASSERT evaluates both sides of ||
  }
}

// With the same replicas, the answer to a harder question never has more room.
RC_GTEST_PROP(Fewest, NeitherTrafficNorTighterLimitsLeaveMoreRoom, ()) {
  constexpr double kAmple = 0.6, kOtherRun = 1.06;
  const double isl = *rc::gen::element(200.0, 2000.0, 8000.0), osl = *rc::gen::element(50.0, 400.0);
  const int count = *rc::gen::inRange(2, 5);
  const double rate = count * *rc::gen::element(0.5, 2.0, 6.0), more = *rc::gen::element(1.0, 1.5);
  const double less = more > 1 ? 1 : *rc::gen::element(0.7, 0.85);
  const Statistic at = *rc::gen::element(Statistic::kP50, Statistic::kP95);
  const Slo ttft{Quantity::kTtft, at, milliseconds(*rc::gen::inRange(100, 2000))};
  const Slo tpot{Quantity::kTpot, at, milliseconds(*rc::gen::inRange(8, 60))};
  const auto excess = [&](double rates, double limits) {
    const Service service = language_service(
        rate * rates, isl, osl, {{ttft.quantity, at, ttft.limit * limits}, {tpot.quantity, at, tpot.limit * limits}});
    const auto found = Planner(service, {language_replica()}).fewest(0, {.step = count, .most = count});
    return found ? found->excess(service, 1) : kInfinite;
  };
  const double easy = excess(1, 1), hard = excess(more, less);
  RC_ASSERT(std::isinf(hard) || easy <= std::max(kAmple, hard * kOtherRun));
}

// Replicas of a machine fail together, and the others then carry the load with batches of the chosen size.
RC_GTEST_PROP(Fewest, TheOtherMachinesCarryTheLoad, ()) {
  const int each = *rc::gen::inRange(1, 9);
  Service service = language_service(*rc::gen::inRange(5, 3000), 1, 1, {});
  service.slos = {{Quantity::kLatency, Statistic::kP95, milliseconds(*rc::gen::inRange(10, 200))}};
  service.one_to_spare = true;
  const Planner planner(service, {batch_replica_of(*rc::gen::inRange(1, 40), 64)});
  const auto found = planner.fewest(0, {.step = each, .most = 64 * each, .at_least = 2 * each, .together = each});
  if (!found) return;
  const int all = found->configuration.replicas();
  RC_ASSERT(found->load * all / (all - each) <= kLoadAfterLoss + 1e-6);
}

TEST(Slo, ReadsSlosAndRefusesOtherText) {
  const auto slos = parse_slos("p95=50ms");
  ASSERT_TRUE(slos);
  EXPECT_EQ(slos->front().at, Statistic::kP95);
  EXPECT_EQ(slos->front().limit, milliseconds(50));
  const auto both = parse_slos("ttft=1s, tpot-p50=40ms", Statistic::kP95);
  ASSERT_TRUE(both);
  EXPECT_EQ(describe((*both)[0]), "p95 TTFT");
  EXPECT_EQ(describe((*both)[1]), "p50 TPOT");
  EXPECT_EQ(parse_slos("ttft=1s")->front().at, kDefaultPercentile);
  for (const char* bad :
       {"", "p99", "p98=10ms", "p99=", "p99=0ms", "p99=fast", "ttft-=1s", "ttft95=1s", "tpot-p98=1ms"})
    EXPECT_FALSE(parse_slos(bad)) << bad;
  for (const char* good : {"50", "p90", "95", "p99"}) EXPECT_TRUE(parse_percentile(good)) << good;
  EXPECT_FALSE(parse_percentile("90.5"));
}

TEST(Service, RequestSizesOfAMixArriveInTheirShares) {
  const auto arrivals = mixed_arrivals(20, {{512, 256, 0.8}, {8192, 512, 0.2}});
  const sim::Trace& trace = *std::get<std::shared_ptr<const sim::Trace>>(arrivals);
  double large = 0;
  for (const sim::Arrival& a : trace.arrivals) large += a.size == 8192 && a.output == 512;
  EXPECT_NEAR(large / static_cast<double>(trace.arrivals.size()), 0.2, 0.01);
  EXPECT_NEAR(in_requests_per_s(*sim::mean_rate(arrivals)), 20, 0.5);
}

// 11,574 items per second of 82 ms keep 949.07 GPUs busy: 99.9 % of 950, even in a short run.
TEST(Planner, UtilizationIsTheLongRunMean) {
  Service service;
  service.arrivals = sim::Poisson{requests_per_s(1e9 / 86400)};
  const Planner planner(service, {batch_replica_of(82, 1)});
  const auto run = planner.assess(of(950), {20'000, 1});
  ASSERT_TRUE(run);
  EXPECT_NEAR(run->busy, 0.99902, 0.0001);
  EXPECT_NEAR(run->load, 0.99902, 0.0001);
}

TEST(Planner, FindsTheFewestReplicasOfALargePool) {
  Service service;
  service.arrivals = sim::Poisson{requests_per_s(1e9 / 86400)};
  service.slos = {{Quantity::kLatency, Statistic::kP99, milliseconds(246)}};
  service.max_load = 1;  // a pool of this size can run almost full
  const Planner planner(service, {batch_replica_of(82, 1)});
  const auto found = planner.fewest(0, {.step = 1, .most = 10'000});
  ASSERT_TRUE(found);
  EXPECT_GE(found->configuration.replicas(), 950);
  EXPECT_LE(found->configuration.replicas(), 970);
  EXPECT_TRUE(found->keeps(service));
}

TEST(Planner, ReplicasAreRoundedUpToWholeMachines) {
  const Service service = language_service(30, 1024, 256, {{Quantity::kTpot, Statistic::kP99, milliseconds(40)}});
  const Planner planner(service, {language_replica()});
  const int alone = planner.fewest(0, {})->configuration.replicas();
  const auto in_eights = planner.fewest(0, {.step = 8, .most = 64});
  ASSERT_TRUE(in_eights);
  EXPECT_EQ(in_eights->configuration.replicas(), (alone + 7) / 8 * 8);
  EXPECT_FALSE(planner.fewest(0, {.step = 1, .most = alone - 1}));
}

// A run stops when the statistics of its SLOs are known, not when the end-to-end latency is.
TEST(Planner, ARunStopsWhenEverySloIsTight) {
  const Service service = language_service(20, 1024, 256, {{Quantity::kTtft, Statistic::kP99, milliseconds(300)}});
  const Planner planner(service, {language_replica()});
  for (std::uint64_t seed : {1U, 2U, 3U}) {
    const auto run = planner.assess_until_tight(of(2), 1'000'000, seed, 0.02);
    ASSERT_TRUE(run);
    EXPECT_LT(run->profile.requests, 1'000'000u);
    EXPECT_LE(run->half_width(service.slos[0]), run->value(service.slos[0]) * 0.03);
  }
}

// The clock holds 292 years: rarer requests end the run instead of overflowing it.
TEST(Planner, RareRequestsHavePlausibleLatencies) {
  for (double rate : {1e-9, 1e-7, 1e-6, 1e-3}) {
    const Planner planner(language_service(rate, 1024, 256, {}), {language_replica()});
    const auto run = planner.assess(of(1), {.requests = 20'000});
    ASSERT_TRUE(run) << rate;
    EXPECT_GT(run->profile.requests, 0u) << rate;
    EXPECT_GT(run->value(Quantity::kLatency, Statistic::kMean), seconds(1)) << rate;
    EXPECT_LT(run->value(Quantity::kLatency, Statistic::kMean), seconds(3)) << rate;
    EXPECT_GE(run->busy, 0) << rate;
    EXPECT_LT(run->busy, 0.01) << rate;
  }
}

// The result meets every limit in another, longer run, and one replica less does not.
RC_GTEST_PROP(Planner, TheFewestReplicasMeetEverySloAndOneFewerDoesNot, ()) {
  const double isl = *rc::gen::inRange(64, 4096), osl = *rc::gen::inRange(8, 512);
  const double rate = *rc::gen::inRange(1, 60);
  const Statistic at = *rc::gen::element(Statistic::kP50, Statistic::kP95, Statistic::kP99);
  const Slo ttft{Quantity::kTtft, at, milliseconds(*rc::gen::inRange(20, 2000))};
  const Slo tpot{Quantity::kTpot, at, milliseconds(*rc::gen::inRange(6, 80))};
  const Service service = language_service(rate, isl, osl, {ttft, tpot});
  const Planner planner(service, {language_replica()});
  const auto found = planner.fewest(0, {.step = 1, .most = 64});
  if (!found) return;
  RC_TAG("found");
  RC_ASSERT(found->keeps(service));
  constexpr double kOtherSeed = 1.1;
  const auto again = planner.assess(found->configuration, {100'000, 77});
  RC_ASSERT(again.has_value());
  for (const Slo& slo : service.slos) RC_ASSERT(again->value(slo) <= slo.limit * kOtherSeed);
  const int fewer = found->configuration.replicas() - 1;
  RC_ASSERT(fewer == 0 || !planner.fewest(0, {.step = 1, .most = fewer}).has_value());
}

// At the same rate, longer outputs keep more sequences running, so the first token never comes sooner.
RC_GTEST_PROP(Planner, TtftGrowsWithTheOutputLength, ()) {
  const double isl = *rc::gen::inRange(64, 4096), osl = *rc::gen::inRange(2, 400);
  const double load = 0.1 * *rc::gen::inRange(1, 8);
  const Replica replica = language_replica(0.5 * *rc::gen::inRange(1, 8));
  Seconds before;
  const double most = in_requests_per_s(sim::capacity({{replica.step}, {}}, {isl, osl * 4, false}));
  for (double longer : {1.0, 2.0, 4.0}) {
    const Planner planner(language_service(load * most, isl, osl * longer, {}), {replica});
    const auto run = planner.assess(of(1), {20'000, 1});
    RC_ASSERT(run.has_value());
    const Seconds ttft = run->value(Quantity::kTtft, Statistic::kMean);
    RC_ASSERT(ttft >= before * 0.995);
    before = ttft;
  }
}

// Neither more replicas nor less traffic make a service slower.
RC_GTEST_PROP(Planner, MoreReplicasNeverIncreaseLatency, ()) {
  const double isl = *rc::gen::inRange(64, 2048), osl = *rc::gen::inRange(8, 256);
  const Replica replica = language_replica();
  const double rate = 0.8 * in_requests_per_s(sim::capacity({{replica.step}, {}}, {isl, osl, false}));
  const Planner planner(language_service(rate, isl, osl, {}), {replica});
  const auto mean = [&](const std::optional<Assessment>& run) {
    return run->value(Quantity::kLatency, Statistic::kMean);
  };
  const sim::RunLength length{20'000, 1};
  const Seconds one = mean(planner.assess(of(1), length));
  RC_ASSERT(mean(planner.assess(of(2), length)) <= one);
  RC_ASSERT(mean(planner.assess(of(1), length, 0.5)) <= one);
}

TEST(Replica, StepTimesAreThoseOfTheSpeedModel) {
  const perf::Constants constants = *perf::load_constants("");
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const catalog::Gpu& gpu = **catalog.find_gpu("l4");
  const perf::GpuSpeed speed = perf::gpu_speed(constants, gpu);
  const model::ModelShape bert = *model::find_model("bert-large");
  const perf::ModelWork work = perf::work_of(bert);
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.sequence = 128;
  const auto replica = batch_replica({constants, bert, work}, job, gpu, speed);
  ASSERT_TRUE(replica);
  job.batch = 8;
  const auto eight = perf::estimate_batch(constants, work, perf::fitted_to(work, job), speed);
  EXPECT_NEAR(replica->times.mean(8) * 1e-9, in_seconds(eight->batch), 1e-8);

  const model::ModelShape llama = *model::find_model("llama-3.1-70b");
  const perf::ModelWork llama_work = perf::work_of(llama);
  model::Job serve;
  serve.kind = model::JobKind::kServe;
  serve.stack = model::Stack::kVllm;
  const auto too_large = token_replica({constants, llama, llama_work}, serve, gpu, speed, perf::default_cluster(gpu));
  EXPECT_FALSE(too_large);
}

}  // namespace
}  // namespace rightsize::capacity
