#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/csv.h"

namespace rightsize::fit {
namespace {

constexpr std::size_t kFewestRows = 12;  // fewer rows are not enough for a fit

// The chips that have rows of a stage's kernel. The row of shared losses is not a chip.
std::vector<std::string> chips_of(const Stage& stage, const ConstantTable& table) {
  std::vector<std::string> chips = table.gpus_with(stage.kernel());
  std::erase(chips, "any");
  return chips;
}

// Rows of one owner: a chip's or a link's own for kernels, all of the stage for a stack.
Rows owner_rows(const Stage& stage, const std::string& owner, const Measurements& measurements,
                const perf::Constants& constants, const ConstantTable& table) {
  if (owner != kAllChips) return rows_of(stage, measurements, constants, stage.in_efficiency() ? owner : "");
  Rows rows;
  for (const std::string& chip : chips_of(stage, table)) {
    const Rows own = rows_of(stage, measurements, constants, chip);
    rows.insert(rows.end(), own.begin(), own.end());
  }
  return rows;
}

// The best proxy for unseen rows: another model, otherwise another GPU, otherwise other samples.
LeaveOut kind_of(const Stage& stage, const Rows& rows) {
  if (stage.of_kernels()) return LeaveOut::kSample;
  if (can_leave_out(rows, LeaveOut::kModel)) return LeaveOut::kModel;
  return can_leave_out(rows, LeaveOut::kGpu) ? LeaveOut::kGpu : LeaveOut::kSample;
}

// What a fit minimizes per row: the loss of errors in units of the expected error.
double cost(const Stage& stage, const Outcomes& outcomes) {
  Eigen::VectorXd residuals(static_cast<Eigen::Index>(outcomes.size()));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    residuals[static_cast<Eigen::Index>(i)] = outcomes[i].log_error / size_of(stage, outcomes[i]);
  }
  return robust_loss(residuals) / std::max<double>(1, static_cast<double>(outcomes.size()));
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void write_how(const Stage& stage, const std::string& owner, std::size_t rows, const std::string& date,
               ConstantTable& table) {
  const std::string how = fmt::format("make fit: {} rows of {}, {}", rows, joined(stage.files), date);
  for (const NamedConstant& c : names_of(stage, owner, table)) table.set_how(c.name, how);
}

void write_widths(const Stage& stage, const std::string& owner, const Outcomes& left_out, const std::string& date,
                  ConstantTable& table) {
  for (const StageWidth& width : stage.widths) {
    Outcomes some;
    for (const Outcome& o : left_out) {
      const bool counted = o.metric == width.metric && (!width.host || o.host) && (!width.device || !o.host) &&
                           matches(*o.row, width.where);
      if (counted) some.push_back(o);
    }
    if (some.size() < 8) continue;
    const ConstantName name{false, owner, width.name};
    table.set(name, std::round(1e3 * score_of(some).width) / 1e3);
    table.set_how(name,
                  fmt::format("make fit: 80 % of |log error| of {} rows left out of the fit, {}", some.size(), date));
  }
}

Checked<Fitted> fit_owner(const Stage& stage, const std::string& owner, const Measurements& measurements,
                          ConstantTable& table, bool take, const std::string& date) {
  RIGHTSIZE_TRY(const perf::Constants before, table.constants());
  const Rows rows = owner_rows(stage, owner, measurements, before, table);
  Fitted fitted{stage.name, owner, static_cast<int>(rows.size()), {}, {}, {}, false};
  if (rows.size() < kFewestRows) return fitted;
  const Outcomes now = evaluate(stage, rows, before);
  RIGHTSIZE_TRY(ConstantTable changed, fit_stage(stage, owner, rows, table, true));
  RIGHTSIZE_TRY(const perf::Constants after, changed.constants());
  const Outcomes refit = evaluate(stage, rows, after);
  const LeaveOut kind = kind_of(stage, rows);
  RIGHTSIZE_TRY(const Outcomes unseen, leave_out(stage, owner, rows, table, kind));
  fitted.before = score_of(now), fitted.refit = score_of(refit), fitted.left_out = score_of(unseen);
  const bool proved = stage.of_kernels() || kind != LeaveOut::kSample;  // one model on one GPU is not evidence
  fitted.taken = take || (proved && cost(stage, unseen) < cost(stage, now));
  if (fitted.taken) {
    table = std::move(changed);
    write_how(stage, owner, rows.size(), date, table);
    // Samples of the same models do not predict an unseen model, so these widths are kept.
    if (kind == LeaveOut::kModel) write_widths(stage, owner, unseen, date, table);
  }
  return fitted;
}

// The rows of a chip, predicted without its kernel measurements.
Checked<Outcomes> transferred(const Stage& stage, const Measurements& measurements, const ConstantTable& table) {
  Outcomes all;
  if (!stage.joint()) return all;
  for (const std::string& gpu : chips_of(stage, table)) {
    ConstantTable without = table;
    without.remove_gpu(gpu);
    RIGHTSIZE_TRY(const perf::Constants constants, without.constants());
    RIGHTSIZE_TRY(const perf::Constants with, table.constants());
    const Outcomes part = evaluate(stage, rows_of(stage, measurements, with, gpu), constants);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

struct LeftOut {
  Outcomes as_is, no_model, no_gpu, no_campaign;
};

Checked<LeftOut> validate_stage(const Stage& stage, const Measurements& measurements, const ConstantTable& table,
                                bool refit) {
  LeftOut found;
  RIGHTSIZE_TRY(const perf::Constants constants, table.constants());
  if (stage.constants.empty()) {
    found.as_is = evaluate(stage, rows_of(stage, measurements, constants), constants);
    return found;
  }
  for (const std::string& owner : owners_of(stage, table)) {
    const Rows rows = owner_rows(stage, owner, measurements, constants, table);
    const Outcomes now = evaluate(stage, rows, constants);
    found.as_is.insert(found.as_is.end(), now.begin(), now.end());
    if (!refit || rows.size() < kFewestRows) continue;
    const LeaveOut kind = kind_of(stage, rows);
    if (kind == LeaveOut::kModel || stage.of_kernels()) {
      RIGHTSIZE_TRY(const Outcomes out, leave_out(stage, owner, rows, table, kind));
      found.no_model.insert(found.no_model.end(), out.begin(), out.end());
    }
    if (!stage.of_kernels() && can_leave_out(rows, LeaveOut::kGpu)) {
      RIGHTSIZE_TRY(const Outcomes out, leave_out(stage, owner, rows, table, LeaveOut::kGpu));
      found.no_gpu.insert(found.no_gpu.end(), out.begin(), out.end());
    }
    if (!stage.of_kernels() && can_leave_out(rows, LeaveOut::kCampaign)) {
      RIGHTSIZE_TRY(const Outcomes out, leave_out(stage, owner, rows, table, LeaveOut::kCampaign));
      found.no_campaign.insert(found.no_campaign.end(), out.begin(), out.end());
    }
  }
  if (refit && stage.of_kernels()) {
    RIGHTSIZE_TRY(found.no_gpu, transferred(stage, measurements, table));
  }
  return found;
}

int refused_rows(const Stage& stage, const Measurements& measurements) {
  int count = 0;
  for (const std::string& file : stage.files) {
    for (const auto& [why, n] : measurements.refused(file)) count += n;
  }
  return count;
}

std::map<std::string, std::array<Score, 3>> by_model(const LeftOut& found, const std::string& metric) {
  std::map<std::string, std::array<Outcomes, 3>> parts;
  const std::array<const Outcomes*, 3> all{&found.as_is, &found.no_model, &found.no_gpu};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Outcome& o : *all[i]) parts[o.row->model][i].push_back(o);
  }
  std::map<std::string, std::array<Score, 3>> scores;
  for (const auto& [name, part] : parts) {
    for (std::size_t i = 0; i < part.size(); ++i) scores[name][i] = score_of(part[i], metric);
  }
  return scores;
}

std::string markdown_score(const Score& score) {
  return score.n == 0 ? " | | "
                      : fmt::format("{} | {:.1f} | {:+.1f}",
                                    std::isfinite(score.mean) ? fmt::format("{:.1f}", 100 * score.mean) : "unbounded",
                                    100 * score.median, 100 * score.bias);
}

}  // namespace

Checked<std::vector<Validated>> validate(const std::vector<Stage>& stages, const Measurements& measurements,
                                         const ConstantTable& table, bool refit) {
  // Stages of one capability (the sizes of a collective) are reported together.
  std::vector<Validated> rows;
  std::vector<std::string> order;
  std::map<std::string, LeftOut> found;
  std::map<std::string, const Stage*> first;
  for (const Stage& stage : stages) {
    RIGHTSIZE_TRY(LeftOut part, validate_stage(stage, measurements, table, refit));
    if (!found.contains(stage.capability)) order.push_back(stage.capability), first[stage.capability] = &stage;
    LeftOut& sum = found[stage.capability];
    for (auto field : {&LeftOut::as_is, &LeftOut::no_model, &LeftOut::no_gpu, &LeftOut::no_campaign})
      (sum.*field).insert((sum.*field).end(), (part.*field).begin(), (part.*field).end());
    if (refit) std::fprintf(stderr, "  %s\n", stage.name.c_str());
  }
  for (const std::string& capability : order) {
    const Stage& stage = *first[capability];
    for (const StageMetric& metric : stage.metrics) {
      const LeftOut& f = found[capability];
      rows.push_back({capability, metric.name, score_of(f.as_is, metric.name), score_of(f.no_model, metric.name),
                      score_of(f.no_gpu, metric.name), score_of(f.no_campaign, metric.name),
                      refused_rows(stage, measurements), by_model(f, metric.name)});
    }
  }
  return rows;
}

std::string as_text(const std::vector<Validated>& rows, bool by_model) {
  std::string text = fmt::format("{:<48} {:<8} {:>5}  {:>20} {:>6}   {:>20}   {:>20}   {:>20} {:>7}\n",
                                 "error (%): mean, median, bias", "metric", "rows", "as fitted", "inside",
                                 "model left out", "GPU left out", "campaign left out", "refused");
  for (const Validated& row : rows) {
    const bool kernel = row.metric == "kernel";
    text += fmt::format("{:<48} {:<8} {:>5}  {} {:>6}   {}   {}   {} {:>7}\n", row.capability, row.metric, row.as_is.n,
                        percents(row.as_is), kernel ? "" : fmt::format("{:.0f}", 100 * row.as_is.inside),
                        percents(row.no_model), percents(row.no_gpu), percents(row.no_campaign), row.refused);
    if (!by_model) continue;
    for (const auto& [model, scores] : row.models)
      text += fmt::format("  {:<46} {:<8} {:>5}  {} {:>6}   {}   {}\n", model, row.metric, scores[0].n,
                          percents(scores[0]), "", percents(scores[1]), percents(scores[2]));
  }
  return text;
}

std::string as_markdown(const std::vector<Validated>& rows) {
  constexpr std::size_t kFewModels = 5;
  std::string text =
      "| capability | metric | n | mean % | median % | bias % | inside 80 % | model left out: mean | median | bias | "
      "GPU left "
      "out: mean | median | bias | campaign left out: mean | median | bias | rows not expressible "
      "|\n|-|-|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|-:|\n";
  for (const Validated& row : rows) {
    const std::string inside = row.metric == "kernel" ? "" : fmt::format("{:.0f} %", 100 * row.as_is.inside);
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.capability, row.metric, row.as_is.n,
                        markdown_score(row.as_is), inside, markdown_score(row.no_model), markdown_score(row.no_gpu),
                        markdown_score(row.no_campaign), row.refused == 0 ? "" : std::to_string(row.refused));
    // Errors differ between dense models and mixtures: if few models were left out one by one, each gets a line.
    if (row.no_model.n == 0 || row.models.size() < 2 || row.models.size() > kFewModels) continue;
    for (const auto& [model, scores] : row.models) {
      if (scores[0].n == 0) continue;
      text += fmt::format("| – {} | {} | {} | {} |  | {} | {} |  | | |  |\n", model.substr(0, model.find(".json")),
                          row.metric, scores[0].n, markdown_score(scores[0]), markdown_score(scores[1]),
                          markdown_score(scores[2]));
    }
  }
  return text;
}

