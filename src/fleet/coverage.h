// The time that readings cover, whatever order they come in: what a GPU-hour is counted from (see use.h).
#pragma once

#include <cstddef>
#include <vector>

#include "base/usage_units.h"

namespace rightsize::fleet {

// From `from` to before `until`.
struct Interval {
  TimePoint from, until;

  Seconds length() const { return until - from; }
  auto operator<=>(const Interval&) const = default;
};

// The readings of one series as stretches in which they are close together. Its size depends on how often the series
// broke off, not on how many readings it had: at most one stretch every five minutes, in any order.
class Coverage {
 public:
  void add(TimePoint time) {
    if (newest_ < stretches_.size()) {
      Stretch& s = stretches_[newest_];
      const Seconds gap = time - s.last, before = seconds(static_cast<double>(s.gap));
      // In order, which is nearly always: the newest stretch grows. A reading at the same time is no news.
      if (gap > Seconds{} && gap <= kConnected) {
        if (s.gap > 0 && gap > 2 * before) filled_ += gap - before;
        s.last = time;
        s.gap = static_cast<float>(in_seconds(gap));
        return;
      }
      if (gap == Seconds{}) return;
    }
    insert(time);
  }

  bool empty() const { return stretches_.empty(); }
  TimePoint first() const { return stretches_.front().first; }
  TimePoint last() const { return stretches_.back().last; }
  // Time within stretches that lay between readings more than twice as far apart as those before.
  Seconds filled() const { return filled_; }

  // Between two readings, the usual ones; 0 when a single reading is all there is.
  Seconds usual_interval() const;

  // What the readings cover: gaps up to gap_limit(usual) are filled, and every stretch goes on for one of its own
  // intervals, the last one it had. `usual` counts for stretches of a single reading.
  std::vector<Interval> intervals(Seconds usual) const;

 private:
  static constexpr Seconds kConnected = seconds(300);

  struct Stretch {
    TimePoint first, last;
    float gap = 0;  // seconds between the last reading and the nearest one before it; 0: there is none
  };

  void insert(TimePoint time);
  void join(std::size_t at);

  std::vector<Stretch> stretches_;  // in order, more than kConnected apart
  std::size_t newest_ = 0;          // the last in time
  Seconds filled_;
};

// The same times without overlaps, in order.
std::vector<Interval> unite(std::vector<Interval> intervals);
// What of `a` is not in `b`; both as unite() gives them.
std::vector<Interval> subtract(const std::vector<Interval>& a, const std::vector<Interval>& b);
Seconds total(const std::vector<Interval>& intervals);

// Whose an interval is. Owners are numbers from 0.
struct OwnedInterval {
  Interval time;
  std::size_t owner = 0;
};

// Time by owner. Owners present at the same moment have equal parts of it; `nobody` (an owner's number) counts only
// while no other is present. Nothing counts outside of `within`, which is as unite() gives it.
std::vector<Seconds> share_time(const std::vector<OwnedInterval>& intervals, const std::vector<Interval>& within,
                                std::size_t owners, std::size_t nobody);

}  // namespace rightsize::fleet
