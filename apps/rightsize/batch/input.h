// The flags of `rightsize batch`, and the input they describe.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capacity/planner.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/input/speed_input.h"

namespace rightsize::app {

// A machine that can be rented for replicas.
struct RentedMachine {
  int replicas = 1, gpus = 1;  // that it holds, and has
  double usd_per_hour = 0;
  std::string instance = {}, source = {};
};

// A kind of replica with its times and price.
struct BatchOffer {
  capacity::Replica replica;
  std::optional<double> usd_per_hour = {};  // the share of a replica; empty: no price
  std::string price_source = {};
  std::vector<RentedMachine> machines = {};  // empty: at the user's own price of a GPU, or without a price

  std::string name() const;  // "h100-sxm", "h100-sxm (tp 2)"
  // Machines are rented whole: the cheapest of them for this number of replicas, and how many it takes; null: per GPU.
  std::pair<const RentedMachine*, int> machines_for(int replicas) const;
  double usd_per_hour_of(int replicas) const;  // NaN: no price
};

struct BatchInput {
  std::vector<BatchOffer> offers;
  capacity::Service service;
  bool continuous = false;
  capacity::Configuration usual;                      // limits that are not searched
  std::vector<int> max_batches, instances, replicas;  // ascending; empty: not given
  std::vector<sim::SimTime> delays;
  std::vector<capacity::ReplicaGroup> fleet;  // GPU types and their counts; empty: the first type
  std::vector<std::string> emit;
  Seconds overhead;
  std::uint64_t requests = 0, seed = 1;
  bool explain = false;
  std::string name;

  int largest_batch() const;  // the largest for which every offer has times
  double rate() const { return in_requests_per_s(sim::mean_rate(service.arrivals).value_or(RequestsPerSecond{})); }
  // Requests of a trace that --requests excludes from the replay.
  std::uint64_t left_out() const;
};

struct BatchFlags {
  BatchInput input;  // values that need no further reading
  std::vector<std::string> service, step_time;
  PriceFlag price;
  std::string model, gpu, stack, precision, kv_precision, arrivals, policy, fleet, timeout_action, priorities, slo;
  std::string lengths, isl, osl, sessions, trace, routing, purchase = "on-demand", catalog;
  std::optional<std::string> slo_percentile;
  std::optional<double> max_load;
  std::optional<std::int64_t> kv_tokens;
  std::vector<int> tp;
  std::vector<Seconds> max_delay;
  std::optional<perf::Constants> constants;  // of the speed model, if measurements refined them
  Seconds timeout;
  double overlap = 0;
  bool pad = false, no_chunked_prefill = false;
};

void declare(FlagSet& command, BatchFlags& flags);
Checked<BatchInput> read_input(const BatchFlags& flags);

// Parts of read_input() for commands with other traffic: the lengths of synthetic requests; the replicas with their
// times and prices, for `input.service.lengths`.
Result<sim::RequestShape> lengths_of(const BatchFlags& flags);
Checked<std::vector<BatchOffer>> offers_of(const BatchFlags& flags, BatchInput& input);

// The offers of --model and --gpu, from the speed model. The model decides `input.continuous`; fails if --policy
// contradicts it.
Checked<std::vector<BatchOffer>> predict_offers(const BatchFlags& flags, const Facts& facts, BatchInput& input);

}  // namespace rightsize::app
