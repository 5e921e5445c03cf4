#include "fleet/published.h"

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::fleet {
namespace {

void say(std::string& text, const char* name, const char* type, const char* help, double value) {
  text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
}

}  // namespace

void Published::succeeded(std::string text, TimePoint now, Seconds took) {
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  took_ = took;
  last_success_ = last_attempt_ = now;
  last_good_ = true;
  ++measurements_;
}

void Published::failed(std::string why, TimePoint now) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(why);
  last_attempt_ = now;
  last_good_ = false;
  ++measurements_;
  ++failures_;
}

std::string Published::metrics(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  say(text, "rightsize_measurements_total", "counter", "measurements that were tried",
      static_cast<double>(measurements_));
  say(text, "rightsize_failed_measurements_total", "counter", "measurements that failed",
      static_cast<double>(failures_));
  say(text, "rightsize_last_measurement_success", "gauge", "1 when the last measurement succeeded", last_good_ ? 1 : 0);
  if (last_attempt_) {
    say(text, "rightsize_last_measurement_timestamp_seconds", "gauge", "when a measurement was last tried",
        in_unix_seconds(*last_attempt_));
  }
  if (last_success_) {
    say(text, "rightsize_last_success_timestamp_seconds", "gauge", "when a measurement last succeeded",
        in_unix_seconds(*last_success_));
    say(text, "rightsize_measurement_duration_seconds", "gauge", "how long the last success took", in_seconds(took_));
  }
  if (fresh(now)) text += text_;
  return text;
}

Health Published::health(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  if (fresh(now)) {
    const std::string again = last_good_ ? "" : "; the last try failed: " + error_;
    return {true, fmt::format("ok: measured {} ago{}\n", format_duration(now - *last_success_), again)};
  }
  if (measurements_ == 0) return {false, "nothing was measured yet\n"};
  const std::string since = last_success_
                                ? fmt::format("the last success was {} ago", format_duration(now - *last_success_))
                                : std::string("no measurement succeeded yet");
  return {false, fmt::format("{}: {}\n", since, error_)};
}

}  // namespace rightsize::fleet
