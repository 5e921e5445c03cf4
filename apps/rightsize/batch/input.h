// The flags of `rightsize batch`, and what they mean once read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "perf/perf.h"
#include "rightsize/command.h"
#include "sim/search.h"

namespace rightsize::app {

struct BatchFlags {
  std::vector<std::string> service, step_time, price;
  std::string model, gpu, arrivals, policy, max_batch, max_delay, instances = "1", fleet, slo;
  std::string preferred, timeout, timeout_action = "reject", priorities, overhead, requests = "200k", emit, replicas;
  std::string lengths = "fixed", token_budget = "8192", kv_tokens, isl = "512", osl = "128", purchase = "on-demand";
  std::string max_queue, catalog, name = "model", tp, stack, precision, kv_precision, max_rejected = "0.1%";
  double overlap = 0;
  std::uint64_t seed = 1;
  bool pad = false, no_chunked_prefill = false, timeout_override = false;
};

// One kind of GPU that can serve, with its times and price.
struct BatchOffer {
  std::string gpu;                       // empty: the user did not say
  int gpus_each = 1;                     // GPUs a replica takes (tensor parallelism)
  std::optional<double> usd_per_hour;    // of one replica; nothing: unknown
  std::string price_source;              // as the price book says it
  std::unique_ptr<sim::BatchTime> time;  // dynamic batching
  std::vector<int> sizes;                // batch sizes worth trying
  sim::StepCost step;                    // continuous batching
  std::optional<perf::StepFit> fit;      // where the step comes from the speed model

  std::string name() const;  // "h100-sxm", "h100-sxm (tp 2)"
};

struct BatchInput {
  std::vector<BatchOffer> offers;
  sim::ArrivalProcess arrivals;
  std::string arrivals_text;
  bool continuous = false;
  sim::DynamicBatchConfig batching;
  sim::QueuePolicy queue;
  std::vector<double> priorities;
  sim::ContinuousConfig llm;
  sim::RequestShape shape;
  std::vector<int> max_batches, instances, replicas;  // as given; empty: not given
  std::vector<sim::SimTime> delays;
  std::vector<std::pair<std::size_t, int>> fleet;  // offer and how many GPUs of it
  std::optional<sim::Promise> promise;
  std::vector<std::string> emit;
  Seconds overhead;
  double overlap = 0;
  std::uint64_t requests = 0, seed = 1;
  std::string name;

  int largest_batch() const;  // of all offers' tables and the flag
};

void declare(FlagSet& command, BatchFlags& flags);
Checked<BatchInput> read_input(const BatchFlags& flags);

// The offers --model and --gpu describe, from the speed model. `continuous` says what --policy asked for, and becomes
// what the model needs where it asked for nothing.
Checked<std::vector<BatchOffer>> predict_offers(const BatchFlags& flags, const catalog::Catalog& catalog,
                                                bool& continuous);

// "4,8,16": ascending whole numbers; "64k": one from 1.
Result<std::vector<int>> parse_sizes(const std::string& text, std::string_view flag);
Result<std::int64_t> parse_positive(const std::string& text, std::string_view flag);

}  // namespace rightsize::app
