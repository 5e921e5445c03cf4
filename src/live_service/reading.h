// The metrics of a running service, before anything is concluded from them. read_server.h fills it from aggregates of a
// metrics server, or from scrapes in files.
//
// Times are seconds since 1970. Unpublished metrics stay missing. The value of a counter is its increase over the
// window; a decrease is a restart from zero.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "live_service/histogram.h"
#include "live_service/metric_names.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::live_service {

inline constexpr double kHour = 3600;  // seconds

// A gauge over the window: the sum over replicas for requests, their mean for shares.
struct GaugeUse {
  double mean = 0, p95 = 0, max = 0;
};
GaugeUse gauge_use(std::vector<double> values);  // at least one value

// One clock hour of the window.
struct HourlyMean;
struct HourReading {
  double requests = 0;
  double tokens = 0;                 // entries of the inter-token latency histogram
  std::optional<double> tpot, ttft;  // means, seconds
  std::optional<double> prefill;     // mean, seconds
  double replicas = 0;               // mean number that published metrics

  // The growth of a histogram in this hour.
  void add(const HourlyMean& histogram, double sum, double count);
};

// GPUs of one type that a service used.
struct GpuReading {
  std::string name;            // as the driver reports it: "NVIDIA H200"
  double gpu_seconds = 0;      // see gpu_use/use.h
  double per_replica = 1;      // median number of GPUs per replica
  double powered_seconds = 0;  // of GPUs that reported power,
  double joules = 0;           // and their energy
};

// The hourly means and their histograms; if two provide the same mean, the first one that is published counts.
struct HourlyMean {
  Signal signal;
  std::optional<double> HourReading::*mean;
};
inline constexpr HourlyMean kHourlyMeans[] = {{Signal::kInterToken, &HourReading::tpot},
                                              {Signal::kTpot, &HourReading::tpot},
                                              {Signal::kTtft, &HourReading::ttft},
                                              {Signal::kPrefill, &HourReading::prefill}};

struct ServiceReading {
  std::string space, workload;  // Kubernetes namespace; the pods' common name, or the job
  std::string model;            // served name; empty: unpublished
  Engine engine = Engine::kVllm;
  std::vector<std::string> replicas;  // pods or instances in the window
  double from = 0, until = 0;

  std::map<Signal, double> counters;
  std::map<Signal, Histogram> histograms;
  std::map<Signal, GaugeUse> gauges;

  double step = 60;              // seconds per entry of `finished`
  std::vector<double> finished;  // requests that finished in each step, all replicas together
  std::vector<HourReading> hours;
  int replicas_now = 0, least_replicas = 0, most_replicas = 0;
  double replica_seconds = 0;  // sum over replicas of the time they published metrics
  double restarts = 0;
  std::vector<GpuReading> gpus;  // by type, most used first; empty: unknown
  std::vector<std::string> notes;

  // False for one scrape of an engine that does not state its start: the counters are totals since then, `from` is
  // arbitrary, and nothing per second is known.
  bool timed = true;

  double seconds() const { return until - from; }
  std::string name() const { return space.empty() ? workload : space + "/" + workload; }
  const Histogram* histogram(Signal signal) const;
  std::optional<double> counter(Signal signal) const;
  const GaugeUse* gauge(Signal signal) const;
};

// A sample of one replica's counter.
struct CounterPoint {
  double time = 0, value = 0;
};

// Adds the increase of a counter to steps of equal width that begin at `from`. The increase between two samples is
// spread evenly over the time between them. A decrease is a restart from zero. Growth before the first sample is
// unknown and not counted.
void spread_increase(const std::vector<CounterPoint>& points, double from, double step, std::vector<double>& into);

// Fills the numbers of replicas and the requests of each hour. `up` has the number of replicas that published metrics
// in each step of `finished`, and at the end. After a rollout, more replicas were seen in total than at any one time.
void count_replicas(ServiceReading& reading, const std::vector<double>& up);

// The replica, service and model of a series, from the labels that scrapers add.
struct SeriesOwner {
  std::string space_label, space;  // Kubernetes namespace
  std::string id_label, id;        // pod, else instance
  std::string model_label, model;
  std::string workload;  // the pods' common name; without pods, the service or job
};

SeriesOwner owner_of(const telemetry::Labels& labels, Engine engine);

// Every label that owner_of() uses.
const std::vector<std::string>& owner_labels();

bool belongs_to(const SeriesOwner& owner, Engine engine, const ServiceReading& reading);
// An empty reading of the service.
ServiceReading reading_of(Engine engine, const SeriesOwner& owner, double from, double until);

}  // namespace rightsize::live_service
