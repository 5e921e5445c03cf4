// What an exporter says between two measurements. A source that fails must show: old values are withdrawn after a
// while, failures are counted as they happen, and the time of the last success is always there.
//
//   Published page(stale_after);
//   page.succeeded(emit_metrics(...), now, took);      // or page.failed("connection refused", now)
//   page.metrics(now), page.health(now)
//
// Safe to use from several threads.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/usage_units.h"

namespace rightsize::fleet {

struct Health {
  bool good = false;
  std::string text;  // one line: "ok: measured 12 s ago", "the last success was 1 h ago: connection refused"
};

class Published {
 public:
  explicit Published(Seconds stale_after) : stale_after_(stale_after) {}

  void succeeded(std::string text, TimePoint now, Seconds took);
  void failed(std::string why, TimePoint now);

  // The exporter's own metrics, and the fleet's while they are not stale.
  std::string metrics(TimePoint now) const;
  // Good while there is a measurement that is not stale.
  Health health(TimePoint now) const;

 private:
  bool fresh(TimePoint now) const { return last_success_ && now - *last_success_ <= stale_after_; }

  mutable std::mutex mutex_;
  Seconds stale_after_, took_;
  std::string text_, error_;
  std::optional<TimePoint> last_success_, last_attempt_;
  unsigned long measurements_ = 0, failures_ = 0;
  bool last_good_ = false;
};

}  // namespace rightsize::fleet
