// Calendar days.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rightsize {

// A day, counted from 1970-01-01.
struct Date {
  int day = 0;

  auto operator<=>(const Date&) const = default;
  int operator-(Date o) const { return day - o.day; }
};

// ISO "2026-08-22"; refuses days that do not exist.
Result<Date> parse_date(std::string_view text);
std::string format_date(Date date);

// Today in UTC, or the day in the environment variable RIGHTSIZE_TODAY, which makes reports reproducible.
Date today();

}  // namespace rightsize
