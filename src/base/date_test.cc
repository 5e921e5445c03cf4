#include "base/date.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace rightsize {
namespace {

TEST(Date, RoundTripsAndCountsDays) {
  EXPECT_EQ(format_date(*parse_date("2026-08-22")), "2026-08-22");
  EXPECT_EQ(*parse_date("2026-11-15") - *parse_date("2026-08-22"), 85);
  EXPECT_EQ(*parse_date("2024-03-01") - *parse_date("2024-02-28"), 2);
}

TEST(Date, RefusesDaysThatDoNotExist) {
  for (const char* wrong :
       {"2026-02-30", "2026-13-01", "26-01-01", "2026/01/01", "", "2026-1-1", "2026-01-0x", "0000-00-00"}) {
    EXPECT_FALSE(parse_date(wrong)) << wrong;
  }
}

TEST(Date, TodayCanBeSetByTheEnvironment) {
  setenv("RIGHTSIZE_TODAY", "2026-11-15", 1);
  EXPECT_EQ(format_date(today()), "2026-11-15");
  unsetenv("RIGHTSIZE_TODAY");
  EXPECT_GT(today(), *parse_date("2026-01-01"));
}

}  // namespace
}  // namespace rightsize
