#include "rl/rollout.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/normal.h"
#include "base/random.h"
#include "market/interruptions.h"

namespace rightsize::rl {
namespace {

// vLLM's limit for offline batches on data-center GPUs.
constexpr double kMostRunning = 1024;
// More answers than this are not simulated one by one: the rest of the batch runs in steady state.
constexpr double kSimulated = 4096;
constexpr double kMostTokens = 1e9;
// Steps are fitted up to this number of answers, so that fewer of them are never slower by an error of the fit.
constexpr double kLeastFitted = 32;

// The longest of `count` answers; the table of lengths ends at p99.95.
std::int32_t longest_answer(const AnswerLengths& answers, const std::vector<std::int32_t>& table, double count) {
  const double sigma = std::sqrt(std::log1p(answers.variation * answers.variation));
  const double in_table = 1 - 0.5 / sim::kLengths, of_all = 1 - 0.5 / std::max(1.0, count);
  double length = table.back();
  if (table.size() > 1) length *= std::exp(sigma * (normal_quantile(of_all) - normal_quantile(in_table)));
  if (answers.most > 0) length = std::min(length, answers.most);
  return static_cast<std::int32_t>(std::clamp(length, 1.0, kMostTokens));
}

// The answer at a quantile of the lengths.
std::int32_t answer_at(const std::vector<std::int32_t>& table, double quantile) {
  return table[static_cast<std::size_t>(quantile * static_cast<double>(table.size()))];
}

// The answers of one replica, in random order, with this longest one. All start at once.
std::shared_ptr<sim::Trace> batch_of(double prompt, const std::vector<std::int32_t>& table, std::size_t count,
                                     std::int32_t longest) {
  auto trace = std::make_shared<sim::Trace>();
  trace->has_tokens = true;
  std::vector<sim::Arrival> batch(count);
  for (std::size_t i = 0; i < count; ++i) {
    batch[i].size = static_cast<std::int32_t>(std::max(1.0, prompt));
    batch[i].output = answer_at(table, (static_cast<double>(i) + 0.5) / static_cast<double>(count));
  }
  batch.back().output = longest;
  Random random(1);
  for (std::size_t i = count; i > 1; --i) std::swap(batch[i - 1], batch[random.next() % i]);
  trace->arrivals = batch;
  return trace;
}

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }

// The time per answer of a replica with as many as it may run.
Seconds answer_time(const sim::ContinuousServer& replica, const sim::RequestShape& mean) {
  return seconds(1 / in_requests_per_s(sim::capacity(replica, mean)));
}

// The share of a GPU that the engine can use.
constexpr double kMostMemory = 0.95;
// Large models get it all, if their cache would be smaller than this share of the largest possible.
constexpr double kSmallCache = 0.2;

Result<capacity::Replica> replica_for(const capacity::Predictor& predictor, model::Job engine, const Pool& pool,
                                      bool share_given, double longest, double most_running) {
  model::Job largest = engine;
  if (!share_given) largest.serve.memory_share = std::max(engine.serve.memory_share, kMostMemory);
  const double most = capacity::load_of(predictor.model, largest, *pool.gpu).kv_tokens;
  if (capacity::load_of(predictor.model, engine, *pool.gpu).kv_tokens < most * kSmallCache) engine = largest;
  RIGHTSIZE_TRY(capacity::Replica replica,
                capacity::token_replica(predictor, engine, *pool.gpu, pool.speed, pool.cluster, most_running));
  // The longest answer must fit. A larger cache than that would make longer answers faster than shorter ones.
  const auto needed = static_cast<std::int64_t>(std::ceil(std::min(longest, most)));
  replica.step.kv_tokens = std::max(replica.step.kv_tokens, needed);
  return replica;
}

// Power with the mean number of running answers. Between two steps the framework works, and the GPU waits for it.
perf::PowerEstimate generating_power(const capacity::Predictor& predictor, model::Job engine, const Pool& pool,
                                     double running, double kv_tokens, Seconds between) {
  engine.parallel.gpus = engine.parallel.tensor * engine.parallel.pipeline;
  engine.serve.concurrency = std::max<std::int64_t>(1, std::llround(running));
  const Result<perf::ServeEstimate> e =
      perf::estimate_serving(predictor.constants, predictor.work, engine, pool.speed, pool.cluster, {kv_tokens, {}});
  if (!e || !e->power.known()) return {};
  const perf::GpuPower& gpu = pool.speed.power;
  const double waits = between / (e->tpot * e->kept + between);
  perf::PowerEstimate power = e->power;
  power.mean += (gpu.idle + gpu.host - power.mean) * waits;
  return power;
}

}  // namespace

double longest_prompt(double mean, std::int64_t context) {
  const double longest = std::ceil(mean * 4 / 128) * 128;
  return context > 0 ? std::max(std::ceil(mean), std::min(longest, static_cast<double>(context / 2))) : longest;
}

int replica_gpus(const RlJob& job) { return job.rollout.parallel.tensor * job.rollout.parallel.pipeline; }

