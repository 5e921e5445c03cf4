#include "rightsize/batch/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using report::Align;
using report::Json;
using sim::SimTime;
using sim::StatisticValues;

constexpr const char* kStatisticNames[] = {"mean", "p50", "p90", "p95", "p99"};

std::string shown(double ns) { return format_duration(seconds(ns * 1e-9)); }
double in_ms(double ns) { return ns * 1e-6; }

Json json_of(const StatisticValues& values) {
  Json out = Json::object();
  for (std::size_t i = 0; i < sim::kStatistics; ++i) out[kStatisticNames[i]] = report::json_number(in_ms(values[i]));
  return out;
}

report::Table latency_table(const std::vector<std::pair<std::string, const StatisticValues*>>& rows,
                            const StatisticValues& half_width) {
  report::Table table;
  table.columns = {{"time", "what", Align::kLeft}};
  for (const char* name : kStatisticNames) {
    table.columns.push_back({name, std::string(name) + "_seconds", Align::kRight});
  }
  for (const auto& [name, values] : rows) {
    std::vector<report::Cell> cells{report::text_cell(name)};
    for (double v : *values) cells.push_back(report::number_cell(shown(v), v * 1e-9));
    table.rows.push_back(std::move(cells));
  }
  std::vector<report::Cell> errors{report::text_cell("± of the first (95 %)")};
  for (double v : half_width)
    errors.push_back(std::isfinite(v) ? report::number_cell(shown(v), v * 1e-9) : report::unknown_cell());
  table.rows.push_back(std::move(errors));
  return table;
}

void put_profile(Json& document, const sim::LatencyProfile& p, double capacity, double wall) {
  document["stable"] = true;
  document["latency_ms"] = json_of(p.latency);
  document["half_width_ms"] = json_of(p.half_width);
  document["mean_batch"] = p.mean_batch;
  document["utilization"] = p.utilization;
  document["batches"] = p.batches;
  document["rejected"] = p.rejected;
  document["requests"] = p.requests;
  document["capacity_per_second"] = report::json_number(capacity);
  document["simulated_seconds"] = in_seconds(sim::from_sim_time(p.elapsed));
  document["quantile_relative_error"] = sim::LogHistogram::kRelativeError;
  document["seconds"] = wall;
}

std::string rate_shown(const sim::ArrivalProcess& arrivals) {
  const std::optional<double> rate = sim::mean_rate(arrivals);
  return rate ? format_number(*rate) + " requests/s" : "one request";
}

std::string replicas_shown(int count, const BatchOffer& offer) {
  const std::string kind = offer.gpu.empty() ? "GPU" : offer.gpu;
  if (offer.gpus_each > 1) {
    return fmt::format("{} replica{} of {} {}", count, count == 1 ? "" : "s", offer.gpus_each, kind);
  }
  return fmt::format("{} {}{}", count, kind, count == 1 || !offer.gpu.empty() ? "" : "s");
}

std::string gpus_shown(const BatchInput& input, const sim::Candidate& c) {
  std::string text = replicas_shown(c.replicas, input.offers[c.offer]);
  if (c.other_replicas > 0) text += " and " + replicas_shown(c.other_replicas, input.offers[c.other_offer]);
  return text;
}

int gpu_count(const BatchInput& input, const sim::Candidate& c) {
  return c.replicas * input.offers[c.offer].gpus_each + c.other_replicas * input.offers[c.other_offer].gpus_each;
}

