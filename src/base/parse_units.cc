#include "base/parse_units.h"

#include <charconv>
#include <cmath>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize {
namespace {

struct Unit {
  std::string_view name;
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

Result<NumberAndUnit> split(std::string_view text) {
  text = trim(text);
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range) return fail(bad_input(fmt::format("{} is out of range", quote(text))));
  if (code != std::errc{}) return fail(bad_input(fmt::format("{} is not a number", quote(text))));
  if (!std::isfinite(value)) return fail(bad_input(fmt::format("{} is not a finite number", quote(text))));
  if (value < 0) return fail(bad_input(fmt::format("{} is negative", quote(text))));
  return NumberAndUnit{value, trim(text.substr(static_cast<std::size_t>(end - text.data())))};
}

std::string list_units(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) {
    if (unit.name.empty()) continue;
    names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

// The value in the base unit. An exact spelling wins over one that differs in case, so that "Mb" and "MB" differ.
Result<double> parse(std::string_view text, std::span<const Unit> units) {
  RIGHTSIZE_TRY(NumberAndUnit parsed, split(text));
  for (const Unit& unit : units) {
    if (unit.name == parsed.unit) return parsed.value * unit.factor;
  }
  for (const Unit& unit : units) {
    if (to_lower(unit.name) == to_lower(parsed.unit)) return parsed.value * unit.factor;
  }
  if (parsed.unit.empty()) {
    return fail(bad_input(fmt::format("{} has no unit", quote(text)))
                    .with_hint(fmt::format("write one of {} after the number", list_units(units))));
  }
  return fail(bad_input(fmt::format("{} has an unknown unit {}", quote(text), quote(parsed.unit)))
                  .with_hint(fmt::format("units here are {}", list_units(units))));
}

constexpr double kKi = 1024.0;

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  static constexpr Unit kUnits[] = {{"GiB", kKi * kKi * kKi},
                                    {"MiB", kKi * kKi},
                                    {"KiB", kKi},
                                    {"TiB", kKi * kKi * kKi * kKi},
                                    {"GB", 1e9},
                                    {"MB", 1e6},
                                    {"kB", 1e3},
                                    {"TB", 1e12},
                                    {"B", 1}};
  return parse(text, kUnits).map(bytes);
}

Result<BytesPerSecond> parse_bandwidth(std::string_view text) {
  static constexpr Unit kUnits[] = {{"GB/s", 1e9},       {"TB/s", 1e12},      {"MB/s", 1e6},
                                    {"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}, {"Tbit/s", 1e12 / 8}};
  return parse(text, kUnits).map(bytes_per_s);
}

Result<FlopsPerSecond> parse_flops(std::string_view text) {
  static constexpr Unit kUnits[] = {{"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"GFLOP/s", 1e9}};
  return parse(text, kUnits).map(flop_per_s);
}

Result<Watts> parse_power(std::string_view text) {
  static constexpr Unit kUnits[] = {{"W", 1}, {"kW", 1e3}};
  return parse(text, kUnits).map(watts);
}

namespace {

Result<double> parse_dollars_an_hour(std::string_view text) {
  static constexpr Unit kUnits[] = {{"USD/h", 1}, {"$/h", 1}}, kDollarUnits[] = {{"USD/h", 1}, {"$/h", 1}, {"/h", 1}};
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
  static constexpr Unit kDollarUnits[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};
  static constexpr Unit kUnits[] = {{"USD", 1}, {"kUSD", 1e3}, {"k USD", 1e3}, {"MUSD", 1e6}, {"M USD", 1e6}};
  text = trim(text);
  if (text.starts_with('$')) return parse(text.substr(1), kDollarUnits).map(usd);
  return parse(text, kUnits).map(usd);
}

Result<Seconds> parse_duration(std::string_view text) {
  static constexpr Unit kUnits[] = {{"s", 1},    {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
                                    {"min", 60}, {"h", 3600},  {"d", 86400}, {"w", 604800}};
  return parse(text, kUnits).map(seconds);
}

Result<RequestsPerSecond> parse_request_rate(std::string_view text) {
  static constexpr Unit kUnits[] = {{"/s", 1},           {"/min", 1.0 / 60}, {"/h", 1.0 / 3600},
                                    {"/d", 1.0 / 86400}, {"req/s", 1},       {"rps", 1}};
  return parse(text, kUnits).map(requests_per_s);
}

Result<double> parse_count(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"B", 1e9}, {"G", 1e9}, {"T", 1e12}};
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
