// What the server counts about itself, as Prometheus metrics, and the log of what it refused.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace rightsize::http_server {

class Statistics {
 public:
  void count_request(std::string_view route, int status, std::chrono::duration<double> took);
  void count_refusal(std::string_view reason);
  void set_connections(std::size_t now) {
    set("rightsize_server_connections", "open connections", static_cast<double>(now));
  }
  // A gauge of a route's own: kept answers, watchers.
  void set(const std::string& name, const std::string& help, double value);
  void add(const std::string& name, const std::string& help, double value);

  std::string metrics() const;

 private:
  static constexpr std::array<double, 9> kBounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};  // seconds
  struct Route {
    std::map<int, std::uint64_t> by_status;
    std::array<std::uint64_t, kBounds.size()> within{};  // not more than the bound
    std::uint64_t count = 0;
    double seconds = 0;
  };
  struct Value {
    std::string help;
    bool counts = false;
    double value = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Route, std::less<>> routes_;
  std::map<std::string, std::uint64_t, std::less<>> refusals_;
  std::map<std::string, Value> values_;
};

// One line a refusal; a flood of them is counted, not written: at most `kLinesASecond`.
class RefusalLog {
 public:
  using Write = std::function<void(const std::string& line)>;
  explicit RefusalLog(Write write) : write_(std::move(write)) {}

  static constexpr int kLinesASecond = 20;
  void refuse(std::string_view peer, std::string_view what, int status, std::string_view reason,
              std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

 private:
  Write write_;
  std::chrono::seconds second_{};
  int lines_ = 0;
  std::uint64_t unwritten_ = 0;
};

// Text from outside, safe to stand in a log: printable ASCII, at most 200 characters.
std::string for_log(std::string_view text);

}  // namespace rightsize::http_server
