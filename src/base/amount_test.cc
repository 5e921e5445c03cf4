#include "base/amount.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize {
namespace {

std::size_t one_of_amounts(Random& random, std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(count)));
}

TEST(Amount, IsReadInEverySpelling) {
  Random random(5);
  const std::pair<const char*, double> scales[] = {{"", 1}, {"k", 1e3}, {" M", 1e6}, {"B", 1e9}, {" billion", 1e9}};
  const std::pair<const char*, double> times[] = {{"/s", 1},         {" per minute", 60}, {"/h", 3600},
                                                  {" a day", 86400}, {" daily", 86400},   {"/2h", 7200}};
  for (int i = 0; i < 300; ++i) {
    const auto number = static_cast<double>(1 + one_of_amounts(random, 999));
    const auto& [scale, factor] = scales[one_of_amounts(random, std::size(scales))];
    const auto& [time, length] = times[one_of_amounts(random, std::size(times))];
    const std::string thing = one_of_amounts(random, 2) == 0 ? "" : " docs";
    const std::string text = fmt::format("{:g}{}{}{}", number, scale, thing, time);
    const auto amount = parse_amount(text);
    ASSERT_TRUE(amount) << text;
    EXPECT_DOUBLE_EQ(amount->count, number * factor) << text;
    ASSERT_TRUE(amount->per) << text;
    EXPECT_DOUBLE_EQ(in_seconds(*amount->per), length) << text;
    EXPECT_EQ(amount->thing, thing.empty() ? "" : "docs") << text;
  }
  EXPECT_DOUBLE_EQ(parse_amount("1,234,567")->count, 1234567);
  EXPECT_DOUBLE_EQ(parse_amount("1_000_000")->count, 1e6);
  EXPECT_DOUBLE_EQ(in_days(*parse_amount("5 million images per night")->per), 1);
  for (const char* text : {"", "docs", "/day", "x5", "5/apple", "3 red apples"})
    EXPECT_FALSE(parse_amount(text)) << text;
}

// A named day ends at 18:00 of the next day with that name, so it is at most a week away.
TEST(TimeUntil, DaysAreInTheFuture) {
  constexpr double kDay = 86400;
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const double now = 20000 * kDay + static_cast<double>(one_of_amounts(random, 1'000'000));
    for (const char* day : {"monday", "by Friday", "sun", "next tuesday", "Wednesday"}) {
      const auto until = time_until(day, now);
      ASSERT_TRUE(until) << day;
      EXPECT_GT(in_days(*until), 0);
      EXPECT_LE(in_days(*until), 8);
      EXPECT_NEAR(std::fmod(now + in_seconds(*until), kDay), 18 * 3600, 1) << day;
    }
    EXPECT_GT(in_seconds(*time_until("tomorrow", now)), in_seconds(*time_until("today", now)));
    EXPECT_DOUBLE_EQ(in_days(*time_until("in 3 days", now)), 3);
    // A time of the day moves the moment within its day; a weekend is two days whenever it begins.
    const auto at = [&](const std::string& text) { return std::fmod(now + in_seconds(*time_until(text, now)), kDay); };
    EXPECT_NEAR(at("tomorrow morning"), 9 * 3600, 1);
    EXPECT_NEAR(at("monday 17:30"), 17.5 * 3600, 1);
    EXPECT_NEAR(at("friday at 6pm"), 18 * 3600, 1);
    EXPECT_NEAR(at("7am"), 7 * 3600, 1);
    EXPECT_DOUBLE_EQ(in_days(*time_until("over the weekend", now)), 2);
    EXPECT_LE(in_days(*time_until("end of the month", now)), 31);
  }
  // Feasts and ends of months, quarters and years: the next one, on a working evening.
  for (int i = 0; i < 200; ++i) {
    const double now = 20000 * kDay + static_cast<double>(one_of_amounts(random, 100'000'000));
    for (const char* day : {"before christmas", "new year's eve", "thanksgiving", "halloween", "before easter",
                            "end of the year", "end of january", "before march", "end of the quarter"}) {
      const auto until = time_until(day, now);
      ASSERT_TRUE(until) << day;
      EXPECT_GT(in_days(*until), 0) << day;
      EXPECT_LE(in_days(*until), 390) << day;
    }
    EXPECT_LE(in_days(*time_until("end of the quarter", now)), 93);
  }
  const double november = 20776 * kDay;  // 2026-11-19
  EXPECT_NEAR(in_days(*time_until("before christmas", november)), 35.75, 0.01);
  EXPECT_NEAR(in_days(*time_until("thanksgiving", november)), 6.75, 0.01);
  EXPECT_NEAR(in_days(*time_until("20 Dec 2026", november)), 31.75, 0.01);
  EXPECT_FALSE(time_until("20 Dec 2025", november));
  EXPECT_FALSE(time_until("2020-01-01", 20000 * kDay));
  EXPECT_FALSE(time_until("someday", 20000 * kDay));
}

// Every spelling of a month, a quarter and a year that contains a day contains that day, and nothing of the next one.
TEST(Period, ContainsItsDaysAndEndsBeforeTheNext) {
  Random random(7);
  constexpr const char* kNames[] = {"January", "feb", "MAR",  "april",   "may",      "Jun",
                                    "july",    "aug", "sept", "October", "november", "dec"};
  for (int i = 0; i < 300; ++i) {
    const Date day{18'000 + static_cast<int>(one_of_amounts(random, 6'000))};
    const std::string text = format_date(day), year = text.substr(0, 4), month = text.substr(5, 2);
    const int number = std::atoi(month.c_str()), quarter = (number + 2) / 3;
    const char* name = kNames[number - 1];
    const auto has = [&](const std::string& words, int shortest, int longest) {
      const auto period = parse_period(words, day);
      ASSERT_TRUE(period) << words;
      EXPECT_LE(period->first, day) << words;
      EXPECT_GE(period->last, day) << words;
      const int length = period->last - period->first + 1;
      EXPECT_TRUE(length >= shortest && length <= longest) << words << " " << length;
    };
    for (const std::string& words : {year + "-" + month, std::string(name), fmt::format("{} {}", name, year),
                                     fmt::format("{}-{}", year, name), std::string("this month")})
      has(words, 28, 31);
    for (const std::string& words : {fmt::format("{}-Q{}", year, quarter), fmt::format("q{}", quarter),
                                     fmt::format("Q{} {}", quarter, year), std::string("this quarter")})
      has(words, 90, 92);
    has(year, 365, 366);
    has("this week", 7, 7);
    has("ytd", 1, 366);
    // The last one ends the day before this one begins.
    for (const std::string unit : {"month", "quarter", "year", "week"})
      EXPECT_EQ(parse_period("this " + unit, day)->first - parse_period("last " + unit, day)->last, 1) << unit << text;
    EXPECT_FALSE(parse_period(text, day)) << "a date is no period";
  }
  for (const char* text : {"", "Q5", "2026-13", "30d", "6m", "market", "last", "May June"})
    EXPECT_FALSE(parse_period(text, Date{20'000})) << text;
}

}  // namespace
}  // namespace rightsize
