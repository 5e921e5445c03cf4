// The engine's step as straight lines.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "perf/perf.h"

namespace rightsize::perf {
namespace {

using model::Job;

constexpr std::size_t kTerms = 4;  // 1, sequences, sequences x context, share of the experts read
using Terms = std::array<double, kTerms>;

struct Sample {
  Terms terms{};
  double seconds = 0;
};

double predicted(const Terms& factors, const Sample& sample) {
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i) sum += factors[i] * sample.terms[i];
  return sum;
}

double worst_error(const Terms& factors, const std::vector<Sample>& samples) {
  double worst = 0;
  for (const Sample& sample : samples) {
    worst = std::max(worst, std::abs(predicted(factors, sample) / sample.seconds - 1));
  }
  return worst;
}

// Least squares of relative errors over the terms of `mask`, by Gauss elimination of the normal equations. A term no
// sample has makes it impossible: then the first is negative.
Terms least_squares(const std::vector<Sample>& samples, unsigned mask) {
  double m[kTerms][kTerms + 1] = {};
  for (const Sample& sample : samples) {
    for (std::size_t i = 0; i < kTerms; ++i) {
      for (std::size_t j = 0; j < kTerms; ++j)
        m[i][j] += sample.terms[i] * sample.terms[j] / (sample.seconds * sample.seconds);
      m[i][kTerms] += sample.terms[i] / sample.seconds;
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    if ((mask >> i & 1u) != 0) continue;
    for (std::size_t j = 0; j <= kTerms; ++j) m[i][j] = 0;
    for (std::size_t j = 0; j < kTerms; ++j) m[j][i] = 0;
    m[i][i] = 1;
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (!(std::abs(m[i][i]) > 0)) return {-1, -1, -1, -1};
    for (std::size_t row = 0; row < kTerms; ++row) {
      if (row == i) continue;
      const double factor = m[row][i] / m[i][i];
      for (std::size_t j = i; j <= kTerms; ++j) m[row][j] -= factor * m[i][j];
    }
  }
  Terms factors{};
  for (std::size_t i = 0; i < kTerms; ++i) factors[i] = m[i][kTerms] / m[i][i];
  return factors;
}

// No term may be negative: time does not shrink with work. Of the fits that keep to that the closest.
Terms best_fit(const std::vector<Sample>& samples) {
  Terms best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = 1; mask < 1u << kTerms; mask += 2) {  // the first term, the base, is always there
    const Terms factors = least_squares(samples, mask);
    const bool possible = factors[0] > 0 && factors[1] >= 0 && factors[2] >= 0 && factors[3] >= 0;
    double sum = 0;
    for (const Sample& s : samples) sum += std::pow(predicted(factors, s) / s.seconds - 1, 2);
    if (possible && sum < least) least = sum, best = factors;
  }
  return best;
}

}  // namespace

Result<StepFit> fit_engine_step(const Constants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                                const Cluster& cluster, const ServeLoad& load, double most_running) {
  if (job.stack == model::Stack::kHf) {
    return fail(bad_input("the hf stack has no continuous batching").with_hint("use --stack vllm, trtllm or sglang"));
  }
  const EngineConstants& c = constants.engine(job.stack);
  Job one = job;
  one.parallel.gpus = job.parallel.tensor * job.parallel.pipeline;
  // Lengths here are those that run, not the nominal ones of a benchmark.
  auto estimate = [&](double prompt, double running) {
    one.serve.isl = std::max<std::int64_t>(1, std::llround(prompt / c.length_share));
    one.serve.osl = 1;
    one.serve.concurrency = std::max<std::int64_t>(1, std::llround(running));
    const ServeLoad roomy{.kv_tokens = std::max(load.kv_tokens, running * (prompt + 2) * 2), .rate = {}};
    return estimate_serving(constants, work, one, gpu, cluster, roomy);
  };
  if (!(load.kv_tokens > 0)) return fail(estimate_serving(constants, work, job, gpu, cluster, load).error());
  const double chance = work.experts > 0 ? work.experts_per_token / work.experts : 0;
  const double isl = static_cast<double>(job.serve.isl), osl = static_cast<double>(job.serve.osl);
  RIGHTSIZE_TRY(const ServeEstimate alone, estimate(isl, 1));
  std::vector<Sample> samples;
  const double most = std::max(1.0, std::min(most_running, load.kv_tokens / (isl + osl / 2)));
  for (double running = 1;; running = std::min(most, std::ceil(running * 1.4))) {
    for (double context : {isl, isl + osl / 2, isl + osl}) {
      RIGHTSIZE_TRY(const ServeEstimate at, estimate(context, std::floor(running)));
      const double n = std::floor(running);
      samples.push_back({{1, n, n * context, 1 - std::pow(1 - chance, n)}, in_seconds(at.decode_step)});
    }
    if (running >= most) break;
  }
  const Terms factors = best_fit(samples);
  StepFit fit;
  fit.base = seconds(factors[0]), fit.sequence = seconds(factors[1]), fit.context_token = seconds(factors[2]);
  fit.experts = seconds(factors[3]), fit.expert_chance = chance;
  fit.prompt_token = alone.prefill * (c.prefill_wait / isl);
  fit.request = c.request_overhead;
  fit.worst_step_error = worst_error(factors, samples);
  for (double length : {isl / 2, isl * 2}) {
    RIGHTSIZE_TRY(const ServeEstimate at, estimate(length, 1));
    fit.worst_prompt_error = std::max(fit.worst_prompt_error,
                                      std::abs(length / isl * in_seconds(alone.prefill) / in_seconds(at.prefill) - 1));
  }
  fit.tpot_interval = alone.tpot_interval, fit.ttft_interval = alone.ttft_interval, fit.basis = alone.basis;
  return fit;
}

}  // namespace rightsize::perf
