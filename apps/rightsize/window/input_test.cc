#include "rightsize/window/input.h"

#include <gmock/gmock.h>

#include "catalog/test_catalog.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

WindowFlags flags_for(double items_per_day, Seconds item_time) {
  WindowFlags flags;
  flags.volume = requests(items_per_day) / days(1);
  flags.item_time = item_time;
  return flags;
}

std::string error_of(const WindowFlags& flags) {
  const Checked<WindowProblem> problem = read_problem(flags, built_in_catalog());
  return problem ? "" : describe(problem.error());
}

TEST(WindowInput, TheDeadlineIsTheWindowUnlessOneIsGiven) {
  WindowFlags flags = flags_for(1e6, milliseconds(80));
  EXPECT_EQ(read_problem(flags, built_in_catalog())->work.deadline, hours(4));
  flags.deadline = hours(1);
  EXPECT_EQ(read_problem(flags, built_in_catalog())->work.deadline, hours(1));
}

TEST(WindowInput, TheDefaultSloIsThreeItemTimes) {
  const WindowProblem problem = *read_problem(flags_for(1e6, milliseconds(80)), built_in_catalog());
  EXPECT_DOUBLE_EQ(in_milliseconds(problem.slo.limit), 240);
}

TEST(WindowInput, RefusesAnSloThatIsNotOneLimitOnLatency) {
  WindowFlags flags = flags_for(1e6, milliseconds(80));
  flags.slo = "ttft:p99=100ms";
  EXPECT_THAT(error_of(flags), HasSubstr("error"));
  flags.slo = "p99=100ms,p50=10ms";
  EXPECT_THAT(error_of(flags), HasSubstr("one limit on latency"));
}

TEST(WindowInput, AnItemThatDoesNotFitTheGpuIsRefusedWithBothSizes) {
  WindowFlags flags = flags_for(1e6, milliseconds(80));
  flags.gpu = "t4";
  flags.item_memory = gib(1);
  flags.fixed_memory = gib(40);
  EXPECT_THAT(error_of(flags), testing::AllOf(HasSubstr("41 GiB"), HasSubstr("t4 has")));
  flags.gpu.clear();
  EXPECT_THAT(error_of(flags), HasSubstr("--item-memory needs --gpu"));
}

TEST(WindowInput, ImpossibleWindowsAndItemsAreRefused) {
  WindowFlags flags = flags_for(1e6, milliseconds(80));
  flags.window = hours(30);
  EXPECT_THAT(error_of(flags), HasSubstr("at most a day"));
  EXPECT_THAT(error_of(flags_for(1, days(30))), HasSubstr("one item takes 30 d"));
}

}  // namespace
}  // namespace rightsize::app
