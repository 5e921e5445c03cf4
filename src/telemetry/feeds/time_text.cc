#include <charconv>

#include "base/date.h"
#include "telemetry/feeds/feeds.h"

namespace rightsize::telemetry {
namespace {

bool take_two(std::string_view& text, int& value) {
  if (text.size() < 2) return false;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + 2, value);
  if (problem != std::errc() || stop != text.data() + 2) return false;
  text.remove_prefix(2);
  return true;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// "Z", "+02:00", "-0530" or nothing (UTC): what to take off.
std::optional<Seconds> parse_zone(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return Seconds{};
  const bool east = text.front() == '+';
  if (!east && text.front() != '-') return std::nullopt;
  text.remove_prefix(1);
  int hour = 0, minute = 0;
  if (!take_two(text, hour)) return std::nullopt;
  take(text, ':');
  if (!text.empty() && !take_two(text, minute)) return std::nullopt;
  if (!text.empty()) return std::nullopt;
  const Seconds offset = seconds(hour * 3600.0 + minute * 60.0);
  return east ? offset : -offset;
}

}  // namespace

std::optional<TimePoint> parse_iso_time(std::string_view text) {
  if (text.size() < 16) return std::nullopt;
  Result<Date> date = parse_date(text.substr(0, 10));
  if (!date || (text[10] != 'T' && text[10] != ' ' && text[10] != 't')) return std::nullopt;
  text.remove_prefix(11);
  int hour = 0, minute = 0, second = 0;
  double fraction = 0;
  if (!take_two(text, hour) || !take(text, ':') || !take_two(text, minute)) return std::nullopt;
  if (take(text, ':')) {
    if (!take_two(text, second)) return std::nullopt;
    if (take(text, '.')) {
      double unit = 0.1;
      while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        fraction += unit * (text.front() - '0');
        unit /= 10;
        text.remove_prefix(1);
      }
    }
  }
  const std::optional<Seconds> zone = parse_zone(text);
  if (!zone || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return unix_seconds(date->day * 86400.0 + hour * 3600.0 + minute * 60.0 + second + fraction) - *zone;
}

}  // namespace rightsize::telemetry
