#include "capacity/busiest.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::capacity {
namespace {

// Hours with these numbers of requests each, evenly spaced.
std::shared_ptr<sim::Trace> trace_of_hours(const std::vector<int>& requests) {
  auto trace = std::make_shared<sim::Trace>();
  trace->file = "day.csv";
  trace->has_tokens = true;
  for (std::size_t hour = 0; hour < requests.size(); ++hour) {
    for (int i = 0; i < requests[hour]; ++i) {
      const Seconds at = hours(static_cast<double>(hour) + static_cast<double>(i) / requests[hour]);
      trace->arrivals.push_back({.at = sim::to_sim_time(at), .size = 100, .output = 10});
    }
  }
  return trace;
}

// The part contains the busiest hour, or its densest stretch, wherever it is in the recording.
RC_GTEST_PROP(Busiest, BusiestHourIsFoundWhereverItIs, ()) {
  std::vector<int> requests(*rc::gen::inRange<std::size_t>(3, 12), *rc::gen::inRange(10, 200));
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, requests.size());
  const int busy = *rc::gen::inRange(1'000, 3'000);
  requests[at] = busy;
  const auto most = static_cast<std::uint64_t>(*rc::gen::element(500, 100'000));
  const std::shared_ptr<const sim::Trace> part = busiest_part(trace_of_hours(requests), most);
  const std::size_t measured = part->arrivals.size() - part->warm_up;
  RC_ASSERT(measured <= most);
  RC_ASSERT(part->arrivals.front().at == 0);
  RC_ASSERT(std::ranges::is_sorted(part->arrivals, {}, &sim::Arrival::at));
  const Seconds lasted = sim::from_sim_time(part->arrivals.back().at - part->arrivals[part->warm_up].at);
  const double rate = static_cast<double>(measured) / std::max(1.0, in_seconds(lasted));
  RC_ASSERT(rate >= 0.9 * busy / 3600.0);
}

TEST(Busiest, ShortRecordingsAndGeneratedTrafficStayWhole) {
  const std::shared_ptr<const sim::Trace> hour = trace_of_hours({50});
  EXPECT_EQ(busiest_part(hour, 100), hour);
  const std::shared_ptr<sim::Trace> generated = trace_of_hours({50, 500, 50});
  generated->file.clear();
  EXPECT_EQ(busiest_part(generated, 100), generated);
  EXPECT_FALSE(is_recorded(std::shared_ptr<const sim::Trace>(generated)));
}

}  // namespace
}  // namespace rightsize::capacity
