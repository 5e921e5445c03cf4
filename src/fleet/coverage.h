// The time that readings cover, whatever order they come in: what a GPU-hour is counted from (see use.h).
#pragma once

#include <cstddef>
#include <vector>

namespace rightsize::fleet {

// Seconds since 1970, from `from` to before `until`.
struct Interval {
  double from = 0, until = 0;

  double length() const { return until - from; }
  auto operator<=>(const Interval&) const = default;
};

// The readings of one series as stretches in which they are close together. Its size depends on how often the series
// broke off, not on how many readings it had: at most one stretch every five minutes, in any order.
class Coverage {
 public:
  void add(double time) {
    if (newest_ < stretches_.size()) {
      Stretch& s = stretches_[newest_];
      const double gap = time - s.last;
      // In order, which is nearly always: the newest stretch grows. A reading at the same time is no news.
      if (gap > 0 && gap <= kConnected) {
        if (s.gap > 0 && gap > 2 * static_cast<double>(s.gap)) filled_ += gap - static_cast<double>(s.gap);
        s.last = time;
        s.gap = static_cast<float>(gap);
        return;
      }
      if (gap == 0) return;
    }
    insert(time);
  }

  bool empty() const { return stretches_.empty(); }
  double first() const { return stretches_.front().first; }
  double last() const { return stretches_.back().last; }
  // Seconds within stretches that lay between readings more than twice as far apart as those before.
  double filled() const { return filled_; }

  // Seconds between two readings, the usual ones; 0 when a single reading is all there is.
  double usual_interval() const;

  // What the readings cover: gaps up to gap_limit(usual) are filled, and every stretch goes on for one of its own
  // intervals, the last one it had. `usual` counts for stretches of a single reading.
  std::vector<Interval> intervals(double usual) const;

 private:
  static constexpr double kConnected = 300;

  struct Stretch {
    double first = 0, last = 0;
    float gap = 0;  // between the last reading and the nearest one before it; 0: there is none
  };

  void insert(double time);
  void join(std::size_t at);

  std::vector<Stretch> stretches_;  // in order, more than kConnected apart
  std::size_t newest_ = 0;          // the last in time
  double filled_ = 0;
};

// The same times without overlaps, in order.
std::vector<Interval> unite(std::vector<Interval> intervals);
// What of `a` is not in `b`; both as unite() gives them.
std::vector<Interval> subtract(const std::vector<Interval>& a, const std::vector<Interval>& b);
double total(const std::vector<Interval>& intervals);

// Whose an interval is. Owners are numbers from 0.
struct OwnedInterval {
  Interval time;
  std::size_t owner = 0;
};

// Seconds by owner. Owners present at the same moment have equal parts of it; `nobody` (an owner's number) counts only
// while no other is present. Nothing counts outside of `within`, which is as unite() gives it.
std::vector<double> share_time(const std::vector<OwnedInterval>& intervals, const std::vector<Interval>& within,
                               std::size_t owners, std::size_t nobody);

}  // namespace rightsize::fleet
