// The input and the report of `rightsize cache`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "capacity/cache_tiers.h"
#include "kv_cache/hashed_trace.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct CacheFlags {
  std::string trace, model, kv_precision, sessions;
  std::optional<std::int64_t> users, turns, system_prompt, isl, osl;  // conversations instead of a trace
  std::vector<Bytes> sizes;
  std::optional<std::int64_t> block_tokens, gpu_blocks;
  // Flags of the GPU and tier estimate.
  std::string gpu, stack, precision, slo, slo_percentile, routing, purchase, catalog;
  std::optional<int> tp;
  std::optional<RequestsPerSecond> rate;
  std::vector<std::string> tiers;
  PriceFlag price;
};

// A cache of one size.
struct CacheSize {
  Bytes size;         // 0: unknown without a model
  double blocks = 0;  // that it holds
  double hit_rate = 0;
  double of_unlimited = 0;  // share of the hits of an unlimited cache
};

// A way to route requests, with GPU memory alone.
struct RoutingOutcome {
  std::string name;
  int gpus = 0;  // 0: no number meets the limits
  double hit = 0;
};

// What a tier does for the traffic, compared with GPU memory alone.
struct TierRow {
  capacity::TierOutcome outcome;
  int saved = 0;                                        // GPUs; negative: it needs more
  std::optional<UsdPerSecond> price = {}, saving = {};  // of the tiers of all replicas; of GPUs, minus the tiers
  std::optional<double> break_even = {};                // tier price at which the saving is zero, dollars per GB-month
};

struct TierAnswer {
  std::string gpu;
  int tp = 1;
  RequestsPerSecond rate;
  std::vector<TierRow> rows;  // GPU memory alone first
  std::vector<RoutingOutcome> routings;
  std::vector<std::pair<std::string, std::string>> commands;  // of the best tier, by engine
};

struct CacheAnswer {
  std::string model, file;
  Bytes per_token;
  std::int64_t block_tokens = 0;
  std::uint64_t requests = 0, blocks = 0;
  double distinct = 0, mean_input = 0, mean_output = 0;
  Seconds span;  // from the first to the last request
  std::vector<CacheSize> curve;
  double unlimited = 0;
  Bytes unlimited_size;         // holds every block of the trace
  CacheSize knee;               // the smallest cache with 90 % of the hits
  double error = 0;             // of the hit rates; 0: exact
  double sampled_users = 1;     // share of the users that were simulated
  double token_characters = 0;  // assumed, to find the blocks of texts; 0: the trace has its blocks
  std::vector<CacheSize> plotted;
  std::optional<TierAnswer> tiers;
};

// With --gpu: the GPUs that the trace needs with each tier.
Checked<TierAnswer> answer_tiers(const CacheFlags& flags, const model::ModelShape& model, Bytes per_token,
                                 const std::shared_ptr<const sim::Trace>& trace);

// The command that starts each engine with a tier. `gpu_cache` is the KV cache in the memory of a replica's GPUs. vLLM
// takes the size per replica in GiB, Dynamo per replica in GB, and LMCache and SGLang per GPU process in GB.
std::vector<std::pair<std::string, std::string>> cache_commands(const capacity::CacheTier& tier, Bytes gpu_cache,
                                                                int gpus, const std::string& model);

report::Report cache_report(const CacheAnswer& answer);

}  // namespace rightsize::app
