#include "rightsize/diff/report.h"

#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using manifests::Change;
using manifests::Cost;
using manifests::GpuRequest;
using manifests::Side;
using report::Align;
using report::Json;
using report::json_number;

std::string per_month(UsdPerSecond rate) { return format_usd(rate * kMonth); }

constexpr const char* kSame = "the same";

std::string signed_month(UsdPerSecond rate) {
  const double cents = std::round(in_usd_per_month(rate) * 100);
  if (cents == 0) return kSame;
  return (cents > 0 ? "+" : "-") + per_month(cents > 0 ? rate : -rate);
}

std::string count(const std::optional<double>& number) { return number ? format_number(*number, 6) : "?"; }

// "4 x 8 nvidia.com/gpu (h100-sxm), spot": what is asked for, in short.
std::string what_of(const Side& side) {
  const GpuRequest& r = side.request;
  std::string text = r.whole_machines && r.gpus.empty()
                         ? fmt::format("{} x {}", count(r.units), r.resource)
                         : fmt::format("{} x {} {}", count(r.units), count(r.per_unit), r.resource);
  if (r.ceiling) text = fmt::format("at most {} {}", count(r.per_unit), r.resource);
  if (r.most_units) text += fmt::format(", up to {}", count(r.most_units));
  if (side.cost.gpu != nullptr && text.find(side.cost.gpu->name) == std::string::npos)
    text += fmt::format(" ({})", side.cost.gpu->name);
  if (r.spot) text += ", spot";
  return text;
}

std::string name_of(const GpuRequest& r) {
  std::string name = fmt::format("{} {}", r.kind, r.name);
  if (!r.part.empty()) name += fmt::format(" ({})", r.part);
  return name;
}

std::string place_of(const GpuRequest& r) { return r.line > 0 ? fmt::format("{}:{}", r.file, r.line) : r.file; }

const Side& newest(const Change& change) { return change.after ? *change.after : *change.before; }

report::Cell month_cell(const std::optional<Side>& side) {
  if (!side) return report::text_cell("-");
  if (!side->cost.monthly) return report::unknown_cell();
  return report::number_cell(per_month(*side->cost.monthly), in_usd_per_month(*side->cost.monthly));
}

std::optional<UsdPerSecond> change_of(const Change& change) {
  UsdPerSecond sum;
  for (const auto& [side, sign] : {std::pair{&change.before, -1.0}, std::pair{&change.after, 1.0}}) {
    if (!*side) continue;
    if (!(*side)->cost.monthly) return std::nullopt;
    sum += sign * *(*side)->cost.monthly;
  }
  return sum;
}

report::Table table_of(const std::vector<Change>& changes) {
  report::Table table;
  table.columns = {{"what", "name", Align::kLeft, 40},
                   {"where", "place", Align::kLeft, 40, true},
                   {"before", "before", Align::kLeft, 48},
                   {"after", "after", Align::kLeft, 48},
                   {"$/month", "before_usd_per_month", Align::kRight},
                   {"now", "after_usd_per_month", Align::kRight},
                   {"change", "change_usd_per_month", Align::kRight}};
  for (const Change& change : changes) {
    const std::optional<UsdPerSecond> by = change_of(change);
    table.rows.push_back({report::text_cell(name_of(newest(change).request)),
                          report::text_cell(place_of(newest(change).request)),
                          report::text_cell(change.before ? what_of(*change.before) : "-"),
                          report::text_cell(change.after ? what_of(*change.after) : "removed"),
                          month_cell(change.before), month_cell(change.after),
                          by ? report::number_cell(signed_month(*by), in_usd_per_month(*by)) : report::unknown_cell()});
  }
  return table;
}

// What a reader must know of one request, each once.
std::vector<std::string> remarks_of(const Change& change) {
  std::vector<std::string> remarks;
  if (!change.after) return remarks;
  const Side& side = *change.after;
  for (const std::string& misfit : side.cost.misfits) remarks.push_back("does not fit: " + misfit);
  if (const auto fit = model_fit(side.request, side.cost)) remarks.push_back(fit->words);
  for (const std::string& doubt : side.cost.doubts) {
    const bool open = std::find(side.request.unresolved.begin(), side.request.unresolved.end(), doubt) !=
                      side.request.unresolved.end();
    remarks.push_back(open ? "not known: " + doubt : doubt);
  }
  if (side.cost.most && side.request.ceiling) {
    remarks.push_back(fmt::format("a limit, not counted: filled it costs {}/month", per_month(*side.cost.most)));
  } else if (side.cost.most) {
    remarks.push_back(fmt::format("scaled up it costs {}/month", per_month(*side.cost.most)));
  }
  if (side.cost.run)
    remarks.push_back(fmt::format("a run costs at most {} (its time limit)", format_usd(*side.cost.run)));
  if (!side.cost.source.empty()) remarks.push_back("price: " + side.cost.source);
  return remarks;
}

std::string summary_of(const DiffResult& result) {
  const DiffTotals& t = result.totals;
  if (result.changes.empty()) {
    return fmt::format("No GPU request changes ({} found).", result.requests);
  }
  const std::string in = fmt::format("in {} {}", t.changes, t.changes == 1 ? "GPU request" : "GPU requests");
  std::string text = signed_month(t.change()) == kSame
                         ? fmt::format("The same cost, {}/month, {}.", per_month(t.after), in)
                         : fmt::format("{}/month: {} before, {} after, {}.", signed_month(t.change()),
                                       per_month(t.before), per_month(t.after), in);
  if (t.unpriced > 0) {
    text +=
        fmt::format(" {} could not be priced and {} not in these sums.", t.unpriced, t.unpriced == 1 ? "is" : "are");
  }
  if (t.jobs_all_month) text += " Jobs are counted as if they ran all month (--job-hours says how long they do).";
  return text;
}

