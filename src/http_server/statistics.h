// The server's own metrics in Prometheus format, and the log of refused requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace rightsize::http_server {

class ServerStatistics {
 public:
  void count_request(std::string_view route, int status, std::chrono::duration<double> took);
  void count_refusal(std::string_view reason);
  void set_connections(std::size_t now) {
    set("rightsize_server_connections", "open connections", static_cast<double>(now));
  }
  void set(const std::string& name, const std::string& help, double value);

  std::string metrics() const;

 private:
  struct Metric {
    std::string help, type;
    std::map<std::string, double> series;  // by labels: {route="/api/gpus",code="200"}, or empty
  };
  double& series(const std::string& name, const char* help, const char* type, const std::string& labels);

  mutable std::mutex mutex_;
  std::map<std::string, Metric> metrics_;
};

// One line per refusal, at most `kLinesPerSecond`; the rest of a flood is only counted.
class RefusalLog {
 public:
  using Write = std::function<void(const std::string& line)>;
  explicit RefusalLog(Write write) : write_(std::move(write)) {}

  static constexpr int kLinesPerSecond = 20;
  void refuse(std::string_view peer, std::string_view what, int status, std::string_view reason,
              std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

 private:
  Write write_;
  std::chrono::seconds second_{};
  int lines_ = 0;
  std::uint64_t unwritten_ = 0;
};

}  // namespace rightsize::http_server
