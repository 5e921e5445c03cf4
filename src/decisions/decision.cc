#include "decisions/decision.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/date.h"

namespace rightsize::decisions {
namespace {

// "09:30:00Z" in seconds.
std::optional<double> parse_clock(std::string_view text) {
  const auto digits = [&](std::size_t at, int limit) -> std::optional<int> {
    const char tens = text[at], ones = text[at + 1];
    if (tens < '0' || tens > '9' || ones < '0' || ones > '9') return std::nullopt;
    const int value = (tens - '0') * 10 + (ones - '0');
    return value < limit ? std::optional(value) : std::nullopt;
  };
  if (text.size() != 9 || text[2] != ':' || text[5] != ':' || text[8] != 'Z') return std::nullopt;
  const std::optional<int> hour = digits(0, 24), minute = digits(3, 60), second = digits(6, 60);
  if (!hour || !minute || !second) return std::nullopt;
  return *hour * 3600.0 + *minute * 60.0 + *second;
}

}  // namespace

std::string_view name_of(DecisionStatus status) {
  static constexpr std::string_view kNames[] = {"decided", "rolling-out", "in-force", "rolled-back", "superseded"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string_view name_of(Per per) { return per == Per::kMonth ? "month" : "run"; }

const PredictedMetric* Decision::find(std::string_view metric) const {
  const auto found = std::ranges::find(predictions, metric, &PredictedMetric::metric);
  return found == predictions.end() ? nullptr : &*found;
}

std::string label(std::int64_t id) { return fmt::format("D{}", id); }

Result<TimePoint> parse_time(std::string_view text) {
  const std::size_t middle = text.find('T');
  const Result<Date> day = parse_date(text.substr(0, middle));
  const std::optional<double> clock =
      middle == std::string_view::npos ? std::optional(0.0) : parse_clock(text.substr(middle + 1));
  if (!day || !clock)
    return fail(bad_input(fmt::format("'{}' is not a time", text)).with_hint("for example 2026-11-15T09:30:00Z"));
  return TimePoint(days(day->day) + seconds(*clock));
}

std::string format_time(TimePoint time) {
  const double since = std::floor(in_unix_seconds(time));
  const double day = std::floor(in_days(seconds(since)));
  const auto rest = static_cast<int>(since - in_seconds(days(day)));
  return fmt::format("{}T{:02}:{:02}:{:02}Z", format_date(Date{static_cast<int>(day)}), rest / 3600, rest / 60 % 60,
                     rest % 60);
}

TimePoint now() {
  for (const char* variable : {"RIGHTSIZE_NOW", "RIGHTSIZE_TODAY"}) {
    const char* set = std::getenv(variable);
    if (set == nullptr) continue;
    if (const Result<TimePoint> time = parse_time(set)) return *time;
  }
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return unix_seconds(static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(since).count()));
}

}  // namespace rightsize::decisions
