// The flags of `rightsize autoscale`, and the input they describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autoscale/bound.h"
#include "autoscale/purchase.h"
#include "autoscale/search.h"
#include "autoscale/startup.h"
#include "rightsize/batch/input.h"
#include "rightsize/input/server_flags.h"

namespace rightsize::app {

struct AutoscaleFlags {
  BatchFlags engine;   // model, GPU, step times, lengths, prices: as in `batch`
  ServerFlags server;  // the running service to replay
  std::vector<std::string> from;
  std::string service, plan;
  std::string trace, rate_profile, slo, startup;
  std::optional<std::string> slo_percentile;
  std::vector<std::string> policies, emit;
  std::string name;
  std::optional<std::int64_t> most_in_flight, token_budget;
  std::optional<int> min_replicas, max_replicas;
  std::optional<Seconds> duration;
  bool plans_only = false;
};
// Whether the flags describe traffic.
bool has_traffic(const AutoscaleFlags& flags);

// The recorded traffic of a running service, and its SLO attainment.
struct History {
  std::string service = {};
  std::vector<double> rates = {};  // requests per second in each slot
  Seconds slot, window;
  sim::RequestShape lengths = {};
  double gpu_hours = 0;                 // over the window
  std::optional<double> over_slo = {};  // share of requests; empty: not published
};

struct PlannedPrice {
  std::optional<double> usd_per_gpu_hour = {};
  std::string source = {};
};

struct AutoscaleInput {
  BatchOffer offer;  // one replica and its GPUs
  std::optional<double> usd_per_gpu_hour = {};
  autoscale::HourlyPrices market = {};  // the same GPU on other terms
  autoscale::ClusterConfig cluster = {};
  autoscale::Startup startup = {};
  // Faster ways to start, with the start-up each gives. Only if the start-up is estimated stage by stage.
  std::vector<std::pair<std::string, autoscale::Startup>> faster_starts = {};
  autoscale::Traffic traffic = {};       // empty: report the start-up only
  std::optional<sim::Diurnal> day = {};  // if the traffic is synthetic: its rate over time
  sim::RequestShape lengths = {};
  bool constant = false;  // the rate never changes
  std::string traffic_words = {};
  std::optional<History> history = {};
  std::vector<autoscale::Policy> policies = {};
  std::vector<std::string> emit = {};
  std::string name = {}, stack = "vllm";  // for the files of --emit

  double gpu_hours(double replica_seconds) const { return replica_seconds * offer.replica.gpus / 3600; }
  std::optional<double> usd(double replica_seconds) const {
    return usd_per_gpu_hour ? std::optional(*usd_per_gpu_hour * gpu_hours(replica_seconds)) : std::nullopt;
  }
};

void declare(FlagSet& command, AutoscaleFlags& flags);
Checked<AutoscaleInput> read_input(const AutoscaleFlags& flags);

// Reads the service of --prometheus or --from. Sets model, GPU, split, format and engine where no flag does, and the
// speed from the measured times per token.
Checked<History> read_history(AutoscaleFlags& flags);

// Reads --plan. Sets the replica, its SLOs and its traffic where no flag does.
Checked<PlannedPrice> read_replica_plan(AutoscaleFlags& flags);

}  // namespace rightsize::app
