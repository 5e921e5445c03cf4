// Continuous batching for language models, in the manner of vLLM: every step gives each running sequence one token and
// spends what is left of a token budget on prompts. The policy is a pure function; the simulator skips over runs of
// equal steps.
//
// What is modelled: token budget, chunked prefill (or whole prompts only), a limit on sequences, KV-cache capacity in
// tokens, admission in order of arrival when the whole prompt fits the free cache, preemption of the newest sequence by
// recomputation when the cache is full. What is not: the cache's block size (at most block-1 tokens a sequence), prefix
// caching, speculative decoding.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/arrivals.h"
#include "sim/quantiles.h"
#include "sim/simulate.h"

namespace rightsize::sim {

struct ContinuousConfig {
  std::int64_t token_budget = 8192;    // tokens a step (--max-num-batched-tokens)
  std::int64_t max_sequences = 256;    // running at once (--max-num-seqs)
  std::int64_t kv_tokens = 1'000'000;  // what the cache holds
  bool chunked_prefill = true;         // false: a prompt is processed whole or not at all
};

// The time of one step, linear in what it does: base + prefill * prompt tokens + sequence * decoding sequences +
// context * tokens those have in the cache. Nanoseconds. Reading the weights is the base, reading the cache the
// context.
struct StepCost {
  double base = 0, prefill = 0, sequence = 0, context = 0;
  double request = 0;          // outside the steps, before the first token: network, tokenizer
  std::int64_t kv_tokens = 0;  // what the cache of this replica holds; 0: as ContinuousConfig says
  // Mixtures of experts: n sequences read 1 - (1 - expert_chance)^n of the experts, which takes so much of `experts`.
  double experts = 0, expert_chance = 0;

  // A decode step of n sequences with so many tokens in the cache.
  double decode(double n, double tokens) const {
    const double read = experts > 0 ? experts * (1 - std::pow(1 - expert_chance, n)) : 0;
    return base + read + sequence * n + context * tokens;
  }
};

// What the scheduler sees at the start of a step.
struct StepView {
  std::int64_t decoding = 0;                      // sequences past their prompt
  std::int64_t kv_free = 0;                       // tokens
  std::span<const std::int64_t> prefilling = {};  // prompt tokens left of sequences begun, oldest first
  std::span<const std::int64_t> waiting = {};     // prompt tokens of sequences not begun, in order
};

struct StepPlan {
  std::int64_t preempt = 0;          // so many of the newest sequences must give way first; then plan again
  std::vector<std::int64_t> chunks;  // prompt tokens for each of `prefilling`, then for each admitted
  std::size_t admitted = 0;          // from the front of `waiting`
};

// Decides one step. Decoding sequences come first, then prompts begun, then new ones. `plan` is overwritten (it is an
// argument so that its storage is reused).
void plan_step(const StepView& view, const ContinuousConfig& config, StepPlan& plan);

struct ContinuousServer {
  // May differ. A request goes to the one with the least work outstanding, in time, among those it fits.
  std::vector<StepCost> replicas;
  ContinuousConfig batching = {};
};

struct ContinuousProfile {
  LatencyProfile all;      // end to end; mean_batch is the mean number of sequences in a step
  StatisticValues ttft{};  // until the first token, nanoseconds
  StatisticValues tpot{};  // per token after the first
  StatisticValues ttft_half_width{}, tpot_half_width{};
  struct Kind {
    StatisticValues ttft{}, tpot{};
  };
  std::vector<Kind> kinds = {};  // of requests that are told apart, by number
  std::uint64_t steps = 0, preemptions = 0;
  TokensPerSecond output_rate;
};

// The most requests of the mean shape that it can do: the batch as full as limits and cache allow, every step
// carrying its share of prompts.
RequestsPerSecond capacity(const ContinuousServer& server, const RequestShape& shape);
// The mean prompt and output of a trace and how far they vary; the shape itself for the others.
RequestShape mean_shape(const ArrivalProcess& arrivals, const RequestShape& shape);

// Nothing when the load is at or above capacity. A request that can never fit (its tokens exceed the cache, or
// without chunks the budget) is rejected on arrival.
std::optional<ContinuousProfile> simulate(const ContinuousServer& server, const ArrivalProcess& arrivals,
                                          const RequestShape& shape, const RunLength& length);

}  // namespace rightsize::sim
