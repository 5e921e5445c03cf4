// Running services on a Prometheus-compatible server: which there are, and what they did.
//
//   auto services = read_services({.url = "http://prometheus:9090", .window = days(7)});
//
// The server adds up: answers are one number a service, bucket and hour, and for the busy hours one counter a replica
// at moments chosen so that an answer stays below a million points. A question the server finds too large is put about
// less time. GPUs and their hours are fleet's.
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
  std::optional<TimePoint> end = {};  // nothing: now, by the server's clock
  std::string matchers;               // cluster="a",namespace="chat"
  std::function<void(const std::string& what)> progress = {};
};

struct ServicesRead {
  std::vector<ServiceReading> services;  // by name
  std::vector<std::string> notes;
  std::size_t requests = 0, retries = 0;  // put to the server
};

// Fails when the server cannot be reached or has no engine's metrics at all.
Result<ServicesRead> read_services(const ServerSource& source);

}  // namespace rightsize::live_service
