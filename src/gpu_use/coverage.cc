#include "gpu_use/coverage.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "gpu_use/use.h"

namespace rightsize::gpu_use {

Seconds median(std::vector<Seconds> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Out of order, or after a break.
void Coverage::insert(TimePoint time) {
  const auto behind = std::upper_bound(stretches_.begin(), stretches_.end(), time,
                                       [](TimePoint t, const Stretch& s) { return t < s.first; });
  auto at = static_cast<std::size_t>(behind - stretches_.begin());
  if (at > 0 && time - stretches_[at - 1].last <= kConnected) {
    Stretch& before = stretches_[at - 1];
    const double gap = in_seconds(time - before.last);
    if (gap > 0) {
      before.last = time;
      before.gap = static_cast<float>(gap);
      join(at - 1);
    } else if (gap < 0 && (before.gap == 0 || -gap < static_cast<double>(before.gap))) {
      before.gap = static_cast<float>(-gap);  // closer to the last than any known one
    }
  } else if (at < stretches_.size() && stretches_[at].first - time <= kConnected) {
    Stretch& after = stretches_[at];
    if (after.gap == 0) after.gap = static_cast<float>(in_seconds(after.last - time));
    after.first = time;
  } else {
    stretches_.insert(behind, Stretch{time, time, 0});
  }
  newest_ = stretches_.size() - 1;
}

// A longer stretch may reach the next one.
void Coverage::join(std::size_t at) {
  if (at + 1 >= stretches_.size()) return;
  Stretch& before = stretches_[at];
  const Stretch after = stretches_[at + 1];
  if (after.first - before.last > kConnected) return;
  before.gap = after.gap > 0 ? after.gap : static_cast<float>(in_seconds(after.first - before.last));
  before.last = after.last;
  stretches_.erase(stretches_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

// Readings more than five minutes apart are separate stretches; their distance is then the interval.
Seconds Coverage::usual_interval() const {
  std::vector<Seconds> gaps, distances;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    if (stretches_[i].gap > 0) gaps.push_back(seconds(static_cast<double>(stretches_[i].gap)));
    if (i > 0) distances.push_back(stretches_[i].first - stretches_[i - 1].first);
  }
  const std::size_t single = stretches_.size() - gaps.size();
  if (gaps.empty() || (single > 2 && single > gaps.size())) return median(std::move(distances));
  return median(std::move(gaps));
}

std::vector<TimeSpan> Coverage::intervals(Seconds usual) const {
  const Seconds limit = gap_limit(usual);
  std::vector<TimeSpan> covered;
  TimePoint reach;  // the last reading of the newest interval
  for (const Stretch& s : stretches_) {
    const Seconds own = s.gap > 0 ? seconds(static_cast<double>(s.gap)) : usual;
    if (!covered.empty() && s.first - reach <= limit) {
      covered.back().until = s.last + own;
    } else {
      covered.push_back({s.first, s.last + own});
    }
    reach = s.last;
  }
  return covered;
}

std::vector<TimeSpan> unite(std::vector<TimeSpan> intervals) {
  std::ranges::sort(intervals);
  std::vector<TimeSpan> united;
  for (const TimeSpan& i : intervals) {
    if (i.length() <= Seconds{}) continue;
    if (!united.empty() && i.from <= united.back().until) {
      united.back().until = std::max(united.back().until, i.until);
    } else {
      united.push_back(i);
    }
  }
  return united;
}

std::vector<TimeSpan> subtract(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b) {
  std::vector<TimeSpan> left;
  std::size_t first = 0;
  for (TimeSpan rest : a) {
    while (first < b.size() && b[first].until <= rest.from) ++first;
    for (std::size_t i = first; i < b.size() && b[i].from < rest.until; ++i) {
      if (b[i].from > rest.from) left.push_back({rest.from, b[i].from});
      rest.from = std::max(rest.from, b[i].until);
    }
    if (rest.length() > Seconds{}) left.push_back(rest);
  }
  return left;
}

Seconds total(const std::vector<TimeSpan>& intervals) {
  Seconds sum;
  for (const TimeSpan& i : intervals) sum += i.length();
  return sum;
}

void for_each_period(const std::vector<OwnedSpan>& spans, const VisitPeriod& visit) {
  std::vector<std::tuple<TimePoint, int, std::size_t>> edges;  // time, +1 for a start or -1 for an end, and the owner
  edges.reserve(2 * spans.size());
  for (const auto& [time, owner] : spans) {
    if (time.length() <= Seconds{}) continue;
    edges.emplace_back(time.from, +1, owner);
    edges.emplace_back(time.until, -1, owner);
  }
  std::ranges::sort(edges);
  std::map<std::size_t, int> open;
  std::set<std::size_t> present;
  TimePoint before;
  for (const auto& [time, change, owner] : edges) {
    if (!present.empty() && time > before) visit(time - before, present);
    before = time;
    const int now = open[owner] += change;
    if (now > 0) present.insert(owner);
    if (now == 0) present.erase(owner);
  }
}

std::vector<Seconds> share_time(std::vector<OwnedSpan> spans, const std::vector<TimeSpan>& within, std::size_t owners,
                                std::size_t unowned) {
  std::vector<Seconds> shares(owners);
  const std::size_t counts = owners;  // represents `within`
  for (const TimeSpan& time : within) spans.push_back({time, counts});
  for_each_period(spans, [&](Seconds length, const std::set<std::size_t>& present) {
    if (!present.contains(counts)) return;
    const std::size_t others = unowned < owners ? 1 + present.count(unowned) : 1;
    const auto named = static_cast<double>(present.size() - others);
    for (std::size_t owner : present) {
      if (owner == counts || (owner == unowned && named > 0)) continue;
      shares[owner] += length / std::max(1.0, named);
    }
  });
  return shares;
}

}  // namespace rightsize::gpu_use
