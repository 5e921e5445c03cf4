// Finds running services on a Prometheus-compatible server, or in files, and reads their metrics.
//
//   auto services = read_services({.url = "http://prometheus:9090", .window = days(7)});
//
// The server aggregates: an answer has one number per service, bucket and hour. When requests finished is read per
// replica, on a grid that keeps an answer below a million points. A query that is too large for the server is split in
// time. GPUs and GPU-hours come from fleet.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/usage_units.h"
#include "http/http.h"
#include "live_service/reading.h"

namespace rightsize::live_service {

struct ServerSource {
  std::string url;
  http::Auth auth = {};
  http::Policy policy = {};
  Seconds window = days(7);
  std::optional<TimePoint> end = {};  // empty: now, by the server's clock
  std::string matchers;               // cluster="a",namespace="chat"
  std::function<void(const std::string& what)> progress = {};
};

struct ServicesRead {
  std::vector<ServiceReading> services;  // by name
  std::vector<std::string> notes;
  std::size_t requests = 0, retries = 0;  // sent to the server
};

// Fails if the server cannot be reached or has no metrics of any engine.
Result<ServicesRead> read_services(const ServerSource& source);

// The same from files: scrapes of /metrics, or JSON exports of a metrics server. A scrape names neither pod nor time:
// the files of one folder belong to one replica, and a file's time is that of its lines, or else of its last
// modification. A single scrape covers the time since its engine started: its process_start_time_seconds, `since`, or
// unknown (see ServiceReading::timed). Fails with the first file that cannot be read, and if no file has an engine's
// metrics.
struct SinceStart {
  std::optional<Seconds> uptime = {};
  std::optional<RequestsPerSecond> rate = {};  // mean rate since the start
  std::optional<Seconds> step = {};            // time between scrapes; copied files have lost their times
};
Result<ServicesRead> read_service_files(const std::vector<std::string>& files, const SinceStart& since = {});

}  // namespace rightsize::live_service
