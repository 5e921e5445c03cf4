#include "base/date.h"

#include <charconv>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize {

Result<Date> parse_date(std::string_view text) {
  text = trim(text);
  auto number = [&](std::size_t at, std::size_t length, int& value) {
    const char* end = text.data() + at + length;
    return std::from_chars(text.data() + at, end, value).ptr == end;
  };
  int year = 0, month = 0, day = 0;
  bool shaped = text.size() == 10 && text[4] == '-' && text[7] == '-' && number(0, 4, year) && number(5, 2, month) &&
                number(8, 2, day) && year >= 1970 && month >= 1 && day >= 1;
  std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                   std::chrono::day(static_cast<unsigned>(day))};
  if (!shaped || !date.ok()) {
    return fail(
        bad_input(fmt::format("'{}' is not a date", text.substr(0, 40))).with_hint("dates look like 2026-08-22"));
  }
  return Date{static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count())};
}

std::string format_date(Date date) {
  std::chrono::year_month_day ymd{std::chrono::sys_days(std::chrono::days(date.day))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                     static_cast<unsigned>(ymd.day()));
}

Date today() {
  if (const char* fixed = std::getenv("RIGHTSIZE_TODAY")) {
    if (Result<Date> date = parse_date(fixed)) return *date;
  }
  auto now = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return Date{static_cast<int>(now.time_since_epoch().count())};
}

}  // namespace rightsize
