#include "rightsize/window/input.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

const catalog::Catalog& facts() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

WindowFlags flags_for(const std::string& volume, const std::string& item_time) {
  WindowFlags flags;
  flags.volume = volume;
  flags.item_time = item_time;
  return flags;
}

std::string error_of(const WindowFlags& flags) {
  const Checked<WindowProblem> problem = read_problem(flags, facts());
  return problem ? "" : describe(problem.error());
}

TEST(WindowInput, VolumesAreItemsADay) {
  EXPECT_DOUBLE_EQ(*parse_volume("1M/d"), 1e6);
  EXPECT_DOUBLE_EQ(*parse_volume("12/s"), 12 * 86400);
  EXPECT_DOUBLE_EQ(*parse_volume("40k/h"), 960e3);
  EXPECT_DOUBLE_EQ(*parse_volume("1M/2h"), 12e6);
  EXPECT_DOUBLE_EQ(*parse_volume("3M/30d"), 1e5);
  EXPECT_FALSE(parse_volume("5"));
  EXPECT_FALSE(parse_volume("0/d"));
}

TEST(WindowInput, TheDeadlineIsTheWindowUnlessOneIsGiven) {
  WindowFlags flags = flags_for("1M/d", "80ms");
  EXPECT_EQ(read_problem(flags, facts())->work.deadline, hours(4));
  flags.deadline = "1h";
  EXPECT_EQ(read_problem(flags, facts())->work.deadline, hours(1));
}

TEST(WindowInput, TheDefaultSloIsThreeItemTimes) {
  const WindowProblem problem = *read_problem(flags_for("1M/d", "80ms"), facts());
  EXPECT_DOUBLE_EQ(in_milliseconds(problem.slo.limit), 240);
}

TEST(WindowInput, RefusesAnSloThatIsNotOneLimitOnLatency) {
  WindowFlags flags = flags_for("1M/d", "80ms");
  flags.slo = "ttft:p99=100ms";
  EXPECT_THAT(error_of(flags), HasSubstr("error"));
  flags.slo = "p99=100ms,p50=10ms";
  EXPECT_THAT(error_of(flags), HasSubstr("one limit on latency"));
}

TEST(WindowInput, AnItemThatDoesNotFitTheGpuIsRefusedWithBothSizes) {
  WindowFlags flags = flags_for("1M/d", "80ms");
  flags.gpu = "t4";
  flags.item_memory = "1GiB";
  flags.fixed_memory = "40GiB";
  EXPECT_THAT(error_of(flags), testing::AllOf(HasSubstr("41 GiB"), HasSubstr("t4 has")));
  flags.gpu.clear();
  EXPECT_THAT(error_of(flags), HasSubstr("--item-memory needs --gpu"));
}

TEST(WindowInput, WrongNumbersAreRefused) {
  WindowFlags flags = flags_for("1M/d", "80ms");
  flags.peak = 0.5;
  EXPECT_THAT(error_of(flags), HasSubstr("--peak"));
  flags.peak = 1;
  flags.interruptions = 61;
  EXPECT_THAT(error_of(flags), HasSubstr("--interruptions"));
  flags.interruptions = 0;
  flags.window = "30h";
  EXPECT_THAT(error_of(flags), HasSubstr("between 1 min and a day"));
  flags.window = "1ms";
  EXPECT_THAT(error_of(flags), HasSubstr("between 1 min and a day"));
  EXPECT_THAT(error_of(flags_for("1/d", "30d")), HasSubstr("one item takes 30 d"));
}

// N items over M units of time are N/M items per unit.
RC_GTEST_PROP(WindowInput, VolumesCountTheDenominator, ()) {
  const int count = *rc::gen::inRange(1, 100000), over = *rc::gen::inRange(1, 100);
  for (const char* unit : {"s", "min", "h", "d"}) {
    const double one = *parse_volume(fmt::format("{}/{}", count, unit));
    RC_ASSERT(std::fabs(*parse_volume(fmt::format("{}/{}{}", count, over, unit)) * over / one - 1) < 1e-9);
  }
}

}  // namespace
}  // namespace rightsize::app
