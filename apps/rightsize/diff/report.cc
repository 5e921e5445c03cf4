#include "rightsize/diff/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "perf/job_time.h"
#include "presets/presets.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using manifests::GpuRequest;
using manifests::RequestChange;
using manifests::Side;
using report::cut;
using report::Fields;
using report::kTableOnly;
using report::renamed;
using report::spare;

std::string per_month(UsdPerSecond rate) { return format_usd(rate * kMonth); }

constexpr const char* kSame = "the same";

std::string signed_month(UsdPerSecond rate) {
  const double cents = std::round(in_usd_per_month(rate) * 100);
  if (cents == 0) return kSame;
  return (cents > 0 ? "+" : "-") + per_month(cents > 0 ? rate : -rate);
}

std::string count(const std::optional<double>& number) { return number ? format_number(*number, 6) : "?"; }

// "4 x 8 nvidia.com/gpu (h100-sxm), spot"
std::string request_words(const Side& side) {
  const GpuRequest& r = side.request;
  std::string text = r.whole_machines && r.gpus.empty()
                         ? fmt::format("{} x {}", count(r.units), r.resource)
                         : fmt::format("{} x {} {}", count(r.units), count(r.per_unit), r.resource);
  if (r.ceiling) text = fmt::format("at most {} {}", count(r.per_unit), r.resource);
  if (r.most_units) text += fmt::format(", up to {}", count(r.most_units));
  if (r.most_vcpus) text += fmt::format(", up to {} vCPUs", count(r.most_vcpus));
  if (side.cost.gpu != nullptr && text.find(side.cost.gpu->name) == std::string::npos)
    text += fmt::format(" ({})", side.cost.gpu->name);
  if (r.spot) text += ", spot";
  return text;
}

std::string request_name(const GpuRequest& r) {
  const std::string part = r.part.empty() ? "" : fmt::format(" ({})", r.part);
  const bool whole = r.name.find(r.kind + ".") != r.name.npos;  // an address: aws_instance.train[0]
  return whole ? r.name + part : fmt::format("{} {}{}", r.kind, r.name, part);
}

std::optional<UsdPerSecond> monthly(const std::optional<Side>& side) {
  return side ? side->cost.monthly : std::nullopt;
}
std::string month_cell(const std::optional<Side>& side) {
  return !side ? "-" : side->cost.monthly ? per_month(*side->cost.monthly) : "?";
}

const Fields<Side> kSideFields = {
    {"file", "the file", [](const Side& s) { return s.request.file; }},
    {"line", "its line there", [](const Side& s) { return s.request.line; }},
    {"resource", "what the file asks for", [](const Side& s) { return s.request.resource; }},
    {"gpu", "the GPU it is priced as",
     [](const Side& s) { return s.cost.gpu == nullptr ? std::nullopt : std::optional(s.cost.gpu->name); }},
    {"machines", "machine types named in the file", [](const Side& s) { return s.request.machines; }},
    {"mig_profile", "MIG profile",
     [](const Side& s) { return report::when(!s.request.mig_profile.empty(), s.request.mig_profile); }},
    {"per_unit", "GPUs per pod or machine", [](const Side& s) { return s.request.per_unit; }},
    {"units", "pods or machines", [](const Side& s) { return s.request.units; }},
    {"most_units", "pods or machines when scaled up", [](const Side& s) { return s.request.most_units; }},
    {"gpus", "GPUs of the whole request", [](const Side& s) { return s.cost.gpus; }},
    {"spot", "on spot", [](const Side& s) { return s.request.spot; }},
    {"usd_per_hour", "cost while it runs", [](const Side& s) { return s.cost.rate; }},
    {"usd_per_month", "cost in a month", [](const Side& s) { return s.cost.monthly; }},
    {"most_usd_per_month", "cost in a month when scaled up", [](const Side& s) { return s.cost.most; }},
    {"usd_per_run", "cost of one run of a job, up to its time limit", [](const Side& s) { return s.cost.run; }},
    {"price_source", "source of the price", [](const Side& s) { return s.cost.source; }},
    {"unresolved", "what templates and variables leave open", [](const Side& s) { return s.request.unresolved; }},
    {"doubts", "assumptions behind the price, or why there is none", [](const Side& s) { return s.cost.doubts; }},
    {"misfits", "why it cannot run as requested", [](const Side& s) { return s.cost.misfits; }},
};

