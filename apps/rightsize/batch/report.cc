#include "rightsize/batch/report.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "sim/hand_over.h"

namespace rightsize::app {
namespace {

using report::Align;
using report::Json;
using serving::Assessment;
using serving::Configuration;
using serving::Quantity;
using serving::Slo;
using sim::StatisticValues;

constexpr double kHoursPerMonth = 730;
constexpr const char* kStatisticNames[] = {"mean", "p50", "p90", "p95", "p99"};

std::string shown(double ns) { return format_duration(seconds(ns * 1e-9)); }
double in_ms(double ns) { return ns * 1e-6; }
double in_ms(Seconds time) { return in_milliseconds(time); }
std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

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

void put_profile(Json& document, const BatchInput& input, const Assessment& a, double wall) {
  const sim::LatencyProfile& p = a.profile;
  document["stable"] = true;
  document["latency_ms"] = json_of(p.latency);
  document["half_width_ms"] = json_of(p.half_width);
  if (input.continuous) {
    document["ttft_ms"] = json_of(a.ttft);
    document["tpot_ms"] = json_of(a.tpot);
    document["steps"] = a.steps;
    document["preemptions"] = a.preemptions;
    document["output_tokens_per_second"] = a.output_tokens_per_second;
  }
  document["mean_batch"] = p.mean_batch;
  document["utilization"] = a.busy;
  document["batches"] = p.batches;
  document["rejected"] = p.rejected;
  document["requests"] = p.requests;
  if (input.left_out() > 0) document["requests_left_out"] = input.left_out();
  document["capacity_per_second"] = report::json_number(a.capacity);
  document["load"] = report::json_number(a.load);
  document["simulated_seconds"] = in_seconds(sim::from_sim_time(p.elapsed));
  document["quantile_relative_error"] = sim::LogHistogram::kRelativeError;
  document["seconds"] = wall;
}

std::string rate_shown(const BatchInput& input) {
  const std::optional<double> rate = sim::mean_rate(input.service.arrivals);
  return rate ? format_number(*rate) + " requests/s" : "one request";
}

// A trace is replayed whole unless --requests cuts it.
std::string cut_sentence(const BatchInput& input) {
  if (input.left_out() == 0) return {};
  return fmt::format(" Only the first {} requests of the trace are replayed (--requests); {} are left out.",
                     format_count(static_cast<double>(input.requests)),
                     format_count(static_cast<double>(input.left_out())));
}

std::string replicas_shown(int count, const BatchOffer& offer) {
  const std::string kind = offer.gpu.empty() ? "GPU" : offer.gpu;
  if (offer.gpus_each > 1) {
    return fmt::format("{} replica{} of {} {}", count, count == 1 ? "" : "s", offer.gpus_each, kind);
  }
  return fmt::format("{} {}{}", count, kind, count == 1 || !offer.gpu.empty() ? "" : "s");
}

std::string gpus_shown(const BatchInput& input, const Configuration& c) {
  std::string text;
  for (const serving::Group& group : c.groups)
    text += (text.empty() ? "" : " and ") + replicas_shown(group.count, input.offers[group.replica]);
  return text;
}

int gpu_count(const BatchInput& input, const Configuration& c) {
  int sum = 0;
  for (const serving::Group& group : c.groups) sum += group.count * input.offers[group.replica].gpus_each;
  return sum;
}

const BatchOffer& first_offer(const BatchInput& input, const Configuration& c) {
  return input.offers[c.groups.front().replica];
}

// Requests that run together at most.
std::int64_t most_together(const BatchInput& input, const Configuration& c) {
  return input.continuous ? c.engine.max_sequences : c.batching.max_batch;
}

// Where the times come from, when the speed model made them.
std::string fit_sentence(const BatchInput& input) {
  std::string text;
  for (const BatchOffer& offer : input.offers) {
    if (!offer.replica.fit) continue;
    const perf::StepFit& fit = *offer.replica.fit;
    text += fmt::format(
        "\n  {}: {} + {} a sequence + {} per 1,000 tokens of context, {} per 1,000 prompt tokens, {} a "
        "request; within {} of the speed model, prompts of half and twice the length {}; cache {} tokens",
        offer.name(), shown(offer.replica.step.base), shown(offer.replica.step.sequence),
        shown(offer.replica.step.context * 1000), shown(offer.replica.step.prefill * 1000),
        shown(offer.replica.step.request), format_percent(Ratio::fraction(fit.worst_step_error)),
        format_percent(Ratio::fraction(fit.worst_prompt_error)),
        format_count(static_cast<double>(offer.replica.step.kv_tokens)));
  }
  if (text.empty()) return text;
  const perf::StepFit& first = *input.offers[0].replica.fit;
  return fmt::format("Steps from the speed model, which is right within {} (TPOT) and {} (TTFT) in four of five cases:",
                     format_percent(Ratio::fraction(first.tpot_interval.high - 1)),
                     format_percent(Ratio::fraction(first.ttft_interval.high - 1))) +
         text;
}

void add_fit(Outcome& outcome, const BatchInput& input) {
  Json fits = Json::array();
  for (const BatchOffer& offer : input.offers) {
    if (!offer.replica.fit) continue;
    fits.push_back({{"gpu", offer.gpu},
                    {"tp", offer.gpus_each},
                    {"base_ms", in_ms(offer.replica.step.base)},
                    {"sequence_ms", in_ms(offer.replica.step.sequence)},
                    {"context_token_ms", in_ms(offer.replica.step.context)},
                    {"prompt_token_ms", in_ms(offer.replica.step.prefill)},
                    {"request_ms", in_ms(offer.replica.step.request)},
                    {"kv_tokens", offer.replica.step.kv_tokens},
                    {"worst_step_error", offer.replica.fit->worst_step_error},
                    {"worst_prompt_error", offer.replica.fit->worst_prompt_error},
                    {"tpot_interval", {offer.replica.fit->tpot_interval.low, offer.replica.fit->tpot_interval.high}},
                    {"ttft_interval", {offer.replica.fit->ttft_interval.low, offer.replica.fit->ttft_interval.high}}});
  }
  if (fits.empty()) return;
  outcome.report.document["step_fits"] = std::move(fits);
  outcome.report.blocks.emplace_back(report::Paragraph{fit_sentence(input)});
}

std::string load_sentence(const BatchInput& input, const Assessment& a) {
  std::string text = fmt::format("{} arrive, {} of the {} requests/s it can do at most.", rate_shown(input),
                                 percent(a.load), format_number(a.capacity));
  const double peak = sim::peak_rate(input.service.arrivals).value_or(0);
  if (peak >= a.capacity) {
    text += fmt::format(" At its peak {} requests/s arrive, more than that: the queue grows until the peak is over.",
                        format_number(peak));
  }
  return text + cut_sentence(input);
}

std::string batches_sentence(const Assessment& a) {
  const Configuration& c = a.configuration;
  std::string text = fmt::format(
      " Batches up to {}, waiting at most {} for others: {} requests a batch on average, GPUs busy {} of the time.",
      c.batching.max_batch, shown(static_cast<double>(c.batching.max_delay)), format_number(a.profile.mean_batch),
      percent(a.busy));
  if (a.profile.rejected > 0) {
    text += fmt::format(" {} of {} requests were rejected.", format_count(static_cast<double>(a.profile.rejected)),
                        format_count(static_cast<double>(a.profile.requests)));
  }
  return text;
}

std::string tokens_sentence(const BatchInput& input, const Assessment& a) {
  const Configuration& c = a.configuration;
  std::string text;
  if (!std::holds_alternative<std::shared_ptr<const sim::Trace>>(input.service.arrivals)) {
    const sim::RequestShape& lengths = input.service.lengths;
    text = fmt::format(" Requests have {} tokens in and {} out{}.", format_count(lengths.size),
                       format_count(lengths.output), lengths.exponential ? " on average, spread exponentially" : "");
  }
  text +=
      fmt::format(" At most {} sequences and {} tokens a step: {} sequences a step on average, {}, {} preemptions.",
                  c.engine.max_sequences, format_count(static_cast<double>(c.engine.token_budget)),
                  format_number(a.profile.mean_batch), format_tokens_per_s(tokens_per_s(a.output_tokens_per_second)),
                  format_count(static_cast<double>(a.preemptions)));
  if (a.profile.rejected > 0) {
    text += fmt::format(" {} requests can never fit the cache or the budget and were rejected.",
                        format_count(static_cast<double>(a.profile.rejected)));
  }
  return text;
}

// What --emit asks for, and for dynamic batching the document's triton_config.
void add_hand_over(Outcome& outcome, const BatchInput& input, const Configuration& c) {
  const BatchOffer& offer = first_offer(input, c);
  const sim::Deployment deployment{
      input.name,  offer.gpu,       c.groups.size() == 1 ? c.replicas() : c.groups[0].count,
      c.executors, offer.gpus_each, input.rate() / c.replicas()};
  sim::ContinuousConfig engine = c.engine;
  if (offer.replica.step.kv_tokens > 0) engine.kv_tokens = offer.replica.step.kv_tokens;
  const std::string triton = sim::triton_config(deployment, c.batching, input.service.queue,
                                                static_cast<int>(input.service.priorities.size()));
  if (!input.continuous) outcome.report.document["triton_config"] = triton;
  for (const std::string& target : input.emit) {
    const std::string text = target == "triton"   ? triton
                             : target == "vllm"   ? sim::vllm_command(deployment, engine)
                             : target == "trtllm" ? sim::trtllm_command(deployment, engine)
                             : target == "kserve" ? sim::kserve_manifest(deployment)
                                                  : sim::kubernetes_manifest(deployment);
    outcome.report.document["emit"][target] = text;
    outcome.report.blocks.emplace_back(report::Verbatim{target == "triton" ? "config.pbtxt" : target, text});
  }
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

}  // namespace

Outcome assessed_outcome(const BatchInput& input, const Assessment& a, const std::vector<LoadPoint>& curve,
                         double wall) {
  Outcome outcome;
  outcome.report.title = input.continuous ? "Continuous batching" : "Batching";
  outcome.report.document["schema"] = "rightsize/batch/1";
  put_profile(outcome.report.document, input, a, wall);
  outcome.report.blocks.emplace_back(report::Paragraph{
      load_sentence(input, a) + (input.continuous ? tokens_sentence(input, a) : batches_sentence(a))});
  std::vector<std::pair<std::string, const StatisticValues*>> rows{{"latency", &a.profile.latency}};
  if (input.continuous) {
    rows = {
        {"whole request", &a.profile.latency}, {"first token (TTFT)", &a.ttft}, {"each further token (TPOT)", &a.tpot}};
  }
  outcome.report.blocks.emplace_back(latency_table(rows, a.profile.half_width));
  add_fit(outcome, input);
  add_load_curve(outcome, curve);
  add_hand_over(outcome, input, a.configuration);
  return outcome;
}

Outcome unstable_outcome(const BatchInput& input, const Configuration& c, double capacity) {
  Outcome outcome;
  outcome.exit_code = kNoFeasibleAnswer;
  outcome.report.title = "Batching";
  outcome.report.document = {{"schema", "rightsize/batch/1"},
                             {"stable", false},
                             {"arrivals_per_second", report::json_number(input.rate())},
                             {"capacity_per_second", report::json_number(capacity)},
                             {"latency_ms", nullptr}};
  const std::string at_best = input.continuous ? "the batch as full as its limits and the cache allow"
                                               : fmt::format("batches of {}", c.batching.max_batch);
  outcome.report.blocks.emplace_back(report::Paragraph{fmt::format(
      "Unstable: {} arrive and the most this server can do, {}, is {} requests/s. The queue would grow without end, so "
      "nothing was simulated. It takes {} times as many GPUs, larger batches, or a limit that rejects (--max-queue, "
      "--timeout).",
      rate_shown(input), at_best, format_number(capacity),
      format_number(std::ceil(input.rate() / capacity * 10 + 0.5) / 10, 2))});
  return outcome;
}

// ---- The search ----

namespace {

double monthly(const BatchInput& input, const Configuration& c) {
  double sum = 0;
  for (const serving::Group& group : c.groups)
    sum += input.offers[group.replica].usd_per_hour.value_or(NAN) * group.count;
  return sum * kHoursPerMonth;
}

std::string dollars(double usd_amount) { return std::isfinite(usd_amount) ? format_usd(usd(usd_amount)) : "-"; }

// How scripts know a limit: "p99" of the latency, "ttft", "tpot".
std::string key_of(const Slo& slo) {
  if (slo.quantity == Quantity::kLatency) return std::string(serving::name_of(slo.at));
  return slo.quantity == Quantity::kTtft ? "ttft" : "tpot";
}

// The SLO that is nearest to being broken, or broken most.
const Slo& tightest(const BatchInput& input, const Assessment& a) {
  return *std::max_element(input.service.slos.begin(), input.service.slos.end(),
                           [&](const Slo& x, const Slo& y) { return a.value(x) / x.limit < a.value(y) / y.limit; });
}

Json slos_json(const BatchInput& input, const Assessment& a) {
  Json list = Json::array();
  for (const Slo& slo : input.service.slos) {
    list.push_back({{"metric", key_of(slo)},
                    {"slo_percentile", serving::name_of(slo.at)},
                    {"limit_ms", in_ms(slo.limit)},
                    {"value_ms", in_ms(a.value(slo))},
                    {"half_width_ms", report::json_number(in_ms(a.half_width(slo)))}});
  }
  return list;
}

Json json_of(const BatchInput& input, const Assessment& a) {
  const Configuration& c = a.configuration;
  const BatchOffer& offer = first_offer(input, c);
  const Slo& slo = tightest(input, a);
  Json out{{"gpu", offer.gpu},
           {"gpus", gpu_count(input, c)},
           {"replicas", c.groups.front().count},
           {"tp", offer.gpus_each},
           {"max_batch", most_together(input, c)},
           {"max_delay_ms", in_ms(static_cast<double>(c.batching.max_delay))},
           {"instances", c.executors}};
  if (c.groups.size() > 1) {
    const BatchOffer& other = input.offers[c.groups[1].replica];
    out["beside"] = {{"gpu", other.gpu}, {"replicas", c.groups[1].count}, {"tp", other.gpus_each}};
  }
  if (input.continuous) out["token_budget"] = c.engine.token_budget;
  out["usd_per_month"] = report::json_number(monthly(input, c));
  out["metric"] = key_of(slo);
  out["slo_percentile"] = serving::name_of(slo.at);
  out["value_ms"] = in_ms(a.value(slo));
  out["half_width_ms"] = report::json_number(in_ms(a.half_width(slo)));
  out["slos"] = slos_json(input, a);
  out["latency_ms"] = json_of(a.profile.latency);
  if (input.continuous) {
    out["ttft_ms"] = json_of(a.ttft);
    out["tpot_ms"] = json_of(a.tpot);
  }
  out["mean_batch"] = a.profile.mean_batch;
  out["utilization"] = a.busy;
  out["load"] = report::json_number(a.load);
  out["rejected_share"] = a.rejected_share();
  out["price_source"] = offer.price_source;
  return out;
}

std::string values_shown(const BatchInput& input, const Assessment& a) {
  std::string text;
  for (const Slo& slo : input.service.slos) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", serving::describe(slo), format_duration(a.value(slo)));
    const double half = in_seconds(a.half_width(slo));
    if (std::isfinite(half)) text += fmt::format(" ± {}", format_duration(seconds(half)));
  }
  return text;
}

std::string plan_sentence(const BatchInput& input, const Assessment& a) {
  const Configuration& c = a.configuration;
  std::string text = gpus_shown(input, c);
  if (input.continuous) {
    text += fmt::format(", {} sequences at once, {} tokens a step", c.engine.max_sequences,
                        format_count(static_cast<double>(c.engine.token_budget)));
  } else {
    text += c.batching.max_batch == 1 ? ", one request at a time"
                                      : fmt::format(", batches up to {}, delay {}", c.batching.max_batch,
                                                    shown(static_cast<double>(c.batching.max_delay)));
    if (c.executors > 1) text += fmt::format(", {} instances each", c.executors);
  }
  text += fmt::format(": {}, {} of capacity", values_shown(input, a), percent(a.load));
  if (a.profile.rejected > 0) text += fmt::format(", {} of the requests turned away", percent(a.rejected_share()));
  if (std::isfinite(monthly(input, c))) text += fmt::format(", {} a month", dollars(monthly(input, c)));
  return text + ".";
}

// "Relaxing p99 latency from 50 ms to 83 ms frees 3 of 4 GPUs, $6,600 a month."
std::string step_sentence(const BatchInput& input, const Assessment& from, const Assessment& to) {
  const Slo& slo = tightest(input, to);
  const double saved = monthly(input, from.configuration) - monthly(input, to.configuration);
  const bool same_gpu = from.configuration.groups.size() == 1 &&
                        from.configuration.groups[0].replica == to.configuration.groups[0].replica;
  // Rounded up to what a person would ask for.
  const double half = in_ms(to.half_width(slo));
  const double limit = in_ms(to.value(slo)) + (std::isfinite(half) ? half : 0);
  const double unit = std::pow(10.0, std::floor(std::log10(limit)) - 1);
  std::string text = fmt::format("Relaxing {} from {} to {} ", serving::describe(slo), format_duration(slo.limit),
                                 format_duration(milliseconds(std::ceil(limit / unit) * unit)));
  const int gpus_now = gpu_count(input, from.configuration);
  text += same_gpu ? fmt::format("frees {} of {} GPUs", gpus_now - gpu_count(input, to.configuration), gpus_now)
                   : fmt::format("takes {} instead", gpus_shown(input, to.configuration));
  if (std::isfinite(saved)) text += fmt::format(", {} a month", dollars(saved));
  return text + ".";
}

std::string relax_sentences(const BatchInput& input, const serving::SearchResult& found, Json& document) {
  std::string text;
  Json steps = Json::array();
  const Configuration& best = found.best->configuration;
  for (auto point = found.frontier.rbegin(); point != found.frontier.rend(); ++point) {
    if (point->configuration.price >= best.price || point->keeps(input.service)) continue;
    if (steps.size() < 3) text += "\n" + step_sentence(input, *found.best, *point);
    steps.push_back(
        {{"value_ms", in_ms(point->value(tightest(input, *point)))},
         {"gpus", gpu_count(input, point->configuration)},
         {"saving_usd_per_month", report::json_number(monthly(input, best) - monthly(input, point->configuration))}});
  }
  document["relaxations"] = std::move(steps);
  return text;
}

std::vector<report::Cell> frontier_row(const BatchInput& input, const Assessment& a, const Slo& slo) {
  const Configuration& c = a.configuration;
  const double cost = monthly(input, c), half = in_seconds(a.half_width(slo));
  const BatchOffer& offer = first_offer(input, c);
  const auto delay = static_cast<double>(c.batching.max_delay);
  return {report::number_cell(std::to_string(gpu_count(input, c)), gpu_count(input, c)),
          report::text_cell(offer.gpu.empty() ? "" : offer.name()),
          report::number_cell(std::to_string(most_together(input, c)), static_cast<double>(most_together(input, c))),
          report::number_cell(shown(delay), delay * 1e-9),
          report::number_cell(std::to_string(c.executors), c.executors),
          report::number_cell(format_duration(a.value(slo)), in_seconds(a.value(slo))),
          std::isfinite(half) ? report::number_cell(format_duration(seconds(half)), half) : report::unknown_cell(),
          report::number_cell(percent(a.load), a.load),
          std::isfinite(cost) ? report::number_cell(dollars(cost), cost) : report::unknown_cell(),
          report::text_cell(a.keeps(input.service) ? "kept" : "broken")};
}

report::Table frontier_table(const BatchInput& input, const serving::SearchResult& found) {
  const Slo& slo = input.service.slos.front();
  report::Table table;
  table.title = "Latency against cost";
  table.columns = {{"GPUs", "gpus", Align::kRight},
                   {"GPU", "gpu", Align::kLeft},
                   {"batch", "max_batch", Align::kRight},
                   {"delay", "max_delay_seconds", Align::kRight},
                   {"instances", "instances", Align::kRight},
                   {serving::describe(slo), "value_seconds", Align::kRight},
                   {"±", "half_width_seconds", Align::kRight},
                   {"load", "load", Align::kRight},
                   {"$/month", "usd_per_month", Align::kRight},
                   {input.service.slos.size() > 1 ? "all SLOs" : "SLO", "keeps_slo", Align::kLeft}};
  for (const Assessment& a : found.frontier) table.rows.push_back(frontier_row(input, a, slo));
  return table;
}

report::LineChart frontier_chart(const BatchInput& input, const serving::SearchResult& found) {
  report::LineChart chart;
  const Slo& slo = input.service.slos.front();
  const bool priced = input.offers[0].usd_per_hour.has_value();
  chart.x_label = priced ? "$ a month" : "GPUs";
  chart.y_label = fmt::format("{} in ms (dots: the SLO)", serving::describe(slo));
  chart.y_limit = in_ms(slo.limit);
  chart.series.push_back({"best at this price", {}});
  for (const Assessment& a : found.frontier)
    chart.series[0].points.push_back({a.configuration.price * (priced ? kHoursPerMonth : 1), in_ms(a.value(slo))});
  return chart;
}

void put_counts(Json& document, const serving::SearchResult& found, double wall) {
  document["considered"] = found.considered;
  document["pruned_unstable"] = found.unstable;
  document["pruned_by_bound"] = found.bounded;
  document["simulated"] = found.simulated;
  document["confirmed"] = found.confirmed;
  document["seconds"] = wall;
}

std::string unbatched_sentence(const BatchInput& input, const serving::SearchResult& found) {
  if (!found.unbatched) return "\nWithout batching none of the settings tried keeps the SLO.";
  if (most_together(input, found.best->configuration) == 1) return "\nBatching saves nothing here.";
  return "\nWithout batching: " + plan_sentence(input, *found.unbatched);
}

std::string title_of(const BatchInput& input) {
  std::string text = "Cheapest way to keep";
  for (const Slo& slo : input.service.slos)
    text += fmt::format("{} {} at {}", &slo == &input.service.slos.front() ? "" : " and", serving::describe(slo),
                        format_duration(slo.limit));
  return text;
}

std::string counts_sentence(const serving::SearchResult& found) {
  const auto count = [](std::size_t n) { return format_count(static_cast<double>(n)); };
  return fmt::format(
      "\n{} settings: {} cannot carry the load, {} cannot come near by a closed-form bound, {} simulated, {} "
      "confirmed with confidence intervals.",
      count(found.considered), count(found.unstable), count(found.bounded), count(found.simulated),
      count(found.confirmed));
}

}  // namespace

Outcome searched_outcome(const BatchInput& input, const serving::SearchResult& found, double wall) {
  Outcome outcome;
  outcome.report.title = title_of(input);
  Json& document = outcome.report.document;
  document["schema"] = "rightsize/batch/1";
  document["plan"] = found.best ? json_of(input, *found.best) : Json(nullptr);
  std::string text = rate_shown(input) + " arrive." + cut_sentence(input) + " ";
  if (found.best) {
    put_profile(document, input, *found.best, wall);
    document["unbatched"] = found.unbatched ? json_of(input, *found.unbatched) : Json(nullptr);
    text +=
        plan_sentence(input, *found.best) + unbatched_sentence(input, found) + relax_sentences(input, found, document);
  } else {
    outcome.exit_code = kNoFeasibleAnswer;
    text += "No setting tried keeps the SLO.";
    if (!found.frontier.empty()) text += " The nearest: " + plan_sentence(input, found.frontier.back());
  }
  put_counts(document, found, wall);
  outcome.report.blocks.emplace_back(report::Paragraph{text + counts_sentence(found)});
  document["frontier"] = Json::array();
  for (const Assessment& a : found.frontier) document["frontier"].push_back(json_of(input, a));
  if (!found.frontier.empty()) outcome.report.blocks.emplace_back(frontier_table(input, found));
  if (found.frontier.size() > 1) outcome.report.blocks.emplace_back(frontier_chart(input, found));
  if (found.best) add_hand_over(outcome, input, found.best->configuration);
  add_fit(outcome, input);
  return outcome;
}

}  // namespace rightsize::app
