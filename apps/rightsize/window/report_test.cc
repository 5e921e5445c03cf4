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

// Each saving is the cost difference between real time and the row it names.
TEST(WindowReport, SavingsMatchTheTable) {
  for (const char* volume : {"5M/day", "2M/day", "20M/day"}) {
    for (const char* gpu : {"l4", "h100-sxm"}) {
      const Checked<Outcome> outcome =
          call("window", {"--volume", volume, "--window", "6h", "--item-time", "120ms", "--gpu", gpu});
      ASSERT_TRUE(outcome) << describe(outcome.error());
      const std::string text = std::get<report::Paragraph>(outcome->report.blocks.front()).text;
      const Json::Array& options = *outcome->report.document.find("options")->items();
      ASSERT_EQ(options.size(), 4u);
      const auto cost = [&](std::size_t i) {
        return options[i].find("usd_per_month")->visit([](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, double>) return value;
          return std::numeric_limits<double>::infinity();
        });
      };
      if (cost(1) >= cost(0)) continue;
      EXPECT_THAT(text, HasSubstr(fmt::format("Windows save {}/month", format_usd(usd(cost(0) - cost(1))))));
      EXPECT_THAT(text, HasSubstr(fmt::format("{} with GPUs rented only", format_usd(usd(cost(0) - cost(2))))));
      if (std::isfinite(cost(3))) {
        EXPECT_THAT(text, HasSubstr(fmt::format("{} with spot GPUs only", format_usd(usd(cost(0) - cost(3))))));
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
