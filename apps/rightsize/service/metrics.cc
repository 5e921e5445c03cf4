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

std::optional<double> saving_of(const SizedService& one, const std::optional<std::size_t>& plan) {
  if (!one.sized || !plan || !one.description.month) return std::nullopt;
  return in_usd(*one.description.month - one.sized->plans[*plan].month);
}

}  // namespace

std::string service_metrics(const ServiceFacts& facts) {
  using One = const SizedService&;
  using Value = std::optional<double>;
  static constexpr struct {
    const char *name, *help;
    Value (*value)(One);
  } kGauges[] = {
      {"requests_per_second", "Mean rate over the window.",
       [](One s) { return s.reading.timed ? Value(s.description.requests_per_second) : std::nullopt; }},
      {"peak_requests_per_second", "Rate of the busiest hour.",
       [](One s) { return s.reading.timed ? Value(s.description.peak_hour) : std::nullopt; }},
      {"replicas", "Replicas at the end of the window.", [](One s) -> Value { return s.description.replicas; }},
      {"gpus", "GPUs at the end of the window.", [](One s) -> Value { return s.description.gpus; }},
      {"usd_per_month", "Monthly cost of the service.",
       [](One s) { return s.description.month ? Value(in_usd(*s.description.month)) : std::nullopt; }},
      {"usd_per_million_output_tokens", "Cost per million output tokens.", usd_per_million_output_tokens},
      {"slo_kept", "1 if every SLO is met, 0 if one is violated.",
       [](One s) { return s.description.slo_kept ? Value(*s.description.slo_kept ? 1 : 0) : std::nullopt; }},
      {"headroom", "Unused share of the capacity in the busiest hour.",
       [](One s) { return s.sized ? s.sized->headroom : std::nullopt; }},
      {"waste_usd_per_month", "Monthly saving of the cheapest plan that meets the SLOs.",
       [](One s) { return s.sized ? saving_of(s, s.sized->best) : std::nullopt; }},
      {"waste_without_move_usd_per_month", "Monthly saving of the cheapest plan on the current GPUs.",
       [](One s) { return s.sized ? saving_of(s, s.sized->first_change) : std::nullopt; }},
  };
  std::string text;
  for (const auto& gauge : kGauges) {
    std::string lines;
    for (const SizedService& one : facts.services) {
      const Value value = gauge.value(one);
      if (!value || !std::isfinite(*value)) continue;
      lines += fmt::format("rightsize_service_{}{{service=\"{}\",model=\"{}\",engine=\"{}\"}} {}\n", gauge.name,
                           quoted(one.reading.name()), quoted(one.reading.model),
                           live_service::name_of(one.reading.engine), *value);
    }
    if (!lines.empty())
      text += fmt::format("# HELP rightsize_service_{0} {1}\n# TYPE rightsize_service_{0} gauge\n{2}", gauge.name,
                          gauge.help, lines);
  }
  return text;
}

}  // namespace rightsize::app
