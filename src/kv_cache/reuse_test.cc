#include "kv_cache/reuse.h"

#include <list>
#include <unordered_map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize::kv_cache {
namespace {

using Request = std::vector<std::uint64_t>;

// A reference cache, for one size at a time.
std::uint64_t hits_by_force(const std::vector<Request>& trace, std::size_t room) {
  std::list<std::uint64_t> order;  // most recent first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> at;
  std::uint64_t hits = 0;
  for (const Request& blocks : trace) {
    for (const std::uint64_t block : blocks) {
      if (!at.contains(block)) break;
      ++hits;
    }
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      if (const auto found = at.find(*block); found != at.end()) order.erase(found->second);
      order.push_front(*block);
      at[*block] = order.begin();
    }
    while (order.size() > room) at.erase(order.back()), order.pop_back();
  }
  return hits;
}

// Conversations that grow after shared beginnings; some requests repeat an earlier one, some lists have repeated
// blocks.
std::vector<Request> random_trace(Random& random, int requests) {
  const auto below = [&](double n) { return static_cast<std::size_t>(random.uniform() * n); };
  std::vector<Request> trace, open;
  std::uint64_t fresh = random.next() >> 20;
  for (int i = 0; i < 4; ++i) {
    open.emplace_back();
    for (std::size_t n = 1 + below(8); n > 0; --n) open.back().push_back(fresh++);
  }
  for (int i = 0; i < requests; ++i) {
    Request next = open[below(static_cast<double>(open.size()))];
    for (std::size_t n = below(5); n > 0; --n) next.push_back(fresh++);
    if (random.uniform() < 0.02 && !next.empty()) next.push_back(next.front());
    if (random.uniform() < 0.7) open.push_back(next);
    if (open.size() > 60) open.erase(open.begin() + 4);
    trace.push_back(std::move(next));
  }
  return trace;
}

ReuseCurve curve_of(const std::vector<Request>& trace, std::size_t most_tracked = ReuseCurve::kMostTracked) {
  ReuseCurve curve(most_tracked);
  for (const Request& request : trace) curve.add(request);
  return curve;
}

TEST(ReuseCurve, EqualsACacheOfEverySizeOnRandomTraces) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    const std::vector<Request> trace = random_trace(random, 250);
    const ReuseCurve curve = curve_of(trace);
    double before = 0;
    for (const double room : {0.0, 1.0, 2.0, 3.0, 7.0, 20.0, 50.0, 113.0, 300.0, 1'000.0, 1e6}) {
      const double want = static_cast<double>(hits_by_force(trace, static_cast<std::size_t>(room))) /
                          static_cast<double>(curve.blocks());
      const double rate = curve.hit_rates({room}).front();
      ASSERT_DOUBLE_EQ(rate, want) << "seed " << seed << ", room for " << room;
      ASSERT_GE(rate, before);
      before = rate;
    }
    EXPECT_DOUBLE_EQ(curve.unlimited_hit_rate(), before);
    EXPECT_DOUBLE_EQ(curve.hit_rates({curve.room_for(1)}).front(), before);
    EXPECT_EQ(curve.error(), 0);
  }
}

TEST(ReuseCurve, TheOrderOfTouchesSurvivesRenumbering) {
  // Few blocks and many touches: positions are used up repeatedly.
  Random random(5);
  std::vector<Request> trace;
  for (int i = 0; i < 20'000; ++i) {
    const auto first = static_cast<std::uint64_t>(random.uniform() * 50);
    trace.push_back({first, first + 1, first + 2, first + 3});
  }
  const ReuseCurve curve = curve_of(trace);
  for (const double room : {5.0, 20.0, 40.0})
    EXPECT_DOUBLE_EQ(curve.hit_rates({room}).front() * static_cast<double>(curve.blocks()),
                     static_cast<double>(hits_by_force(trace, static_cast<std::size_t>(room))));
}

TEST(ReuseCurve, ASampleIsWithinItsStatedError) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    const std::vector<Request> trace = random_trace(random, 8'000);
    const ReuseCurve exact = curve_of(trace), sampled = curve_of(trace, 1'000);
    ASSERT_LT(sampled.tracked_share(), 1);
    EXPECT_NEAR(sampled.distinct() / exact.distinct(), 1, 0.1);
    for (const double room : {500.0, 2'000.0, 8'000.0})
      EXPECT_NEAR(sampled.hit_rates({room}).front(), exact.hit_rates({room}).front(), sampled.error())
          << "seed " << seed << ", room for " << room;
    EXPECT_NEAR(sampled.unlimited_hit_rate(), exact.unlimited_hit_rate(), sampled.error());
  }
}

TEST(ReuseCurve, WithoutRepetitionThereAreNoHits) {
  const ReuseCurve curve = curve_of({{1, 2, 3}, {4, 5}});
  EXPECT_EQ(curve.unlimited_hit_rate(), 0);
  EXPECT_EQ(curve.blocks(), 5u);
  EXPECT_EQ(ReuseCurve().unlimited_hit_rate(), 0);
}

}  // namespace
}  // namespace rightsize::kv_cache
