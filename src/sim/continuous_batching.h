// Continuous batching for language models, in the manner of vLLM: every step gives each running sequence one token and
// spends what is left of a token budget on prompts. The policy is a pure function; the simulator skips over runs of
// equal steps.
//
// What is modelled: token budget, chunked prefill (or whole prompts only), a limit on sequences, KV-cache capacity in
// tokens, admission in order of arrival when the whole prompt fits the free cache, preemption of the newest sequence by
// recomputation when the cache is full. Separate workers for prompts and answers: a prompt goes through a prefill
// worker, its cache over to a decode worker when both have time and room, and the first token comes with the first step
// there. What is not: the cache's block size (at most block-1 tokens a sequence), prefix caching, speculative decoding,
// pages a prefill worker keeps until they have been fetched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
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
  // Mixtures of experts: n sequences read a share of the experts, which takes so much of `experts`. Each visits one
  // with `expert_chance` where all are alike; popularity is gamma distributed with shape `expert_evenness` (0: all
  // alike).
  double experts = 0, expert_chance = 0, expert_evenness = 0;
  // A step with prompts takes so much more, whatever their length (their experts are read) or less (their first tokens
  // are hidden behind the weights that the base reads).
  double with_prompts = 0;

  // The share of the experts that n sequences read: 1 - E[exp(-visits)].
  double read_by(double n) const {
    if (!(expert_evenness > 0)) return 1 - std::pow(1 - expert_chance, n);
    const double visits = -std::log1p(-std::min(expert_chance, 0.999)) * n;
    return 1 - std::pow(1 + visits / expert_evenness, -expert_evenness);
  }
  // Prompt tokens of one step, beyond the rest of it.
  double prompts(double tokens) const { return tokens > 0 ? std::max(0.0, with_prompts + prefill * tokens) : 0; }
  bool operator==(const StepCost&) const = default;
  // A decode step of n sequences with so many tokens in the cache.
  double decode(double n, double tokens) const {
    return base + (experts > 0 ? experts * read_by(n) : 0) + sequence * n + context * tokens;
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

// Handing a request from a prefill to a decode worker: nanoseconds, and for each token of its prompt.
struct Transfer {
  double request = 0, token = 0;

  double time(double tokens) const { return request + token * tokens; }
};

struct ContinuousServer {
  // May differ. A request goes to the one with the least work outstanding, in time, among those it fits.
  std::vector<StepCost> replicas;
  ContinuousConfig batching = {};
  // Workers for prompts alone; then `replicas` decode. Empty: each replica does both.
  std::vector<StepCost> prefills = {};
  Transfer transfer = {};
};

struct ContinuousProfile {
  LatencyProfile all;      // end to end; mean_batch is the mean number of sequences in a step
  StatisticValues ttft{};  // until the first token, nanoseconds
  StatisticValues tpot{};  // per token after the first
  Intervals ttft_interval, tpot_interval;
  struct Kind {
    StatisticValues ttft{}, tpot{};
  };
  std::vector<Kind> kinds = {};  // of requests that are told apart, by number
  std::uint64_t steps = 0, preemptions = 0;
  TokensPerSecond output_rate;
};

// The most requests of the mean shape that it can do: the batch as full as limits and cache allow, every step
// carrying its share of prompts; of separate workers, what the slower kind can.
RequestsPerSecond capacity(const ContinuousServer& server, const RequestShape& shape);
// The mean prompt and output of a trace and how far they vary; the shape itself for the others.
RequestShape mean_shape(const ArrivalProcess& arrivals, const RequestShape& shape);

// A run that can be looked at and gone on with. Looking changes nothing of what is seen later.
class ContinuousRun {
 public:
  // `warm_up`: so many requests find a server that is emptier than it will be, and are not counted.
  ContinuousRun(const ContinuousServer& server, const ArrivalProcess& arrivals, const RequestShape& shape,
                std::uint64_t seed, std::uint64_t warm_up = 0);
  ContinuousRun(ContinuousRun&&) noexcept;
  ~ContinuousRun();

  // Goes on until so many requests have arrived in all; of those on their way only what they have got so far counts.
  // Where a trace ends before, until its last request has left.
  ContinuousProfile until(std::uint64_t requests);
  // And until the last of them has left. Nothing more can be asked then.
  ContinuousProfile to_the_end(const RunLength& length);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

// Nothing when the load is at or above capacity. A request that can never fit (its tokens exceed the cache, or
// without chunks the budget) is rejected on arrival.
std::optional<ContinuousProfile> simulate(const ContinuousServer& server, const ArrivalProcess& arrivals,
                                          const RequestShape& shape, const RunLength& length);

}  // namespace rightsize::sim
