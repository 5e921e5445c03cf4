// The exporter's /metrics and /healthz pages. To make a broken source visible, failures are counted and values older
// than `stale_after` are withdrawn. All functions may be called from several threads.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/usage_units.h"

namespace rightsize::app {

struct Health {
  bool good = false;
  std::string text;  // one line: "ok: measured 12 s ago", "last success 1 h ago: connection refused"
};

class MetricsPage {
 public:
  explicit MetricsPage(Seconds stale_after) : stale_after_(stale_after) {}

  void succeeded(std::string text, TimePoint now, Seconds took);
  void failed(std::string why, TimePoint now);

  // Metrics about the measurements themselves, followed by those of the fleet unless they are stale.
  std::string metrics(TimePoint now) const;
  // Healthy if there is a measurement that is not stale.
  Health health(TimePoint now) const;

 private:
  bool is_fresh(TimePoint now) const { return last_success_ && now - *last_success_ <= stale_after_; }

  mutable std::mutex mutex_;
  Seconds stale_after_, took_;
  std::string text_, error_;  // `error_` is empty if the last measurement succeeded
  std::optional<TimePoint> last_success_, last_attempt_;
  unsigned long measurements_ = 0, failures_ = 0;
};

}  // namespace rightsize::app