// Where the times come from, when the speed model made them.
std::string fit_sentence(const BatchInput& input) {
  std::string text;
  for (const BatchOffer& offer : input.offers) {
    if (!offer.fit) continue;
    const perf::StepFit& fit = *offer.fit;
    text += fmt::format(
        "\n  {}: {} + {} a sequence + {} per 1,000 tokens of context, {} per 1,000 prompt tokens, {} a "
        "request; within {} of the speed model, prompts of half and twice the length {}; cache {} tokens",
        offer.name(), shown(offer.step.base), shown(offer.step.sequence), shown(offer.step.context * 1000),
        shown(offer.step.prefill * 1000), shown(offer.step.request),
        format_percent(Ratio::fraction(fit.worst_step_error)), format_percent(Ratio::fraction(fit.worst_prompt_error)),
        format_count(static_cast<double>(offer.step.kv_tokens)));
  }
  if (text.empty()) return text;
  const perf::StepFit& first = *input.offers[0].fit;
  return fmt::format("Steps from the speed model, which is right within {} (TPOT) and {} (TTFT) in four of five cases:",
                     format_percent(Ratio::fraction(first.tpot_interval.high - 1)),
                     format_percent(Ratio::fraction(first.ttft_interval.high - 1))) +
         text;
}

void add_fit(Outcome& outcome, const BatchInput& input) {
  Json fits = Json::array();
  for (const BatchOffer& offer : input.offers) {
    if (!offer.fit) continue;
    fits.push_back({{"gpu", offer.gpu},
                    {"tp", offer.gpus_each},
                    {"base_ms", in_ms(offer.step.base)},
                    {"sequence_ms", in_ms(offer.step.sequence)},
                    {"context_token_ms", in_ms(offer.step.context)},
                    {"prompt_token_ms", in_ms(offer.step.prefill)},
                    {"request_ms", in_ms(offer.step.request)},
                    {"kv_tokens", offer.step.kv_tokens},
                    {"worst_step_error", offer.fit->worst_step_error},
                    {"worst_prompt_error", offer.fit->worst_prompt_error},
                    {"tpot_interval", {offer.fit->tpot_interval.low, offer.fit->tpot_interval.high}},
                    {"ttft_interval", {offer.fit->ttft_interval.low, offer.fit->ttft_interval.high}}});
  }
  if (fits.empty()) return;
  outcome.report.document["step_fits"] = std::move(fits);
  outcome.report.blocks.emplace_back(report::Paragraph{fit_sentence(input)});
}

std::string load_sentence(const BatchInput& input, double capacity) {
  const double rate = sim::mean_rate(input.arrivals).value_or(0);
  std::string text =
      fmt::format("{} arrive; the most it can do is {} requests/s ({} of that is used).", rate_shown(input.arrivals),
                  format_number(capacity), format_percent(Ratio::fraction(rate / capacity)));
  const double peak = sim::peak_rate(input.arrivals).value_or(0);
  if (peak >= capacity) {
    text += fmt::format(" At its peak {} requests/s arrive, more than that: the queue grows until the peak is over.",
                        format_number(peak));
  }
  return text;
}

}  // namespace

Outcome simulated_outcome(const BatchInput& input, const sim::Server& server, const sim::LatencyProfile& p,
                          double capacity, double wall) {
  Outcome outcome;
  outcome.report.title = "Batching";
  Json& document = outcome.report.document;
  document["schema"] = "rightsize/batch/1";
  put_profile(document, p, capacity, wall);
  std::string text = load_sentence(input, capacity);
  text += fmt::format(
      " Batches up to {}, waiting at most {} for others: {} requests a batch on average, executors {} busy.",
      server.batching.max_batch, shown(static_cast<double>(server.batching.max_delay)), format_number(p.mean_batch),
      format_percent(Ratio::fraction(p.utilization)));
  if (p.rejected > 0) {
    text += fmt::format(" {} of {} requests were rejected.", format_count(static_cast<double>(p.rejected)),
                        format_count(static_cast<double>(p.requests)));
  }
  outcome.report.blocks.emplace_back(report::Paragraph{text});
  outcome.report.blocks.emplace_back(latency_table({{"latency", &p.latency}}, p.half_width));
  return outcome;
}

