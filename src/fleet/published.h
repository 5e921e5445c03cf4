// What an exporter says between two measurements. A source that fails must show: old values are withdrawn after a
// while, failures are counted as they happen, and the time of the last success is always there.
//
//   Published page(stale_after);
//   page.succeeded(emit_metrics(...), now, took);      // or page.failed("connection refused", now)
//   page.metrics(now), page.health(now)
//
// Times are seconds since 1970. Safe to use from several threads.
#pragma once

#include <mutex>
#include <string>

#include "base/units.h"

namespace rightsize::fleet {

struct Health {
  bool good = false;
  std::string text;  // one line: "ok: measured 12 s ago", "the last success was 1 h ago: connection refused"
};

class Published {
 public:
  explicit Published(Seconds stale_after) : stale_after_(stale_after) {}

  void succeeded(std::string text, double now, Seconds took);
  void failed(std::string why, double now);

  // The exporter's own metrics, and the fleet's while they are not stale.
  std::string metrics(double now) const;
  // Good while there is a measurement that is not stale.
  Health health(double now) const;

 private:
  bool fresh(double now) const { return last_success_ > 0 && now - last_success_ <= in_seconds(stale_after_); }

  mutable std::mutex mutex_;
  Seconds stale_after_, took_;
  std::string text_, error_;
  double last_success_ = 0, last_attempt_ = 0;
  unsigned long measurements_ = 0, failures_ = 0;
  bool last_good_ = false;
};

}  // namespace rightsize::fleet
