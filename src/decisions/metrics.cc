#include "decisions/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "base/parse_units.h"

namespace rightsize::decisions {
namespace {

std::string show_bytes(double value) { return format_bytes(bytes(value)); }
std::string show_share(double value) { return format_percent(Ratio::fraction(value)); }
std::string show_hours(double value) { return format_duration(hours(value)); }
std::string show_seconds(double value) { return format_duration(seconds(value)); }
std::string show_tokens(double value) { return format_tokens_per_s(tokens_per_s(value)); }
std::string show_rate(double value) { return format_number(value) + "/s"; }
std::string show_price(double value) { return format_usd_per_hour(value) + "/h"; }
std::string show_usd(double value) { return format_usd(usd(value)); }
std::string show_number(double value) { return format_number(value); }

Result<double> bytes_of(std::string_view text) { return parse_bytes(text).map(in_bytes); }
Result<double> hours_of(std::string_view text) { return parse_duration(text).map(in_hours); }
Result<double> seconds_of(std::string_view text) { return parse_duration(text).map(in_seconds); }
Result<double> usd_of(std::string_view text) {
  for (const std::string_view unit : {"/month", "/mo", "/run", "/h"}) {
    if (text.ends_with(unit)) text.remove_suffix(unit.size());
  }
  return parse_usd(text).map(in_usd);
}

constexpr MetricInfo kMetrics[] = {
    {kTokens, "tokens per second", Worse::kBelow, true, show_tokens},
    {kSamples, "samples per second", Worse::kBelow, true, show_rate},
    {kRequests, "requests per second", Worse::kBelow, true, show_rate},
    {kHours, "duration", Worse::kAbove, true, show_hours, hours_of},
    {kTtft, "TTFT", Worse::kAbove, true, show_seconds, seconds_of},
    {kTpot, "TPOT", Worse::kAbove, true, show_seconds, seconds_of},
    {kLatency, "latency", Worse::kAbove, true, show_seconds, seconds_of},
    {kOverSlo, "share over the SLO", Worse::kAbove, true, show_share},
    {kGpuHours, "GPU-hours per day", Worse::kAbove, false, show_number},
    {kMemory, "memory per GPU", Worse::kAbove, false, show_bytes, bytes_of},
    {kRate, "price of the machines", Worse::kAbove, false, show_price, usd_of},
    {kUtilization, "utilization", Worse::kAbove, false, show_share},
    {kOom, "out-of-memory errors", Worse::kAbove, false, show_number},
    {kUsd, "actual cost", Worse::kAbove, false, show_usd, usd_of},
    {kRuns, "runs", Worse::kAbove, false, show_number},
    {kGpuUtil, "GPU utilization", Worse::kAbove, false, show_share},
};

}  // namespace

Result<double> MetricInfo::parse(std::string_view text) const {
  Result<double> value = parse_number(text);
  if (!value && parse_unit != nullptr) value = parse_unit(text);
  if (!value) return fail(bad_input(fmt::format("{}: '{}' is not a number", name, text)));
  if (!std::isfinite(*value) || *value < 0)
    return fail(bad_input(fmt::format("{} must be 0 or more, not {}", name, text)));
  return value;
}

std::span<const MetricInfo> metrics() { return kMetrics; }

const MetricInfo* find_metric(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kMetrics), std::end(kMetrics), [&](const MetricInfo& m) { return m.name == name; });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::vector<std::string> metric_names() { return list_of<std::string>(kMetrics, &MetricInfo::name); }

}  // namespace rightsize::decisions