Outcome continuous_outcome(const BatchInput& input, const sim::ContinuousServer& server,
                           const sim::ContinuousProfile& p, double capacity, double wall) {
  Outcome outcome;
  outcome.report.title = "Continuous batching";
  Json& document = outcome.report.document;
  document["schema"] = "rightsize/batch/1";
  put_profile(document, p.all, capacity, wall);
  document["ttft_ms"] = json_of(p.ttft);
  document["tpot_ms"] = json_of(p.tpot);
  document["steps"] = p.steps;
  document["preemptions"] = p.preemptions;
  document["output_tokens_per_second"] = p.output_tokens_per_second;
  std::string text = load_sentence(input, capacity);
  text += fmt::format(" At most {} sequences and {} tokens a step: {} sequences a step on average, {}, {} preemptions.",
                      server.batching.max_sequences, format_count(static_cast<double>(server.batching.token_budget)),
                      format_number(p.all.mean_batch), format_tokens_per_s(tokens_per_s(p.output_tokens_per_second)),
                      format_count(static_cast<double>(p.preemptions)));
  if (p.all.rejected > 0) {
    text += fmt::format(" {} requests can never fit the cache or the budget and were rejected.",
                        format_count(static_cast<double>(p.all.rejected)));
  }
  outcome.report.blocks.emplace_back(report::Paragraph{text});
  outcome.report.blocks.emplace_back(latency_table(
      {{"whole request", &p.all.latency}, {"first token (TTFT)", &p.ttft}, {"each further token (TPOT)", &p.tpot}},
      p.all.half_width));
  add_fit(outcome, input);
  return outcome;
}

Outcome unstable_outcome(const BatchInput& input, double capacity, const std::string& at_best) {
  Outcome outcome;
  outcome.exit_code = kNoFeasibleAnswer;
  outcome.report.title = "Batching";
  const double rate = sim::mean_rate(input.arrivals).value_or(0);
  outcome.report.document = {{"schema", "rightsize/batch/1"},
                             {"stable", false},
                             {"arrivals_per_second", report::json_number(rate)},
                             {"capacity_per_second", report::json_number(capacity)},
                             {"latency_ms", nullptr}};
  outcome.report.blocks.emplace_back(report::Paragraph{fmt::format(
      "Unstable: {} arrive and the most this server can do, {}, is {} requests/s. The queue would grow without end, so "
      "nothing was simulated. It takes {} times as many GPUs, larger batches, or a limit that rejects (--max-queue, "
      "--timeout).",
      rate_shown(input.arrivals), at_best, format_number(capacity),
      format_number(std::ceil(rate / capacity * 10 + 0.5) / 10, 2))});
  return outcome;
}

void add_load_curve(Outcome& outcome, const std::vector<LoadPoint>& curve) {
  if (curve.size() < 2) return;
  report::LineChart chart;
  chart.title = "Latency against load";
  chart.x_label = "requests/s";
  chart.y_label = "ms";
  Json points = Json::array();
  for (std::size_t k : {std::size_t{1}, std::size_t{3}, std::size_t{4}}) {
    chart.series.push_back({kStatisticNames[k], {}});
    for (const LoadPoint& point : curve) chart.series.back().points.push_back({point.rate, in_ms(point.latency[k])});
  }
  for (const LoadPoint& point : curve) {
    Json row = json_of(point.latency);
    row["requests_per_second"] = point.rate;
    points.push_back(std::move(row));
  }
  outcome.report.document["load_curve"] = std::move(points);
  outcome.report.blocks.emplace_back(std::move(chart));
}

sim::ContinuousConfig with_cache_of(sim::ContinuousConfig config, const BatchOffer& offer) {
  if (offer.step.kv_tokens > 0) config.kv_tokens = offer.step.kv_tokens;
  return config;
}

