#include "rightsize/typed/limits.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

// The lists of their names have the longest first: time-per-output-token is not a latency.
constexpr std::pair<LatencyMetric, std::string_view> kLatencyMetrics[] = {
    {LatencyMetric::kTtft, "ttft"}, {LatencyMetric::kTpot, "tpot"}, {LatencyMetric::kLatency, "latency"}};

// "p95", "95th", "p99.9", "median"; "mean" has no percentile, and the median is close to it.
std::optional<double> percentile_of(std::string_view word) {
  if (word == "median" || word == "mean" || word == "avg" || word == "average") return 50;
  std::string_view digits = word;
  if (word.starts_with('p') && word.size() > 1)
    digits.remove_prefix(1);
  else if (word.ends_with("th"))
    digits.remove_suffix(2);
  else
    return std::nullopt;
  const Result<double> number = parse_number(digits);
  if (!number || !(*number > 0)) return std::nullopt;
  const double percentile = *number > 100 ? *number / 10 : *number;  // p999
  return percentile < 100 ? std::optional(percentile) : std::nullopt;
}

}  // namespace

std::optional<LatencyLimitName> read_limit_name(std::string_view name) {
  std::string rest = to_lower(trim(name));
  std::replace_if(
      rest.begin(), rest.end(), [](char c) { return c == '_' || c == ' ' || c == '@'; }, '-');
  LatencyLimitName limit;
  if (lists_word(listed("least speed"), rest)) {
    limit.metric = LatencyMetric::kTpot;
    limit.unit = "/s";
    return limit;
  }
  rest = "-" + rest + "-";
  for (const auto& [measured, list] : kLatencyMetrics) {
    for (const std::string_view metric : split_list(listed(list), ' ')) {
      const std::size_t at = limit.metric ? std::string::npos : rest.find("-" + std::string(metric) + "-");
      if (at == std::string::npos) continue;
      limit.metric = measured;
      rest.replace(at, metric.size() + 2, "-");
    }
  }
  for (const std::string_view word : split_list(rest, '-')) {
    if (const auto percentile = percentile_of(word); percentile && !limit.percentile)
      limit.percentile = percentile;
    else if (word == "ms" || word == "s" || word == "sec" || word == "seconds" || word == "millis" ||
             word == "milliseconds")
      limit.unit = word.starts_with('m') ? "ms" : "s";
    else if (!lists_word(listed("limit fillers"), word))
      return std::nullopt;
  }
  return limit.metric || limit.percentile ? std::optional(limit) : std::nullopt;
}

std::optional<LatencyLimit> read_limit(const LatencyLimitName& name, std::string_view value) {
  LatencyLimit limit;
  limit.metric = name.metric.value_or(LatencyMetric::kLatency);
  limit.percentile = name.percentile;
  value = trim(value);
  while (value.starts_with('<') || value.starts_with('=')) value = trim(value.substr(1));
  limit.text = value;
  if (name.unit == "/s") {  // tokens per second of one user
    const std::optional<Amount> speed = parse_amount(value);
    if (!speed || !(speed->count > 0)) return std::nullopt;
    limit.text = fmt::format("{:.4g}ms", 1000 / speed->count * (speed->per ? in_seconds(*speed->per) : 1));
  }
  Result<Seconds> time = parse_duration(limit.text);
  if (!time) {
    const Result<double> number = parse_number(value);
    if (!number) return std::nullopt;
    const double seconds_below = limit.metric == LatencyMetric::kTpot   ? 1
                                 : limit.metric == LatencyMetric::kTtft ? 10
                                                                        : 20;
    limit.unit_assumed = name.unit.empty();
    limit.text += !name.unit.empty() ? name.unit : *number < seconds_below ? "s" : "ms";
    time = parse_duration(limit.text);
  }
  if (!time || !(*time > Seconds{})) return std::nullopt;
  limit.most = *time;
  return limit;
}

std::optional<std::vector<LatencyLimit>> read_limits(std::string_view text) {
  std::string even(text);
  std::replace(even.begin(), even.end(), ';', ',');
  std::vector<LatencyLimit> limits;
  for (const std::string_view part : split_list(even, ',')) {
    const std::size_t sign = part.find_first_of("=<:"), space = part.rfind(' ');
    const std::size_t at = sign != std::string_view::npos ? sign : space;
    LatencyLimitName name;
    if (at != std::string_view::npos) {
      const auto read = read_limit_name(part.substr(0, at));
      if (!read) return std::nullopt;
      name = *read;
    }
    const auto limit = read_limit(name, at == std::string_view::npos ? part : part.substr(at + 1));
    if (!limit) return std::nullopt;
    limits.push_back(*limit);
  }
  return limits.empty() ? std::nullopt : std::optional(limits);
}

int modelled_percentile(double percentile) { return percentile <= 50 ? 50 : percentile <= 95 ? 95 : 99; }

}  // namespace rightsize::app
