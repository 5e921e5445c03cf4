// The flags of `rightsize batch` and their meaning.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capacity/planner.h"
#include "perf/perf.h"
#include "rightsize/command.h"

namespace rightsize::app {

struct BatchFlags {
  std::vector<std::string> service, step_time, price;
  std::string model, gpu, arrivals, policy, max_batch, max_delay, instances = "1", fleet, slo;
  std::string preferred, timeout, timeout_action = "reject", priorities, overhead, requests, emit, replicas;
  std::string lengths = "varied", token_budget = "8192", kv_tokens, isl, osl, purchase = "on-demand";
  std::string max_queue, catalog, name = "model", tp, stack, precision, kv_precision, max_rejected = "0.1%";
  std::string slo_percentile, max_load;
  double overlap = 0;
  std::uint64_t seed = 1;
  bool pad = false, no_chunked_prefill = false, timeout_override = false, explain = false;
};

// A type of GPU with its times and price.
struct BatchOffer {
  std::string gpu;                     // empty: not given
  int gpus_each = 1;                   // GPUs per replica (tensor parallelism)
  std::optional<double> usd_per_hour;  // of one replica; empty: no price
  std::string price_source;            // from the price book
  capacity::Replica replica;

  std::string name() const;  // "h100-sxm", "h100-sxm (tp 2)"
};

struct BatchInput {
  std::vector<BatchOffer> offers;
  capacity::Service service;
  std::string arrivals_text;
  bool continuous = false;
  capacity::Configuration usual;                      // limits that are not searched
  std::vector<int> max_batches, instances, replicas;  // empty: not given
  std::vector<sim::SimTime> delays;
  std::vector<capacity::Group> fleet;  // GPU types and their counts; empty: the first type
  std::vector<std::string> emit;
  Seconds overhead;
  std::uint64_t requests = 0, seed = 1;
  bool explain = false;
  std::string name;

  int largest_batch() const;  // for which every offer has times
  double rate() const { return in_requests_per_s(sim::mean_rate(service.arrivals).value_or(RequestsPerSecond{})); }
  // Requests of a trace that are not replayed because of --requests.
  std::uint64_t left_out() const;
};

void declare(FlagSet& command, BatchFlags& flags);
Checked<BatchInput> read_input(const BatchFlags& flags);

// The offers of --model and --gpu, from the speed model. Sets `input.continuous` as the model needs it; fails if
// --policy asks for the other.
Checked<std::vector<BatchOffer>> predict_offers(const BatchFlags& flags, const catalog::Catalog& catalog,
                                                BatchInput& input);

// "4,8,16": ascending whole numbers; "64k": one from 1.
Result<std::vector<int>> parse_sizes(const std::string& text, std::string_view flag);
Result<std::int64_t> parse_positive(const std::string& text, std::string_view flag);

}  // namespace rightsize::app
