#include "rightsize/service/report.h"

#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using live_service::ChangeKind;
using live_service::Signal;
using live_service::SizedPlan;
using report::Align;
using report::number_cell;
using report::Paragraph;
using report::Table;
using report::text_cell;

std::string plural(double count, const char* word) {
  return fmt::format("{} {}{}", format_count(count), word, count == 1 ? "" : "s");
}

std::string time_or_unknown(const std::optional<live_service::Quantile>& q) {
  if (!q) return "not published";
  return std::isinf(q->high) ? "over " + format_duration(seconds(q->low)) : format_duration(seconds(q->value));
}

std::string where(const SizedPlan& p) {
  return p.move ? fmt::format("{} x {} ({})", p.move->machines, p.move->offer.machine->instance,
                              p.move->offer.machine->provider)
                : "today's machines";
}

std::string what(const SizedPlan& p) {
  std::string layout = fmt::format("{} of {} x {}{}", plural(p.replicas, "replica"), p.tensor, p.gpu->name,
                                   p.move ? fmt::format(" in {}", model::name_of(p.precision)) : "");
  if (p.kind == ChangeKind::kSchedule) return "by the hour, at most " + layout;
  return layout;
}

std::string saving(const SizedService& one, const SizedPlan& p) {
  if (!one.description.month) return "what it costs today is not known";
  const Usd now = *one.description.month;
  const std::string likely = format_usd(now - p.month), least = format_usd(now - p.month * p.interval.high),
                    most = format_usd(now - p.month * p.interval.low);
  return fmt::format("{}/month less", likely) + (least == most ? "" : fmt::format(" ({} to {})", least, most));
}

// The conclusion.
std::string advice(const SizedService& one) {
  if (!one.sized) return "No plan: see the notes.";
  const live_service::RightSize& s = *one.sized;
  std::string text;
  if (!s.unexplained.empty()) {
    return fmt::format(
        "Do not size it down yet: {}. The plans hold for the traffic that was counted; find out first what else slows "
        "it.",
        s.unexplained);
  }
  if (s.best) {
    const SizedPlan& best = s.plans[*s.best];
    text =
        fmt::format("Best: {}, {}: {}/month, {}.", what(best), where(best), format_usd(best.month), saving(one, best));
  } else if (s.plans.empty()) {
    text = "No plan keeps the SLOs.";
  } else {
    const SizedPlan& least = s.plans.front();
    text = fmt::format("Nothing that keeps the SLOs costs less. The cheapest that does: {}, {}: {}/month.", what(least),
                       where(least), format_usd(least.month));
  }
  if (s.first_change && s.first_change != s.best) {
    const SizedPlan& first = s.plans[*s.first_change];
    text += fmt::format(" Without new machines: {}: {}.", what(first), saving(one, first));
  }
  return text;
}

std::string cost_line(const SizedService& one) {
  const live_service::Description& d = one.description;
  std::string text =
      fmt::format("{}, {} on {}", live_service::name_of(one.reading.engine), plural(d.replicas, "replica"),
                  d.gpu != nullptr ? fmt::format("{} x {}", d.gpus, d.gpu->name) : "unknown GPUs");
  if (d.month) text += fmt::format(": {}/month", format_usd(*d.month));
  if (d.spend && d.output_tokens > 0)
    text += fmt::format(", {} per 1M output tokens", format_usd(*d.spend * (1e6 / d.output_tokens)));
  if (one.sized && one.sized->headroom)
    text += fmt::format(". Headroom at the busiest hour: {}", format_percent(Ratio::fraction(*one.sized->headroom)));
  return text + ".";
}

std::string slo_line(const live_service::Description& d) {
  if (d.slos.empty()) return "No SLO was given: --slo ttft=0.5s,tpot=25ms.";
  std::string text;
  for (const live_service::SloVerdict& v : d.slos) {
    text += fmt::format("{}{} {}: ", text.empty() ? "" : "; ", capacity::describe(v.slo), format_duration(v.slo.limit));
    if (!v.kept)
      text += "not published";
    else
      text += fmt::format("{}{}, {} of requests over", *v.kept ? "kept" : "violated",
                          v.sure ? "" : " (buckets leave it open)", format_percent(Ratio::fraction(v.over->value)));
  }
  return text + ".";
}

