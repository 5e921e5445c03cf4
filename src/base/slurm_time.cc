#include "base/slurm_time.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace rightsize {
namespace {

// Digits with an optional fraction; empty for signs, exponents and spaces.
std::optional<double> field_of(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  return plain && problem == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<Seconds> parse_slurm_time(std::string_view text, Seconds bare) {
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  const std::optional<double> day_count = with_days ? field_of(text.substr(0, dash)) : 0;
  if (with_days) text.remove_prefix(dash + 1);
  std::vector<double> fields;
  for (bool more = true; more;) {
    const std::size_t colon = text.find(':');
    const std::optional<double> field = field_of(text.substr(0, colon));
    if (!field) return std::nullopt;
    fields.push_back(*field);
    more = colon != std::string_view::npos;
    if (more) text.remove_prefix(colon + 1);
  }
  if (!day_count || fields.size() > 3) return std::nullopt;
  if (fields.size() == 1 && !with_days) return bare * fields[0];
  // After days the first field is hours; without days, two fields are minutes and seconds.
  if (fields.size() == 2 && !with_days) fields.insert(fields.begin(), 0);
  fields.resize(3);
  return days(*day_count) + hours(fields[0]) + seconds(60) * fields[1] + seconds(fields[2]);
}

}  // namespace rightsize
