// A fleet's use from a Prometheus-compatible server: Prometheus, VictoriaMetrics (single or cluster), Thanos, Mimir,
// Grafana Cloud.
//
//   auto scan = scan_server({.url = "http://prometheus:9090", .window = days(7)});
//
// The scan first finds the API, the metric names and the labels, and divides the fleet into shards of GPUs. It queries
// several shards at a time (promql.h). A query that is too large for the server is split into shorter periods, then
// into fewer GPUs, which does not change the result. A shard that cannot be read, or for which the server returns
// nothing although it lists its GPUs, is left out and reported.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu_use/promql.h"
#include "gpu_use/use.h"
#include "http/http.h"
#include "telemetry/feeds/interpret.h"

namespace rightsize::gpu_use {

struct Progress {
  std::size_t done = 0, shards = 0, gpus = 0;
  std::size_t requests = 0, retries = 0;
};

struct ServerOptions {
  std::string url;
  http::Auth auth;
  http::Policy policy;
  Seconds window = days(7);
  std::optional<TimePoint> end;     // if not set: now, by the server's clock
  std::optional<Seconds> interval;  // between readings; if not set, determined for each GPU
  std::string matchers;             // additional label matchers: cluster="a",env="prod"
  std::size_t shard = 96;           // GPUs per shard
  int parallel = 2;                 // shards at a time
  std::string resume;               // folder of answers that lets an interrupted run continue; may be empty
  telemetry::NameMap names;
  IdleRule idle;
  std::function<void(const Progress&)> progress;  // called from any thread, one at a time
};

struct Scan {
  std::vector<GpuUse> gpus;
  Sources sources;
  LabelNames labels;
  std::vector<std::string> notes;     // caveats: missing metrics, clock skew, duplicates
  std::vector<std::string> failures;  // shards that could not be read, and why
  double share_read = 1;              // of the GPUs the server lists
  Progress traffic;
};

// The labels, among those present, that identify hosts, GPUs and models.
LabelNames label_names(const std::vector<std::string>& present, const telemetry::NameMap& names);

// Fails if the server cannot be reached or has no GPU metrics; the error lists the names that are known.
Result<Scan> scan_server(const ServerOptions& options);

}  // namespace rightsize::gpu_use
