// Properties of a step over random jobs.
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "rl/memory.h"
#include "rl/rl.h"
#include "rl/rollout.h"
#include "rl/test_jobs.h"

namespace rightsize::rl {
namespace {

constexpr const char* kGpus[] = {"h100-sxm", "h200-sxm", "h20", "a100-80gb-sxm", "b200-sxm"};
constexpr const char* kModels[] = {"llama-3.1-8b", "qwen2.5-7b", "qwen2.5-1.5b"};

struct Drawn {
  std::string model, gpu;
  RlJob job;

  RlEstimate step() const {
    const Result<RlEstimate> made = estimate_for(model, gpu, job);
    RC_ASSERT(made.has_value());
    return *made;
  }
};

Drawn draw(bool split) {
  Drawn drawn;
  drawn.model = *rc::gen::elementOf(std::vector<std::string>(std::begin(kModels), std::end(kModels)));
  drawn.gpu = *rc::gen::elementOf(std::vector<std::string>(std::begin(kGpus), std::end(kGpus)));
  RlJob& job = drawn.job;
  job.framework = static_cast<Framework>(*rc::gen::inRange(0, 4));
  job.algorithm = static_cast<Algorithm>(*rc::gen::inRange(0, 6));
  const int gpus = 1 << *rc::gen::inRange(1, 6);
  job.layout = split ? Layout{true, gpus, 1 << *rc::gen::inRange(1, 6)} : Layout{false, gpus, gpus};
  job.prompts = *rc::gen::inRange(8, 257), job.samples = 1 << *rc::gen::inRange(0, 5);
  job.isl = *rc::gen::inRange(20, 2000);
  job.answers.mean = *rc::gen::inRange(50, 6000);
  job.answers.variation = *rc::gen::inRange(0, 3) * 0.5;
  job.answers.most = job.answers.mean * *rc::gen::inRange(2, 6);
  job.train_batch = std::ceil(job.sequences() / *rc::gen::inRange(1, 5));
  job.reference = *rc::gen::arbitrary<bool>();
  job.train.precision = model::Precision::kMixedBf16;
  settle(job);
  return drawn;
}

// A share of memory that was given is used in the estimate and in the files, and more of it is never slower.
RC_GTEST_PROP(RlStep, TheEngineUsesTheGivenShareOfMemory, ()) {
  Drawn drawn = draw(*rc::gen::arbitrary<bool>());
  const auto with_share = [&](double share) {
    Drawn given = drawn;
    given.job.engine_share = share;
    settle(given.job);
    RC_ASSERT(given.job.rollout.serve.memory_share == share);
    const catalog::Gpu& gpu = test_gpu(given.gpu);
    const RlMemory memory = phase_memory(test_model(given.model).shape, given.job, gpu, gpu);
    RC_ASSERT(!given.job.layout.split || memory.engine_share == share);
    return given.step().step;
  };
  const double least = 0.01 * *rc::gen::inRange(30, 60);
  RC_ASSERT(with_share(least + 0.3) <= with_share(least) * 1.02);
}

RC_GTEST_PROP(RlStep, PhasesAddUpToTheStep, ()) {
  Drawn drawn = draw(*rc::gen::arbitrary<bool>());
  if (drawn.job.layout.split) drawn.job.async = *rc::gen::inRange(0, 5) * 0.5;
  const RlEstimate e = drawn.step();
  Seconds sum;
  for (const Phase& phase : e.phases) {
    RC_ASSERT(phase.time >= Seconds{} && phase.exposed >= Seconds{});
    sum += phase.exposed;
  }
  RC_ASSERT(std::abs(sum / e.step - 1) < 1e-9);
  for (const double share : {e.idle, e.train_idle, e.rollout_idle}) RC_ASSERT(share >= 0 && share <= 1);
  RC_ASSERT(e.interval.low < 1 && e.interval.high > 1);
  const double tokens = e.tokens_per_gpu * in_seconds(e.step) * drawn.job.layout.gpus();
  RC_ASSERT(std::abs(tokens / drawn.job.tokens() - 1) < 1e-9);
}

RC_GTEST_PROP(RlStep, PowerIsThatOfThePhases, ()) {
  Drawn drawn = draw(*rc::gen::arbitrary<bool>());
  if (drawn.job.layout.split) drawn.job.async = *rc::gen::inRange(0, 3);
  const RlEstimate e = drawn.step();
  Pool pool = pool_of(test_constants(), test_gpu(drawn.gpu));
  const perf::GpuPower& gpu = pool.speed.power;
  for (const Watts power : {e.train_power, e.rollout_power, e.power.mean * e.power.low, e.power.mean * e.power.high})
    RC_ASSERT(power >= gpu.idle * 0.999 && power <= gpu.limit * 1.001);
  Watts highest, sum;
  for (const Phase& phase : e.phases) {
    highest = std::max(highest, phase.power);
    sum += (phase.power - gpu.idle) * (phase.time / e.step);
  }
  RC_ASSERT(e.power.mean <= highest);
  // Colocated, no GPU draws more than in the phases it works in, one after the other.
  if (!drawn.job.layout.split) RC_ASSERT(e.power.mean <= (gpu.idle + sum) * 1.001);
  // A cap holds, and makes nothing faster.
  pool.speed.power.cap = gpu.limit * (*rc::gen::inRange(5, 10) * 0.1);
  const TestModel& m = test_model(drawn.model);
  const capacity::Predictor predictor{test_constants(), m.shape, m.work};
  const RlEstimate capped = *estimate_step(predictor, drawn.job, pool, pool, constants_of(drawn.job.framework));
  RC_ASSERT(capped.power.mean <= pool.speed.power.cap);
  RC_ASSERT(capped.step >= e.step * 0.999);
}

RC_GTEST_PROP(RlStep, LongerAnswersTakeLonger, ()) {
  Drawn drawn = draw(*rc::gen::arbitrary<bool>());
  const Seconds before = drawn.step().step;
  // The limit stays: a higher one lets the trainer pack more tokens into a pass.
  drawn.job.answers.mean *= 1.5;
  // Passes have whole tokens, which counts for batches of less than a sequence per GPU.
  RC_ASSERT(drawn.step().step > before * 0.98);
}

RC_GTEST_PROP(RlStep, MoreGpusForTheEngineGenerateSooner, ()) {
  Drawn drawn = draw(true);
  const Seconds before = drawn.step().phases.front().time;
  drawn.job.layout.rollout *= 2;
  settle(drawn.job);
  RC_ASSERT(drawn.step().phases.front().time <= before * 1.001);
}

// Whole steps and parts of a batch are different mechanisms, so each is compared only with itself.
RC_GTEST_PROP(RlStep, OlderAnswersAreNeverSlower, ()) {
  Drawn drawn = draw(true);
  const bool whole = *rc::gen::arbitrary<bool>();
  drawn.job.async = whole ? 1 : 0;
  const Seconds before = drawn.step().step;
  drawn.job.async = whole ? *rc::gen::inRange(2, 5) : *rc::gen::inRange(1, 10) * 0.1;
  RC_ASSERT(drawn.step().step <= before * 1.001);
}

// Interruptions of the engine's machines slow down generation, more so if they are more frequent.
RC_GTEST_PROP(RlStep, InterruptionsOfTheEngineCostTime, ()) {
  Drawn drawn = draw(true);
  drawn.job.async = *rc::gen::inRange(0, 3);
  const TestModel& m = test_model(drawn.model);
  const Pool pool = pool_of(test_constants(), test_gpu(drawn.gpu));
  const capacity::Predictor predictor{test_constants(), m.shape, m.work};
  const StackConstants stack = constants_of(drawn.job.framework);
  const Result<Rollout> rollout = simulate_rollout(predictor, drawn.job, pool, stack, drawn.job.async);
  RC_ASSERT(rollout.has_value());
  // The search simulates once for all depths of asynchrony.
  Rollout reused = *simulate_rollout(predictor, drawn.job, pool, stack, 8);
  reused.start_ahead(drawn.job.async);
  RC_ASSERT(reused.steady == rollout->steady && reused.batch == rollout->batch && reused.typical == rollout->typical);
  Seconds before = drawn.step().step;
  for (const double between : {1000.0, 20.0, 5.0}) {
    Rollout interrupted = *rollout;
    interrupted.interrupt(hours(1.0 / 6), hours(between));
    RC_ASSERT(interrupted.slower > 1);
    RC_ASSERT(interrupted.typical <= interrupted.batch && interrupted.steady <= interrupted.batch);
    const Seconds now = estimate_step(predictor, drawn.job, pool, interrupted, stack)->step;
    RC_ASSERT(now >= before * (1 - 1e-9));
    before = now;
  }
}

// The search simulates a replica in one host once for machines of all sizes and networks, and on one GPU for all links.
RC_GTEST_PROP(RlStep, GenerationInOneHostDoesNotDependOnTheMachine, ()) {
  Drawn drawn = draw(true);
  RlJob& job = drawn.job;
  job.rollout.parallel.tensor = std::min(job.layout.rollout, 1 << *rc::gen::inRange(0, 3));
  settle(job);
  const TestModel& m = test_model(drawn.model);
  Pool one = pool_of(test_constants(), test_gpu(drawn.gpu)), other = one;
  other.cluster.node_gpus = 1 << *rc::gen::inRange(0, 4);
  other.cluster.network_per_gpu = one.cluster.network_per_gpu * (1.0 / *rc::gen::inRange(1, 50));
  if (replica_gpus(job) == 1) other.cluster.linked = !one.cluster.linked;
  if (spans_hosts(job, one.cluster) || spans_hosts(job, other.cluster)) return;
  const capacity::Predictor predictor{test_constants(), m.shape, m.work};
  const StackConstants stack = constants_of(job.framework);
  const Result<Rollout> a = simulate_rollout(predictor, job, one, stack, 1),
                        b = simulate_rollout(predictor, job, other, stack, 1);
  RC_ASSERT(a.has_value() && b.has_value());
  RC_ASSERT(a->batch == b->batch && a->typical == b->typical && a->steady == b->steady);
  RC_ASSERT(a->power.mean == b->power.mean);
}

TEST(RlStep, ALongTailKeepsMostReplicasWaiting) {
  RlJob job;
  job.framework = Framework::kNemoRl;
  job.layout = {false, 16, 16};
  job.prompts = 64, job.samples = 8, job.isl = 100, job.answers = {1000, 0, 20'000}, job.train_batch = 512;
  job.train.precision = model::Precision::kMixedBf16;
  settle(job);
  const RlEstimate equal = *estimate_for("llama-3.1-8b", "h100-sxm", job);
  job.answers.variation = 1;
  const RlEstimate varied = *estimate_for("llama-3.1-8b", "h100-sxm", job);
  EXPECT_GT(varied.phases.front().time, equal.phases.front().time * 2.0);
  EXPECT_GT(varied.idle, equal.idle);
}

TEST(RlLayouts, AreReadAndWritten) {
  for (const Layout& layout : {Layout{false, 8, 8}, Layout{true, 12, 4}, Layout{true, 1, 128}}) {
    const auto read = parse_layout(describe(layout), layout.gpus());
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, layout);
  }
  for (const char* text : {"", "split", "split=", "split=8", "split=8:0", "split=8:8:8", "split=a:b", "together"})
    EXPECT_FALSE(parse_layout(text, std::nullopt)) << text;
  EXPECT_FALSE(parse_layout("split=8:8", 8));
}

TEST(RlConstants, EveryRowIsRead) {
  const Csv csv = *Csv::parse("rl_stacks.csv", std::string(embedded_file("rl_stacks.csv")));
  for (const CsvRow& row : csv.rows()) EXPECT_FALSE(csv.cell(row, "how").empty());
  for (int i = 0; i < 4; ++i) {
    const StackConstants c = constants_of(static_cast<Framework>(i));
    for (const double value : {c.update, c.log_prob, c.width}) EXPECT_GT(value, 0);
    for (const Seconds value : {c.engine_step, c.host_step, c.sync, c.reward, c.between}) EXPECT_GT(value, Seconds{});
    EXPECT_GT(c.sync_rate, BytesPerSecond{});
  }
}

}  // namespace
}  // namespace rightsize::rl
