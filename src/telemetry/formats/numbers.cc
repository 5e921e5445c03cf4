#include <charconv>
#include <chrono>
#include <cstdint>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {
namespace {

// Anything the quick way does not take: exponents, many digits, "inf", hexadecimal.
std::optional<double> slow_number(const char* begin, const char* last, const char*& end) {
  if (last - begin > 2 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X')) {
    std::uint64_t bits = 0;
    auto [stop, failed] = std::from_chars(begin + 2, last, bits, 16);
    if (failed != std::errc()) return std::nullopt;
    end = stop;
    return static_cast<double>(bits);
  }
  double value = 0;
  auto [stop, failed] = std::from_chars(begin, last, value);
  if (failed != std::errc()) return std::nullopt;
  end = stop;
  return value;
}

std::optional<TimePoint> moment(int year, int month, int day, Seconds of_day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (month < 1 || day < 1 || !date.ok()) return std::nullopt;
  return TimePoint(days(static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()))) + of_day;
}

// "00:35:40.211"
std::optional<Seconds> time_of_day(std::string_view text) {
  double parts[3] = {};
  const char* at = text.data();
  const char* last = at + text.size();
  for (double& part : parts) {
    auto value = leading_number(at, last, at);
    if (!value || *value < 0) return std::nullopt;
    part = *value;
    if (&part != &parts[2]) {
      if (at == last || *at != ':') return std::nullopt;
      ++at;
    }
  }
  if (parts[0] > 23 || parts[1] > 59 || parts[2] >= 61) return std::nullopt;
  return seconds(parts[0] * 3600 + parts[1] * 60 + parts[2]);
}

std::optional<int> whole(std::string_view digits) {
  int value = 0;
  auto [stop, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || stop != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> leading_number(const char* begin, const char* last, const char*& end) {
  while (begin != last && *begin == ' ') ++begin;
  double value = 0;
  if (const char* behind = plain_number(begin, last, value)) {
    end = behind;
    return value;
  }
  return slow_number(begin, last, end);
}

std::optional<double> leading_number(std::string_view text) {
  const char* end = nullptr;
  return leading_number(text.data(), text.data() + text.size(), end);
}

std::optional<TimePoint> parse_smi_time(std::string_view text) {
  text = trim(text);
  if (text.size() < 19 || text[4] != '/' || text[7] != '/' || text[10] != ' ') return std::nullopt;
  auto year = whole(text.substr(0, 4)), month = whole(text.substr(5, 2)), day = whole(text.substr(8, 2));
  auto of_day = time_of_day(text.substr(11));
  if (!year || !month || !day || !of_day) return std::nullopt;
  return moment(*year, *month, *day, *of_day);
}

std::optional<TimePoint> parse_dmon_time(std::string_view date, std::string_view time) {
  auto of_day = time_of_day(time);
  if (!of_day) return std::nullopt;
  if (date.empty()) return TimePoint(*of_day);
  if (date.size() != 8) return std::nullopt;
  auto year = whole(date.substr(0, 4)), month = whole(date.substr(4, 2)), day = whole(date.substr(6, 2));
  if (!year || !month || !day) return std::nullopt;
  return moment(*year, *month, *day, *of_day);
}

std::optional<TimePoint> parse_xml_time(std::string_view text) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto words = split_list(text, ' ');
  if (words.size() != 5 || words[1].size() != 3) return std::nullopt;
  const std::size_t month = kMonths.find(words[1]);
  auto day = whole(words[2]), year = whole(words[4]);
  auto of_day = time_of_day(words[3]);
  if (month == std::string_view::npos || month % 3 != 0 || !day || !year || !of_day) return std::nullopt;
  return moment(*year, static_cast<int>(month / 3) + 1, *day, *of_day);
}

}  // namespace rightsize::telemetry