const Fields<ModelFit> kFitFields = {
    {"model", "the model the container serves", &ModelFit::model},
    {"fits", "whether it fits the GPUs", &ModelFit::fits},
    {"words", "the same as a sentence", &ModelFit::words},
};

const Fields<WorkCost> kWorkFields = {
    {"compute_bound", "cost of the same work relative to before where arithmetic limits it: training",
     &WorkCost::compute},
    {"memory_bound", "the same where memory bandwidth limits it: output tokens of one request", &WorkCost::memory},
    {"model", "the model that the speeds are estimated for", &WorkCost::model},
    {"basis", "of the speeds: measured, calibrated, transferred or specification",
     [](const WorkCost& w) { return std::string(perf::name_of(w.basis)); }},
};

const Fields<DiffRow> kRowFields = {
    {"file", "the file", [](const DiffRow& r) { return r.newest().request.file; }},
    {"line", "its line there", [](const DiffRow& r) { return r.newest().request.line; }},
    {"kind", "kind of object", [](const DiffRow& r) { return r.newest().request.kind; }},
    {"name", "what", "name of the object", [](const DiffRow& r) { return r.newest().request.name; },
     [](const DiffRow& r) { return request_name(r.newest().request); }},
    {"part", "part of it: a worker group, a container",
     [](const DiffRow& r) { return report::when(!r.newest().request.part.empty(), r.newest().request.part); }},
    {"change", "added, removed or changed",
     [](const DiffRow& r) { return r.change.is_new()    ? "added"
                                   : r.change.is_gone() ? "removed"
                                                        : "changed"; }},
    {"usd_per_month_change", "difference in a month", &DiffRow::difference},
    {"before", "the old request", kSideFields, [](const DiffRow& r) { return r.change.before; }},
    {"after", "the new request", kSideFields, [](const DiffRow& r) { return r.change.after; }},
    {"work?", "cost per unit of work if the GPU type changes", kWorkFields, &DiffRow::work},
    {"fit?", "whether the model in the container fits", kFitFields, &DiffRow::fit},
    {"full_name", "what", "kind, name and part", [](const DiffRow& r) { return request_name(r.newest().request); },
     kTableOnly},
    {"place", "where", "file and line",
     [](const DiffRow& r) {
       const GpuRequest& request = r.newest().request;
       return request.line > 0 ? fmt::format("{}:{}", request.file, request.line) : request.file;
     },
     kTableOnly},
    {"before_words", "before", "the old request",
     [](const DiffRow& r) { return r.change.before ? request_words(*r.change.before) : "-"; }, kTableOnly},
    {"after_words", "after", "the new request",
     [](const DiffRow& r) { return r.change.after ? request_words(*r.change.after) : "removed"; }, kTableOnly},
    {"before_usd_per_month", "$/month before", "", [](const DiffRow& r) { return monthly(r.change.before); },
     [](const DiffRow& r) { return month_cell(r.change.before); }, kTableOnly},
    {"after_usd_per_month", "after", "", [](const DiffRow& r) { return monthly(r.change.after); },
     [](const DiffRow& r) { return month_cell(r.change.after); }, kTableOnly},
    {"change_usd_per_month", "change", "", &DiffRow::difference,
     [](const DiffRow& r) { return r.difference() ? signed_month(*r.difference()) : "?"; }, kTableOnly},
};

const Fields<DiffResult> kSumFields = {
    {"before", "of the old files; missing if no change has a price",
     [](const DiffResult& r) { return report::when(r.priced(), in_usd_per_month(r.before)); }},
    {"after", "of the new files",
     [](const DiffResult& r) { return report::when(r.priced(), in_usd_per_month(r.after)); }},
    {"change", "the difference",
     [](const DiffResult& r) { return report::when(r.priced(), in_usd_per_month(r.change())); }},
};
const Fields<DiffResult> kDiffFields = {
    {"usd_per_month", "cost in a month", kSumFields, [](const DiffResult& r) { return &r; }},
    {"requests", "GPU requests in the new files", &DiffResult::requests},
    {"unpriced", "changes without a price", &DiffResult::unpriced},
    {"misfits", "requests that cannot run as written", &DiffResult::misfits},
    {"jobs_counted_all_month", "jobs are counted as if they ran all month", &DiffResult::jobs_all_month},
    {"fail_over_usd_per_month", "the limit of --fail-over", &DiffResult::fail_over},
    {"passed", "false: the exit code is 4", &DiffResult::passed},
    {"changes", "the requests that differ", kRowFields, &DiffResult::rows},
    {"notes", "files and lines that could not be read", &DiffResult::notes},
};
const report::Document<DiffResult> kDiffDocument("diff", "What a change of GPU requests costs", kDiffFields);