void add_row(Table& table, const char* name, const std::string& value) {
  table.rows.push_back({text_cell(name), text_cell(value)});
}

Table description_table(const SizedService& one) {
  const live_service::ServiceReading& r = one.reading;
  const live_service::Description& d = one.description;
  Table table{"", {{"", "fact"}, {"", "value"}}, {}};
  add_row(table, "requests",
          fmt::format("{}/s, {}/s in the busiest hour, bursts of {}x that over five minutes",
                      format_number(d.requests_per_second), format_number(d.peak_hour), format_number(d.burst, 2)));
  const auto lengths = [](const live_service::Spread& s) {
    if (!s.mean) return std::string("not published");
    std::string text = fmt::format("mean {}", format_number(*s.mean, 4));
    if (s.p50) text += fmt::format(", p50 {}, p95 {}", format_number(s.p50->value), format_number(s.p95->value));
    if (s.p95)
      text += fmt::format(" (between {} and {})", format_count(s.p95->low),
                          std::isinf(s.p95->high) ? "more" : format_count(s.p95->high));
    return text;
  };
  add_row(table, "tokens in", lengths(d.isl));
  add_row(table, "tokens out", lengths(d.osl));
  const auto times = [](const live_service::Spread& s) {
    if (!s.p50)
      return s.mean ? fmt::format("mean {}", format_duration(seconds(*s.mean))) : std::string("not published");
    return fmt::format("p50 {}, p95 {}, p99 {}", time_or_unknown(s.p50), time_or_unknown(s.p95),
                       time_or_unknown(s.p99));
  };
  add_row(table, "TTFT", times(d.ttft));
  add_row(table,
          d.tpot_source == Signal::kTpot         ? "TPOT"
          : d.tpot_source == Signal::kInterToken ? "inter-token"
                                                 : "time per token",
          times(d.tpot));
  add_row(table, "end to end", times(d.latency));
  if (d.prefix_hit)
    add_row(table, "prefix cache", fmt::format("{} of prompt tokens", format_percent(Ratio::fraction(*d.prefix_hit))));
  if (const live_service::GaugeUse* running = r.gauge(Signal::kRunning))
    add_row(table, "running",
            fmt::format("{} on average, {} at most", format_number(running->mean), format_number(running->max)));
  if (const live_service::GaugeUse* waiting = r.gauge(Signal::kWaiting))
    add_row(table, "waiting",
            fmt::format("{} on average, {} at most", format_number(waiting->mean), format_number(waiting->max)));
  if (const live_service::GaugeUse* kv = r.gauge(Signal::kKvUse))
    add_row(table, "KV cache",
            fmt::format("{} on average, {} at most", format_percent(Ratio::fraction(kv->mean)),
                        format_percent(Ratio::fraction(kv->max))));
  if (d.preemptions) add_row(table, "preemptions", format_count(std::round(*d.preemptions)));
  if (r.restarts > 0) add_row(table, "restarts", format_count(r.restarts));
  if (d.gpu_hours)
    add_row(table, "GPU-hours",
            fmt::format("{} in {}", format_number(*d.gpu_hours, 4), format_duration(seconds(r.seconds()))));
  if (d.price)
    add_row(table, "price", fmt::format("{}/GPU-h, {}", format_usd_per_hour(d.price->rate), d.price->source()));
  return table;
}

