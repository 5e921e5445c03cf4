#include "telemetry/times.h"

#include <charconv>
#include <chrono>

#include "base/text.h"

namespace rightsize::telemetry {
namespace {

std::optional<int> whole(std::string_view digits) {
  int value = 0;
  const auto [stop, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || stop != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<TimePoint> moment(std::optional<int> year, std::optional<int> month, std::optional<int> day,
                                std::optional<Seconds> of_day) {
  if (!year || !month || !day || !of_day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return TimePoint(days(static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()))) + *of_day;
}

// "00:35:40.211", "00:35"; hours and minutes have two digits.
std::optional<Seconds> time_of_day(std::string_view text) {
  if (text.size() < 5 || text[2] != ':') return std::nullopt;
  const std::optional<int> hour = whole(text.substr(0, 2)), minute = whole(text.substr(3, 2));
  double second = 0;
  if (text.size() > 5) {
    const char* end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data() + 6, end, second, std::chars_format::fixed);
    if (text[5] != ':' || failed != std::errc() || stop != end || text[6] == '-') return std::nullopt;
  }
  if (!hour || !minute || *hour > 23 || *minute > 59 || !(second < 61)) return std::nullopt;
  return seconds(*hour * 3600.0 + *minute * 60.0 + second);
}

// "Z", "+02:00", "-0530", "+02" or nothing (UTC): what to subtract.
std::optional<Seconds> zone_offset(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") return Seconds{};
  const std::string_view digits = text.substr(1);
  const std::size_t minutes = digits.size() > 2 && digits[2] == ':' ? 3 : 2;
  const std::optional<int> hour = whole(digits.substr(0, 2));
  const std::optional<int> minute = digits.size() > 2 ? whole(digits.substr(minutes)) : 0;
  if (!hour || !minute || digits.size() < 2 || (digits.size() > 2 && digits.size() != minutes + 2)) return std::nullopt;
  const Seconds offset = seconds(*hour * 3600.0 + *minute * 60.0);
  return text.front() == '+' ? offset : -offset;
}

// Year, month and day at the beginning of `text` with `between` between them.
std::optional<TimePoint> at_date(std::string_view text, char between, std::optional<Seconds> of_day) {
  if (text.size() < 10 || text[4] != between || text[7] != between) return std::nullopt;
  return moment(whole(text.substr(0, 4)), whole(text.substr(5, 2)), whole(text.substr(8, 2)), of_day);
}

}  // namespace

std::optional<TimePoint> parse_smi_time(std::string_view text) {
  text = trim(text);
  if (text.size() < 19 || text[10] != ' ') return std::nullopt;
  return at_date(text, '/', time_of_day(text.substr(11)));
}

std::optional<TimePoint> parse_dmon_time(std::string_view date, std::string_view time) {
  const std::optional<Seconds> of_day = time_of_day(time);
  if (of_day && date.empty()) return TimePoint(*of_day);
  if (date.size() != 8) return std::nullopt;
  return moment(whole(date.substr(0, 4)), whole(date.substr(4, 2)), whole(date.substr(6, 2)), of_day);
}

std::optional<TimePoint> parse_xml_time(std::string_view text) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto words = split_list(text, ' ');
  if (words.size() != 5 || words[1].size() != 3) return std::nullopt;
  const std::size_t month = kMonths.find(words[1]);
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  return moment(whole(words[4]), static_cast<int>(month / 3) + 1, whole(words[2]), time_of_day(words[3]));
}

std::optional<TimePoint> parse_iso_time(std::string_view text) {
  if (text.size() < 16 || (text[10] != 'T' && text[10] != ' ' && text[10] != 't')) return std::nullopt;
  const std::size_t zone = std::min(text.find_first_of("Zz+-", 11), text.size());
  const std::optional<Seconds> offset = zone_offset(text.substr(zone));
  const std::optional<TimePoint> time = at_date(text, '-', time_of_day(text.substr(11, zone - 11)));
  return time && offset ? std::optional(*time - *offset) : std::nullopt;
}

}  // namespace rightsize::telemetry
