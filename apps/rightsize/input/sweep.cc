#include "rightsize/input/sweep.h"

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::app {

Result<Sweep> parse_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    return fail(bad_input(fmt::format("--sweep '{}' has no '='", text)).with_hint("write --sweep batch=1..256"));
  Sweep sweep;
  sweep.setting = text.substr(0, equals);
  const std::string range = text.substr(equals + 1);
  const std::size_t dots = range.find("..");
  if (dots == std::string::npos) {
    for (std::string_view value : split_list(range, ',')) sweep.values.emplace_back(value);
  } else {
    RIGHTSIZE_TRY(double from, parse_count(range.substr(0, dots)));
    RIGHTSIZE_TRY(double to, parse_count(range.substr(dots + 2)));
    if (from < 1 || to < from) return fail(bad_input(fmt::format("'{}' is not a range from small to large", range)));
    for (double value = from; value < to; value *= 2) sweep.values.push_back(fmt::format("{:.0f}", value));
    sweep.values.push_back(fmt::format("{:.0f}", to));
  }
  if (sweep.values.empty() || sweep.values.size() > 200)
    return fail(bad_input(fmt::format("--sweep takes 1 to 200 values, not {}", sweep.values.size())));
  return sweep;
}

}  // namespace rightsize::app
