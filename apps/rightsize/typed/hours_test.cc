// Hours of a day and of a week, in flags and in sentences.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "rightsize/call.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/work.h"

namespace rightsize::app {
namespace {

// The value of a flag in the meaning of a command line.
std::string hours_value(std::vector<std::string> words, const std::string& flag) {
  Typed typed = meant_command(std::move(words), command_names());
  const CommandInfo command = *describe_command(typed.words.front());
  typed = meant_work(meant_flags(std::move(typed), command.flags), command.flags);
  for (std::size_t i = 1; i < typed.words.size(); ++i) {
    if (typed.words[i].starts_with(flag + "=")) return typed.words[i].substr(flag.size() + 1);
    if (typed.words[i - 1] == flag) return typed.words[i];
  }
  return {};
}

// A number before "hours" is a time, not a number of GPUs, wherever it is in the sentence.
TEST(HoursADay, AreAShareOfTheWeek) {
  for (const int hours : {1, 8, 12, 24}) {
    for (const int gpus : {4, 16, 128}) {
      const std::string used = fmt::format("0,peak={},share={:.3g}", gpus, hours * 7 / 168.0),
                        weekdays = fmt::format("0,peak={},share={:.3g}", gpus, hours * 5 / 168.0);
      const auto base = [](const std::string& sentence) { return hours_value({"commit", sentence}, "--base"); };
      EXPECT_EQ(base(fmt::format("we run {} A100 {} hours a day on weekdays, should we reserve?", gpus, hours)),
                weekdays);
      EXPECT_EQ(base(fmt::format("{} h100 for {} hours per day", gpus, hours)), used);
      EXPECT_EQ(base(fmt::format("is it worth reserving {} H100s used {} hours every day?", gpus, hours)), used);
    }
  }
}

// A pair of clock times is a window, whatever the flags are called, and in words.
TEST(ClockTimes, PairsAreAWindow) {
  const std::pair<const char*, const char*> pairs[] = {
      {"--from", "--to"}, {"--start", "--end"}, {"--after", "--before"}};
  for (const char* from : {"22:00", "0:30", "10pm"}) {
    for (const char* to : {"06:00", "23:45", "6am"}) {
      const std::string window = fmt::format("{}-{}", from, to);
      for (const auto& [first, last] : pairs)
        EXPECT_EQ(
            hours_value({"window", "--volume", "5M/day", "--item-time", "20ms", "--gpu", "l4", first, from, last, to},
                        "--window"),
            window);
      const std::string sentence =
          fmt::format("300k files every night, 2 seconds each on an L4, between {} and {}", from, to);
      EXPECT_EQ(hours_value({"window", sentence}, "--window"), window);
      EXPECT_EQ(hours_value({"window", sentence}, "--item-time"), "2 seconds");
      EXPECT_EQ(hours_value({"window", sentence}, "--gpu"), "L4");
    }
  }
  EXPECT_EQ(in_seconds(hours_of_day("midnight-6am")->length), 6 * 3600);
  EXPECT_EQ(in_seconds(hours_of_day("noon to midnight")->length), 12 * 3600);
}

}  // namespace
}  // namespace rightsize::app
