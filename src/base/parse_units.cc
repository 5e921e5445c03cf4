#include "base/parse_units.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/slurm_time.h"
#include "base/text.h"

namespace rightsize {
namespace {

// A unit by its spellings, separated by '|'. Errors use the first one, which may be empty.
struct UnitName {
  std::string_view spellings;
  double factor;
};

struct NumberAndUnit {
  double value;
  std::string_view unit;
};

std::string quote(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? fmt::format("'{}'", text) : fmt::format("'{}...'", text.substr(0, kShown));
}

// Other numbers are mistakes, and with a unit, or divided by each other, they would not be finite.
bool is_usual(double value) {
  constexpr double kSmallest = 1e-30, kLargest = 1e30;
  return value == 0 || (std::abs(value) >= kSmallest && std::abs(value) <= kLargest);
}

// Digits in groups of three, "1,000,000" or "1_000_000", at the beginning of the text: their length and the digits.
// Empty if a group does not have three digits: "1,5" may be a list or contain a decimal comma.
std::pair<std::size_t, std::string> grouped_digits(std::string_view text) {
  const auto digits = [&](std::size_t from) {
    std::size_t end = from;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return end - from;
  };
  std::size_t length = digits(0);
  if (length == 0 || length > 3 || length == text.size() || (text[length] != ',' && text[length] != '_')) return {};
  const char separator = text[length];
  std::string found(text.substr(0, length));
  while (length < text.size() && text[length] == separator) {
    if (digits(length + 1) != 3) return {};
    found += text.substr(length + 1, 3);
    length += 4;
  }
  return {length, found};
}

Result<NumberAndUnit> split(std::string_view text) {
  text = trim(text);
  const auto [grouped, digits] = grouped_digits(text);
  if (grouped > 0) {
    std::size_t fraction = grouped;
    if (fraction < text.size() && text[fraction] == '.') {
      do ++fraction;
      while (fraction < text.size() && text[fraction] >= '0' && text[fraction] <= '9');
    }
    RIGHTSIZE_TRY(const NumberAndUnit plain, split(digits + std::string(text.substr(grouped, fraction - grouped))));
    return NumberAndUnit{plain.value, trim(text.substr(fraction))};
  }
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) return fail(bad_input(fmt::format("{} is out of range", quote(text))));
  if (code != std::errc{}) return fail(bad_input(fmt::format("{} is not a number", quote(text))));
  if (!std::isfinite(value)) return fail(bad_input(fmt::format("{} is not a finite number", quote(text))));
  if (!is_usual(value)) return fail(bad_input(fmt::format("{} is out of range", quote(text))));
  if (value < 0) return fail(bad_input(fmt::format("{} is negative", quote(text))));
  return NumberAndUnit{value, trim(text.substr(static_cast<std::size_t>(end - text.data())))};
}

std::string_view first_spelling(const UnitName& unit) { return unit.spellings.substr(0, unit.spellings.find('|')); }

std::string list_units(std::span<const UnitName> units) {
  std::string names;
  for (const UnitName& unit : units) {
    const std::string_view first = first_spelling(unit);
    if (!first.empty()) names += (names.empty() ? "" : ", ") + std::string(first);
  }
  return names;
}

// The spelling of `unit` that `matches`, or null data.
template <class Matches>
std::string_view find_spelling(const UnitName& unit, const Matches& matches) {
  for (std::string_view rest = unit.spellings;;) {
    const std::size_t bar = rest.find('|');
    const std::string_view spelling = rest.substr(0, bar);
    if (matches(spelling)) return spelling;
    if (bar == std::string_view::npos) return {};
    rest.remove_prefix(bar + 1);
  }
}

// The value in the base unit. An exact spelling wins over one that differs in case; a spelling that matches two units
// only when case is ignored ("gb/s" could be Gb/s or GB/s) is refused.
Result<double> parse(std::string_view text, std::span<const UnitName> units) {
  RIGHTSIZE_TRY(NumberAndUnit parsed, split(text));
  for (const UnitName& unit : units) {
    const auto exact = [&](std::string_view spelling) { return spelling == parsed.unit; };
    if (find_spelling(unit, exact).data() != nullptr) return parsed.value * unit.factor;
  }
  const UnitName* found = nullptr;
  std::string_view found_spelling;
  for (const UnitName& unit : units) {
    const auto similar = [&](std::string_view spelling) { return to_lower(spelling) == to_lower(parsed.unit); };
    const std::string_view spelling = find_spelling(unit, similar);
    if (spelling.data() == nullptr) continue;
    if (found != nullptr) {
      return fail(bad_input(fmt::format("{} could mean {} or {}", quote(text), found_spelling, spelling))
                      .with_hint("b is a bit and B a byte: 400Gbit/s is 50GB/s"));
    }
    found = &unit;
    found_spelling = spelling;
  }
  if (found != nullptr) return parsed.value * found->factor;
  if (parsed.unit.empty()) {
    return fail(bad_input(fmt::format("{} has no unit", quote(text)))
                    .with_hint(fmt::format("write one of {} after the number", list_units(units))));
  }
  return fail(bad_input(fmt::format("{} has an unknown unit {}", quote(text), quote(parsed.unit)))
                  .with_hint(fmt::format("use one of {}", list_units(units))));
}

constexpr double kKi = 1024.0;

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  // Kubernetes writes Gi and G.
  static constexpr UnitName kUnits[] = {{"GiB|Gi", kKi * kKi * kKi},
                                        {"MiB|Mi", kKi * kKi},
                                        {"KiB|Ki", kKi},
                                        {"TiB|Ti", kKi * kKi * kKi * kKi},
                                        {"GB|G", 1e9},
                                        {"MB|M", 1e6},
                                        {"kB|K", 1e3},
                                        {"TB|T", 1e12},
                                        {"B", 1}};
  return parse(text, kUnits).map(bytes);
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  static constexpr UnitName kUnits[] = {{"GB/s|GBps", 1e9},
                                        {"TB/s|TBps", 1e12},
                                        {"MB/s|MBps", 1e6},
                                        {"GiB/s", kKi * kKi * kKi},
                                        {"MiB/s", kKi * kKi},
                                        {"Gbit/s|Gb/s|Gbps|gbps", 1e9 / 8},
                                        {"Mbit/s|Mb/s|Mbps|mbps", 1e6 / 8},
                                        {"Tbit/s|Tb/s|Tbps", 1e12 / 8}};
  return parse(text, kUnits).map(bytes_per_s);
}

