#include "stages.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::fit {
namespace {

std::vector<std::string> parts(std::string_view text, char by) {
  std::vector<std::string> list;
  if (text.empty()) return list;
  for (std::string_view part : split_list(text, by)) list.emplace_back(part);
  return list;
}

double number(const std::string& text) { return parse_number(text).value_or(0); }

StageConstant constant_of(const std::string& text) {
  const std::vector<std::string> p = parts(text, ':');
  StageConstant c{p[0], number(p.at(1)), number(p.at(2))};
  if (p.size() > 4) c.low = number(p[3]), c.high = number(p[4]);
  if (c.name.ends_with('*')) c.shared = true, c.name.pop_back();
  return c;
}

std::pair<std::string, std::string> rule_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1)};  // "n>=512" is the column "n>", "n!=512" is "n!"
}

Stage stage_of(const Csv& csv, const CsvRow& row) {
  auto cell = [&](const char* column) { return csv.cell(row, column); };
  Stage stage{std::string(cell("stage")),
              std::string(cell("capability")),
              std::string(cell("target")),
              parts(cell("files"), '|'),
              {},
              {},
              {},
              {}};
  for (const std::string& text : parts(cell("where"), ';')) stage.where.push_back(rule_of(text));
  for (const std::string& text : parts(cell("metrics"), '|')) {
    const std::vector<std::string> p = parts(text, ':');
    if (p.size() > 2) {
      stage.metrics.back().of_rows.emplace_back(rule_of(p[2]), number(p[1]));
    } else {
      stage.metrics.push_back({p[0], number(p.at(1)), {}});
    }
  }
  for (const std::string& text : parts(cell("constants"), '|')) stage.constants.push_back(constant_of(text));
  for (const std::string& text : parts(cell("widths"), '|')) {
    const std::vector<std::string> p = parts(text, ':');
    const std::string which = p.size() > 2 ? p[2] : "";
    stage.widths.push_back({p[0], p.at(1), which == "host", which == "device", {}});
    if (which.find('=') != std::string::npos) stage.widths.back().where.push_back(rule_of(which));
  }
  return stage;
}

