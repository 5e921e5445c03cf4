// Fits the linear model of an engine step.
#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

#include "base/coverage.h"
#include "perf/perf.h"
#include "perf/stacks/engine_step.h"
#include "perf/stacks/serve_replica.h"

namespace rightsize::perf {
namespace {

using model::Job;

constexpr int kTerms = 4;  // 1, sequences, sequences x context, share of the experts read
using Terms = Eigen::Vector4d;

// Each row is a step: its terms divided by its seconds, so errors are relative.
using Samples = Eigen::Matrix<double, Eigen::Dynamic, kTerms>;

Eigen::ArrayXd errors(const Terms& factors, const Samples& samples) { return (samples * factors).array() - 1; }

// Least squares over the terms in `mask`; the others are zero.
Terms least_squares(const Samples& samples, unsigned mask) {
  Eigen::Matrix4d squares = samples.transpose() * samples;
  Terms sums = samples.colwise().sum();
  for (int i = 0; i < kTerms; ++i) {
    if ((mask >> i & 1u) != 0) continue;
    squares.row(i).setZero(), squares.col(i).setZero();
    squares(i, i) = 1, sums(i) = 0;
  }
  return squares.ldlt().solve(sums);
}

// The closest fit without negative terms: more work never takes less time.
Terms best_fit(const Samples& samples) {
  Terms best = Terms::Zero();
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = 1; mask < 1u << kTerms; mask += 2) {  // the first term, the base, is always included
    const Terms factors = least_squares(samples, mask);
    const bool possible = factors(0) > 0 && (factors.array() >= 0).all();
    const double sum = errors(factors, samples).square().sum();
    if (possible && sum < least) least = sum, best = factors;
  }
  return best;
}

// Time that each of `n` prompts adds to a step.
Seconds beside_a_step(const EngineCopy& replica, double prompts, double wait) {
  return prefill_of(replica).beside(replica, decode_step(replica, 1), prompts) * wait;
}

// On top of a decode step, which already reads the weights: exact for one prompt of mean length and for each further
// one. A line through the first point alone would make long prompts too fast.
void fit_prompts(const EngineCopy& replica, double wait, double isl, StepFit& fit) {
  const double most = prefill_of(replica).most;
  const Seconds one = beside_a_step(replica, 1, wait);
  const Seconds further = most > 1 ? (beside_a_step(replica, most, wait) * most - one) / (most - 1) : one;
  fit.prompt_token = further / isl;
  fit.with_prompts = one - further;
}

}  // namespace

Result<StepFit> fit_engine_step(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                                const Cluster& cluster, const ServeLoad& load, double most_running) {
  if (job.stack == model::Stack::kHf) {
    return fail(bad_input("the hf stack has no continuous batching").with_hint("use --stack vllm, trtllm or sglang"));
  }
  const EngineConstants& c = constants.engine(job.stack);
  if (job.serve.disaggregated) return fail(bug("fit prefill and decode workers separately"));
  if (gpu.power.capped()) {  // all steps run at the clock of the whole load
    RIGHTSIZE_TRY(const ServeEstimate loaded, estimate_serving(constants, work, job, gpu, cluster, load));
    return fit_engine_step(constants, work, job, at_clock(gpu, loaded.power.slower), cluster, load, most_running);
  }
  Job one = job;
  one.serve.max_batch.reset();  // the simulator applies its own limits
  one.parallel.gpus = job.parallel.tensor * job.parallel.pipeline;
  // These are actual lengths, not the nominal ones of a benchmark.
  const double chance = work.experts > 0 ? work.experts_per_token / work.experts : 0;
  auto reached = [&](double n) { return chance > 0 ? share_reached(chance, n, c.routing_evenness) : 0.0; };
  auto estimate = [&](double prompt, double running) {
    one.serve.isl = std::max<std::int64_t>(1, std::llround(prompt / c.length_share));
    one.serve.osl = 1;
    one.serve.concurrency = std::max<std::int64_t>(1, std::llround(running));
    const ServeLoad roomy{.kv_tokens = std::max(load.kv_tokens, running * (prompt + 2) * 2), .rate = {}};
    return estimate_serving(constants, work, one, gpu, cluster, roomy);
  };
  if (!(load.kv_tokens > 0)) return fail(estimate_serving(constants, work, job, gpu, cluster, load).error());
  const double isl = static_cast<double>(job.serve.isl), osl = static_cast<double>(job.serve.osl);
  RIGHTSIZE_TRY(const ServeEstimate alone, estimate(isl, 1));
  std::vector<Terms> rows;
  const double most = std::max(1.0, std::min(most_running, load.kv_tokens / (isl + osl / 2)));
  for (double running = 1;; running = std::min(most, std::ceil(running * 1.4))) {
    for (double context : {isl, isl + osl / 2, isl + osl}) {
      RIGHTSIZE_TRY(const ServeEstimate at, estimate(context, std::floor(running)));
      const double n = std::floor(running);
      const Seconds step =
          std::max(at.decode_step, c.front_token * n);  // the front end limits how fast tokens are sent
      rows.push_back(Terms(1, n, n * context, reached(n)) / in_seconds(step / at.kept));
    }
    if (running >= most) break;
  }
  Samples samples(rows.size(), kTerms);
  for (std::size_t i = 0; i < rows.size(); ++i) samples.row(static_cast<Eigen::Index>(i)) = rows[i];
  const Terms factors = best_fit(samples);
  StepFit fit;
  fit.base = seconds(factors(0)), fit.sequence = seconds(factors(1)), fit.context_token = seconds(factors(2));
  fit.experts = seconds(factors(3)), fit.expert_chance = chance, fit.expert_evenness = c.routing_evenness;
  const auto with_length = [&](double length) {
    one.serve.isl = std::max<std::int64_t>(1, std::llround(length / c.length_share));
    return replica_of(constants, work, one, gpu, cluster, load.kv_tokens);
  };
  fit_prompts(with_length(isl), c.prefill_wait, isl, fit);
  fit.lone_prompt_token = alone.prefill * (c.prefill_wait / isl);
  fit.request = c.request_overhead + c.front_request;
  fit.prompts_first = !(c.mixed_passes > 0);
  // The simulator already counts the rest of the current step, and mixed passes add it to their own.
  const double unseen = std::max(0.0, c.wait_steps - (fit.prompts_first ? 0 : 1));
  fit.wait_few = fit.wait_many = unseen + static_cast<double>(job.serve.poll_steps.value_or(0)) / 2;
  fit.worst_step_error = errors(factors, samples).abs().maxCoeff();
  for (double length : {isl / 2, isl * 2}) {
    const Seconds added = beside_a_step(with_length(length), 1, c.prefill_wait);
    const Seconds fitted = std::max(Seconds{}, fit.with_prompts + fit.prompt_token * length);
    fit.worst_prompt_error = std::max(fit.worst_prompt_error, std::abs((fitted - added) / (fit.base + added)));
  }
  fit.tpot_interval = alone.tpot_interval, fit.ttft_interval = alone.ttft_interval, fit.basis = alone.basis;
  return fit;
}

}  // namespace rightsize::perf