// "23 % less", "1.9 times as much"
std::string relative(double factor) {
  if (factor >= 1.5) return fmt::format("{:.2g} times as much", factor);
  const double percent = std::round((factor - 1) * 100);
  if (percent == 0) return kSame;
  return fmt::format("{:.0f} % {}", std::abs(percent), percent > 0 ? "more" : "less");
}

// What a reader must know about one version of a request.
std::vector<std::string> remarks_of(const Side& side) {
  std::vector<std::string> remarks;
  for (const std::string& misfit : side.cost.misfits) remarks.push_back("does not fit: " + misfit);
  for (const std::string& doubt : side.cost.doubts) {
    const std::vector<std::string>& open = side.request.unresolved;
    remarks.push_back((std::ranges::find(open, doubt) != open.end() ? "unknown: " : "") + doubt);
  }
  if (side.cost.most) {
    remarks.push_back(fmt::format("{} {}/month",
                                  side.request.ceiling ? "a limit, not counted; when used up" : "at its largest size:",
                                  per_month(*side.cost.most)));
  }
  if (side.cost.run) remarks.push_back(fmt::format("at most {} per run (its time limit)", format_usd(*side.cost.run)));
  if (!side.cost.source.empty()) remarks.push_back("price: " + side.cost.source);
  return remarks;
}

// About both versions; a remark that holds for both is made once.
std::vector<std::string> remarks_of(const DiffRow& row) {
  std::vector<std::string> remarks, old;
  if (row.change.after) remarks = remarks_of(*row.change.after);
  if (row.fit) remarks.push_back(row.fit->words);
  if (row.work) {
    remarks.push_back(fmt::format(
        "the same work costs {} where compute limits it (training), {} where memory bandwidth does (decoding): {}, "
        "speeds of 'rightsize estimate', {}",
        relative(row.work->compute), relative(row.work->memory), row.work->model, perf::name_of(row.work->basis)));
  }
  if (row.change.before) old = remarks_of(*row.change.before);
  for (const std::string& remark : old) {
    if (row.change.is_gone() || std::ranges::find(remarks, remark) == remarks.end())
      remarks.push_back((row.change.is_gone() ? "" : "before: ") + remark);
  }
  return remarks;
}

std::string summary_of(const DiffResult& r) {
  if (r.rows.empty() && !r.notes.empty())
    return fmt::format("No changed GPU request was understood ({} found); see the notes below.", r.requests);
  if (r.rows.empty()) return fmt::format("No GPU request changes ({} found).", r.requests);
  const auto requests = [](std::size_t n) { return fmt::format("{} {}", n, n == 1 ? "GPU request" : "GPU requests"); };
  if (!r.priced()) return fmt::format("Cost unknown: {} changed and no price is known.", requests(r.rows.size()));
  const std::string in = "in " + requests(r.rows.size() - r.unpriced);
  std::string text = signed_month(r.change()) == kSame
                         ? fmt::format("The same cost, {}/month, {}.", per_month(r.after), in)
                         : fmt::format("{}/month: {} before, {} after, {}.", signed_month(r.change()),
                                       per_month(r.before), per_month(r.after), in);
  // Autoscalers and limits may spend more than the smallest size, which is counted.
  UsdPerSecond most_before, most_after;
  for (const DiffRow& row : r.rows) {
    for (const auto& [side, sum] : {std::pair{&row.change.before, &most_before}, {&row.change.after, &most_after}}) {
      if (*side) *sum += (*side)->cost.most.value_or((*side)->cost.monthly.value_or(UsdPerSecond{}));
    }
  }
  if (per_month(most_before) != per_month(most_after) && (most_before != r.before || most_after != r.after))
    text += fmt::format(" At the largest size: {} before, {} after.", per_month(most_before), per_month(most_after));
  if (r.unpriced > 0) text += fmt::format(" The cost of {} more is unknown.", requests(r.unpriced));
  if (r.jobs_all_month) text += " Jobs are counted as running all month; set --job-hours.";
  return text;
}