void add_hand_over(Outcome& outcome, const BatchInput& input, sim::DynamicBatchConfig batching, int max_batch,
                   sim::ContinuousConfig llm, const sim::Deployment& deployment) {
  batching.max_batch = max_batch;
  const std::string triton =
      sim::triton_config(deployment, batching, input.queue, static_cast<int>(input.priorities.size()));
  if (!input.continuous) outcome.report.document["triton_config"] = triton;
  for (const std::string& target : input.emit) {
    const std::string text = target == "triton"   ? triton
                             : target == "vllm"   ? sim::vllm_command(deployment, llm)
                             : target == "trtllm" ? sim::trtllm_command(deployment, llm)
                             : target == "kserve" ? sim::kserve_manifest(deployment)
                                                  : sim::kubernetes_manifest(deployment);
    outcome.report.document["emit"][target] = text;
    outcome.report.blocks.emplace_back(report::Verbatim{target == "triton" ? "config.pbtxt" : target, text});
  }
}

// ---- The search ----

namespace {

double monthly(const BatchInput& input, const sim::Candidate& c) {
  const double first = input.offers[c.offer].usd_per_hour.value_or(NAN) * c.replicas;
  if (c.other_replicas == 0) return first * in_hours(kMonth);
  return (first + input.offers[c.other_offer].usd_per_hour.value_or(NAN) * c.other_replicas) * in_hours(kMonth);
}

std::string dollars(double usd_amount) { return std::isfinite(usd_amount) ? format_usd(usd(usd_amount)) : "-"; }

Json json_of(const BatchInput& input, const sim::Assessed& a) {
  const sim::Candidate& c = a.candidate;
  Json out{{"gpu", input.offers[c.offer].gpu}, {"gpus", gpu_count(input, c)},
           {"replicas", c.replicas},           {"tp", input.offers[c.offer].gpus_each},
           {"max_batch", c.max_batch},         {"max_delay_ms", in_ms(static_cast<double>(c.delay))},
           {"instances", c.executors}};
  if (c.other_replicas > 0) {
    const BatchOffer& other = input.offers[c.other_offer];
    out["beside"] = {{"gpu", other.gpu}, {"replicas", c.other_replicas}, {"tp", other.gpus_each}};
  }
  if (input.continuous) out["token_budget"] = c.token_budget;
  out["usd_per_month"] = report::json_number(monthly(input, c));
  out["metric"] = sim::name_of(input.promise->metric);
  out["value_ms"] = in_ms(a.value);
  out["half_width_ms"] = report::json_number(in_ms(a.half_width));
  out["latency_ms"] = json_of(a.profile.latency);
  if (input.continuous) {
    out["ttft_ms"] = json_of(a.ttft);
    out["tpot_ms"] = json_of(a.tpot);
  }
  out["mean_batch"] = a.profile.mean_batch;
  out["utilization"] = a.profile.utilization;
  out["rejected_share"] = a.rejected_share();
  out["price_source"] = input.offers[c.offer].price_source;
  return out;
}

std::string plan_sentence(const BatchInput& input, const sim::Assessed& a) {
  const sim::Candidate& c = a.candidate;
  std::string text = gpus_shown(input, c);
  if (input.continuous) {
    text += fmt::format(", {} sequences at once, {} tokens a step", c.max_batch,
                        format_count(static_cast<double>(c.token_budget)));
  } else {
    text += c.max_batch == 1
                ? ", one request at a time"
                : fmt::format(", batches up to {}, delay {}", c.max_batch, shown(static_cast<double>(c.delay)));
    if (c.executors > 1) text += fmt::format(", {} instances each", c.executors);
  }
  text += fmt::format(": {} {}", sim::name_of(input.promise->metric), shown(a.value));
  if (std::isfinite(a.half_width)) text += fmt::format(" ± {}", shown(a.half_width));
  text += fmt::format(", {} busy", format_percent(Ratio::fraction(a.profile.utilization)));
  if (a.profile.rejected > 0)
    text += fmt::format(", {} of the requests turned away", format_percent(Ratio::fraction(a.rejected_share())));
  if (std::isfinite(monthly(input, c))) text += fmt::format(", {} a month", dollars(monthly(input, c)));
  return text + ".";
}

// "Relaxing p99 from 50 ms to 83 ms frees 3 of 4 GPUs, $6,600 a month."
std::string step_sentence(const BatchInput& input, const sim::Assessed& from, const sim::Assessed& to) {
  const double saved = monthly(input, from.candidate) - monthly(input, to.candidate);
  const bool same_gpu = from.candidate.offer == to.candidate.offer && from.candidate.other_replicas == 0;
  // Rounded up to what a person would promise.
  const double limit = in_ms(to.value + (std::isfinite(to.half_width) ? to.half_width : 0));
  const double unit = std::pow(10.0, std::floor(std::log10(limit)) - 1);
  const double promised = std::ceil(limit / unit) * unit;
  std::string text = fmt::format("Relaxing {} from {} to {} ", sim::name_of(input.promise->metric),
                                 shown(static_cast<double>(input.promise->limit)), shown(promised * 1e6));
  text += same_gpu
              ? fmt::format("frees {} of {} GPUs", gpu_count(input, from.candidate) - gpu_count(input, to.candidate),
                            gpu_count(input, from.candidate))
              : fmt::format("takes {} instead", gpus_shown(input, to.candidate));
  if (std::isfinite(saved)) text += fmt::format(", {} a month", dollars(saved));
  return text + ".";
}

std::string relax_sentences(const BatchInput& input, const sim::SearchResult& found, Json& document) {
  std::string text;
  Json steps = Json::array();
  const double price = found.best->candidate.usd_per_hour;
  for (auto point = found.frontier.rbegin(); point != found.frontier.rend(); ++point) {
    if (point->candidate.usd_per_hour >= price || point->meets(*input.promise)) continue;
    if (steps.size() < 3) text += "\n" + step_sentence(input, *found.best, *point);
    steps.push_back({{"value_ms", in_ms(point->value)},
                     {"gpus", gpu_count(input, point->candidate)},
                     {"saving_usd_per_month",
                      report::json_number(monthly(input, found.best->candidate) - monthly(input, point->candidate))}});
  }
  document["relaxations"] = std::move(steps);
  return text;
}

report::Table frontier_table(const BatchInput& input, const sim::SearchResult& found) {
  report::Table table;
  table.title = "Latency against cost";
  table.columns = {{"GPUs", "gpus", Align::kRight},
                   {"GPU", "gpu", Align::kLeft},
                   {"batch", "max_batch", Align::kRight},
                   {"delay", "max_delay_seconds", Align::kRight},
                   {"instances", "instances", Align::kRight},
                   {std::string(sim::name_of(input.promise->metric)), "value_seconds", Align::kRight},
                   {"±", "half_width_seconds", Align::kRight},
                   {"busy", "utilization", Align::kRight},
                   {"$/month", "usd_per_month", Align::kRight},
                   {"promise", "keeps_promise", Align::kLeft}};
  for (const sim::Assessed& a : found.frontier) {
    const sim::Candidate& c = a.candidate;
    const double cost = monthly(input, c);
    table.rows.push_back(
        {report::number_cell(std::to_string(gpu_count(input, c)), gpu_count(input, c)),
         report::text_cell(input.offers[c.offer].gpu.empty() ? "" : input.offers[c.offer].name()),
         report::number_cell(std::to_string(c.max_batch), c.max_batch),
         report::number_cell(shown(static_cast<double>(c.delay)), static_cast<double>(c.delay) * 1e-9),
         report::number_cell(std::to_string(c.executors), c.executors),
         report::number_cell(shown(a.value), a.value * 1e-9),
         std::isfinite(a.half_width) ? report::number_cell(shown(a.half_width), a.half_width * 1e-9)
                                     : report::unknown_cell(),
         report::number_cell(format_percent(Ratio::fraction(a.profile.utilization)), a.profile.utilization),
         std::isfinite(cost) ? report::number_cell(dollars(cost), cost) : report::unknown_cell(),
         report::text_cell(a.meets(*input.promise) ? "kept" : "broken")});
  }
  return table;
}

report::LineChart frontier_chart(const BatchInput& input, const sim::SearchResult& found) {
  report::LineChart chart;
  const bool priced = input.offers[0].usd_per_hour.has_value();
  chart.x_label = priced ? "$ a month" : "GPUs";
  chart.y_label = fmt::format("{} in ms (dots: the promise)", sim::name_of(input.promise->metric));
  chart.y_limit = in_ms(static_cast<double>(input.promise->limit));
  chart.series.push_back({"best at this price", {}});
  for (const sim::Assessed& a : found.frontier) {
    chart.series[0].points.push_back({a.candidate.usd_per_hour * (priced ? in_hours(kMonth) : 1), in_ms(a.value)});
  }
  return chart;
}

void put_counts(Json& document, const sim::SearchResult& found, double wall) {
  document["considered"] = found.considered;
  document["pruned_unstable"] = found.unstable;
  document["pruned_by_bound"] = found.bounded;
  document["simulated"] = found.simulated;
  document["confirmed"] = found.confirmed;
  document["seconds"] = wall;
}

std::string unbatched_sentence(const BatchInput& input, const sim::SearchResult& found) {
  if (!found.unbatched) return "\nWithout batching none of the settings tried keeps the promise.";
  if (found.best->candidate.max_batch == 1) return "\nBatching saves nothing here.";
  return "\nWithout batching: " + plan_sentence(input, *found.unbatched);
}

}  // namespace

