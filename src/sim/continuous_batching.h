// Continuous batching for language models. vLLM and TensorRT-LLM: every step generates one token for each running
// sequence and spends the rest of a token budget on prompts. SGLang: prompts run first, in passes without decoding. The
// policy is a pure function (plan_step); the simulator skips over runs of equal steps.
//
// Modelled: token budget, chunked prefill (or whole prompts only), a limit on sequences, KV-cache capacity in tokens,
// admission in order of arrival once the whole prompt fits the free cache, preemption of the newest sequence by
// recomputation when the cache is full. Disaggregated serving: a prompt goes through a prefill worker, its cache is
// sent to a decode worker, and the first token comes with the first step there. A prefix cache, if the contents of
// prompts are known (prompts.h): shared beginnings are computed and stored once, and evicted when decoding needs the
// space. Not modelled: the cache's block size (at most block-1 tokens per sequence), speculative decoding, and pages
// that a prefill worker holds until they have been fetched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/coverage.h"
#include "sim/run.h"

namespace rightsize::sim {

// How the router chooses a replica: any, the one with the least outstanding work, or the one that would finish the
// request first, given its queue and the cached part of the prompt.
enum class Routing { kRandom, kLeastLoaded, kPrefixAware };

struct ContinuousConfig {
  std::int64_t token_budget = 8192;    // tokens per step (--max-num-batched-tokens)
  std::int64_t max_sequences = 256;    // running at once (--max-num-seqs)
  std::int64_t kv_tokens = 1'000'000;  // capacity of the KV cache
  bool chunked_prefill = true;         // false: a prompt is processed whole or not at all
  bool prompts_first = false;          // prompts run in separate passes, and decoding waits (SGLang)
  std::int64_t cache_block = 0;        // tokens per block of the prefix cache; 0: no prefix cache
  bool shared_lower = false;           // replicas share the sum of their lower tiers (StepCost::lower_tokens)
  Routing routing = Routing::kLeastLoaded;

  auto operator<=>(const ContinuousConfig&) const = default;
};

// The time of one step, linear in its work: base + prefill * prompt tokens + sequence * decoding sequences + context *
// their tokens in the cache. Nanoseconds. Reading the weights is the base, reading the cache the context.
struct StepCost {
  double base = 0, prefill = 0, sequence = 0, context = 0;
  double request = 0;          // outside the steps, before the first token: network, tokenizer
  std::int64_t kv_tokens = 0;  // capacity of this replica's cache; 0: as in ContinuousConfig
  // Mixtures of experts: n sequences read a share of the experts (base/coverage.h) and take that share of `experts`.
  double experts = 0, expert_chance = 0, expert_evenness = 0;
  // Added to a step with prompts of any length. Positive if prompts read more experts, negative if their first tokens
  // are hidden behind the weights that the base reads.
  double with_prompts = 0;
  bool prompts_first = false;  // of this replica's engine; see ContinuousConfig
  // Decode steps before the engine admits a request while others run, because it checks its queue only every few steps.
  // With up to 8 and from 16 running sequences.
  double wait_few = 0, wait_many = 0;
  // A lower tier of the prefix cache, such as host memory: its tokens, and the time to load from it, per request and
  // per token. Tokens that take longer to load than to compute are computed, unless the engine always loads.
  std::int64_t lower_tokens = 0;
  double load_request = 0, load_token = 0;
  bool always_load = false;

  auto operator<=>(const StepCost&) const = default;

  // The time that prompt tokens add to a step.
  double prompts(double tokens) const { return tokens > 0 ? std::max(0.0, with_prompts + prefill * tokens) : 0; }
  double wait_steps(double running) const {
    return (wait_few + (wait_many - wait_few) * std::clamp(running / 8 - 1, 0.0, 1.0)) * std::min(running, 1.0);
  }
  // The time that loading a request's tokens from the lower tier adds to a step.
  double load(double tokens) const { return tokens > 0 ? load_request + load_token * tokens : 0; }
  bool loads(double tokens) const { return tokens > 0 && (always_load || load(tokens) < prefill * tokens); }
  // A decode step of n sequences with `tokens` in the cache.
  double decode(double n, double tokens) const {
    const double read = experts > 0 ? experts * share_reached(expert_chance, n, expert_evenness) : 0;
    return base + read + sequence * n + context * tokens;
  }
};

// The scheduler's view at the start of a step.
struct StepView {
  std::int64_t decoding = 0;                      // sequences past their prompt
  std::int64_t kv_free = 0;                       // tokens
  std::span<const std::int64_t> prefilling = {};  // remaining prompt tokens of admitted sequences, oldest first
  std::span<const std::int64_t> waiting = {};     // prompt tokens to compute of queued sequences, in order
  std::span<const std::int64_t> rooms = {};       // cache tokens that each of these needs; empty: the same number
};

struct StepPlan {
  std::int64_t preempt = 0;          // newest sequences to preempt before planning again
  std::vector<std::int64_t> chunks;  // prompt tokens for each of `prefilling`, then for each admitted
  std::size_t admitted = 0;          // from the front of `waiting`
};

// Plans one step: decoding sequences first (unless prompts are), then admitted prompts, then new ones. Overwrites
// `plan`, to reuse its storage.
void plan_step(const StepView& view, const ContinuousConfig& config, StepPlan& plan);

// Sending the cache of a request from a prefill to a decode worker: nanoseconds per request and per prompt token.
struct Transfer {
  double request = 0, token = 0;

  auto operator<=>(const Transfer&) const = default;
  double time(double tokens) const { return request + token * tokens; }
};

struct ContinuousServer {
  // Replicas may differ. A request goes to the one with the least outstanding work (in time) that can hold it.
  std::vector<StepCost> replicas;
  ContinuousConfig batching = {};
  // Workers for prompts only; `replicas` then decode. Empty: each replica does both.
  std::vector<StepCost> prefills = {};
  Transfer transfer = {};
};

// Throughput in requests of the mean shape: batches as large as limits and cache allow, every step with its share of
// prompts. With separate workers, the throughput of the slower kind.
RequestsPerSecond capacity(const ContinuousServer& server, const RequestShape& shape);
// The mean and variation of a trace's lengths; `shape` itself for synthetic arrivals.
RequestShape mean_shape(const ArrivalProcess& arrivals, const RequestShape& shape);

std::unique_ptr<Run> start_run(const ContinuousServer& server, const ArrivalProcess& arrivals,
                               const RequestShape& shape, std::uint64_t seed, std::uint64_t warm_up = 0);

// Empty if the load is at or above capacity. A request that can never fit (its tokens exceed the cache, or without
// chunked prefill the budget) is rejected on arrival.
std::optional<LatencyProfile> simulate(const ContinuousServer& server, const ArrivalProcess& arrivals,
                                       const RequestShape& shape, const RunLength& length);

}  // namespace rightsize::sim
