// What `rightsize batch --slo` says: the plan, what relaxing the SLO frees, latency against cost.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/batch/report.h"
#include "rightsize/batch/report_parts.h"

namespace rightsize::app {

using capacity::Assessment;
using capacity::Configuration;
using capacity::Quantity;
using capacity::Slo;
using report::Align;
using report::Json;

namespace {

double monthly(const BatchInput& input, const Configuration& c) {
  double sum = 0;
  for (const capacity::Group& group : c.groups)
    sum += input.offers[group.replica].usd_per_hour.value_or(NAN) * group.count;
  return sum * in_hours(kMonth);
}

std::string dollars(double usd_amount) { return std::isfinite(usd_amount) ? format_usd(usd(usd_amount)) : "-"; }

// How scripts know a limit: "p99" of the latency, "ttft", "tpot".
std::string key_of(const Slo& slo) {
  if (slo.quantity == Quantity::kLatency) return std::string(capacity::name_of(slo.at));
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
                    {"slo_percentile", capacity::name_of(slo.at)},
                    {"limit_ms", in_ms(slo.limit)},
                    {"value_ms", in_ms(a.value(slo))},
                    {"half_width_ms", report::json_number(in_ms(a.half_width(slo)))}});
  }
  return list;
}

Json plan_json(const BatchInput& input, const Assessment& a) {
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
  out["slo_percentile"] = capacity::name_of(slo.at);
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
    text += fmt::format("{}{} ", text.empty() ? "" : ", ", capacity::describe(slo));
    const double value = in_seconds(a.value(slo)), half = in_seconds(a.half_width(slo));
    // Where every run comes out alike there is nothing to tell. Both in one unit, no finer than the interval.
    if (!std::isfinite(half) || half <= 1e-3 * value || value >= 60) {
      text += format_duration(a.value(slo));
    } else if (value < 1) {
      text += fmt::format("{} ± {} ms", format_number(value * 1e3), format_number(half * 1e3, 2));
    } else {
      text += fmt::format("{} ± {} s", format_number(value), format_number(half, 2));
    }
  }
  return text;
}

std::string plan_sentence(const BatchInput& input, const Assessment& a) {
  const Configuration& c = a.configuration;
  std::string text = gpus_shown(input, c);
  if (input.continuous) {
    text +=
        fmt::format(", {} sequence{} at once, {} tokens a step", c.engine.max_sequences,
                    c.engine.max_sequences == 1 ? "" : "s", format_count(static_cast<double>(c.engine.token_budget)));
  } else {
    text += c.batching.max_batch == 1
                ? ", one request at a time"
                : fmt::format(", batches up to {}, {}", c.batching.max_batch,
                              c.batching.max_delay == 0 ? std::string("no delay")
                                                        : "delay " + shown(static_cast<double>(c.batching.max_delay)));
    if (c.executors > 1) text += fmt::format(", {} instances each", c.executors);
  }
  text += fmt::format(": {}, {} of capacity", values_shown(input, a), percent(a.load));
  if (a.profile.rejected > 0) text += fmt::format(", {} of the requests turned away", percent(a.rejected_share()));
  if (std::isfinite(monthly(input, c))) text += fmt::format(", {}/month", dollars(monthly(input, c)));
  return text + ".";
}

// "Relaxing p99 latency from 50 ms to 83 ms frees 3 of 4 GPUs, $6,600/month."
std::string step_sentence(const BatchInput& input, const Assessment& from, const Assessment& to) {
  const Slo& slo = tightest(input, to);
  const double saved = monthly(input, from.configuration) - monthly(input, to.configuration);
  const bool same_gpu = from.configuration.groups.size() == 1 &&
                        from.configuration.groups[0].replica == to.configuration.groups[0].replica;
  // Rounded up to what a person would ask for.
  const double half = in_ms(to.half_width(slo));
  const double limit = in_ms(to.value(slo)) + (std::isfinite(half) ? half : 0);
  const double unit = std::pow(10.0, std::floor(std::log10(limit)) - 1);
  std::string text = fmt::format("Relaxing {} from {} to {} ", capacity::describe(slo), format_duration(slo.limit),
                                 format_duration(milliseconds(std::ceil(limit / unit) * unit)));
  const int gpus_now = gpu_count(input, from.configuration);
  text += same_gpu ? fmt::format("frees {} of {} GPUs", gpus_now - gpu_count(input, to.configuration), gpus_now)
                   : fmt::format("takes {} instead", gpus_shown(input, to.configuration));
  if (std::isfinite(saved)) text += fmt::format(", {}/month", dollars(saved));
  return text + ".";
}

