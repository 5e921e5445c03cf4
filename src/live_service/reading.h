// What was read of a running service, before anything is concluded from it. Two producers fill it: read_server.h from
// aggregates a metrics server computed, read_files.h from scrapes.
//
// Times are seconds since 1970. What was not published stays missing. A counter's figure is its increase over the
// window: a fall is a restart from zero.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live_service/histogram.h"
#include "live_service/metric_names.h"

namespace rightsize::live_service {

// A gauge over the window, of all replicas together (requests) or on average (shares).
struct GaugeUse {
  double mean = 0, p95 = 0, max = 0;
};

// One clock hour of the window.
struct HourReading {
  double requests = 0;
  double tokens = 0;                 // entries of the histogram of times per token
  std::optional<double> tpot, ttft;  // means, seconds
  std::optional<double> prefill;     // mean, seconds
  double replicas = 0;               // that were read, mean
};

// GPUs of one kind a service had.
struct GpuReading {
  std::string name;                // as the driver says: "NVIDIA H200"
  double gpu_seconds = 0;          // by fleet's definition of a GPU-hour
  double per_replica = 1;          // GPUs a replica has, the usual number
  std::optional<double> activity;  // mean share of time with work
};

// The means of an hour and the histograms they are of; of two for one mean the later counts.
struct HourlyMean {
  Signal signal;
  std::optional<double> HourReading::*mean;
};
inline constexpr HourlyMean kHourlyMeans[] = {{Signal::kInterToken, &HourReading::tpot},
                                              {Signal::kTpot, &HourReading::tpot},
                                              {Signal::kTtft, &HourReading::ttft},
                                              {Signal::kPrefill, &HourReading::prefill}};

struct ServiceReading {
  std::string space, workload;  // Kubernetes namespace, the pods' common name; or the job
  std::string model;            // as served; empty: the engine does not say
  Engine engine = Engine::kVllm;
  std::vector<std::string> replicas;  // pods or instances seen in the window
  double from = 0, until = 0;

  std::map<Signal, double> counters;
  std::map<Signal, Histogram> histograms;
  std::map<Signal, GaugeUse> gauges;

  double step = 60;              // seconds of each entry of `finished`
  std::vector<double> finished;  // requests that ended in each step, all replicas together
  std::vector<HourReading> hours;
  int replicas_now = 0, least_replicas = 0, most_replicas = 0;
  double replica_seconds = 0;  // engines that answered, added up
  double restarts = 0;
  double kv_tokens = 0;          // a replica's cache, where its engine says so
  std::vector<GpuReading> gpus;  // a kind each, the most used first; empty: nothing tells which
  std::vector<std::string> notes;

  double seconds() const { return until - from; }
  std::string name() const { return space.empty() ? workload : space + "/" + workload; }
  const Histogram* histogram(Signal signal) const;
  std::optional<double> counter(Signal signal) const;
  const GaugeUse* gauge(Signal signal) const;
};

// One replica's counter as it was read.
struct CounterPoint {
  double time = 0, value = 0;
};

// Adds what a counter grew by to steps of equal width from `from`: what it grew by between two readings is spread
// evenly over the time between them. A fall is a restart: the engine began again at zero somewhere between. Growth
// before the first reading is not known and not counted.
void spread_increase(const std::vector<CounterPoint>& points, double from, double step, std::vector<double>& into);

}  // namespace rightsize::live_service
