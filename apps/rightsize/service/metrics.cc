// Services as Prometheus metrics.
#include <cmath>

#include <fmt/format.h>

#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

std::string quoted(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c == '\n' ? ' ' : c);
  }
  return out;
}

// One gauge over all services that have a value.
template <class Figure>
void add(std::string& text, const char* name, const char* help, const ServiceFacts& facts, Figure figure) {
  std::string lines;
  for (const SizedService& one : facts.services) {
    const std::optional<double> value = figure(one);
    if (!value || !std::isfinite(*value)) continue;
    lines += fmt::format("{}{{service=\"{}\",model=\"{}\",engine=\"{}\"}} {}\n", name, quoted(one.reading.name()),
                         quoted(one.reading.model), live_service::name_of(one.reading.engine), *value);
  }
  if (!lines.empty()) text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n{}", name, help, name, lines);
}

std::optional<double> saving_of(const SizedService& one, const std::optional<std::size_t>& plan) {
  if (!one.sized || !plan || !one.description.month) return std::nullopt;
  return in_usd(*one.description.month - one.sized->plans[*plan].month);
}

}  // namespace

std::string service_metrics(const ServiceFacts& facts) {
  std::string text;
  const auto gauge = [&](const char* name, const char* help, auto figure) { add(text, name, help, facts, figure); };
  using One = const SizedService&;
  using Value = std::optional<double>;
  gauge("rightsize_service_requests_per_second", "Mean rate over the window.",
        [](One s) -> Value { return s.description.requests_per_second; });
  gauge("rightsize_service_peak_requests_per_second", "Rate of the busiest hour.",
        [](One s) -> Value { return s.description.peak_hour; });
  gauge("rightsize_service_replicas", "Replicas at the end of the window.",
        [](One s) -> Value { return s.description.replicas; });
  gauge("rightsize_service_gpus", "GPUs at the end of the window.", [](One s) -> Value { return s.description.gpus; });
  gauge("rightsize_service_usd_per_month", "Monthly cost of the service.",
        [](One s) -> Value { return s.description.month ? Value(in_usd(*s.description.month)) : std::nullopt; });
  gauge("rightsize_service_usd_per_million_output_tokens", "Cost per million output tokens.",
        usd_per_million_output_tokens);
  gauge("rightsize_service_slo_kept", "1 if every SLO is met, 0 if one is violated.",
        [](One s) -> Value { return s.description.slo_kept ? Value(*s.description.slo_kept ? 1 : 0) : std::nullopt; });
  gauge("rightsize_service_headroom", "Unused share of the capacity in the busiest hour.",
        [](One s) -> Value { return s.sized ? s.sized->headroom : std::nullopt; });
  gauge("rightsize_service_waste_usd_per_month", "Monthly saving of the cheapest plan that meets the SLOs.",
        [](One s) -> Value { return s.sized ? saving_of(s, s.sized->best) : std::nullopt; });
  gauge("rightsize_service_waste_without_move_usd_per_month",
        "Monthly saving of the cheapest plan on the current GPUs.",
        [](One s) -> Value { return s.sized ? saving_of(s, s.sized->first_change) : std::nullopt; });
  return text;
}

}  // namespace rightsize::app