Result<FlopsPerSecond> parse_flops(std::string_view text) {
  static constexpr UnitName kUnits[] = {{"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"GFLOP/s", 1e9}};
  return parse(text, kUnits).map(flop_per_s);
}

Result<Watts> parse_power(std::string_view text) {
  static constexpr UnitName kUnits[] = {{"W", 1}, {"kW", 1e3}};
  return parse(text, kUnits).map(watts);
}

namespace {

Result<double> parse_dollars_an_hour(std::string_view text) {
  static constexpr UnitName kUnits[] = {{"USD/h|$/h|USD/hr|USD/hour", 1}};
  static constexpr UnitName kDollarUnits[] = {{"/h|/hr|/hour|USD/h|$/h", 1}};
  text = trim(text);
  return text.starts_with('$') ? parse(text.substr(1), kDollarUnits) : parse(text, kUnits);
}

}  // namespace

Result<UsdPerGpuSecond> parse_usd_per_gpu_hour(std::string_view text) {
  return parse_dollars_an_hour(text).map(usd_per_gpu_hour);
}
Result<UsdPerMachineSecond> parse_usd_per_machine_hour(std::string_view text) {
  return parse_dollars_an_hour(text).map(usd_per_machine_hour);
}

Result<Usd> parse_usd(std::string_view text) {
  static constexpr UnitName kDollarUnits[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};
  static constexpr UnitName kUnits[] = {{"USD||$|dollars", 1}, {"kUSD|k|k USD", 1e3}, {"MUSD|M|M USD", 1e6}};
  text = trim(text);
  if (text.starts_with('$')) return parse(text.substr(1), kDollarUnits).map(usd);
  // "$500" unquoted becomes "00": the shell expands $5.
  if (text.size() > 1 && text.find_first_not_of('0') == std::string_view::npos) {
    return fail(bad_input(fmt::format("'{}' is not an amount of money; the shell may have expanded the $", text))
                    .with_hint("write 500, 500USD, or '$500' in quotes"));
  }
  return parse(text, kUnits).map(usd);
}

namespace {

constexpr double kMonthSeconds = in_seconds(kMonth);
constexpr UnitName kTimeUnits[] = {
    {"s|sec|secs|second|seconds", 1},
    {"ms|msec|millisecond|milliseconds", 1e-3},
    {"us", 1e-6},
    {"ns", 1e-9},
    {"min|m|mins|minute|minutes", 60},
    {"h|hr|hrs|hour|hours", 3600},
    {"d|day|days", 86400},
    {"w|week|weeks|wk|wks", 604800},
    {"month|months|mo|mos", kMonthSeconds},
    {"year|years|yr|yrs|y", in_seconds(kYear)},
};

// The position of the second number: 2 in "2h30m"; 0 if there is none.
std::size_t next_number(std::string_view text) {
  bool unit = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
    const bool exponent = !unit && (text[i] == 'e' || text[i] == 'E') && i + 1 < text.size() && text[i + 1] < 'A';
    unit = unit || (letter && !exponent);
    if (unit && text[i] >= '0' && text[i] <= '9') return i;
  }
  return 0;
}

}  // namespace

Result<Seconds> parse_duration(std::string_view text) {
  text = trim(text);
  if (text.find(':') != std::string_view::npos) {
    if (const std::optional<Seconds> time = parse_slurm_time(text)) return *time;
  }
  const std::size_t rest = next_number(text);
  if (rest == 0) {
    Result<Seconds> whole = parse(text, kTimeUnits).map(seconds);
    if (whole) return whole;
    const bool date = text.size() >= 8 && text.find_first_not_of("0123456789-/.T:Z ") == std::string_view::npos &&
                      text.find_first_of("-/") != std::string_view::npos;
    if (date) return fail(bad_input(fmt::format("{} is a date; write a duration such as 36h or 14d", quote(text))));
    if (!whole.error().hints.empty()) return whole;
    return fail(std::move(whole).error().with_hint("write a duration such as 36h, 14d or 2h30m"));
  }
  RIGHTSIZE_TRY(const double first, parse(text.substr(0, rest), kTimeUnits));
  RIGHTSIZE_TRY(const Seconds others, parse_duration(text.substr(rest)));
  return seconds(first) + others;
}

namespace {

// "20", "20/s", "50M/d", "1M/2h", "1200 req/min": a count per duration, which is `bare` if the text has none.
Result<double> parse_per_time(std::string_view text, Seconds bare) {
  text = trim(text);
  const auto not_a_rate = [text] {
    return fail(bad_input(fmt::format("{} is not a rate", quote(text))).with_hint("write 20/s, 90k/h or 50M/d"));
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) {
    const double per_bare = 1 / in_seconds(bare);
    const UnitName units[] = {{"", per_bare}, {"k", 1e3 * per_bare}, {"M", 1e6 * per_bare}, {"rps|qps", 1}};
    if (Result<double> rate = parse(text, units)) return rate;
    return not_a_rate();
  }
  static constexpr UnitName kThings[] = {
      {"|req|requests|items|img|tok|tokens|documents|docs|images", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}};
  Result<double> count = parse(text.substr(0, slash), kThings);
  const std::string per(trim(text.substr(slash + 1)));
  const bool counted = !per.empty() && per.front() >= '0' && per.front() <= '9';
  Result<Seconds> over = parse_duration(counted ? per : "1" + per);
  if (!count || !over || !(*over > Seconds{})) return not_a_rate();
  return *count / in_seconds(*over);
}

}  // namespace

Result<RequestsPerSecond> parse_request_rate(std::string_view text) {
  return parse_per_time(text, seconds(1)).map(requests_per_s);
}

Result<double> parse_per_hour(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  if (const std::string_view share = trim(text.substr(0, slash)); share.ends_with('%')) {
    const Result<Ratio> chance = parse_share(share);
    const Result<Seconds> within =
        slash == text.size() ? kMonth : parse_duration("1" + std::string(trim(text.substr(slash + 1))));
    if (chance && within && chance->fraction() >= 0 && chance->fraction() < 1)
      return -std::log1p(-chance->fraction()) / in_hours(*within);
    return fail(bad_input(fmt::format("{} is not a chance", quote(text))).with_hint("write 10%, 10%/d or 0.05/h"));
  }
  return parse_per_time(text, hours(1)).map([](double per_second) { return per_second * in_seconds(hours(1)); });
}

Result<Ratio> parse_share(std::string_view text) {
  static constexpr UnitName kUnits[] = {{"", 1}, {"%|percent", 0.01}};
  Result<double> share = parse(text, kUnits);
  if (!share) return fail(bad_input(fmt::format("{} is not a share", quote(text))).with_hint("write 0.7 or 70%"));
  return Ratio::fraction(*share);
}

Result<double> parse_count(std::string_view text) {
  static constexpr UnitName kUnits[] = {
      {"", 1}, {"k|thousand", 1e3}, {"M|million|mn", 1e6}, {"B|G|billion|bn", 1e9}, {"T|trillion|tn", 1e12}};
  RIGHTSIZE_TRY(double value, parse(text, kUnits));
  if (value != std::floor(value)) return fail(bad_input(fmt::format("{} is not a whole number", quote(text))));
  return value;
}

Result<double> parse_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return fail(bad_input(fmt::format("{} is not a number", quote(text))));
  }
  if (!is_usual(value)) return fail(bad_input(fmt::format("{} is out of range", quote(text))));
  return value;
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::string digits;
  for (char c : trim(text)) {
    if (c != ',' && c != '_') digits += c;
  }
  std::int64_t value = 0;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::result_out_of_range) return fail(bad_input(fmt::format("{} is out of range", quote(text))));
  if (code != std::errc{} || end != digits.data() + digits.size()) {
    return fail(bad_input(fmt::format("{} is not a whole number", quote(text))));
  }
  return value;
}

}  // namespace rightsize