std::string relax_sentences(const BatchInput& input, const capacity::SearchResult& found, Json& document) {
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

report::Table frontier_table(const BatchInput& input, const capacity::SearchResult& found) {
  const Slo& slo = input.service.slos.front();
  report::Table table;
  table.title = "Latency against cost";
  table.columns = {{"GPUs", "gpus", Align::kRight},
                   {"GPU", "gpu", Align::kLeft},
                   {"batch", "max_batch", Align::kRight},
                   {"delay", "max_delay_seconds", Align::kRight},
                   {"instances", "instances", Align::kRight},
                   {capacity::describe(slo), "value_seconds", Align::kRight},
                   {"±", "half_width_seconds", Align::kRight},
                   {"load", "load", Align::kRight},
                   {"$/month", "usd_per_month", Align::kRight},
                   {input.service.slos.size() > 1 ? "all SLOs" : "SLO", "keeps_slo", Align::kLeft}};
  for (const Assessment& a : found.frontier) table.rows.push_back(frontier_row(input, a, slo));
  return table;
}

report::LineChart frontier_chart(const BatchInput& input, const capacity::SearchResult& found) {
  report::LineChart chart;
  const Slo& slo = input.service.slos.front();
  const bool priced = input.offers[0].usd_per_hour.has_value();
  chart.x_label = priced ? "$/month" : "GPUs";
  chart.y_label = fmt::format("{} in ms (dots: the SLO)", capacity::describe(slo));
  chart.y_limit = in_ms(slo.limit);
  chart.series.push_back({"best at this price", {}});
  for (const Assessment& a : found.frontier)
    chart.series[0].points.push_back({a.configuration.price * (priced ? in_hours(kMonth) : 1), in_ms(a.value(slo))});
  return chart;
}

void put_counts(Json& document, const capacity::SearchResult& found, double wall) {
  document["considered"] = found.considered;
  document["pruned_unstable"] = found.unstable;
  document["pruned_by_bound"] = found.bounded;
  document["simulated"] = found.simulated;
  document["confirmed"] = found.confirmed;
  document["seconds"] = wall;
}

std::string unbatched_sentence(const BatchInput& input, const capacity::SearchResult& found) {
  if (!found.unbatched) return "\nWithout batching none of the settings tried keeps the SLO.";
  if (most_together(input, found.best->configuration) == 1) return "\nBatching saves nothing here.";
  return "\nWithout batching: " + plan_sentence(input, *found.unbatched);
}

std::string title_of(const BatchInput& input) {
  std::string text = "Cheapest way to keep";
  for (const Slo& slo : input.service.slos)
    text += fmt::format("{} {} at {}", &slo == &input.service.slos.front() ? "" : " and", capacity::describe(slo),
                        format_duration(slo.limit));
  return text;
}

std::string counts_sentence(const capacity::SearchResult& found) {
  const auto count = [](std::size_t n) { return format_count(static_cast<double>(n)); };
  std::string text = fmt::format("\n{} settings:", count(found.considered));
  if (found.unstable > 0) text += fmt::format(" {} cannot carry the load,", count(found.unstable));
  if (found.bounded > 0) text += fmt::format(" {} ruled out by a closed-form bound,", count(found.bounded));
  return text + fmt::format(" {} simulated, {} confirmed with confidence intervals.", count(found.simulated),
                            count(found.confirmed));
}

}  // namespace

Outcome searched_outcome(const BatchInput& input, const capacity::SearchResult& found, double wall) {
  Outcome outcome;
  outcome.report.title = title_of(input);
  Json& document = outcome.report.document;
  document["schema"] = "rightsize/batch/1";
  document["plan"] = found.best ? plan_json(input, *found.best) : Json(nullptr);
  std::string text = rate_shown(input) + " arrive." + cut_sentence(input) + " ";
  if (found.best) {
    put_profile(document, input, *found.best, wall);
    document["unbatched"] = found.unbatched ? plan_json(input, *found.unbatched) : Json(nullptr);
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
  for (const Assessment& a : found.frontier) document["frontier"].push_back(plan_json(input, a));
  if (!found.frontier.empty()) outcome.report.blocks.emplace_back(frontier_table(input, found));
  if (found.frontier.size() > 1) outcome.report.blocks.emplace_back(frontier_chart(input, found));
  if (found.best) add_hand_over(outcome, input, found.best->configuration);
  add_fit(outcome, input);
  return outcome;
}

}  // namespace rightsize::app
