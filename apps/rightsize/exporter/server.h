// A small HTTP server with two pages, /metrics and /healthz; the only place that knows cpp-httplib.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace rightsize::app {

class MetricsServer {
 public:
  // `page` is called for every request to /metrics, `health` (status code and text) for /healthz, from any thread.
  MetricsServer(std::function<std::string()> page, std::function<std::pair<int, std::string>()> health);
  ~MetricsServer();

  // Listens in a thread of its own; the address with the port that was taken. "127.0.0.1:0" takes a free one.
  Result<std::string> start(const std::string& listen);
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::app