// The time of a step on one GPU by the speed model of 'estimate': training, or an output token of one request.
Result<perf::JobTime> time_of(const model::ModelShape& shape, model::JobKind kind, const perf::Constants& constants,
                              const catalog::Gpu& gpu) {
  model::Job job;
  job.kind = kind;
  job.sequence = 2048;
  job.serve.concurrency = 1;
  if (kind == model::JobKind::kServe) job.stack = model::Stack::kVllm;
  return perf::job_time(constants, shape, job, gpu);
}

std::optional<WorkCost> work_cost(const DiffRow& row, const perf::Constants& constants) {
  const manifests::Cost &a = row.change.before->cost, &b = row.change.after->cost;
  if (a.gpu == nullptr || b.gpu == nullptr || a.gpu == b.gpu || !a.rate || !b.rate) return std::nullopt;
  if (!a.gpus || !b.gpus || *a.gpus <= 0 || *b.gpus <= 0 || *a.rate <= UsdPerSecond{}) return std::nullopt;
  WorkCost cost;
  if (row.fit) cost.model = row.fit->model;
  const auto shape = model::find_model(cost.model);
  if (!shape) return std::nullopt;
  cost.basis = perf::Basis::kMeasured;
  const double price = (*b.rate / *b.gpus) / (*a.rate / *a.gpus);
  for (const auto& [job, factor] :
       {std::pair{model::JobKind::kTrain, &cost.compute}, {model::JobKind::kServe, &cost.memory}}) {
    const Result<perf::JobTime> before = time_of(*shape, job, constants, *a.gpu),
                                after = time_of(*shape, job, constants, *b.gpu);
    if (!before || !after || !(before->step > Seconds{})) return std::nullopt;
    *factor = price * (after->step / before->step);
    cost.basis = std::max({cost.basis, before->basis, after->basis});
  }
  return cost;
}

}  // namespace

std::optional<UsdPerSecond> DiffRow::difference() const {
  UsdPerSecond sum;
  for (const auto& [side, sign] : {std::pair{&change.before, -1.0}, std::pair{&change.after, 1.0}}) {
    if (!*side) continue;
    if (!(*side)->cost.monthly) return std::nullopt;
    sum += sign * *(*side)->cost.monthly;
  }
  return sum;
}

void add_up(DiffResult& result, const perf::Constants& constants) {
  for (DiffRow& row : result.rows) {
    const std::optional<Side>&before = row.change.before, &after = row.change.after;
    if (row.difference()) {
      result.before += monthly(before).value_or(UsdPerSecond{});
      result.after += monthly(after).value_or(UsdPerSecond{});
    } else {
      ++result.unpriced;
    }
    result.jobs_all_month |= (before && before->cost.all_month_assumed) || (after && after->cost.all_month_assumed);
    if (!after) continue;
    row.fit = model_fit(after->request, after->cost);
    if (before) row.work = work_cost(row, constants);
    if (!after->cost.misfits.empty() || (row.fit && !row.fit->fits)) ++result.misfits;
  }
}

report::Report diff_report(const DiffResult& result) {
  report::Report report;
  report.title = "GPU cost of this change";
  report.document = kDiffDocument.of(result);
  report.say(summary_of(result));
  if (result.over_limit()) report.say(fmt::format("Over the limit of +{}/month.", per_month(*result.fail_over)));
  if (result.strict && result.incomplete())
    report.say("--strict failed: some requests do not fit, have no price, or were not understood.");
  if (!result.rows.empty()) {
    report.blocks.emplace_back(
        report::table_of(kRowFields, result.rows,
                         {cut(renamed("full_name", "name"), 40), spare(cut("place", 40)),
                          cut(renamed("before_words", "before"), 48), cut(renamed("after_words", "after"), 48),
                          "before_usd_per_month", "after_usd_per_month", "change_usd_per_month"}));
  }
  // Markdown would join the lines, so it gets one paragraph per line.
  report.record = report.blocks;
  std::string remarks;
  const auto remark = [&](std::string line) {
    remarks += (remarks.empty() ? "" : "\n") + line;
    report.record.emplace_back(report::Paragraph{std::move(line)});
  };
  for (const DiffRow& row : result.rows) {
    for (const std::string& words : remarks_of(row))
      remark(fmt::format("{}: {}.", request_name(row.newest().request), words));
  }
  for (const std::string& note : result.notes) remark(note + ".");
  report.say(std::move(remarks));
  return report;
}

}  // namespace rightsize::app
