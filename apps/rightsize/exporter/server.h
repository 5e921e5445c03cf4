// A small HTTP server with one page; the only place that knows cpp-httplib.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace rightsize::app {

class MetricsServer {
 public:
  // `page` is called for every request to /metrics, from any thread.
  explicit MetricsServer(std::function<std::string()> page);
  ~MetricsServer();

  // Listens in a thread of its own; the address with the port that was taken. "127.0.0.1:0" takes a free one.
  Result<std::string> start(const std::string& listen);
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::app
