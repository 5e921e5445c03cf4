#include "rightsize/batch/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "base/text.h"
#include "hand_over/template.h"
#include "rightsize/input/emitted.h"

namespace rightsize::app {
namespace {

using capacity::Assessment;
using capacity::Configuration;
using capacity::Slo;
using sim::StatisticValues;

constexpr const char* kStatisticNames[] = {"mean", "p50", "p90", "p95", "p99"};

std::string shown(double ns) { return format_duration(seconds(ns * 1e-9)); }
std::string percent(double share) { return format_percent(Ratio::fraction(share)); }
template <class T>
std::string count(T n) {
  return format_count(static_cast<double>(n));
}
const char* plural(std::int64_t n) { return n == 1 ? "" : "s"; }
std::string dollars(double amount) { return format_usd(usd(amount)); }

// "1 request", "1.5 requests".
std::string with_noun(double number, const char* what) {
  const std::string text = format_number(number);
  return fmt::format("{} {}{}", text, what, text == "1" ? "" : "s");
}
std::string rate_shown(const BatchInput& input) {
  const std::optional<RequestsPerSecond> rate = sim::mean_rate(input.service.arrivals);
  return rate ? with_noun(in_requests_per_s(*rate), "request") + "/s" : "one request";
}
// The ending of a verb with that subject: 20 requests/s arrive, 1 request/s arrives.
const char* ending(const BatchInput& input) { return rate_shown(input).ends_with("requests/s") ? "" : "s"; }

// "20 requests/s (1,024 tokens in, 256 out)".
std::string demand(const BatchInput& input) {
  const sim::RequestShape& lengths = input.service.lengths;
  if (!input.continuous || sim::trace_of(input.service.arrivals) != nullptr) return rate_shown(input);
  std::string spread;
  if (lengths.exponential)
    spread = " on average, exponential";
  else if (lengths.varies())
    spread = fmt::format(" on average, p95 {} and {}", count(std::round(lengths.size_at(sim::Statistic::kP95))),
                         count(std::round(lengths.output_at(sim::Statistic::kP95))));
  return fmt::format("{} ({} tokens in, {} out{})", rate_shown(input), count(std::round(lengths.size)),
                     count(std::round(lengths.output)), spread);
}

std::string cut_sentence(const BatchInput& input) {
  if (input.left_out() == 0) return {};
  return fmt::format(" Only the first {} requests of the trace are replayed (--requests); {} are left out.",
                     count(input.requests), count(input.left_out()));
}

std::string gpus_shown(const BatchInput& input, const Configuration& c) {
  std::string text;
  for (const capacity::ReplicaGroup& group : c.groups) {
    const BatchOffer& offer = input.offers[group.replica];
    const std::string kind = offer.replica.gpu.empty() ? "GPU" : offer.replica.gpu;
    text += text.empty() ? "" : " and ";
    text += offer.replica.gpus > 1 || c.groups.size() > 1
                ? fmt::format("{} replica{} of {} {}", group.count, plural(group.count), offer.replica.gpus, kind)
                : fmt::format("{} {}{}", group.count, kind, offer.replica.gpu.empty() ? plural(group.count) : "");
  }
  return text;
}

// ---- Parts of both reports ----

// The predicted step times, shown with --explain.
void add_fits(Outcome& outcome, const BatchInput& input) {
  std::string text;
  const perf::StepFit* first = nullptr;
  for (const BatchOffer& offer : input.offers) {
    if (!offer.replica.fit) continue;
    if (first == nullptr) first = &*offer.replica.fit;
    const sim::StepCost& step = offer.replica.step;
    text += fmt::format(
        "\n  {}: {} + {} per sequence + {} per 1,000 tokens of context + {} per 1,000 prompt tokens, {} per request; "
        "the fit is within {} (prompts of half and twice the length: {}); cache {} tokens",
        offer.name(), shown(step.base), shown(step.sequence), shown(step.context * 1000), shown(step.prefill * 1000),
        shown(step.request), percent(offer.replica.fit->worst_step_error),
        percent(offer.replica.fit->worst_prompt_error), count(step.kv_tokens));
  }
  if (first == nullptr) return;
  outcome.report.say(
      fmt::format("Times are predicted by the speed model: TPOT within {}, TTFT within {} (80 % intervals).{}",
                  percent(first->tpot_interval.high - 1), percent(first->ttft_interval.high - 1),
                  input.explain ? " Steps:" + text : " --explain shows the step times."));
}

// Slightly below the load at which one replica was confirmed, to let the autoscaler act before an SLO is at risk.
double scaling_target(double requests_per_second) {
  const double target = requests_per_second * 0.9;
  return target >= 10 ? std::floor(target) : std::max(0.1, std::floor(target * 10) / 10);
}

hand_over::Facts hand_over_facts(const BatchInput& input, const Configuration& c) {
  const BatchOffer& offer = first_offer(input, c);
  const int replicas = c.groups.size() == 1 ? c.replicas() : c.groups[0].count;
  const sim::QueuePolicy& queue = input.service.queue;
  const auto levels = input.service.priorities.size();
  const auto microseconds = [](sim::SimTime t) { return (t + 500) / 1000; };
  const double target = scaling_target(input.rate() / c.replicas());
  hand_over::Facts facts;
  facts.set("name", hand_over::object_name(input.name))
      .set("model", input.name)
      .set("gpu", offer.replica.gpu.empty() ? "the GPU" : offer.replica.gpu)
      .set("replicas", replicas)
      .set("several_replicas", replicas > 1)
      .set("min_replicas", replicas)
      .set("max_replicas", replicas * 2)
      .set("container", "server")
      .set("image", "YOUR_SERVER_IMAGE")
      .set("resource", "nvidia.com/gpu")
      .set("pod_gpus", offer.replica.gpus)
      .set("pod_metric", "requests_per_second")
      .set("threshold", fmt::format("{:g}", target))
      .set("scale_target", fmt::format("{:.0f}", std::max(1.0, std::floor(target))));
  facts.set("max_batch", c.batching.max_batch)
      .set("executors", c.executors)
      .set("batches", c.batching.max_batch > 1 || !queue.never_acts() || levels > 1)
      .set("preferred_sizes", fmt::format("{}", fmt::join(c.batching.preferred_sizes, ", ")))
      .set("max_delay_us", microseconds(c.batching.max_delay))
      .set("priority_levels", levels > 1 ? levels : 0)
      .set("queue_policy", !queue.never_acts())
      .set("timeout_us", microseconds(queue.timeout))
      .set("timeout_action", queue.on_timeout == sim::QueuePolicy::OnTimeout::kDelay ? "DELAY" : "REJECT")
      .set("timeout_override", queue.timeout != 0 && queue.allow_override)
      .set("max_queue", queue.max_queue);
  const int tensor = offer.replica.gpus > 1 ? offer.replica.gpus : 0;
  facts.set("tensor", tensor)
      .set("attention_tensor", tensor)
      .set("sequences", c.engine.max_sequences)
      .set("token_budget", c.engine.token_budget)
      .set("kv_tokens", offer.replica.step.kv_tokens > 0 ? offer.replica.step.kv_tokens : c.engine.kv_tokens)
      .set("chunked", c.engine.chunked_prefill ? "true" : "false")
      .set("chunked_prefill", c.engine.chunked_prefill ? "--enable-chunked-prefill" : "--no-enable-chunked-prefill")
      .set("options_file", "options.yaml");
  facts.set("vllm", trim(hand_over::command("work/vllm", facts, " ")))
      .set("trtllm", trim(hand_over::command("work/trtllm", facts, " ")));
  return facts;
}

// The files of --emit, and Triton's configuration for the document.
void add_files(const BatchInput& input, const Configuration& c, BatchDocument& document) {
  const hand_over::Facts facts = hand_over_facts(input, c);
  if (!input.continuous) document.triton_config = hand_over::fill_in("batch/triton", facts);
  for (const std::string& target : input.emit) document.emitted[target] = hand_over::fill_in("batch/" + target, facts);
}

// ---- One configuration ----

report::Table latency_table(const BatchInput& input, const Assessment& a) {
  std::vector<std::pair<const char*, StatisticValues>> rows{{"latency", a.profile.latency}};
  if (input.continuous) rows = {{"latency", a.profile.latency}, {"TTFT", a.profile.ttft}, {"TPOT", a.profile.tpot}};
  rows.emplace_back("± of the latency (95 %)", a.profile.interval.half_widths());
  report::Table table;
  table.columns = {{"time", "what", report::Align::kLeft}};
  for (const char* name : kStatisticNames)
    table.columns.push_back({name, std::string(name) + "_seconds", report::Align::kRight});
  for (const auto& [name, values] : rows) {
    std::vector<report::Cell> cells{report::text_cell(name)};
    for (double v : values)
      cells.push_back(std::isfinite(v) ? report::number_cell(shown(v), v * 1e-9) : report::unknown_cell());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::LineChart load_chart(const std::vector<LoadPoint>& curve) {
  report::LineChart chart{.title = "Latency against load", .x_label = "requests/s", .y_label = "ms"};
  for (std::size_t k : {1U, 3U, 4U}) {
    chart.series.push_back({kStatisticNames[k], {}});
    for (const LoadPoint& point : curve) chart.series.back().points.push_back({point.rate, point.latency[k] * 1e-6});
  }
  return chart;
}

std::string run_sentence(const BatchInput& input, const Assessment& a) {
  const Configuration& c = a.configuration;
  const sim::LatencyProfile& p = a.profile;
  std::string text = fmt::format("{} arrive{}, {} of the capacity of {}/s.", demand(input), ending(input),
                                 percent(a.load), with_noun(a.capacity, "request"));
  const double peak = in_requests_per_s(sim::peak_rate(input.service.arrivals).value_or(RequestsPerSecond{}));
  if (peak >= a.capacity)
    text += fmt::format(" The peak of {} requests/s exceeds it: the queue grows until the peak is over.",
                        format_number(peak));
  text += cut_sentence(input);
  if (input.continuous) {
    text += fmt::format(
        " Up to {} sequences and {} tokens per step: {} sequences per step on average, {}, {} preemption{}.",
        c.engine.max_sequences, count(c.engine.token_budget), format_number(p.mean_batch),
        format_tokens_per_s(p.output_rate), count(p.preemptions), plural(static_cast<std::int64_t>(p.preemptions)));
    if (const std::optional<double> hit = p.prefix_hit())
      text += fmt::format(" The prefix cache finds {} of prompt tokens.", percent(*hit));
  } else {
    text +=
        fmt::format(" Batches of up to {} with a delay of up to {}: {} per batch on average, GPUs busy {} of the time.",
                    c.batching.max_batch, shown(static_cast<double>(c.batching.max_delay)),
                    with_noun(p.mean_batch, "request"), percent(a.busy));
  }
  if (p.rejected > 0)
    text += fmt::format(" {} of {} requests were rejected{}.", count(p.rejected), count(p.requests),
                        input.continuous ? ": they can never fit the cache or the token budget" : "");
  return text;
}

// ---- A search ----

std::string values_shown(const BatchInput& input, const Assessment& a) {
  std::string text;
  for (const Slo& slo : input.service.slos) {
    text += fmt::format("{}{} ", text.empty() ? "" : ", ", capacity::describe(slo));
    const double value = in_seconds(a.value(slo)), half = in_seconds(a.half_width(slo));
    // Value and interval in the same unit; no interval if every run gives the same value.
    if (!std::isfinite(half) || half <= 1e-3 * value || value >= 60)
      text += format_duration(a.value(slo));
    else if (value < 1)
      text += fmt::format("{} ± {} ms", format_number(value * 1e3), format_number(half * 1e3, 2));
    else
      text += fmt::format("{} ± {} s", format_number(value), format_number(half, 2));
  }
  return text;
}

// " for 1 x a3-highgpu-8g", if the machines have more GPUs than the replicas use.
std::string machines_rented(const BatchPlan& plan) {
  std::vector<std::string> parts;
  int used = 0, rented = 0;
  for (const capacity::ReplicaGroup& group : plan.run->configuration.groups) {
    const BatchOffer& offer = plan.input->offers[group.replica];
    const auto [machine, count] = offer.machines_for(group.count);
    if (machine == nullptr) continue;
    used += group.count * offer.replica.gpus, rented += count * machine->gpus;
    parts.push_back(fmt::format("{} x {}", count, machine->instance));
  }
  return rented > used ? fmt::format(" for {}, which {} {} GPUs", fmt::join(parts, " and "),
                                     parts.size() == 1 && parts.front().starts_with("1 x") ? "has" : "have", rented)
                       : "";
}

// "2 h100-pcie, up to 128 sequences and 8,192 tokens per step: p95 TTFT 197 ± 3.2 ms, at 62 % of capacity,
// $4,395/month".
std::string plan_text(const BatchPlan& plan) {
  const BatchInput& input = *plan.input;
  const Assessment& a = *plan.run;
  const Configuration& c = a.configuration;
  std::string text = gpus_shown(input, c);
  if (input.continuous) {
    text += fmt::format(", up to {} sequence{} and {} tokens per step", c.engine.max_sequences,
                        plural(c.engine.max_sequences), count(c.engine.token_budget));
  } else {
    text += c.batching.max_batch == 1
                ? ", one request at a time"
                : fmt::format(", batches of up to {}, {}", c.batching.max_batch,
                              c.batching.max_delay == 0 ? std::string("no delay")
                                                        : "delay " + shown(static_cast<double>(c.batching.max_delay)));
    if (c.executors > 1) text += fmt::format(", {} instances per GPU", c.executors);
  }
  text += fmt::format(": {}, at {} of capacity", values_shown(input, a), percent(a.load));
  if (a.profile.rejected > 0) text += fmt::format(", {} of requests rejected", percent(a.rejected_share()));
  if (std::isfinite(usd_per_month(plan))) text += fmt::format(", {}/month", dollars(usd_per_month(plan)));
  return text + machines_rented(plan) + ".";
}

// "Relaxing p99 latency from 50 ms to 83 ms frees 3 of 4 GPUs: $2,200/month instead of $8,800."
std::string relaxation_sentence(const BatchPlan& from, const BatchPlan& to) {
  const Slo& slo = tightest_slo(to);
  const auto &now = from.run->configuration, &then = to.run->configuration;
  // Rounded up to a number that a person would choose.
  const double half = in_milliseconds(to.run->half_width(slo));
  const double limit = in_milliseconds(to.run->value(slo)) + (std::isfinite(half) ? half : 0);
  const double unit = std::pow(10.0, std::floor(std::log10(limit)) - 1);
  const int gpus = gpu_count(*from.input, now);
  const bool same_gpu = now.groups.size() == 1 && now.groups[0].replica == then.groups[0].replica;
  std::string text = fmt::format("\nRelaxing {} from {} to {} {}", capacity::describe(slo), format_duration(slo.limit),
                                 format_duration(milliseconds(std::ceil(limit / unit) * unit)),
                                 same_gpu ? fmt::format("frees {} of {} GPUs", gpus - gpu_count(*to.input, then), gpus)
                                          : fmt::format("takes {}", gpus_shown(*to.input, then)));
  const double now_costs = usd_per_month(from), then_costs = usd_per_month(to);
  if (!std::isfinite(now_costs - then_costs)) return text + ".";
  return text + fmt::format(": {}/month instead of {}.", dollars(then_costs), dollars(now_costs));
}

// Up to three cheaper configurations that meet a relaxed SLO, and all of them for the document.
std::string relaxations(const BatchPlan& best, const capacity::ConfigurationSearch& found, BatchDocument& document) {
  std::string text;
  for (auto point = found.frontier.rbegin(); point != found.frontier.rend(); ++point) {
    const BatchPlan other{best.input, &*point};
    if (point->configuration.price >= best.run->configuration.price || point->keeps(best.input->service)) continue;
    if (document.relaxations.size() < 3) text += relaxation_sentence(best, other);
    document.relaxations.push_back({point->value(tightest_slo(other)), gpu_count(*best.input, point->configuration),
                                    usd_per_month(best) - usd_per_month(other)});
  }
  return text;
}

std::string unbatched_sentence(const BatchInput& input, const capacity::ConfigurationSearch& found) {
  if (!found.unbatched) return "\nWithout batching, no setting meets the SLO.";
  if (most_together(input, found.best->configuration) == 1) return "\nBatching saves nothing here.";
  return "\nWithout batching: " + plan_text({&input, &*found.unbatched});
}

std::string counts_sentence(const capacity::ConfigurationSearch& found) {
  std::string text = fmt::format("\n{} settings:", count(found.considered));
  if (found.unstable > 0) text += fmt::format(" {} cannot carry the load,", count(found.unstable));
  if (found.bounded > 0) text += fmt::format(" {} are too slow even when idle,", count(found.bounded));
  return text + fmt::format(" {} simulated, {} confirmed with confidence intervals.", count(found.simulated),
                            count(found.confirmed));
}

report::Table frontier_table(const BatchInput& input, const std::vector<BatchPlan>& frontier) {
  const std::string value_title = capacity::describe(input.service.slos.front());
  return table_of(
      kBatchPlanFields, frontier,
      {"gpus", report::renamed("gpu_name", "gpu"), "max_batch", report::renamed("delay", "max_delay_seconds"),
       "instances", report::renamed("value", "value_seconds", value_title),
       report::renamed("half_width", "half_width_seconds"), "load", "usd_per_month",
       report::renamed("keeps_slo", "keeps_slo", input.service.slos.size() > 1 ? "all SLOs" : "SLO")});
}

report::LineChart frontier_chart(const BatchInput& input, const std::vector<BatchPlan>& frontier) {
  const Slo& slo = input.service.slos.front();
  const bool priced = input.offers[0].usd_per_hour.has_value();
  report::LineChart chart{.x_label = priced ? "$/month" : "GPUs",
                          .y_label = fmt::format("{} in ms (dots: the SLO)", capacity::describe(slo)),
                          .y_limit = in_milliseconds(slo.limit)};
  chart.series.push_back({"best at this price", {}});
  for (const BatchPlan& plan : frontier)
    chart.series[0].points.push_back(
        {plan.run->configuration.price * (priced ? in_hours(kMonth) : 1), in_milliseconds(plan.run->value(slo))});
  return chart;
}

}  // namespace

Outcome assessed_outcome(const BatchInput& input, const Assessment& a, const std::vector<LoadPoint>& curve,
                         Seconds wall) {
  Outcome outcome;
  BatchDocument document{.input = &input, .run = &a, .wall = wall};
  outcome.report.title = input.continuous ? "Continuous batching" : "Batching";
  outcome.report.say(run_sentence(input, a));
  outcome.report.blocks.emplace_back(latency_table(input, a));
  add_fits(outcome, input);
  if (curve.size() > 1) {
    document.curve = curve;
    outcome.report.blocks.emplace_back(load_chart(curve));
  }
  add_files(input, a.configuration, document);
  show_only(document.emitted, outcome.report);
  outcome.report.document = batch_document(document);
  return outcome;
}

Outcome overloaded_outcome(const BatchInput& input, const Configuration& c, double capacity) {
  Outcome outcome{{.title = "Batching", .document = batch_document({.input = &input, .overload = capacity})},
                  kNoFeasibleAnswer};
  const int needed = static_cast<int>(std::ceil(input.rate() / (capacity * capacity::kMostLoad) * c.replicas()));
  outcome.report.say(fmt::format(
      "Overloaded: {} arrive{}, but the capacity {} is {}/s. The queue would grow without bound, so nothing was "
      "simulated. You need {} replica{} (--replicas {}), larger batches, or a limit that rejects requests "
      "(--max-queue, "
      "--timeout).",
      rate_shown(input), ending(input),
      input.continuous ? "with full batches" : fmt::format("with batches of {}", c.batching.max_batch),
      with_noun(capacity, "request"), needed, plural(needed), needed));
  return outcome;
}

Outcome searched_outcome(const BatchInput& input, const capacity::ConfigurationSearch& found, Seconds wall) {
  Outcome outcome;
  BatchDocument document{.input = &input, .found = &found, .wall = wall};
  std::string slos;
  for (const Slo& slo : input.service.slos)
    slos += fmt::format("{}{} <= {}", slos.empty() ? "" : " and ", capacity::describe(slo), format_duration(slo.limit));
  outcome.report.title = "Cheapest setting that meets " + slos;
  std::string text = demand(input);
  if (found.best) {
    document.run = &*found.best;
    const BatchPlan best{&input, &*found.best};
    text += fmt::format(" need{} ", ending(input)) + plan_text(best) + cut_sentence(input) +
            unbatched_sentence(input, found) + relaxations(best, found, document);
  } else {
    outcome.exit_code = kNoFeasibleAnswer;
    text += fmt::format(": no setting meets {}.", input.service.slos.size() > 1 ? "every SLO" : "the SLO");
    if (!found.frontier.empty()) text += " The closest: " + plan_text({&input, &found.frontier.back()});
    text += cut_sentence(input);
  }
  outcome.report.say(text + counts_sentence(found));
  std::vector<BatchPlan> frontier;
  for (const Assessment& a : found.frontier) frontier.push_back({&input, &a});
  if (!frontier.empty()) outcome.report.show("Latency against cost", frontier_table(input, frontier));
  if (frontier.size() > 1) outcome.report.blocks.emplace_back(frontier_chart(input, frontier));
  if (found.best) add_files(input, found.best->configuration, document);
  add_fits(outcome, input);
  show_only(document.emitted, outcome.report);
  outcome.report.document = batch_document(document);
  return outcome;
}

}  // namespace rightsize::app
