#include "rightsize/service/report.h"

#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/decisions/fields.h"

namespace rightsize::app {
namespace {

using live_service::Signal;
using live_service::SizeChange;
using live_service::SizedPlan;
using report::Table;
using report::text_cell;

std::string plural(double count, const char* word) {
  return fmt::format("{} {}{}", format_count(count), word, count == 1 ? "" : "s");
}

std::string time_or_unknown(const std::optional<live_service::Quantile>& q) {
  if (!q) return "not published";
  return std::isinf(q->high) ? "over " + format_duration(seconds(q->low)) : format_duration(seconds(q->value));
}

std::string what(const SizedPlan& p) {
  std::string layout = fmt::format("{} of {} x {}{}", plural(p.replicas, "replica"), p.tensor, p.gpu->name,
                                   p.move ? fmt::format(" in {}", model::name_of(p.precision)) : "");
  if (p.kind == SizeChange::kSchedule) return "a schedule of up to " + layout;
  return layout;
}

std::string saving(const SizedService& one, const SizedPlan& p) {
  if (!one.description.month) return "today's cost unknown: pass --gpu and --price";
  const Usd now = *one.description.month;
  const std::string likely = format_usd(now - p.month), least = format_usd(now - p.month * p.interval.high),
                    most = format_usd(now - p.month * p.interval.low);
  return fmt::format("{}/month less", likely) + (least == most ? "" : fmt::format(" ({} to {})", least, most));
}

bool holds_today(const SizedService& one) { return one.sized && !one.sized->held.empty(); }
const char* meets(const SizedService& one) { return holds_today(one) ? "keeps today's latency" : "meets the SLOs"; }

std::string advice(const SizedService& one) {
  if (!one.reading.timed)
    return "Latencies and lengths are those since the engine started; running requests and the KV cache are those of "
           "one moment. A plan needs the rate of requests: add --uptime 2h or --rate 3/s.";
  if (!one.sized) return "No plan: see the notes.";
  const live_service::RightSize& s = *one.sized;
  std::string text;
  if (!s.unexplained.empty()) {
    return fmt::format(
        "Do not size it down yet: {}. The plans are valid only for completed requests; first find out what else slows "
        "the service down.",
        s.unexplained);
  }
  if (s.best) {
    const SizedPlan& best = s.plans[*s.best];
    text = fmt::format("Best: {}, {}: {}/month, {}.", what(best), machines_shown(best), format_usd(best.month),
                       saving(one, best));
  } else if (s.plans.empty()) {
    text = fmt::format("No plan {}.", meets(one));
  } else {
    const SizedPlan& least = s.plans.front();
    text = fmt::format("No plan that {} costs less. The cheapest is {}, {}: {}/month.", meets(one), what(least),
                       machines_shown(least), format_usd(least.month));
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
  if (const auto cost = usd_per_million_output_tokens(one))
    text += fmt::format(", {} per 1M output tokens", format_usd(usd(*cost)));
  if (one.sized && one.sized->headroom)
    text += fmt::format(". Headroom in the busiest hour: {}", format_percent(Ratio::fraction(*one.sized->headroom)));
  return text + ".";
}

std::string slo_line(const SizedService& one) {
  const live_service::Description& d = one.description;
  std::string text;
  if (holds_today(one)) {
    for (const capacity::Slo& slo : one.sized->held)
      text += fmt::format("{}{} {}", text.empty() ? "" : " and ", capacity::describe(slo), format_duration(slo.limit));
    return fmt::format("No SLO given, so plans keep today's latency: {}. Other limits: --slo ttft=0.5s,tpot=25ms.",
                       text);
  }
  if (d.slos.empty()) return "No SLO given; pass --slo ttft=0.5s,tpot=25ms.";
  for (const live_service::SloVerdict& v : d.slos) {
    text += fmt::format("{}{} {}: ", text.empty() ? "" : "; ", capacity::describe(v.slo), format_duration(v.slo.limit));
    if (!v.kept)
      text += "not published";
    else
      text += fmt::format("{}{}, {} of requests over", *v.kept ? "met" : "violated",
                          v.sure ? "" : " (the histogram buckets leave it open)",
                          format_percent(Ratio::fraction(v.over->value)));
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
          !r.timed
              ? fmt::format("{} since the engine started", format_count(r.counter(Signal::kRequests).value_or(0)))
              : fmt::format("{}/s, {}/s in the busiest hour, {}", format_number(d.requests_per_second),
                            format_number(d.peak_hour),
                            d.burst < 1.05 ? "no bursts"
                                           : fmt::format("{}x that in five-minute bursts", format_number(d.burst, 2))));
  const auto lengths = [](const live_service::Percentiles& s) {
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
  const auto times = [](const live_service::Percentiles& s) {
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
    add_row(table, "prefix cache",
            fmt::format("{} of prompt tokens{}", format_percent(Ratio::fraction(*d.prefix_hit)),
                        d.gpu_hit && d.external_hit ? fmt::format(": {} in GPU memory, {} loaded from a lower tier",
                                                                  format_percent(Ratio::fraction(*d.gpu_hit)),
                                                                  format_percent(Ratio::fraction(*d.external_hit)))
                                                    : ""));
  for (const auto& [name, signal] : {std::pair{"running", Signal::kRunning}, {"waiting", Signal::kWaiting}}) {
    if (const live_service::GaugeUse* use = r.gauge(signal))
      add_row(table, name, fmt::format("{} on average, {} at most", format_number(use->mean), format_number(use->max)));
  }
  if (const live_service::GaugeUse* kv = r.gauge(Signal::kKvUse))
    add_row(table, "KV cache",
            fmt::format("{} on average, {} at most", format_percent(Ratio::fraction(kv->mean)),
                        format_percent(Ratio::fraction(kv->max))));
  if (d.preemptions) add_row(table, "preemptions", format_count(std::round(*d.preemptions)));
  if (r.restarts > 0) add_row(table, "restarts", format_count(r.restarts));
  if (d.gpu_hours)
    add_row(table, "GPU-hours",
            fmt::format("{} in {}", format_number(*d.gpu_hours, 4), format_duration(seconds(r.seconds()))));
  if (const std::optional<Joules> energy = d.energy()) {
    std::string text =
        fmt::format("{} kWh, {} per GPU", format_number(in_joules(*energy) / 3.6e6), format_power(*d.gpu_power));
    if (const std::optional<Joules> each = d.energy_per_token())
      text += fmt::format(", {} J per output token", format_number(in_joules(*each)));
    if (one.learned && one.learned->gpu_power)
      text += fmt::format("; estimated while requests run: {}, {} J", format_power(*one.learned->gpu_power),
                          format_number(in_joules(*one.learned->energy_per_token)));
    add_row(table, "energy", text + one.electricity.words(*energy));
  } else if (const std::optional<Joules> million = energy_per_million_output_tokens(one);
             million && one.electricity.asked()) {
    add_row(table, "energy",
            fmt::format("estimated: {} kWh per 1M output tokens{}", format_number(one.electricity.kwh(*million)),
                        one.electricity.words(*million)));
  }
  if (d.price)
    add_row(table, "price", fmt::format("{}/GPU-h, {}", format_usd_per_hour(d.price->rate), d.price->source()));
  return table;
}

Table plans_table(const SizedService& one, capacity::Statistic at) {
  const std::string percentile(capacity::name_of(at));
  const std::string ttft = percentile + " TTFT", tpot = percentile + " TPOT";
  Table table = table_of(kServicePlanFields, ranked_plans(one),
                         {"rank", "change", "replicas", report::renamed("gpus_shown", "gpus"), "precision",
                          report::cut("machines", 34), report::renamed("ttft_seconds", "ttft_seconds", ttft),
                          report::renamed("tpot_seconds", "tpot_seconds", tpot), "utilization", "usd_per_month"});
  table.title = fmt::format("Plans{}, simulated with the service's busiest hour",
                            holds_today(one)               ? " that keep today's latency"
                            : one.description.slos.empty() ? ""
                                                           : " that meet every SLO");
  return table;
}

std::string speed_line(const live_service::LearnedSpeed& s) {
  return fmt::format(
      "Speed: the model predicts a TPOT of {} ({} to {}) at this load; measured: {}. Calibrated: {} ({} to {}), from "
      "{}.",
      format_duration(s.prior_tpot), format_duration(s.prior_tpot * s.prior_interval.low),
      format_duration(s.prior_tpot * s.prior_interval.high), format_duration(s.measured_tpot),
      format_duration(s.corrected_tpot), format_duration(s.corrected_tpot * s.corrected_interval.low),
      format_duration(s.corrected_tpot * s.corrected_interval.high), plural(s.rows, "measurement"));
}

// What a larger prefix cache would save; the counters do not show the size it would need.
std::string cache_line(const SizedService& one) {
  if (!one.sized || !one.sized->larger_cache) return {};
  const live_service::LargerCache& larger = *one.sized->larger_cache;
  const std::string if_so = fmt::format(
      "A prefix cache that finds half of the prompt tokens computed today ({} instead of {})",
      format_percent(Ratio::fraction(larger.prefix_hit)), format_percent(Ratio::fraction(*one.description.prefix_hit)));
  if (larger.gpus_saved <= 0) return if_so + " would save no GPU.";
  return fmt::format("{} would save {}; 'rightsize cache' sizes it from a trace.", if_so,
                     plural(larger.gpus_saved, "GPU"));
}

std::string schedule_line(const SizedService& one) {
  for (const SizedPlan& p : one.sized->plans) {
    if (p.kind != SizeChange::kSchedule) continue;
    std::string text = "Replicas by the hour (UTC, 0 to 23 h):";
    for (int replicas : p.schedule) text += fmt::format(" {}", replicas);
    return text + ".";
  }
  return {};
}

void add_service(const ServiceInput& input, const SizedService& one, report::Report& report) {
  report.blocks.emplace_back(
      report::Heading{one.reading.name() + (one.reading.model.empty() ? "" : ": " + one.reading.model)});
  report.say(advice(one));
  report.say(cost_line(one));
  report.say(slo_line(one));
  report.blocks.emplace_back(description_table(one));
  if (one.promise)
    report.show(fmt::format("{}: its autoscaling, predicted and measured", full_name(one.promise->decision)),
                table_of(kJudgedFields, one.promise->metrics, {"metric", "predicted_text", "measured", "verdict"}));
  if (one.learned) report.say(speed_line(*one.learned));
  if (const std::string line = cache_line(one); !line.empty()) report.say(line);
  if (one.sized && !one.sized->plans.empty()) {
    report.blocks.emplace_back(plans_table(one, input.size.percentile));
    report.say(schedule_line(one));
  }
  if (const std::vector<ConfidenceStep> steps = confidence_steps(one); !steps.empty()) {
    std::vector<std::string> texts;
    for (const ConfidenceStep& step : steps) texts.push_back(step.text);
    report.say(fmt::format("To raise confidence: {}.", fmt::join(texts, "; ")));
  }
  for (const std::string& note : one.notes) report.say("Note: " + note + ".");
}

}  // namespace

std::optional<double> usd_per_million_output_tokens(const SizedService& one) {
  const live_service::Description& d = one.description;
  if (!d.spend || !(d.output_tokens > 0)) return std::nullopt;
  return in_usd(*d.spend) / (d.output_tokens / 1e6);
}

std::optional<Joules> energy_per_million_output_tokens(const SizedService& one) {
  std::optional<Joules> each = one.description.energy_per_token();
  if (!each && one.learned) each = one.learned->energy_per_token;
  return each ? std::optional(*each * 1e6) : std::nullopt;
}

const SizedPlan* best_plan(const SizedService& one) {
  if (!one.sized || one.sized->plans.empty() || !one.sized->unexplained.empty()) return nullptr;
  return &one.sized->plans[one.sized->best.value_or(0)];
}

report::Report service_report(const ServiceInput& input, const ServiceFacts& facts) {
  report::Report report;
  report.title = fmt::format("{} from {}", plural(static_cast<double>(facts.services.size()), "service"), facts.source);
  for (const SizedService& one : facts.services) add_service(input, one, report);
  for (const std::string& note : facts.notes) report.say("Note: " + note + ".");
  report.document = service_document(input, facts);
  return report;
}

}  // namespace rightsize::app
