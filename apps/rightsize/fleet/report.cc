// A fleet's analysis as a report.
#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "rightsize/fleet/fleet.h"

namespace rightsize::app {
namespace {

using fleet::Action;
using fleet::Category;
using fleet::FleetAnalysis;
using fleet::GpuRow;
using report::Align;
using report::Cell;
using report::Json;
using report::json_number;
using report::number_cell;
using report::text_cell;

std::string dollars(double value) { return format_usd(usd(value)); }
std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

Cell usd_cell(std::optional<double> value) {
  return value ? number_cell(dollars(*value), *value) : report::unknown_cell();
}

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 1) + "~";
}

Json mean_metrics(const GpuRow& gpu) {
  Json means = Json::object();
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (const auto& use = gpu.use.metrics[i]) {
      means[std::string(telemetry::name_of(static_cast<telemetry::Metric>(i)))] = json_number(use->mean);
    }
  }
  return means;
}

Json shares_json(const GpuRow& gpu) {
  Json shares = Json::object();
  for (std::size_t c = 0; c < fleet::kCategories; ++c) {
    shares[std::string(fleet::name_of(static_cast<Category>(c)))] = json_number(gpu.share[c]);
  }
  return shares;
}

Json gpu_json(const GpuRow& gpu) {
  const auto& device = gpu.use.device;
  Json owners = Json::array();
  for (const fleet::Tenancy& t : gpu.use.tenancies) {
    owners.push_back({{"owner", t.owner.shown()},
                      {"seconds", json_number(t.seconds)},
                      {"idle_seconds", json_number(t.idle_seconds)}});
  }
  return {{"id", device.key()},
          {"host", device.host},
          {"index", device.index},
          {"name", gpu.price.gpu != nullptr ? gpu.price.gpu->name : device.name},
          {"model", device.name},
          {"mig_profile", device.mig_profile.empty() ? Json(nullptr) : Json(device.mig_profile)},
          {"owner", gpu.owner().shown()},
          {"owners", std::move(owners)},
          {"verdict", diagnose::name_of(gpu.verdict)},
          {"confidence", json_number(gpu.confidence)},
          {"evidence", gpu.evidence},
          {"seconds", json_number(gpu.use.seconds)},
          {"gpu_hours", json_number(gpu.gpu_hours)},
          {"gpu_share", json_number(gpu.price.share)},
          {"mean", mean_metrics(gpu)},
          {"memory_peak_bytes", gpu.memory_peak() > 0 ? json_number(gpu.memory_peak()) : Json(nullptr)},
          {"idle_share", gpu.use.activity() ? json_number(gpu.use.idle_share) : Json(nullptr)},
          {"idle_held_share", gpu.use.activity() ? json_number(gpu.use.held_share) : Json(nullptr)},
          {"shares", shares_json(gpu)},
          {"usd_per_gpu_hour", gpu.price.rate ? json_number(in_usd_per_gpu_hour(*gpu.price.rate)) : Json(nullptr)},
          {"price_basis", fleet::name_of(gpu.price.basis)},
          {"price_source", gpu.price.source},
          {"spend_usd", json_number(gpu.spend_usd)},
          {"waste_usd", json_number(gpu.waste_usd())}};
}

Json action_json(const Action& action, const FleetAnalysis& analysis) {
  Json ids = Json::array();
  for (std::size_t i : action.gpus) ids.push_back(analysis.gpus[i].use.device.key());
  return {{"kind", fleet::name_of(action.kind)},
          {"what", action.what},
          {"from", action.from},
          {"to", action.to},
          {"saving_usd_per_month", json_number(action.usd_per_month)},
          {"owner", action.owner},
          {"risk", action.risk},
          {"check", action.check},
          {"rollback", action.rollback},
          {"confidence", json_number(action.confidence)},
          {"gpus", std::move(ids)},
          {"instead_of", action.instead_of}};
}

Json totals_json(const FleetResult& result) {
  const fleet::Totals& t = result.analysis.totals;
  return {{"gpus", t.gpus},
          {"gpus_priced", t.priced},
          {"gpu_hours", json_number(t.gpu_hours)},
          {"spend_usd", json_number(t.spend_usd)},
          {"waste_usd", json_number(t.waste_usd)},
          {"waste_share", json_number(t.waste_share())},
          {"idle_gpu_hours", json_number(t.idle_gpu_hours)},
          {"usd_per_month", json_number(t.usd_per_month)},
          {"savings_usd_per_month", json_number(t.savings_usd_per_month)},
          {"window_seconds", json_number(t.window_seconds)},
          {"share_read", json_number(result.share_read)}};
}

