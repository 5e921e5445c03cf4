#include "live_service/reading.h"

#include <filesystem>
#include <numeric>

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
#include "live_service/read_server.h"

namespace rightsize::live_service {
namespace {

// Each rollout replaces all pods: the number at any one time stays the same, however many were seen in total.
RC_GTEST_PROP(CountReplicas, RolloutsDoNotAddReplicas, ()) {
  const int replicas = *rc::gen::inRange(1, 6), rollouts = *rc::gen::inRange(0, 4), minutes = 120;
  std::vector<std::string> series;
  for (int generation = 0; generation <= rollouts; ++generation) {
    for (int i = 0; i < replicas; ++i) {
      std::vector<std::string> values;
      for (int minute = 0; minute < minutes; ++minute) {
        if (minute * (rollouts + 1) / minutes == generation)
          values.push_back(fmt::format("[{},\"{}\"]", 1'790'000'000 + minute * 60, 100 + minute * 3));
      }
      series.push_back(fmt::format(
          R"({{"metric":{{"__name__":"vllm:request_success_total","model_name":"m","pod":"chat-6d4cf56db{}-xcdf{}"}},)"
          R"("values":[{}]}})",
          "bcdfg"[generation], "bcdfgh"[i], fmt::join(values, ",")));
    }
  }
  const std::string file = (std::filesystem::temp_directory_path() / "rightsize_replicas.json").string();
  RC_ASSERT(write_file(file, fmt::format(R"({{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}})",
                                         fmt::join(series, ",")))
                .has_value());
  const Result<ServicesRead> read = read_service_files({file});
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->services.size() == 1U);
  const ServiceReading& service = read->services.front();
  RC_ASSERT(service.replicas_now == replicas);
  RC_ASSERT(service.most_replicas <= 2 * replicas);
  RC_ASSERT(service.replicas.size() == static_cast<std::size_t>(replicas * (rollouts + 1)));
}

TEST(CountReplicas, TheLastMinutesAreNow) {
  ServiceReading reading;
  reading.from = 0, reading.until = 7200, reading.step = 60;
  reading.finished.assign(120, 1.0);
  std::vector<double> up(121, 4.0);
  for (std::size_t i = 90; i < up.size(); ++i) up[i] = 2;
  up[118] = 1;  // a restart
  count_replicas(reading, up);
  EXPECT_EQ(reading.replicas_now, 2);
  EXPECT_EQ(reading.most_replicas, 4);
  EXPECT_EQ(reading.least_replicas, 1);
  ASSERT_EQ(reading.hours.size(), 2U);
  EXPECT_NEAR(reading.hours[0].replicas, 4, 1e-9);
  EXPECT_NEAR(reading.hours[1].requests, 60, 1e-9);
}

// One scrape without the engine's start: latencies and counts are those of a scrape with it, and nothing per second is
// known unless the user states the uptime or the rate.
RC_GTEST_PROP(OneScrape, OnlyItsRateDependsOnTheStart, ()) {
  const int requests = *rc::gen::inRange(1, 100'000), uptime = *rc::gen::inRange(60, 1'000'000);
  const int fast = *rc::gen::inRange(0, requests + 1);
  const double now = 1'790'000'000;
  const std::string text = fmt::format(
      "vllm:request_success_total{{model_name=\"m\"}} {0} {2}000\n"
      "vllm:time_to_first_token_seconds_bucket{{model_name=\"m\",le=\"0.5\"}} {1} {2}000\n"
      "vllm:time_to_first_token_seconds_bucket{{model_name=\"m\",le=\"+Inf\"}} {0} {2}000\n"
      "vllm:time_to_first_token_seconds_count{{model_name=\"m\"}} {0} {2}000\n"
      "vllm:time_to_first_token_seconds_sum{{model_name=\"m\"}} {0} {2}000\n",
      requests, fast, 1'790'000'000);
  const std::string file = (std::filesystem::temp_directory_path() / "rightsize_scrape.txt").string();
  const auto read = [&](const std::string& more, const SinceStart& since) {
    RC_ASSERT(write_file(file, text + more).has_value());
    const Result<ServicesRead> found = read_service_files({file}, since);
    RC_ASSERT(found.has_value() && found->services.size() == 1U);
    return found->services.front();
  };
  const ServiceReading started = read(fmt::format("process_start_time_seconds {:.0f}\n", now - uptime), {});
  const double rate = static_cast<double>(requests) / uptime;
  const SinceStart known[] = {{}, {seconds(uptime), {}}, {{}, requests_per_s(rate)}};
  for (const SinceStart& since : known) {
    const ServiceReading one = read("", since);
    RC_ASSERT(one.timed == (since.uptime || since.rate));
    RC_ASSERT(one.counter(Signal::kRequests) == started.counter(Signal::kRequests));
    RC_ASSERT(one.histogram(Signal::kTtft)->share_over(0.5).value ==
              started.histogram(Signal::kTtft)->share_over(0.5).value);
    if (one.timed) RC_ASSERT(std::abs(one.seconds() / started.seconds() - 1) < 1e-6);
  }
}

TEST(SpreadIncrease, GrowthAcrossAGapIsSpreadOverIt) {
  std::vector<double> steps(4, 0.0);
  spread_increase({{0, 100}, {60, 160}, {180, 280}}, 0, 60, steps);
  EXPECT_EQ(steps, (std::vector<double>{60, 60, 60, 0}));
}

TEST(SpreadIncrease, AFallIsARestartFromZero) {
  std::vector<double> steps(2, 0.0);
  spread_increase({{0, 5000}, {60, 5010}, {120, 7}}, 0, 60, steps);
  EXPECT_EQ(steps, (std::vector<double>{10, 7}));
}

TEST(SpreadIncrease, ReadingsOutsideTheWindowDoNotCount) {
  std::vector<double> steps(1, 0.0);
  spread_increase({{-60, 0}, {60, 120}, {120, 999}}, 0, 60, steps);
  EXPECT_EQ(steps, (std::vector<double>{60}));
}

RC_GTEST_PROP(SpreadIncrease, EverythingBetweenFirstAndLastReadingIsCountedOnce, ()) {
  std::vector<CounterPoint> points;
  double time = 0, value = 1000, grown = 0;
  for (int more : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50))) {
    points.push_back({time, value});
    time += 7 + more, value += more, grown += more;
  }
  points.push_back({time, value});
  std::vector<double> steps(static_cast<std::size_t>(time / 60) + 1, 0.0);
  spread_increase(points, 0, 60, steps);
  RC_ASSERT(std::abs(std::accumulate(steps.begin(), steps.end(), 0.0) - grown) < 1e-6 * (1 + grown));
}

}  // namespace
}  // namespace rightsize::live_service
