#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {
namespace {

constexpr std::array<double, 19> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                            1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

std::optional<double> epoch(int year, int month, int day, double second_of_day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (month < 1 || day < 1 || !date.ok()) return std::nullopt;
  return 86400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) + second_of_day;
}

// "00:35:40.211"
std::optional<double> second_of_day(std::string_view text) {
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
  return parts[0] * 3600 + parts[1] * 60 + parts[2];
}

std::optional<int> whole(std::string_view digits) {
  int value = 0;
  auto [stop, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || stop != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

// Most numbers here have few digits: a 64-bit mantissa divided once by a power of ten is exact then (both are exact
// doubles below 2^53 and 10^22) and several times faster than a general reader.
std::optional<double> leading_number(const char* begin, const char* last, const char*& end) {
  while (begin != last && *begin == ' ') ++begin;
  const char* at = begin;
  const bool negative = at != last && *at == '-';
  if (negative) ++at;
  std::uint64_t mantissa = 0;
  const char* digits = at;
  while (at != last && is_digit(*at)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at++ - '0');
  std::size_t count = static_cast<std::size_t>(at - digits);
  std::size_t decimals = 0;
  if (at != last && *at == '.') {
    const char* point = at++;
    while (at != last && is_digit(*at)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*at++ - '0');
    decimals = static_cast<std::size_t>(at - point) - 1;
    count += decimals;
  }
  const bool more = at != last && (*at == 'e' || *at == 'E' || *at == 'x' || *at == 'X');
  if (count == 0 || count > 15 || more) return slow_number(begin, last, end);
  end = at;
  const double value = static_cast<double>(mantissa) / kPowers[decimals];
  return negative ? -value : value;
}

std::optional<double> leading_number(std::string_view text) {
  const char* end = nullptr;
  return leading_number(text.data(), text.data() + text.size(), end);
}

std::optional<double> parse_smi_time(std::string_view text) {
  text = trim(text);
  if (text.size() < 19 || text[4] != '/' || text[7] != '/') return std::nullopt;
  auto year = whole(text.substr(0, 4)), month = whole(text.substr(5, 2)), day = whole(text.substr(8, 2));
  auto seconds = second_of_day(text.substr(11));
  if (!year || !month || !day || !seconds) return std::nullopt;
  return epoch(*year, *month, *day, *seconds);
}

std::optional<double> parse_dmon_time(std::string_view date, std::string_view time) {
  auto seconds = second_of_day(time);
  if (!seconds) return std::nullopt;
  if (date.empty()) return seconds;
  if (date.size() != 8) return std::nullopt;
  auto year = whole(date.substr(0, 4)), month = whole(date.substr(4, 2)), day = whole(date.substr(6, 2));
  if (!year || !month || !day) return std::nullopt;
  return epoch(*year, *month, *day, *seconds);
}

std::optional<double> parse_xml_time(std::string_view text) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto words = split_list(text, ' ');
  if (words.size() != 5 || words[1].size() != 3) return std::nullopt;
  const std::size_t month = kMonths.find(words[1]);
  auto day = whole(words[2]), year = whole(words[4]);
  auto seconds = second_of_day(words[3]);
  if (month == std::string_view::npos || month % 3 != 0 || !day || !year || !seconds) return std::nullopt;
  return epoch(*year, static_cast<int>(month / 3) + 1, *day, *seconds);
}

}  // namespace rightsize::telemetry