Json document_of(const FleetResult& result) {
  const FleetAnalysis& a = result.analysis;
  Json document = {{"schema", "rightsize/fleet/1"}, {"totals", totals_json(result)}};
  Json ledger = Json::array(), owners = Json::array(), actions = Json::array(), gpus = Json::array();
  for (const fleet::LedgerLine& line : a.ledger) {
    ledger.push_back({{"category", fleet::name_of(line.category)},
                      {"gpu_hours", json_number(line.gpu_hours)},
                      {"usd", json_number(line.usd)},
                      {"share", a.totals.spend_usd > 0 ? json_number(line.usd / a.totals.spend_usd) : Json(nullptr)},
                      {"gpus", line.gpus},
                      {"rule", fleet::rule_of(line.category)},
                      {"confidence", json_number(line.confidence)}});
  }
  for (const fleet::OwnerLine& line : a.owners) {
    owners.push_back({{"owner", line.owner},
                      {"team", line.team.empty() ? Json(nullptr) : Json(line.team)},
                      {"gpus", line.gpus},
                      {"gpu_hours", json_number(line.gpu_hours)},
                      {"idle_gpu_hours", json_number(line.idle_gpu_hours)},
                      {"spend_usd", json_number(line.usd)},
                      {"waste_usd", json_number(line.waste_usd)}});
  }
  for (const Action& action : a.actions) actions.push_back(action_json(action, a));
  for (const GpuRow& gpu : a.gpus) gpus.push_back(gpu_json(gpu));
  Json metrics = Json::object();
  for (const auto& [metric, source] : result.sources) metrics[std::string(telemetry::name_of(metric))] = source.name;
  document["ledger"] = std::move(ledger);
  document["owners"] = std::move(owners);
  document["actions"] = std::move(actions);
  document["gpus"] = std::move(gpus);
  document["metrics_found"] = std::move(metrics);
  document["read"] = result.read;
  document["notes"] = a.notes;
  document["failures"] = result.failures;
  document["misleading"] = result.misleading;
  return document;
}

report::StackedBar bar_of(const FleetAnalysis& a) {
  report::StackedBar bar;
  bar.title = "Where the dollars went";
  for (const fleet::LedgerLine& line : a.ledger) {
    if (line.usd <= 0) continue;
    bar.segments.push_back({std::string(fleet::name_of(line.category)),
                            fmt::format("{} ({})", dollars(line.usd), percent(line.usd / a.totals.spend_usd)),
                            line.usd});
  }
  bar.lines.push_back({"spent " + dollars(a.totals.spend_usd), a.totals.spend_usd});
  return bar;
}

report::Table ledger_table(const FleetAnalysis& a) {
  report::Table table;
  table.title = "Ledger";
  table.columns = {{"part", "category", Align::kLeft}, {"GPU-hours", "gpu_hours", Align::kRight},
                   {"dollars", "usd", Align::kRight},  {"share", "share", Align::kRight},
                   {"GPUs", "gpus", Align::kRight},    {"sure", "confidence", Align::kRight}};
  for (const fleet::LedgerLine& line : a.ledger) {
    const double share = a.totals.gpu_hours > 0 ? line.gpu_hours / a.totals.gpu_hours : 0;
    table.rows.push_back(
        {text_cell(fleet::name_of(line.category)), number_cell(format_number(line.gpu_hours), line.gpu_hours),
         usd_cell(line.usd), number_cell(percent(share), share),
         number_cell(format_count(static_cast<double>(line.gpus)), static_cast<double>(line.gpus)),
         line.gpus > 0 ? number_cell(percent(line.confidence), line.confidence) : report::unknown_cell()});
  }
  return table;
}

report::Table owners_table(const FleetAnalysis& a, std::size_t top) {
  report::Table table;
  table.title = "Who wastes it";
  table.columns = {{"owner", "owner", Align::kLeft},          {"GPUs", "gpus", Align::kRight},
                   {"GPU-hours", "gpu_hours", Align::kRight}, {"idle GPU-h", "idle_gpu_hours", Align::kRight},
                   {"spent", "spend_usd", Align::kRight},     {"wasted", "waste_usd", Align::kRight},
                   {"share", "waste_share", Align::kRight}};
  table.most_shown = top;
  for (const fleet::OwnerLine& line : a.owners) {
    const double share = line.usd > 0 ? line.waste_usd / line.usd : 0;
    table.rows.push_back({{cut(line.owner, 36), line.owner},
                          number_cell(format_count(static_cast<double>(line.gpus)), static_cast<double>(line.gpus)),
                          number_cell(format_number(line.gpu_hours), line.gpu_hours),
                          number_cell(format_number(line.idle_gpu_hours), line.idle_gpu_hours),
                          usd_cell(line.usd),
                          usd_cell(line.waste_usd),
                          number_cell(percent(share), share)});
  }
  return table;
}

