#include "fleet/promql.h"

#include <cmath>

#include <fmt/format.h>

namespace rightsize::fleet {

std::string escape_quoted(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    out.push_back(c);
  }
  return out;
}

std::string escape_regex(std::string_view text) {
  static constexpr std::string_view kSpecial = "\\.+*?()|[]{}^$";
  std::string out;
  for (char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(seconds, 1.0)));
  for (const auto& [unit, size] : {std::pair{'d', 86400LL}, {'h', 3600LL}, {'m', 60LL}}) {
    if (whole % size == 0) return fmt::format("{}{}", whole / size, unit);
  }
  return fmt::format("{}s", whole);
}

std::string selector(std::string_view name, const QueryFrame& frame, const Shard& shard) {
  std::string matchers = frame.matchers;
  if (!shard.label.empty()) {
    std::string values;
    for (const std::string& value : shard.values) values += (values.empty() ? "" : "|") + escape_regex(value);
    matchers += fmt::format("{}{}=~\"{}\"", matchers.empty() ? "" : ",", shard.label, escape_quoted(values));
  }
  return matchers.empty() ? std::string(name) : fmt::format("{}{{{}}}", name, matchers);
}

std::string over_time(Aggregate aggregate, const MetricSource& source, const QueryFrame& frame, const Shard& shard,
                      double seconds) {
  const std::string range = fmt::format("{}[{}]", selector(source.name, frame, shard), duration_text(seconds));
  switch (aggregate) {
    case Aggregate::kMean:
      return fmt::format("avg_over_time({})", range);
    case Aggregate::kMax:
      return fmt::format("max_over_time({})", range);
    case Aggregate::kP50:
      return fmt::format("quantile_over_time(0.5, {})", range);
    case Aggregate::kP95:
      return fmt::format("quantile_over_time(0.95, {})", range);
    case Aggregate::kCount:
      break;
  }
  return fmt::format("count_over_time({})", range);
}

std::string idle_share(const MetricSource& activity, const QueryFrame& frame, const Shard& shard) {
  return fmt::format("avg_over_time(({} <= bool {})[{}:{}])", selector(activity.name, frame, shard),
                     frame.idle.active_above / activity.scale, duration_text(frame.window), duration_text(frame.step));
}

std::string idle_changes(const MetricSource& activity, const QueryFrame& frame, const Shard& shard) {
  return fmt::format("changes(({} <= bool {})[{}:{}])", selector(activity.name, frame, shard),
                     frame.idle.active_above / activity.scale, duration_text(frame.window), duration_text(frame.step));
}

std::string held_share(const MetricSource& activity, const MetricSource& memory, const QueryFrame& frame,
                       const Shard& shard) {
  return fmt::format("avg_over_time((({} <= bool {}) * ({} > bool {}))[{}:{}])", selector(activity.name, frame, shard),
                     frame.idle.active_above / activity.scale, selector(memory.name, frame, shard),
                     frame.idle.held_above_bytes / memory.scale, duration_text(frame.window),
                     duration_text(frame.step));
}

}  // namespace rightsize::fleet