std::string as_csv(const std::vector<Validated>& rows) {
  std::string text =
      "# Errors of the speed model on data/measurements when they were last looked at, as shares: `fit . --record` of "
      "tools/fit.\n"
      "capability,metric,n,mean,median,inside\n";
  for (const Validated& row : rows) {
    text += fmt::format("{},{},{},{:.4f},{:.4f},{:.2f}\n", csv_cell(row.capability), row.metric, row.as_is.n,
                        row.as_is.mean, row.as_is.median, row.as_is.inside);
  }
  return text;
}

Checked<std::vector<Fitted>> fit_all(const std::vector<Stage>& stages, const Measurements& measurements,
                                     ConstantTable& table, bool take_all, const std::string& date) {
  std::vector<Fitted> rows;
  for (const Stage& stage : stages) {
    if (stage.constants.empty()) continue;
    for (const std::string& owner : owners_of(stage, table)) {
      RIGHTSIZE_TRY(Fitted fitted, fit_owner(stage, owner, measurements, table, take_all, date));
      std::fputs(as_text({fitted}).c_str(), stderr);
      rows.push_back(std::move(fitted));
    }
  }
  return rows;
}

std::string as_text(const std::vector<Fitted>& rows) {
  std::string text;
  for (const Fitted& row : rows) {
    text += fmt::format("{:<20} {:<14} {:>4}  was {}  refit {}  left out {}  {}\n", row.stage, row.owner, row.rows,
                        percents(row.before), percents(row.refit), percents(row.left_out),
                        row.rows < static_cast<int>(kFewestRows) ? "too few rows"
                        : row.taken                              ? "taken"
                                                                 : "kept");
  }
  return text;
}

