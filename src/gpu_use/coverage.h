// The time that readings cover, in any order of arrival (see use.h for the definition of a GPU-hour).
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "base/usage_units.h"

namespace rightsize::gpu_use {

// From `from` to before `until`.
struct TimeSpan {
  TimePoint from, until;

  Seconds length() const { return until - from; }
  auto operator<=>(const TimeSpan&) const = default;
};

// The readings of one series as stretches of readings that are close together. Its size depends on the number of
// breaks, not of readings: at most one stretch every five minutes, in any order.
class Coverage {
 public:
  void add(TimePoint time) {
    if (newest_ < stretches_.size()) {
      Stretch& s = stretches_[newest_];
      const Seconds gap = time - s.last, before = seconds(static_cast<double>(s.gap));
      // Nearly all readings are in order and extend the newest stretch. A reading at the same time adds nothing.
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
  // Time within stretches between readings that are more than twice as far apart as the previous ones.
  Seconds filled() const { return filled_; }

  // The usual time between two readings; 0 if there is a single one.
  Seconds usual_interval() const;

  // The covered time: gaps up to gap_limit(usual) are filled, and every stretch continues for its own last interval, or
  // for `usual` if it is a single reading.
  std::vector<TimeSpan> intervals(Seconds usual) const;

 private:
  static constexpr Seconds kConnected = seconds(300);

  struct Stretch {
    TimePoint first, last;
    float gap = 0;  // seconds between the last reading and the nearest one before it; 0: a single reading
  };

  void insert(TimePoint time);
  void join(std::size_t at);

  std::vector<Stretch> stretches_;  // in order, more than kConnected apart
  std::size_t newest_ = 0;          // the latest
  Seconds filled_;
};

// The same times without overlaps, in order.
std::vector<TimeSpan> unite(std::vector<TimeSpan> intervals);
// The part of `a` that is not in `b`; both as returned by unite().
std::vector<TimeSpan> subtract(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b);
Seconds total(const std::vector<TimeSpan>& intervals);
Seconds median(std::vector<Seconds> values);  // 0 without any

// An interval of one owner. Owners are numbers from 0.
struct OwnedSpan {
  TimeSpan time;
  std::size_t owner = 0;
};

// Calls visit(length, present) for every period in which the same owners are present, at least one, in order.
using VisitPeriod = std::function<void(Seconds length, const std::set<std::size_t>& present)>;
void for_each_period(const std::vector<OwnedSpan>& spans, const VisitPeriod& visit);

// Time per owner. Owners present at the same moment get equal parts of it; `unowned` (an owner's number) counts only
// while no other is present. Only time in `within` (a result of unite()) counts.
std::vector<Seconds> share_time(std::vector<OwnedSpan> spans, const std::vector<TimeSpan>& within, std::size_t owners,
                                std::size_t unowned);

}  // namespace rightsize::gpu_use