Json side_json(const std::optional<Side>& side) {
  if (!side) return nullptr;
  const GpuRequest& r = side->request;
  const Cost& c = side->cost;
  const auto rate = [](const std::optional<UsdPerSecond>& value, double (*reader)(UsdPerSecond)) {
    return value ? json_number(reader(*value)) : Json(nullptr);
  };
  return {{"resource", r.resource},
          {"gpu", c.gpu == nullptr ? Json(nullptr) : Json(c.gpu->name)},
          {"machines", r.machines},
          {"mig_profile", r.mig_profile.empty() ? Json(nullptr) : Json(r.mig_profile)},
          {"per_unit", json_number(r.per_unit)},
          {"units", json_number(r.units)},
          {"most_units", json_number(r.most_units)},
          {"gpus", json_number(c.gpus)},
          {"spot", r.spot},
          {"usd_per_hour", rate(c.rate, in_usd_per_hour)},
          {"usd_per_month", rate(c.monthly, in_usd_per_month)},
          {"most_usd_per_month", rate(c.most, in_usd_per_month)},
          {"usd_per_run", c.run ? json_number(in_usd(*c.run)) : Json(nullptr)},
          {"price_source", c.source},
          {"unresolved", r.unresolved},
          {"doubts", c.doubts},
          {"misfits", c.misfits}};
}

Json change_json(const Change& change) {
  const GpuRequest& r = newest(change).request;
  const std::optional<UsdPerSecond> by = change_of(change);
  Json j = {{"file", r.file},
            {"line", r.line},
            {"kind", r.kind},
            {"name", r.name},
            {"part", r.part.empty() ? Json(nullptr) : Json(r.part)},
            {"change", change.is_new()    ? "added"
                       : change.is_gone() ? "removed"
                                          : "changed"},
            {"usd_per_month_change", by ? json_number(in_usd_per_month(*by)) : Json(nullptr)}};
  j["before"] = side_json(change.before);
  j["after"] = side_json(change.after);
  if (change.after) {
    const auto fit = model_fit(change.after->request, change.after->cost);
    j["fit"] = fit ? Json{{"model", fit->model}, {"fits", fit->fits}, {"words", fit->words}} : Json(nullptr);
  }
  return j;
}

}  // namespace

DiffTotals totals_of(const std::vector<Change>& changes) {
  DiffTotals totals;
  totals.changes = changes.size();
  for (const Change& change : changes) {
    if (!change_of(change)) {
      ++totals.unpriced;
    } else {
      if (change.before) totals.before += *change.before->cost.monthly;
      if (change.after) totals.after += *change.after->cost.monthly;
    }
    if (!change.after) continue;
    const auto fit = model_fit(change.after->request, change.after->cost);
    if (!change.after->cost.misfits.empty() || (fit && !fit->fits)) ++totals.misfits;
    totals.jobs_all_month = totals.jobs_all_month || change.after->cost.all_month_assumed;
  }
  return totals;
}

report::Report diff_report(const DiffResult& result) {
  report::Report report;
  report.title = "GPU cost of this change";
  const auto say = [&](std::string text) { report.blocks.emplace_back(report::Paragraph{std::move(text)}); };
  say(summary_of(result));
  if (result.fail_over && !result.passed) {
    say(fmt::format("Over the limit of {}/month more.", per_month(*result.fail_over)));
  }
  if (!result.changes.empty()) report.blocks.emplace_back(table_of(result.changes));
  // One paragraph in a terminal, one each in Markdown, which would run the lines together.
  report.record = report.blocks;
  std::string remarks;
  const auto remark = [&](std::string line) {
    remarks += (remarks.empty() ? "" : "\n") + line;
    report.record.emplace_back(report::Paragraph{std::move(line)});
  };
  for (const Change& change : result.changes) {
    for (const std::string& words : remarks_of(change)) {
      remark(fmt::format("{}: {}.", name_of(newest(change).request), words));
    }
  }
  for (const std::string& note : result.notes) remark(note + ".");
  if (!remarks.empty()) say(std::move(remarks));
  const DiffTotals& t = result.totals;
  report.document = {
      {"schema", "rightsize/diff/1"},
      {"usd_per_month",
       {{"before", json_number(in_usd_per_month(t.before))},
        {"after", json_number(in_usd_per_month(t.after))},
        {"change", json_number(in_usd_per_month(t.change()))}}},
      {"requests", result.requests},
      {"unpriced", t.unpriced},
      {"misfits", t.misfits},
      {"jobs_counted_all_month", t.jobs_all_month},
      {"fail_over_usd_per_month", result.fail_over ? json_number(in_usd_per_month(*result.fail_over)) : Json(nullptr)},
      {"passed", result.passed}};
  report.document["changes"] = Json::array();
  for (const Change& change : result.changes) report.document["changes"].push_back(change_json(change));
  report.document["notes"] = result.notes;
  return report;
}

}  // namespace rightsize::app