namespace {

struct Runs {
  std::set<std::string> gpus, vendors, formats, training, families, files;
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
};

std::string piped(const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, "|")); }

}  // namespace

std::string measured_rows(const std::vector<Stage>& stages, const Measurements& measurements,
                          const perf::Constants& constants) {
  std::map<std::string, Runs> stacks;
  for (const Stage& stage : stages) {
    // Power is not a stack, and generated images say little about the speed of other image models.
    if (!stage.target.starts_with("stacks/") || stage.target == "stacks/power" || stage.name == "denoising") continue;
    for (const MeasuredRow* row : rows_of(stage, measurements, constants)) {
      const auto& run = std::get<calibration::Measurement>(row->what);
      Runs& runs = stacks[stage.target.substr(stage.target.find('/') + 1)];
      runs.gpus.insert(row->gpu->name);
      runs.vendors.insert(row->gpu->vendor);
      runs.formats.insert(std::string(model::name_of(run.job.precision)));
      if (run.job.kind == model::JobKind::kTrain)
        runs.training.insert(fmt::format("{}/{}", row->gpu->name, model::name_of(run.job.precision)));
      runs.families.insert(run.work.family);
      runs.files.insert(stage.files.begin(), stage.files.end());
      runs.smallest = std::min(runs.smallest, run.work.parameters);
      runs.largest = std::max(runs.largest, run.work.parameters);
    }
  }
  std::string text;
  for (const auto& [stack, runs] : stacks) {
    const std::string how = csv_cell("rows of " + joined({runs.files.begin(), runs.files.end()}));
    text += fmt::format("{0},measured-on,{1},{2}\n{0},measured-vendors,{3},{2}\n", stack, piped(runs.gpus), how,
                        piped(runs.vendors));
    text += fmt::format("{0},measured-formats,{1},{2}\n{0},measured-families,{3},{2}\n", stack, piped(runs.formats),
                        how, piped(runs.families));
    if (!runs.training.empty()) text += fmt::format("{},measured-training,{},{}\n", stack, piped(runs.training), how);
    text += fmt::format("{},measured-parameters,{:.3g}|{:.3g},{}\n", stack, runs.smallest, runs.largest, how);
  }
  return text;
}

namespace {

std::string as_cells(const Stage& stage, const Outcomes& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes) {
    text += fmt::format("{},{},{:+.1f},{}", stage.name, outcome.metric, 100 * (std::exp(outcome.log_error) - 1),
                        outcome.inside ? "inside" : "outside");
    for (const std::string& column : outcome.row->csv->header()) text += fmt::format(",{}", outcome.row->cell(column));
    text += '\n';
  }
  return text;
}

}  // namespace

Checked<std::string> each_row(const std::vector<Stage>& stages, const Measurements& measurements,
                              const ConstantTable& table, std::optional<LeaveOut> unseen) {
  RIGHTSIZE_TRY(const perf::Constants constants, table.constants());
  std::string text;
  for (const Stage& stage : stages) {
    const bool fitted = stage.target.starts_with("stacks/");
    const Rows rows = rows_of(stage, measurements, constants);
    if (!unseen) {
      text += as_cells(stage, evaluate(stage, rows, constants));
    } else if (fitted && can_leave_out(rows, *unseen)) {
      RIGHTSIZE_TRY(const Outcomes out, leave_out(stage, owners_of(stage, table).front(), rows, table, *unseen));
      text += as_cells(stage, out);
    }
  }
  return text;
}

}  // namespace rightsize::fit
