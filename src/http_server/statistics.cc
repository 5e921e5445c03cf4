#include "http_server/statistics.h"

#include <ctime>

#include <fmt/format.h>

namespace rightsize::http_server {
namespace {

constexpr double kBuckets[] = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30};  // seconds

// Text from outside, safe in a log: printable ASCII, at most 200 characters.
std::string for_log(std::string_view text) {
  std::string safe(text.substr(0, 200));
  for (char& c : safe) c = c >= ' ' && c < 0x7f ? c : '?';
  return safe;
}

}  // namespace

double& ServerStatistics::series(const std::string& name, const char* help, const char* type,
                                 const std::string& labels) {
  Metric& metric = metrics_[name];
  metric.help = help, metric.type = type;
  return metric.series[labels];
}

void ServerStatistics::count_request(std::string_view route, int status, std::chrono::duration<double> took) {
  const std::lock_guard lock(mutex_);
  ++series("rightsize_server_requests_total", "requests answered", "counter",
           fmt::format("{{route=\"{}\",code=\"{}\"}}", route, status));
  const auto seconds = [&](const std::string& labels) -> double& {
    return series("rightsize_server_request_seconds", "time to respond", "histogram", labels);
  };
  for (const double bound : kBuckets)
    seconds(fmt::format("_bucket{{route=\"{}\",le=\"{}\"}}", route, bound)) += took.count() <= bound ? 1 : 0;
  ++seconds(fmt::format("_bucket{{route=\"{}\",le=\"+Inf\"}}", route));
  seconds(fmt::format("_sum{{route=\"{}\"}}", route)) += took.count();
  ++seconds(fmt::format("_count{{route=\"{}\"}}", route));
}

void ServerStatistics::count_refusal(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  ++series("rightsize_server_refused_total", "requests and connections refused", "counter",
           fmt::format("{{reason=\"{}\"}}", reason));
}

void ServerStatistics::set(const std::string& name, const std::string& help, double value) {
  const std::lock_guard lock(mutex_);
  series(name, help.c_str(), "gauge", "") = value;
}

std::string ServerStatistics::metrics() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [name, metric] : metrics_) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, metric.help, metric.type);
    for (const auto& [labels, value] : metric.series) text += fmt::format("{}{} {}\n", name, labels, value);
  }
  return text;
}

void RefusalLog::refuse(std::string_view peer, std::string_view what, int status, std::string_view reason,
                        std::chrono::system_clock::time_point now) {
  const auto second = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  if (second != second_) {
    if (unwritten_ > 0) write_(fmt::format("refused {} more\n", unwritten_));
    second_ = second, lines_ = 0, unwritten_ = 0;
  }
  if (++lines_ > kLinesPerSecond) {
    ++unwritten_;
    return;
  }
  const std::time_t moment = std::chrono::system_clock::to_time_t(now);
  std::tm utc{};
  gmtime_r(&moment, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
  write_(fmt::format("{} refused {} {} {}: {}\n", stamp, for_log(peer), status, for_log(what), reason));
}

}  // namespace rightsize::http_server