report::Table actions_table(const FleetAnalysis& a, std::size_t top) {
  report::Table table;
  table.title = "What saves most";
  table.columns = {{"#", "rank", Align::kRight},
                   {"kind", "kind", Align::kLeft},
                   {"what", "what", Align::kLeft},
                   {"$/month", "saving_usd_per_month", Align::kRight},
                   {"sure", "confidence", Align::kRight}};
  table.most_shown = top;
  for (std::size_t i = 0; i < a.actions.size(); ++i) {
    const Action& action = a.actions[i];
    table.rows.push_back({number_cell(std::to_string(i + 1), static_cast<double>(i + 1)),
                          text_cell(fleet::name_of(action.kind)),
                          {cut(action.what, 62), action.what},
                          usd_cell(action.usd_per_month),
                          number_cell(percent(action.confidence), action.confidence)});
  }
  return table;
}

report::Table gpus_table(const FleetAnalysis& a, std::size_t top) {
  report::Table table;
  table.title = "GPUs with the most waste";
  table.columns = {{"GPU", "id", Align::kLeft},           {"kind", "name", Align::kLeft},
                   {"owner", "owner", Align::kLeft},      {"verdict", "verdict", Align::kLeft},
                   {"active", "activity", Align::kRight}, {"idle", "idle_share", Align::kRight},
                   {"spent", "spend_usd", Align::kRight}, {"wasted", "waste_usd", Align::kRight}};
  table.most_shown = top;
  std::vector<const GpuRow*> rows;
  for (const GpuRow& gpu : a.gpus) rows.push_back(&gpu);
  std::stable_sort(rows.begin(), rows.end(), [](const GpuRow* x, const GpuRow* y) {
    return x->waste_usd().value_or(x->gpu_hours * x->waste_share()) >
           y->waste_usd().value_or(y->gpu_hours * y->waste_share());
  });
  for (const GpuRow* gpu : rows) {
    const std::string id = gpu->use.device.key();
    const auto activity = gpu->use.activity();
    const double level = activity ? gpu->use.metric(*activity)->mean : 0;
    table.rows.push_back(
        {{cut(id, 18), id},
         text_cell(cut(gpu->price.gpu != nullptr ? gpu->price.gpu->name : gpu->use.device.name, 14)),
         {cut(gpu->owner().shown(), 22), gpu->owner().shown()},
         text_cell(diagnose::name_of(gpu->verdict)),
         activity ? number_cell(percent(level), level) : report::unknown_cell(),
         activity ? number_cell(percent(gpu->use.idle_share), gpu->use.idle_share) : report::unknown_cell(),
         usd_cell(gpu->spend_usd),
         usd_cell(gpu->waste_usd())});
  }
  return table;
}

void add_details(report::Report& report, const FleetAnalysis& a, std::size_t top) {
  for (std::size_t i = 0; i < std::min({top, a.actions.size(), std::size_t{3}}); ++i) {
    const Action& action = a.actions[i];
    report.blocks.emplace_back(
        report::Paragraph{fmt::format("{}. {}. From {} to {}. Risk: {}. Check: {}. Back: {}.", i + 1, action.what,
                                      action.from, action.to, action.risk, action.check, action.rollback)});
  }
}

}  // namespace

report::Report fleet_report(const FleetResult& result, std::size_t top) {
  const FleetAnalysis& a = result.analysis;
  const fleet::Totals& t = a.totals;
  report::Report report;
  report.title = "Fleet";
  report.document = document_of(result);
  auto say = [&](std::string text) { report.blocks.emplace_back(report::Paragraph{std::move(text)}); };
  for (const std::string& why : result.misleading)
    say("CAREFUL: " + why + ". These numbers are not the whole fleet's.");
  say(fmt::format(
      "{} GPUs, {} GPU-hours in {}: {} spent, {} of it wasted ({}). At this rate {} a month; the actions below "
      "save {} of it.",
      format_count(static_cast<double>(t.gpus)), format_number(t.gpu_hours), format_duration(seconds(t.window_seconds)),
      dollars(t.spend_usd), dollars(t.waste_usd), percent(t.waste_share()), dollars(t.usd_per_month),
      dollars(t.savings_usd_per_month)));
  if (t.spend_usd > 0) report.blocks.emplace_back(bar_of(a));
  report.blocks.emplace_back(ledger_table(a));
  report.blocks.emplace_back(owners_table(a, top));
  report.blocks.emplace_back(actions_table(a, top));
  add_details(report, a, top);
  report.blocks.emplace_back(gpus_table(a, top));
  for (const std::string& failure : result.failures) say("Not read: " + failure);
  for (const std::string& note : a.notes) say("Note: " + note + ".");
  std::string read = "Read: ";
  for (const std::string& item : result.read) read += item + ". ";
  say(read + "Savings do not overlap: each GPU has one action; commitments cover only what the others leave.");
  return report;
}

}  // namespace rightsize::app
