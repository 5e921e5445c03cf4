// A fleet's use from a Prometheus-compatible server: Prometheus, VictoriaMetrics (also its cluster), Thanos, Mimir,
// Grafana Cloud.
//
//   auto scan = scan_server({.url = "http://prometheus:9090", .window = days(7)});
//
// The walk: find the API, the metric names and the labels; cut the fleet into shards of GPUs; per shard ask for
// aggregates (promql.h), several shards at a time; a question the server finds too large is put about less time, then
// about fewer GPUs, which does not change what it means. A shard that cannot be read, or of which nothing is heard
// though the server lists its GPUs, is left out and named.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/promql.h"
#include "fleet/use.h"
#include "http/http.h"
#include "telemetry/feeds/interpret.h"

namespace rightsize::fleet {

struct Progress {
  std::size_t done = 0, shards = 0, gpus = 0;
  std::size_t requests = 0, retries = 0;
};

struct ServerOptions {
  std::string url;
  http::Auth auth;
  http::Policy policy;
  Seconds window = days(7);
  std::optional<TimePoint> end;     // nothing: now, by the server's clock
  std::optional<Seconds> interval;  // between readings; nothing: found by looking, GPU by GPU
  std::string matchers;             // more label matchers: cluster="a",env="prod"
  std::size_t shard = 96;           // GPUs per round of questions
  int parallel = 2;
  std::string resume;  // a folder that keeps answers, so that a run that was cut off goes on; empty: none
  telemetry::NameMap names;
  IdleRule idle;
  std::function<void(const Progress&)> progress;  // called now and then, from any thread but one at a time
};

struct Scan {
  std::vector<GpuUse> gpus;
  Sources sources;
  LabelNames labels;
  TimePoint from, until;
  std::vector<std::string> notes;     // what a reader must know: metrics missing, clock skew, duplicates
  std::vector<std::string> failures;  // shards that could not be read, and why
  double share_read = 1;              // of the GPUs the server lists
  Progress traffic;
};

// Which of the labels of a series tell what.
LabelNames label_names(const std::vector<std::string>& present, const telemetry::NameMap& names);

// Fails when the server cannot be reached or has no GPU metrics at all (the error says which names were looked for).
Result<Scan> scan_server(const ServerOptions& options);

}  // namespace rightsize::fleet
