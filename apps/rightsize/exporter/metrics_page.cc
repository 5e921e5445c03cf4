#include "rightsize/exporter/metrics_page.h"

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {

void MetricsPage::succeeded(std::string text, TimePoint now, Seconds took) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  error_.clear();
  took_ = took;
  last_success_ = last_attempt_ = now;
  ++measurements_;
}

void MetricsPage::failed(std::string why, TimePoint now) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(why);
  last_attempt_ = now;
  ++measurements_;
  ++failures_;
}

std::string MetricsPage::metrics(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  auto add = [&](const char* name, const char* type, const char* help, double value) {
    text +=
        fmt::format("# HELP rightsize_{0} {1}\n# TYPE rightsize_{0} {2}\nrightsize_{0} {3}\n", name, help, type, value);
  };
  add("measurements_total", "counter", "measurements attempted", static_cast<double>(measurements_));
  add("failed_measurements_total", "counter", "measurements that failed", static_cast<double>(failures_));
  add("last_measurement_success", "gauge", "1 if the last measurement succeeded",
      last_attempt_ && error_.empty() ? 1 : 0);
  if (last_attempt_)
    add("last_measurement_timestamp_seconds", "gauge", "time of the last attempt", in_unix_seconds(*last_attempt_));
  if (last_success_) {
    add("last_success_timestamp_seconds", "gauge", "time of the last success", in_unix_seconds(*last_success_));
    add("measurement_duration_seconds", "gauge", "duration of the last successful measurement", in_seconds(took_));
  }
  return is_fresh(now) ? text + text_ : text;
}

Health MetricsPage::health(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  if (measurements_ == 0) return {false, "nothing has been measured yet\n"};
  const std::string age = last_success_ ? format_duration(now - *last_success_) : "";
  if (is_fresh(now)) {
    const std::string failure = error_.empty() ? "" : "; the last attempt failed: " + error_;
    return {true, fmt::format("ok: measured {} ago{}\n", age, failure)};
  }
  const std::string since = last_success_ ? fmt::format("last success {} ago", age) : "no measurement has succeeded";
  return {false, fmt::format("{}: {}\n", since, error_.empty() ? "no measurement since" : error_)};
}

}  // namespace rightsize::app