Table plans_table(const SizedService& one, capacity::Statistic at) {
  const std::string percentile(capacity::name_of(at));
  Table table{"Plans, simulated with the service's own busiest hour; all keep every SLO",
              {{"#", "rank", Align::kRight},
               {"change", "change"},
               {"replicas", "replicas", Align::kRight},
               {"GPUs", "gpus"},
               {"format", "precision"},
               {"machines", "machines", Align::kLeft, 34},
               {percentile + " TTFT", "ttft_seconds", Align::kRight},
               {percentile + " TPOT", "tpot_seconds", Align::kRight},
               {"load", "utilization", Align::kRight},
               {"$/month", "usd_per_month", Align::kRight}},
              {}};
  for (std::size_t i = 0; i < one.sized->plans.size(); ++i) {
    const SizedPlan& p = one.sized->plans[i];
    table.rows.push_back({number_cell(std::to_string(i + 1), static_cast<double>(i + 1)),
                          text_cell(live_service::name_of(p.kind)), number_cell(std::to_string(p.replicas), p.replicas),
                          text_cell(fmt::format("{} x {}", p.gpus, p.gpu->name)),
                          text_cell(model::name_of(p.precision)), text_cell(where(p)),
                          number_cell(format_duration(p.ttft), in_seconds(p.ttft)),
                          number_cell(format_duration(p.tpot), in_seconds(p.tpot)),
                          number_cell(format_percent(Ratio::fraction(p.load)), p.load),
                          number_cell(format_usd(p.month), in_usd(p.month))});
  }
  return table;
}

std::string speed_line(const live_service::LearnedSpeed& s) {
  return fmt::format(
      "Speed: the model expects {} a token ({} to {}) at this load; the service shows {}. Corrected by it: {} ({} to "
      "{}), "
      "learned from {}.",
      format_duration(s.prior_tpot), format_duration(s.prior_tpot * s.prior_interval.low),
      format_duration(s.prior_tpot * s.prior_interval.high), format_duration(s.measured_tpot),
      format_duration(s.corrected_tpot), format_duration(s.corrected_tpot * s.corrected_interval.low),
      format_duration(s.corrected_tpot * s.corrected_interval.high), plural(s.rows, "reading"));
}

std::string schedule_line(const SizedService& one) {
  for (const SizedPlan& p : one.sized->plans) {
    if (p.kind != ChangeKind::kSchedule) continue;
    std::string text = "Replicas by the hour (UTC, from 0 to 23 h):";
    for (int replicas : p.schedule) text += fmt::format(" {}", replicas);
    return text + ".";
  }
  return {};
}

void add_service(const ServiceInput& input, const SizedService& one, report::Report& report) {
  auto say = [&](std::string text) {
    if (!text.empty()) report.blocks.emplace_back(Paragraph{std::move(text)});
  };
  report.blocks.emplace_back(
      report::Heading{one.reading.name() + (one.reading.model.empty() ? "" : ": " + one.reading.model)});
  say(advice(one));
  say(cost_line(one));
  say(slo_line(one.description));
  report.blocks.emplace_back(description_table(one));
  if (one.learned) say(speed_line(*one.learned));
  if (one.sized && !one.sized->plans.empty()) {
    report.blocks.emplace_back(plans_table(one, input.size.percentile));
    say(schedule_line(one));
  }
  if (const std::vector<Surer> steps = surer(one); !steps.empty()) {
    std::string text = "To raise confidence: ";
    for (const Surer& step : steps) text += fmt::format("{}{}", &step == &steps.front() ? "" : "; ", step.text);
    say(text + ".");
  }
  for (const std::string& note : one.notes) say("Note: " + note + ".");
}

}  // namespace

const SizedPlan* best_plan(const SizedService& one) {
  if (!one.sized || one.sized->plans.empty() || !one.sized->unexplained.empty()) return nullptr;
  return &one.sized->plans[one.sized->best.value_or(0)];
}

report::Report service_report(const ServiceInput& input, const ServiceFacts& facts) {
  report::Report report;
  report.title = fmt::format("{} from {}", plural(static_cast<double>(facts.services.size()), "service"), facts.source);
  for (const SizedService& one : facts.services) add_service(input, one, report);
  for (const std::string& note : facts.notes) report.blocks.emplace_back(Paragraph{"Note: " + note + "."});
  report.document = service_document(input, facts);
  return report;
}

}  // namespace rightsize::app
