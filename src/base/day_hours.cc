#include "base/day_hours.h"

#include <cstdio>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize {
namespace {

constexpr int kDayMinutes = 24 * 60;

// "22:00", "10pm", "6:30 am", "22h", "noon": minutes since midnight.
std::optional<int> minute_of_day(std::string text) {
  std::erase(text, ' ');
  if (text == "midnight" || text == "noon") return text == "noon" ? kDayMinutes / 2 : 0;
  int hour = 0, minute = 0, used = 0;
  const bool minutes = std::sscanf(text.c_str(), "%2d:%2d%n", &hour, &minute, &used) == 2 && used > 0;
  if (!minutes && std::sscanf(text.c_str(), "%2d%n", &hour, &used) != 1) return std::nullopt;
  const std::string rest = text.substr(static_cast<std::size_t>(used));
  if (!rest.empty() && rest != "am" && rest != "pm" && rest != "h") return std::nullopt;
  if (rest.ends_with('m') && (hour < 1 || hour > 12)) return std::nullopt;
  if (rest == "pm" && hour < 12) hour += 12;
  if (rest == "am" && hour == 12) hour = 0;
  if (hour < 0 || minute < 0 || hour > 24 || minute > 59 || hour * 60 + minute > kDayMinutes) return std::nullopt;
  return hour * 60 + minute;
}

}  // namespace

std::optional<DayHours> hours_of_day(const std::string& text) {
  std::string even = to_lower(text);
  for (const std::string_view between : {" to ", " until ", " till ", " and ", "\u2013", " - "}) {
    if (const std::size_t at = even.find(between); at != std::string::npos) even.replace(at, between.size(), "-");
  }
  const std::size_t dash = even.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto from = minute_of_day(even.substr(0, dash)), to = minute_of_day(even.substr(dash + 1));
  const bool clock = even.find_first_of(":m") != std::string::npos;  // 8-16 may be anything
  if (!from || !to || !clock) return std::nullopt;
  return DayHours{seconds(60.0 * *from), seconds(60.0 * ((*to - *from + kDayMinutes - 1) % kDayMinutes + 1))};
}

std::string length_of_hours(const std::string& text) {
  const std::optional<DayHours> hours = hours_of_day(text);
  return hours ? fmt::format("{:.0f}min", in_seconds(hours->length) / 60) : "";
}

}  // namespace rightsize