const StageMetric* metric_of(const Stage& stage, std::string_view name) {
  for (const StageMetric& metric : stage.metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

// The efficiency of a GPU under these constants, computed once per evaluation.
class Speeds {
 public:
  explicit Speeds(const perf::Constants& constants) : constants_(constants) {}
  const perf::GpuSpeed& of(const catalog::Gpu& gpu) {
    auto found = known_.find(&gpu);
    if (found == known_.end()) found = known_.emplace(&gpu, perf::gpu_speed(constants_, gpu)).first;
    return found->second;
  }

 private:
  const perf::Constants& constants_;
  std::map<const catalog::Gpu*, perf::GpuSpeed> known_;
};

// Zero has no logarithm, so the search starts slightly above.
double log_of(double value, const StageConstant& c) { return std::log(std::max(value, 1e-3 * c.prior)); }

Unknown unknown_of(const StageConstant& c, double start) {
  Unknown u{log_of(start, c), std::log(c.prior), c.spread};
  if (c.high > 0) u.low = std::log(std::max(c.low, 1e-12)), u.high = std::log(c.high);
  return u;
}

std::string group_of(const MeasuredRow& row, LeaveOut kind) {
  if (kind == LeaveOut::kModel) return row.model;
  if (kind == LeaveOut::kGpu) return row.gpu->name;
  if (kind == LeaveOut::kCampaign) return std::string(row.cell("group"));
  return std::string(1, static_cast<char>('0' + row.row->line % 5));
}

// Whether a row was measured on this chip, or over this kind of link.
bool belongs(const MeasuredRow& row, const std::string& owner, const perf::Constants& constants) {
  if (owner.empty() || owner == kAllChips) return true;
  if (owner == "nvlink" || owner == "pcie") return (row.gpu->nvlink_kind == "switch") == (owner == "nvlink");
  return perf::same_chip(constants, row.gpu->name, owner);
}

}  // namespace

bool Stage::joint() const {
  return std::any_of(constants.begin(), constants.end(), [](const StageConstant& c) { return c.shared; });
}

bool matches(const MeasuredRow& row, const std::vector<std::pair<std::string, std::string>>& rules) {
  return std::all_of(rules.begin(), rules.end(), [&](const auto& rule) {
    const std::string_view wanted = rule.second;
    if (rule.first.ends_with('>'))
      return number(std::string(row.cell(rule.first.substr(0, rule.first.size() - 1)))) >= number(rule.second);
    const bool unlike = rule.first.ends_with('!');
    const std::string_view cell = row.cell(rule.first.substr(0, rule.first.size() - (unlike ? 1 : 0)));
    const bool same = wanted.ends_with('*') ? cell.starts_with(wanted.substr(0, wanted.size() - 1)) : cell == wanted;
    return same != unlike;
  });
}

double size_of(const Stage& stage, const Outcome& outcome) {
  const StageMetric* metric = metric_of(stage, outcome.metric);
  if (metric == nullptr) return 1;
  double size = metric->size;
  for (const auto& [rule, of_rows] : metric->of_rows) {
    if (matches(*outcome.row, {rule})) size = of_rows;
  }
  return size;
}

Checked<std::vector<Stage>> read_stages(const std::string& root) {
  const std::string path = root + "/data/measurements/stages.csv";
  Result<std::string> text = read_file(path);
  if (!text) return fail(Errors{std::move(text).error()});
  RIGHTSIZE_TRY(const Csv csv, Csv::parse(path, *std::move(text)));
  std::vector<Stage> stages;
  for (const CsvRow& row : csv.rows()) stages.push_back(stage_of(csv, row));
  return stages;
}

Rows rows_of(const Stage& stage, const Measurements& measurements, const perf::Constants& constants,
             const std::string& owner) {
  Rows rows;
  Speeds speeds(constants);
  for (const std::string& file : stage.files) {
    for (const MeasuredRow& row : measurements.rows(file)) {
      if (!matches(row, stage.where) || !belongs(row, owner, constants)) continue;
      if (predict(row, constants, speeds.of(*row.gpu))) rows.push_back(&row);
    }
  }
  return rows;
}

Outcomes evaluate(const Stage& stage, const Rows& rows, const perf::Constants& constants) {
  Outcomes outcomes;
  Speeds speeds(constants);
  for (const MeasuredRow* row : rows) {
    const Result<calibration::Predictions> found = predict(*row, constants, speeds.of(*row->gpu));
    if (!found) continue;
    for (const calibration::Prediction& p : *found) {
      if (metric_of(stage, p.metric) == nullptr) continue;
      const double error = std::log(p.predicted / p.measured);
      const bool inside = error >= -std::log(p.interval.high) && error <= -std::log(p.interval.low);
      outcomes.push_back({row, p.metric, error, inside, p.bound == perf::Bound::kHost});
    }
  }
  return outcomes;
}

std::vector<std::string> owners_of(const Stage& stage, const ConstantTable& table) {
  const std::size_t start = stage.target.find('/') + 1;
  const std::string owner = stage.target.substr(start, stage.target.find('/', start) - start);
  if (owner != "*") return {owner};
  return stage.joint() ? std::vector<std::string>{kAllChips} : table.gpus_with(stage.kernel());
}

std::vector<NamedConstant> names_of(const Stage& stage, const std::string& owner, const ConstantTable& table) {
  std::vector<NamedConstant> names;
  if (!stage.in_efficiency()) {
    for (const StageConstant& c : stage.constants) names.push_back({{false, owner, c.name, "value"}, &c});
    return names;
  }
  const std::vector<std::string> chips = owner == kAllChips ? table.gpus_with(stage.kernel()) : std::vector{owner};
  for (const std::string& chip : chips) {
    const bool shared = chip == "any";
    for (const StageConstant& c : stage.constants) {
      if (c.shared == shared) names.push_back({{true, chip, stage.kernel(), c.name}, &c});
    }
  }
  return names;
}

Checked<ConstantTable> fit_stage(const Stage& stage, const std::string& owner, const Rows& rows,
                                 const ConstantTable& table, bool from_here) {
  const std::vector<NamedConstant> named = names_of(stage, owner, table);
  std::vector<ConstantName> names;
  for (const NamedConstant& c : named) names.push_back(c.name);
  RIGHTSIZE_TRY(const perf::Constants base, table.constants());
  ConstantTable trial = table;
  auto put = [&](const Eigen::VectorXd& x) {
    for (std::size_t i = 0; i < names.size(); ++i) trial.set(names[i], std::exp(x[static_cast<Eigen::Index>(i)]));
  };
  const Residuals residuals = [&](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    put(x);
    const Checked<perf::Constants> constants = trial.constants(base, names);
    if (!constants) return false;
    const Outcomes outcomes = evaluate(stage, rows, *constants);
    out.resize(static_cast<Eigen::Index>(outcomes.size()));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      out[static_cast<Eigen::Index>(i)] = std::clamp(outcomes[i].log_error, -10.0, 10.0) / size_of(stage, outcomes[i]);
    }
    return out.allFinite();
  };
  std::vector<Unknown> unknowns;
  for (const NamedConstant& c : named) unknowns.push_back(unknown_of(*c.constant, c.constant->prior));
  Solution best = minimize(unknowns, residuals);
  if (from_here) {
    for (std::size_t i = 0; i < names.size(); ++i)
      unknowns[i] = unknown_of(*named[i].constant, table.get(names[i]).value_or(named[i].constant->prior));
    if (Solution other = minimize(unknowns, residuals); other.loss < best.loss) best = other;
  }
  if (!std::isfinite(best.loss)) return fail(Errors{bug("stage " + stage.name + ": the model fails at the priors")});
  put(best.x);
  return trial;
}

bool can_leave_out(const Rows& rows, LeaveOut kind) {
  std::set<std::string> groups;
  for (const MeasuredRow* row : rows) groups.insert(group_of(*row, kind));
  return groups.size() > 1;
}

Checked<Outcomes> leave_out(const Stage& stage, const std::string& owner, const Rows& rows, const ConstantTable& table,
                            LeaveOut kind) {
  std::map<std::string, Rows> groups;
  for (const MeasuredRow* row : rows) groups[group_of(*row, kind)].push_back(row);
  Outcomes all;
  for (const auto& [name, out] : groups) {
    Rows others;
    for (const MeasuredRow* row : rows) {
      if (group_of(*row, kind) != name) others.push_back(row);
    }
    RIGHTSIZE_TRY(const ConstantTable fitted, fit_stage(stage, owner, others, table, false));
    RIGHTSIZE_TRY(const perf::Constants constants, fitted.constants());
    const Outcomes part = evaluate(stage, out, constants);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace rightsize::fit
