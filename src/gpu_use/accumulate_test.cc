// Random fleets with known hours in various file orders, compared with a count second by second.
#include "gpu_use/accumulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "gpu_use/coverage.h"

namespace rightsize::gpu_use {
namespace {

constexpr TimePoint kStart = unix_seconds(1767225600);  // 2026-01-01
constexpr double kMiB = 1024.0 * 1024;

struct Reading {
  int series = 0;
  Metric metric = Metric::kGpuUtil;
  TimePoint time;
  double value = 0;
};

// A stretch of one series from `from` to before `until`, read every `step` seconds, all in whole seconds.
struct Stretch {
  int from = 0, until = 0, step = 60;
  std::string pod;            // empty: unowned
  std::string exporter = {};  // two of them report the same GPU twice
  double activity = 0.5;      // 0: idle; negative: not reported, only memory is
};

struct Truth {
  double seconds = 0, known = 0, idle = 0;
  std::map<std::string, double> owners;
};

// A pod that reports again within five minutes was present in between.
std::vector<Stretch> with_short_breaks_closed(std::vector<Stretch> stretches) {
  constexpr int kShort = 300;
  std::vector<Stretch> closed = stretches;
  for (const Stretch& before : stretches) {
    if (before.pod.empty()) continue;
    int next = std::numeric_limits<int>::max();
    bool goes_on = false;
    for (const Stretch& s : stretches) {
      if (s.pod != before.pod) continue;
      goes_on = goes_on || (s.from <= before.until && s.until > before.until);
      if (s.from > before.until) next = std::min(next, s.from);
    }
    const int last_reading = before.until - before.step;
    if (goes_on || next == std::numeric_limits<int>::max() || next - last_reading > kShort) continue;
    closed.push_back({before.until, next, 1, before.pod, {}, -1});
  }
  return closed;
}

// Counts second by second, following the definition.
Truth count_seconds(const std::vector<Stretch>& read) {
  const std::vector<Stretch> stretches = with_short_breaks_closed(read);
  Truth truth;
  int end = 0;
  for (const Stretch& s : stretches) end = std::max(end, s.until);
  for (int t = 0; t < end; ++t) {
    std::map<std::string, bool> pods;
    bool there = false, known = false, idle = true;
    for (const Stretch& s : stretches) {
      if (t < s.from || t >= s.until) continue;
      there = true;
      if (!s.pod.empty()) pods[s.pod] = true;
      if (s.activity >= 0) known = true;
      if (s.activity > 0) idle = false;
    }
    if (!there) continue;
    truth.seconds += 1;
    truth.known += known ? 1 : 0;
    truth.idle += known && idle ? 1 : 0;
    if (pods.empty()) truth.owners[""] += 1;
    for (const auto& [pod, is_there] : pods) truth.owners[pod] += 1.0 / static_cast<double>(pods.size());
  }
  return truth;
}

enum class Order { kBySeries, kByTime, kShuffled, kNewestFirst };

GpuUse read_in_order(const std::vector<Stretch>& stretches, Order order) {
  UseAccumulator sum({});
  std::vector<Reading> readings;
  for (const Stretch& s : stretches) {
    Device device{.uuid = "GPU-1", .host = "n1"};
    if (!s.pod.empty()) device.labels = {{"namespace", "team"}, {"pod", s.pod}};
    if (!s.exporter.empty()) device.labels["job"] = s.exporter;
    const int series = sum.open(device);
    for (Metric metric : {Metric::kGpuUtil, Metric::kMemoryUsed}) {
      if (metric == Metric::kGpuUtil && s.activity < 0) continue;
      for (int t = s.from; t < s.until; t += s.step) {
        readings.push_back(
            {series, metric, kStart + seconds(t), metric == Metric::kGpuUtil ? s.activity : 20000 * kMiB});
      }
    }
  }
  auto earlier = [](const Reading& a, const Reading& b) { return a.time < b.time; };
  if (order == Order::kByTime) std::stable_sort(readings.begin(), readings.end(), earlier);
  if (order == Order::kNewestFirst) std::reverse(readings.begin(), readings.end());
  if (order == Order::kShuffled) std::shuffle(readings.begin(), readings.end(), std::mt19937(7));
  for (const Reading& r : readings) sum.add(r.series, r.metric, r.time, r.value);
  return sum.finish().at(0);
}

// The history of a GPU: consecutive stretches of pods with breaks of more than five minutes, changing intervals, and
// sometimes a second pod or exporter.
std::vector<Stretch> random_life() {
  std::vector<Stretch> life;
  int at = *rc::gen::inRange(0, 3000);
  const int pieces = *rc::gen::inRange(1, 12);
  for (int i = 0; i < pieces; ++i) {
    Stretch s;
    s.step = *rc::gen::element(1, 5, 15, 30, 60, 120);
    s.from = at;
    s.until = at + s.step * *rc::gen::inRange(20, 400);
    s.pod = *rc::gen::element<std::string>("", "a-0", "b-0", "c-0");
    s.activity = *rc::gen::element(0.0, 0.4, 0.9, -1.0);
    if (*rc::gen::inRange(0, 4) == 0 && !s.pod.empty()) {  // shared for its second half
      Stretch other = s;
      other.from = s.from + (s.until - s.from) / 2 / s.step * s.step;
      other.pod = "d-0";
      life.push_back(other);
    }
    if (*rc::gen::inRange(0, 4) == 0) {
      Stretch copy = s;
      copy.exporter = "second";
      life.push_back(copy);
    }
    life.push_back(s);
    at = s.until + *rc::gen::element(0, 0, 600, 1200, 7200);
  }
  return life;
}

RC_GTEST_PROP(Accounting, HoursOwnersAndIdlenessMatchACountSecondBySecond, ()) {
  const std::vector<Stretch> life = random_life();
  const auto order = *rc::gen::element(Order::kBySeries, Order::kByTime, Order::kShuffled, Order::kNewestFirst);
  const Truth truth = count_seconds(life);
  const GpuUse gpu = read_in_order(life, order);
  double slack = 1;  // one interval per stretch: changes of owners are not known more precisely
  for (const Stretch& s : life) slack += s.step;
  RC_ASSERT(std::abs(in_seconds(gpu.covered) - truth.seconds) <= slack);
  RC_ASSERT(std::abs(in_seconds(gpu.known) - truth.known) <= slack + 300.0 * static_cast<double>(life.size()));
  double all = 0;
  for (const Tenancy& t : gpu.tenancies) {
    const auto found = truth.owners.find(t.owner.instance);
    RC_ASSERT(std::abs(in_seconds(t.time) - (found == truth.owners.end() ? 0 : found->second)) <= slack);
    RC_ASSERT(in_seconds(t.idle) <= in_seconds(t.time) + 1e-6);
    all += in_seconds(t.time);
  }
  RC_ASSERT(std::abs(all - in_seconds(gpu.covered)) < 1e-3);
  // Steps blur the transitions between idle and active: at most one step at each end of a stretch.
  const double blur = slack + 2 * in_seconds(gpu.profile.width) * static_cast<double>(life.size());
  RC_ASSERT(std::abs(gpu.idle_share * in_seconds(gpu.covered) - truth.idle) <= blur);
}

TEST(Accounting, HoursAreRightWhenTheIntervalChanges) {
  // Readings a second apart for ten minutes, then a minute apart for the rest of the day. (Regression: reported $5.93
  // instead of $336.)
  const GpuUse gpu = read_in_order({{0, 600, 1, "a-0"}, {600, 86400, 60, "a-0"}}, Order::kBySeries);
  EXPECT_NEAR(in_seconds(gpu.covered), 86400, 60);
  EXPECT_NEAR(gpu.metric(Metric::kGpuUtil)->mean, 0.5, 1e-9);
}

TEST(Accounting, MeansAreOverTimeNotOverReadings) {
  for (Order order : {Order::kBySeries, Order::kShuffled}) {
    const GpuUse gpu = read_in_order({{0, 43200, 15, "a-0", "", 0.8}, {43200, 86400, 60, "a-0", "", 0.0}}, order);
    EXPECT_NEAR(gpu.metric(Metric::kGpuUtil)->mean, 0.4, 0.005);
    EXPECT_NEAR(gpu.idle_share, 0.5, 0.005);
  }
}

TEST(Accounting, AGpuMayHaveAnyNumberOfOwners) {
  std::vector<Stretch> life;
  for (int i = 0; i < 84; ++i) life.push_back({7200 * i, 7200 * (i + 1), 60, "pod" + std::to_string(i) + "-x"});
  const GpuUse gpu = read_in_order(life, Order::kBySeries);
  ASSERT_EQ(gpu.tenancies.size(), 84u);
  for (const Tenancy& t : gpu.tenancies) {
    EXPECT_NEAR(in_seconds(t.time), 7200, 1);
    EXPECT_NEAR(in_seconds(t.last - t.first), 7200, 1);
    EXPECT_NEAR(*t.activity_peak, 0.5, 1e-9);
  }
}

TEST(Accounting, HoursWithoutActivityAreBilledAndNoted) {
  const GpuUse gpu = read_in_order({{0, 36000, 60, "a-0", "", 0.0}, {36000, 86400, 60, "a-0", "", -1}}, Order::kByTime);
  EXPECT_NEAR(in_seconds(gpu.covered), 86400, 60);
  EXPECT_NEAR(in_seconds(gpu.known), 36000, 60);
  EXPECT_NEAR(gpu.idle_share * in_seconds(gpu.covered), 36000, 60) << "what is not known is not idle";
  const std::vector<std::string> notes = accounting_notes({gpu});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("no activity"), std::string::npos) << notes[0];
}

TEST(Accounting, BlankReadingsAreDroppedAndTheGpuCountsAsPresent) {
  UseAccumulator sum({});
  const int series = sum.open({.uuid = "G"});
  for (int i = 0; i < 1440; ++i) {
    const TimePoint time = kStart + seconds(60 * i);
    if (i % 10 < 2) {
      sum.add_unusable(series, Metric::kGpuUtil, time);
    } else {
      sum.add(series, Metric::kGpuUtil, time, 0);
    }
  }
  const GpuUse gpu = sum.finish().at(0);
  EXPECT_NEAR(in_seconds(gpu.covered), 86400, 60);
  EXPECT_NEAR(gpu.idle_share, 1, 0.01);
  EXPECT_EQ(gpu.dropped, 288u);
  EXPECT_NE(accounting_notes({gpu}).at(0).find("dropped"), std::string::npos);
}

TEST(Accounting, HoursOfAClockAtNineteenSeventyAreMovedIntoTheWindow) {
  UseAccumulator sum({});
  for (int gpu = 0; gpu < 4; ++gpu) {
    const int series = sum.open({.uuid = "G" + std::to_string(gpu), .host = gpu == 0 ? "off" : "on"});
    for (int i = 0; i < 1440; ++i)
      sum.add(series, Metric::kGpuUtil, (gpu == 0 ? unix_seconds(600) : kStart) + seconds(60 * i), 0.5);
  }
  std::vector<GpuUse> gpus = sum.finish();
  ASSERT_EQ(gpus.size(), 4u);
  for (const GpuUse& gpu : gpus) {
    EXPECT_NEAR(in_seconds(gpu.covered), 86400, 1);
    EXPECT_NEAR(in_seconds(gpu.first - kStart), 0, 1);
    EXPECT_NEAR(in_seconds(gpu.last - kStart), 86340, 1);
  }
  const std::vector<std::string> notes = accounting_notes(gpus);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("the clock of off is 56.0 years behind"), std::string::npos) << notes[0];
  align(gpus);
  EXPECT_LE(gpus[0].profile.steps(), 512u) << "no axis from 1970 to now";
}