Outcome searched_outcome(const BatchInput& input, const sim::SearchResult& found, double wall) {
  Outcome outcome;
  outcome.report.title = fmt::format("Cheapest way to keep {} at {}", sim::name_of(input.promise->metric),
                                     shown(static_cast<double>(input.promise->limit)));
  Json& document = outcome.report.document;
  document["schema"] = "rightsize/batch/1";
  document["plan"] = found.best ? json_of(input, *found.best) : Json(nullptr);
  std::string text = rate_shown(input.arrivals) + " arrive. ";
  if (found.best) {
    const sim::Assessed& best = *found.best;
    put_profile(document, best.profile, NAN, wall);
    document["unbatched"] = found.unbatched ? json_of(input, *found.unbatched) : Json(nullptr);
    text += plan_sentence(input, best) + unbatched_sentence(input, found) + relax_sentences(input, found, document);
  } else {
    outcome.exit_code = kNoFeasibleAnswer;
    text += "No setting tried keeps the promise.";
    if (!found.frontier.empty()) text += " The nearest: " + plan_sentence(input, found.frontier.back());
  }
  text += fmt::format(
      "\n{} settings: {} cannot carry the load, {} cannot come near by a closed-form bound, {} simulated, {} "
      "confirmed with confidence intervals.",
      format_count(static_cast<double>(found.considered)), format_count(static_cast<double>(found.unstable)),
      format_count(static_cast<double>(found.bounded)), format_count(static_cast<double>(found.simulated)),
      format_count(static_cast<double>(found.confirmed)));
  put_counts(document, found, wall);
  outcome.report.blocks.emplace_back(report::Paragraph{text});
  document["frontier"] = Json::array();
  for (const sim::Assessed& a : found.frontier) document["frontier"].push_back(json_of(input, a));
  if (!found.frontier.empty()) outcome.report.blocks.emplace_back(frontier_table(input, found));
  if (found.frontier.size() > 1) outcome.report.blocks.emplace_back(frontier_chart(input, found));
  if (found.best) {
    const sim::Candidate& c = found.best->candidate;
    sim::ContinuousConfig llm = input.llm;
    llm.max_sequences = c.max_batch;
    if (input.continuous) llm.token_budget = c.token_budget;
    add_hand_over(outcome, input, {c.max_batch, {}, c.delay}, c.max_batch, with_cache_of(llm, input.offers[c.offer]),
                  {input.name, input.offers[c.offer].gpu, c.replicas, c.executors, input.offers[c.offer].gpus_each,
                   sim::mean_rate(input.arrivals).value_or(0) / c.all_replicas()});
  }
  add_fit(outcome, input);
  return outcome;
}

}  // namespace rightsize::app
