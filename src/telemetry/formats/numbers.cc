#include <charconv>
#include <cstdint>

#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {
namespace {

// What plain_number() does not read: exponents, many digits, "inf", hexadecimal.
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

void set_metric(const MetricSpec& spec, std::string_view text, Sample& sample) {
  if (is_blank(text)) return;
  const std::optional<double> raw = leading_number(text);
  const std::optional<double> value = raw ? canonical(spec, *raw) : std::nullopt;
  if (value) sample.set(spec.metric, *value);
}

}  // namespace rightsize::telemetry
