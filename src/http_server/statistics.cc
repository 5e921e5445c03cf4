#include "http_server/statistics.h"

#include <ctime>

#include <fmt/format.h>

namespace rightsize::http_server {

void Statistics::count_request(std::string_view route, int status, std::chrono::duration<double> took) {
  const std::lock_guard lock(mutex_);
  auto found = routes_.find(route);
  if (found == routes_.end()) found = routes_.emplace(route, Route{}).first;
  Route& r = found->second;
  ++r.by_status[status];
  ++r.count;
  r.seconds += took.count();
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    if (took.count() <= kBounds[i]) ++r.within[i];
  }
}

void Statistics::count_refusal(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  auto found = refusals_.find(reason);
  if (found == refusals_.end()) found = refusals_.emplace(reason, 0).first;
  ++found->second;
}

void Statistics::set(const std::string& name, const std::string& help, double value) {
  const std::lock_guard lock(mutex_);
  values_[name] = {help, false, value};
}

void Statistics::add(const std::string& name, const std::string& help, double value) {
  const std::lock_guard lock(mutex_);
  Value& kept = values_[name];
  kept.help = help, kept.counts = true, kept.value += value;
}

std::string Statistics::metrics() const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "# HELP rightsize_server_requests_total requests answered\n# TYPE rightsize_server_requests_total counter\n";
  for (const auto& [name, route] : routes_) {
    for (const auto& [status, count] : route.by_status)
      text += fmt::format("rightsize_server_requests_total{{route=\"{}\",code=\"{}\"}} {}\n", name, status, count);
  }
  text +=
      "# HELP rightsize_server_request_seconds time to the answer\n"
      "# TYPE rightsize_server_request_seconds histogram\n";
  for (const auto& [name, route] : routes_) {
    for (std::size_t i = 0; i < kBounds.size(); ++i)
      text += fmt::format("rightsize_server_request_seconds_bucket{{route=\"{}\",le=\"{}\"}} {}\n", name, kBounds[i],
                          route.within[i]);
    text += fmt::format(
        "rightsize_server_request_seconds_bucket{{route=\"{0}\",le=\"+Inf\"}} {1}\n"
        "rightsize_server_request_seconds_sum{{route=\"{0}\"}} {2}\n"
        "rightsize_server_request_seconds_count{{route=\"{0}\"}} {1}\n",
        name, route.count, route.seconds);
  }
  text +=
      "# HELP rightsize_server_refused_total requests and connections refused\n"
      "# TYPE rightsize_server_refused_total counter\n";
  for (const auto& [reason, count] : refusals_)
    text += fmt::format("rightsize_server_refused_total{{reason=\"{}\"}} {}\n", reason, count);
  for (const auto& [name, value] : values_)
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, value.help,
                        value.counts ? "counter" : "gauge", value.value);
  return text;
}

void RefusalLog::refuse(std::string_view peer, std::string_view what, int status, std::string_view reason,
                        std::chrono::system_clock::time_point now) {
  const auto second = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  if (second != second_) {
    if (unwritten_ > 0) write_(fmt::format("refused {} more\n", unwritten_));
    second_ = second, lines_ = 0, unwritten_ = 0;
  }
  if (++lines_ > kLinesASecond) {
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

std::string for_log(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string safe;
  for (const char c : text.substr(0, kLongest)) safe += c > 0x20 && c < 0x7f ? c : (c == ' ' ? ' ' : '?');
  return safe;
}

}  // namespace rightsize::http_server