TEST(Accounting, ACorrectedClockAddsNoTime) {
  UseAccumulator sum({});
  const int series = sum.open({.uuid = "G"});
  for (int i = 0; i < 60; ++i) sum.add(series, Metric::kGpuUtil, unix_seconds(100 + 60 * i), 0.5);
  for (int i = 0; i < 60; ++i) sum.add(series, Metric::kGpuUtil, kStart + seconds(60 * i), 0.5);
  const GpuUse gpu = sum.finish().at(0);
  EXPECT_NEAR(in_seconds(gpu.covered), 7200, 1);
  EXPECT_NE(gpu.clock_off, Seconds{});
}

TEST(Accounting, InstancesOfAPartitionedGpuReplaceItsOwnSeries) {
  UseAccumulator sum({});
  auto report = [&](const char* profile, const char* id, int from, int until) {
    const int series = sum.open({.uuid = "G", .name = "NVIDIA H100 80GB HBM3", .mig_profile = profile, .mig_id = id});
    for (int t = from; t < until; t += 60) sum.add(series, Metric::kGraphicsActive, kStart + seconds(t), 0.5);
  };
  report("", "", 0, 86400);  // the GPU's own series continue all day
  report("3g.40gb", "1", 43200, 64800);
  report("3g.40gb", "2", 43200, 64800);
  report("1g.10gb", "1", 64800, 86400);  // the same id, another profile
  const std::vector<GpuUse> gpus = sum.finish();
  std::map<std::string, double> time;
  for (const GpuUse& gpu : gpus) time[instance_name(gpu.device)] = in_seconds(gpu.covered);
  EXPECT_NEAR(time["/"], 43200, 1) << "while there are instances, the GPU's own series do not count";
  EXPECT_NEAR(time["1/3g.40gb"], 21600, 1);
  EXPECT_NEAR(time["1/1g.10gb"], 21600, 1);
  const auto free = std::find_if(gpus.begin(), gpus.end(), [](const GpuUse& g) { return g.is_free_part(); });
  ASSERT_NE(free, gpus.end());
  EXPECT_NEAR(in_seconds(free->covered), 43200, 1);
  ASSERT_EQ(free->layouts.size(), 2u);
  for (const MigPeriod& layout : free->layouts) EXPECT_NEAR(in_seconds(layout.time), 21600, 1);
}

