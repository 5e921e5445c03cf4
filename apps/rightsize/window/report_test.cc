#include "rightsize/window/report.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/format.h"
#include "catalog/test_catalog.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

struct Planned {
  WindowProblem problem;
  capacity::WindowSchedule plan;

  explicit Planned(double items_per_day) {
    WindowFlags flags;
    flags.volume = requests(items_per_day) / days(1);
    flags.item_time = milliseconds(80);
    flags.gpu = "h100-sxm";
    problem = *read_problem(flags, built_in_catalog());
    plan = *capacity::schedule_window(problem.work);
  }
};

TEST(WindowReport, KeptGpusCostEveryHourAndRentedOnesOnlyTheirRuns) {
  const Planned p(1e6);
  const std::vector<WindowOption> options = window_options(p.problem, p.plan, std::nullopt);
  ASSERT_EQ(options.size(), 3u);  // there is no real-time option
  EXPECT_NEAR(in_gpu_hours(options[0].a_month), p.plan.gpus * in_hours(kMonth), 1e-6);
  EXPECT_LT(*options[1].monthly(), *options[0].monthly());
  EXPECT_GT(options[2].a_month, options[1].a_month) << "interruptions redo work";
}

std::string text_of(const Json& object, const char* key) {
  const std::string quoted = object.find(key)->dump();
  return quoted.substr(1, quoted.size() - 2);
}

// The conclusion is the cheapest row of the table, and a run is within the hours that were asked for.
TEST(WindowReport, TheConclusionIsTheCheapestRowAndRunsKeepTheirHours) {
  for (const char* volume : {"5M/day", "200k/day", "20M/day"}) {
    for (const int from : {0, 2, 13, 22}) {
      for (const int length : {3, 8, 12}) {
        const std::string hours = fmt::format("{:02}:00-{:02}:00", from, (from + length) % 24);
        const Checked<Outcome> outcome =
            call("window", {"--volume", volume, "--window", hours, "--item-time", "40ms", "--gpu", "l4"});
        ASSERT_TRUE(outcome) << describe(outcome.error());
        const std::string text = std::get<report::Paragraph>(outcome->report.blocks.front()).text;
        double least = std::numeric_limits<double>::infinity();
        std::string name;
        for (const Json& option : *outcome->report.document.find("options")->items()) {
          const double cost = std::stod(option.find("usd_per_month")->dump());
          if (cost < least) least = cost, name = text_of(option, "name");
        }
        EXPECT_THAT(text, HasSubstr(fmt::format("Cheapest: {}, {}/month", name, format_usd(usd(least)))));
        const Json& run = outcome->report.document.find("schedule")->items()->front();
        const auto hour = [&](const char* key) { return std::stoi(text_of(run, key)); };
        EXPECT_EQ(hour("starts"), from) << hours;
        EXPECT_LE((hour("ends") - from + 24) % 24, length) << hours;
      }
    }
  }
}

TEST(WindowReport, SaysWhenRealTimeWasNotFound) {
  const Planned p(1e6);
  const report::Report shown = window_report(p.problem, p.plan, window_options(p.problem, p.plan, std::nullopt), false);
  EXPECT_THAT(std::get<report::Paragraph>(shown.blocks.front()).text, HasSubstr("Real time is not possible"));
}

TEST(WindowReport, ADeadlineShorterThanTheStartUpEndsWithExitCodeTwo) {
  const Planned p(1e6);
  const Outcome outcome = no_schedule(p.problem);
  EXPECT_EQ(outcome.exit_code, kNoFeasibleAnswer);
  EXPECT_THAT(std::get<report::Paragraph>(outcome.report.blocks.front()).text, HasSubstr("a GPU takes 2 min to start"));
}

}  // namespace
}  // namespace rightsize::app
