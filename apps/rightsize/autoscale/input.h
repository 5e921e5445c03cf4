// The flags of `rightsize autoscale` and their meaning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autoscale/bound.h"
#include "autoscale/purchase.h"
#include "autoscale/search.h"
#include "autoscale/startup.h"
#include "rightsize/batch/input.h"

namespace rightsize::app {

struct AutoscaleFlags {
  BatchFlags engine;  // model, GPU, step times, lengths, prices: as in `batch`
  std::string trace, rate_profile, slo, startup;
  std::optional<std::string> slo_percentile;
  std::vector<std::string> policies, emit;
  std::string name;
  std::optional<std::int64_t> most_in_flight;
  std::optional<Seconds> duration;
};

struct AutoscaleInput {
  BatchOffer offer;  // one replica and its GPUs
  std::optional<double> usd_per_gpu_hour = {};
  autoscale::HourlyPrices market = {};  // the same GPU on other terms
  autoscale::ClusterConfig cluster = {};
  autoscale::Startup startup = {};
  // Other ways to start, with what they shorten: only if the start-up is estimated by stage.
  std::vector<std::pair<std::string, autoscale::Startup>> faster_starts = {};
  autoscale::Traffic traffic = {};  // empty: only the start-up was asked for
  std::string traffic_words = {};
  std::vector<autoscale::Policy> policies = {};
  std::vector<std::string> emit = {};
  std::string name = {}, stack = "vllm";  // of the files in `emit`

  double gpu_hours(double replica_seconds) const { return replica_seconds * offer.replica.gpus / 3600; }
  std::optional<double> usd(double replica_seconds) const {
    return usd_per_gpu_hour ? std::optional(*usd_per_gpu_hour * gpu_hours(replica_seconds)) : std::nullopt;
  }
};

void declare(FlagSet& command, AutoscaleFlags& flags);
Checked<AutoscaleInput> read_input(const AutoscaleFlags& flags);

}  // namespace rightsize::app