TEST(Coverage, GapsUpToFiveMinutesAreConnected) {
  Coverage coverage;
  for (int t : {0, 60, 120, 420, 480, 1000, 1060}) coverage.add(unix_seconds(t));
  const std::vector<TimeSpan> times = coverage.intervals(seconds(60));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0], (TimeSpan{unix_seconds(0), unix_seconds(540)}));
  EXPECT_EQ(times[1], (TimeSpan{unix_seconds(1000), unix_seconds(1120)}));
  EXPECT_NEAR(in_seconds(coverage.filled()), 240, 1e-6);
}

TEST(Coverage, RareReadingsAreConnectedByTheirOwnInterval) {
  Coverage coverage;
  for (int i = 0; i < 24; ++i) coverage.add(unix_seconds(600.0 * i));
  EXPECT_DOUBLE_EQ(in_seconds(coverage.usual_interval()), 600);
  EXPECT_NEAR(in_seconds(total(coverage.intervals(coverage.usual_interval()))), 600 * 24, 1e-6);
}

// The same readings cover the same time in any order.
RC_GTEST_PROP(Coverage, ReadingsInAnyOrderCoverTheSameTime, ()) {
  std::vector<int> times = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 20000));
  Coverage sorted, given;
  for (int t : times) given.add(unix_seconds(t));
  std::sort(times.begin(), times.end());
  for (int t : times) sorted.add(unix_seconds(t));
  RC_ASSERT(sorted.intervals(seconds(60)) == given.intervals(seconds(60)));
}

RC_GTEST_PROP(Coverage, UnionsAndDifferencesAddUp, ()) {
  auto any = [] {
    std::vector<TimeSpan> all;
    for (int i = *rc::gen::inRange(0, 8); i > 0; --i) {
      const int from = *rc::gen::inRange(0, 100);
      all.push_back({unix_seconds(from), unix_seconds(from + *rc::gen::inRange(0, 30))});
    }
    return unite(all);
  };
  const std::vector<TimeSpan> a = any(), b = any();
  std::vector<TimeSpan> both = a;
  both.insert(both.end(), b.begin(), b.end());
  RC_ASSERT(std::abs(in_seconds(total(unite(both)) - total(subtract(a, b)) - total(b))) < 1e-9);
}

}  // namespace
}  // namespace rightsize::gpu_use
