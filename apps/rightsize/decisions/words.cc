#include "rightsize/decisions/words.h"

#include <fmt/format.h>

#include "base/copy_json.h"
#include "base/format.h"
#include "base/located_json.h"
#include "decisions/clock.h"

namespace rightsize::app {

using decisions::Decision;
using decisions::Per;
using decisions::Prediction;
using decisions::Range;
using decisions::Summary;
using decisions::UsdRange;
using report::Align;
using report::Json;
using report::json_number;

std::string show_metric(std::string_view metric, double value) {
  if (metric == decisions::kMemory) return format_bytes(bytes(value));
  if (metric == decisions::kUtilization) return format_percent(Ratio::fraction(value));
  if (metric == decisions::kHours) return format_duration(hours(value));
  if (metric == decisions::kTokens) return format_tokens_per_s(tokens_per_s(value));
  if (metric == decisions::kRate) return format_usd_per_hour(value) + "/h";
  if (metric.ends_with("_seconds")) return format_duration(seconds(value));
  return format_number(value) + "/s";
}

std::string_view metric_words(std::string_view metric) {
  if (metric == decisions::kMemory) return "memory of a GPU";
  if (metric == decisions::kUtilization) return "utilization";
  if (metric == decisions::kHours) return "duration";
  if (metric == decisions::kTokens) return "tokens a second";
  if (metric == decisions::kSamples) return "samples a second";
  if (metric == decisions::kRequests) return "requests a second";
  if (metric == decisions::kTtft) return "TTFT";
  if (metric == decisions::kTpot) return "TPOT";
  if (metric == decisions::kLatency) return "latency";
  if (metric == decisions::kRate) return "price of the machines";
  return metric;
}

std::string show_cost(Usd cost, Per per) { return fmt::format("{}/{}", format_usd(cost), name_of(per)); }

std::string show_saving(const Summary& summary) {
  if (!summary.saving) return {};
  const bool less = *summary.saving >= Usd{};
  return fmt::format("{}/{} {} than today", format_usd(less ? *summary.saving : -*summary.saving), name_of(summary.per),
                     less ? "less" : "more");
}

Json range_json(const Range& range) {
  return {{"low", json_number(range.low)}, {"likely", json_number(range.likely)}, {"high", json_number(range.high)}};
}

Json range_json(const std::optional<UsdRange>& range) {
  if (!range) return nullptr;
  return {{"low", json_number(range->low, in_usd)},
          {"likely", json_number(in_usd(range->likely))},
          {"high", json_number(range->high, in_usd)}};
}

namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number_or_null(std::int64_t number) { return number == 0 ? Json(nullptr) : Json(number); }

}  // namespace

Json summary_json(const Summary& s) {
  return {{"id", decisions::label(s.id)},
          {"workload", s.workload},
          {"team", text_or_null(s.team)},
          {"by", text_or_null(s.author)},
          {"decided_at", decisions::format_time(s.decided_at)},
          {"status", name_of(s.status)},
          {"ended_at", s.ended_at ? Json(decisions::format_time(*s.ended_at)) : Json(nullptr)},
          {"choice", s.choice.words},
          {"gpu", text_or_null(s.choice.gpu)},
          {"gpus", number_or_null(s.choice.gpus)},
          {"provider", text_or_null(s.choice.provider)},
          {"instance", text_or_null(s.choice.instance)},
          {"instances", number_or_null(s.choice.instances)},
          {"region", text_or_null(s.choice.region)},
          {"purchase", text_or_null(s.choice.purchase)},
          {"per", name_of(s.per)},
          {"cost_usd", json_number(s.cost, in_usd)},
          {"before_usd", json_number(s.before, in_usd)},
          {"saving_usd", json_number(s.saving, in_usd)}};
}