bool spans_hosts(const RlJob& job, const perf::Cluster& cluster) {
  // Racks that are one NVLink domain consist of hosts with four GPUs.
  return replica_gpus(job) > (cluster.node_gpus > 8 ? 4 : cluster.node_gpus);
}

Seconds Rollout::until(double share) const {
  const double points[] = {0, 0.5, 0.9, 0.95, 0.99, 1};
  const double times[] = {0,
                          value_of(profile.latency, sim::Statistic::kP50),
                          value_of(profile.latency, sim::Statistic::kP90),
                          value_of(profile.latency, sim::Statistic::kP95),
                          value_of(profile.latency, sim::Statistic::kP99),
                          in_seconds(batch) * 1e9};
  for (std::size_t i = 1; i < std::size(points); ++i) {
    if (share > points[i]) continue;
    const double part = (share - points[i - 1]) / (points[i] - points[i - 1]);
    return std::min(
        batch, from_ns(times[i - 1] + part * (times[i] - times[i - 1])) * (i + 1 < std::size(points) ? slower : 1));
  }
  return batch;
}

void Rollout::start_ahead(double ahead) {
  sim::ContinuousServer limited = replica;
  const auto most = static_cast<double>(replica.batching.max_sequences);
  limited.batching.max_sequences = static_cast<std::int64_t>(std::clamp(per_replica * (1 + ahead), 1.0, most));
  steady = std::min(batch, answer_time(limited, mean_answer) * per_replica);
}

void Rollout::interrupt(Seconds restart, Seconds between_interruptions) {
  slower = market::time_per_work(typical, Seconds{}, restart, between_interruptions);
  batch = batch * slower, typical = typical * slower, steady = steady * slower;
}

Result<Rollout> simulate_rollout(const capacity::Predictor& predictor, const RlJob& job, const Pool& pool,
                                 const StackConstants& constants, double ahead) {
  Rollout rollout;
  rollout.replicas = std::max(1, job.layout.rollout / replica_gpus(job));
  // Dropped prompts are generated as well.
  const double answers = job.sequences() / job.kept_prompts;
  rollout.per_replica = std::ceil(answers / rollout.replicas);
  const double most = job.rollout.serve.max_batch ? static_cast<double>(*job.rollout.serve.max_batch) : kMostRunning;

  model::Job engine = job.rollout;
  engine.serve.isl = std::max<std::int64_t>(1, std::llround(job.isl));
  engine.serve.osl = std::max<std::int64_t>(1, std::llround(job.answers.mean));
  engine.serve.concurrency = std::max<std::int64_t>(1, std::llround(std::min(most, rollout.per_replica)));
  // Fitted up to the maximum concurrency for any `ahead`, which makes times with different asynchrony comparable.
  RIGHTSIZE_TRY(capacity::Replica replica,
                replica_for(predictor, engine, pool, job.engine_share.has_value(), job.longest() + 1,
                            std::min(most, std::max(kLeastFitted, rollout.per_replica * 2))));
  rollout.basis = replica.basis;
  sim::StepCost& step = replica.step;
  const Seconds between = constants.engine_step + (spans_hosts(job, pool.cluster) ? constants.host_step : Seconds{});
  step.base += in_seconds(between) * 1e9;
  step.prefill /= job.samples;  // the answers to a prompt share its cache

  sim::ContinuousServer& server = rollout.replica;
  server.replicas = {step};
  server.batching.max_sequences = static_cast<std::int64_t>(most);
  const auto count = static_cast<std::size_t>(std::min(kSimulated, rollout.per_replica));
  const std::vector<std::int32_t> table = sim::length_table(job.answers.mean, job.answers.variation, job.answers.most);
  const auto run = [&](std::int32_t last) {
    return sim::start_run(server, batch_of(job.isl, table, count, last), {}, 1)->to_the_end(count);
  };
  const std::int32_t longest = longest_answer(job.answers, table, job.sequences()),
                     usual = answer_at(table, (static_cast<double>(count) - 0.5) / static_cast<double>(count));
  rollout.profile = run(longest);
  if (rollout.profile.rejected > 0)
    return fail(bad_input("the KV cache does not hold the longest answer").with_hint("use a larger --rollout-tp"));
  rollout.mean_answer = {.size = job.isl, .output = job.answers.mean, .output_variation = job.answers.variation};
  const Seconds rest = answer_time(server, rollout.mean_answer) * (rollout.per_replica - static_cast<double>(count));
  rollout.batch = from_ns(static_cast<double>(rollout.profile.elapsed)) + rest;
  // Under a limit on their length, the longest answers of all replicas are equally long.
  const auto elapsed = longest == usual ? rollout.profile.elapsed : run(usual).elapsed;
  rollout.typical = std::min(rollout.batch, from_ns(static_cast<double>(elapsed)) + rest);
  rollout.start_ahead(ahead);
  rollout.gpu = pool.speed.power;
  engine.serve.prefix_hit = 1 - 1 / job.samples;
  const double present = static_cast<double>(rollout.profile.presence) / static_cast<double>(rollout.profile.elapsed);
  rollout.power =
      generating_power(predictor, engine, pool, std::min(most, present), static_cast<double>(step.kv_tokens), between);
  return rollout;
}

}  // namespace rightsize::rl