Json decision_json(const Decision& d) {
  Json j = summary_json(d.summary);
  j["why"] = text_or_null(d.why);
  j["what"] = d.what;
  j["command"] = d.command;
  j["catalogue"] = text_or_null(d.catalogue);
  j["program"] = d.program;
  j["rollback"] = text_or_null(d.way_back);
  j["superseded_by"] = d.superseded_by == 0 ? Json(nullptr) : Json(decisions::label(d.superseded_by));
  j["cost_interval_usd"] = range_json(d.cost);
  j["saving_interval_usd"] = range_json(d.saving);
  j["predictions"] = Json::array();
  for (const Prediction& p : d.predictions) {
    Json row = {{"metric", p.metric}};
    row["low"] = json_number(p.value.low);
    row["likely"] = json_number(p.value.likely);
    row["high"] = json_number(p.value.high);
    row["limit"] = json_number(p.limit);
    j["predictions"].push_back(std::move(row));
  }
  j["request"] = Json::object();
  for (const auto& [name, value] : d.request) j["request"][name] = value;
  const Checked<LocatedJson> plan = LocatedJson::parse("plan", d.plan);
  j["plan"] = plan ? copy_of(plan->root()) : Json(nullptr);
  return j;
}

report::Table predictions_table(const Decision& d) {
  report::Table table;
  table.title = "Predicted";
  table.columns = {{"what", "metric", Align::kLeft},
                   {"low", "low", Align::kRight},
                   {"likely", "likely", Align::kRight},
                   {"high", "high", Align::kRight},
                   {"limit", "limit", Align::kRight}};
  const auto cell = [](std::string_view metric, const std::optional<double>& value) {
    return value ? report::number_cell(show_metric(metric, *value), *value) : report::unknown_cell();
  };
  for (const Prediction& p : d.predictions) {
    report::Cell name = report::text_cell(metric_words(p.metric));
    name.exact = p.metric;
    table.rows.push_back({std::move(name), cell(p.metric, p.value.low), cell(p.metric, p.value.likely),
                          cell(p.metric, p.value.high), cell(p.metric, p.limit)});
  }
  if (d.cost) {
    const auto money = [](const std::optional<Usd>& value) {
      return value ? report::number_cell(format_usd(*value), in_usd(*value)) : report::unknown_cell();
    };
    report::Cell name = report::text_cell(fmt::format("cost of a {}", name_of(d.summary.per)));
    name.exact = fmt::format("usd_per_{}", name_of(d.summary.per));
    table.rows.push_back(
        {std::move(name), money(d.cost->low), money(d.cost->likely), money(d.cost->high), report::unknown_cell()});
  }
  return table;
}

void add_record(const Decision& d, std::vector<report::Block>& blocks) {
  const Summary& s = d.summary;
  const auto say = [&](std::string text) { blocks.emplace_back(report::Paragraph{std::move(text)}); };
  blocks.emplace_back(report::Heading{fmt::format("{}: {}", decisions::label(s.id), s.workload)});
  std::string about = fmt::format("Status: {}. Decided {}", name_of(s.status), decisions::format_time(s.decided_at));
  if (!s.author.empty()) about += " by " + s.author;
  if (!s.team.empty()) about += fmt::format(" for team {}", s.team);
  if (s.ended_at) about += fmt::format(". Ended {}", decisions::format_time(*s.ended_at));
  if (d.superseded_by != 0) about += fmt::format(", superseded by {}", decisions::label(d.superseded_by));
  say(about + ".");
  std::string chosen = fmt::format("Decision: {}", s.choice.words);
  if (s.cost) chosen += fmt::format(", {}", show_cost(*s.cost, s.per));
  if (const std::string saving = show_saving(s); !saving.empty()) chosen += fmt::format(" ({})", saving);
  say(chosen + ".");
  if (!d.what.empty()) say(fmt::format("What for: {}.", d.what));
  say(fmt::format("Why: {}", d.why.empty() ? "not recorded." : d.why));
  // A title would be a heading beside the decision's own in Markdown.
  if (report::Table table = predictions_table(d); !table.rows.empty()) {
    table.title.clear();
    say("Predicted:");
    blocks.emplace_back(std::move(table));
  }
  say(fmt::format("Rollback: {}", d.way_back.empty() ? "not recorded." : d.way_back));
  std::string inputs;
  for (const auto& [name, value] : d.request)
    inputs += fmt::format("{}--{} {}", inputs.empty() ? "" : " ", name, value);
  say(fmt::format("Inputs: {}", inputs.empty() ? "not in the plan." : inputs));
  say(fmt::format("Made by 'rightsize {}' {} with catalogue {}.", d.command, d.program,
                  d.catalogue.empty() ? "unknown" : d.catalogue));
}

}  // namespace rightsize::app
