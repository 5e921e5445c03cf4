#include "decisions/rollout.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::decisions {
namespace {

struct StageInfo {
  std::string_view name, words;
  double share;
};
constexpr StageInfo kStageInfo[] = {{"one-job", "one job", 0},
                                    {"10%", "10 % of the workload", 0.1},
                                    {"50%", "50 % of the workload", 0.5},
                                    {"all", "all of it", 1}};
constexpr std::string_view kStateNames[] = {"running", "passed", "failed"};
constexpr std::string_view kCheckNames[] = {"passed", "failed", "unknown"};

const StageInfo& info_of(Stage stage) { return kStageInfo[static_cast<std::size_t>(stage)]; }

// The worse of two: failed, then unknown, then passed.
void worsen(Check& check, CheckState by) {
  if (by == CheckState::kFailed || check.state == CheckState::kFailed)
    check.state = CheckState::kFailed;
  else if (by == CheckState::kUnknown || check.state == CheckState::kUnknown)
    check.state = CheckState::kUnknown;
}

CheckState state_of(Judgement outcome) {
  if (outcome == Judgement::kInconclusive) return CheckState::kUnknown;
  return outcome == Judgement::kKept ? CheckState::kPassed : CheckState::kFailed;
}

void say(Check& check, const std::string& words) { check.words += (check.words.empty() ? "" : "; ") + words; }

void need(Check& check, std::optional<std::int64_t> more) {
  if (more) check.more = std::max(check.more.value_or(0), *more);
}

// Every speed and latency that was predicted with an interval.
std::optional<Check> check_speed(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  Check check{"speed", CheckState::kPassed, {}, {}};
  bool measured = false;
  for (const PredictedMetric& p : decision.predictions) {
    if (!p.info().speed) continue;
    const JudgedMetric v = judge(p, samples);
    // Latency, duration and speed tell the same: one of them is enough.
    if (v.measured.count == 0) continue;
    measured = true;
    worsen(check, state_of(v.outcome));
    need(check, v.more);
    say(check, fmt::format("{} {}", p.metric, v.reason.empty() ? std::string(name_of(v.outcome)) : v.reason));
  }
  if (!measured) check.state = CheckState::kUnknown, check.words = "not measured";
  return check;
}

std::optional<Check> check_memory(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  Check check{"memory", CheckState::kUnknown, "not measured", {}};
  const std::vector<double> ooms = values_of(samples, kOom), peaks = values_of(samples, kMemory);
  const PredictedMetric* predicted = decision.find(kMemory);
  if (!ooms.empty()) {
    const bool any = std::any_of(ooms.begin(), ooms.end(), [](double count) { return count > 0; });
    check.state = any ? CheckState::kFailed : CheckState::kPassed;
    check.words = any ? "out of memory was seen" : "no out-of-memory was seen";
  }
  if (!peaks.empty() && predicted != nullptr && predicted->limit) {
    const double worst = *std::max_element(peaks.begin(), peaks.end());
    const bool over = worst > *predicted->limit;
    if (ooms.empty()) check.state = CheckState::kPassed, check.words.clear();
    if (over) check.state = CheckState::kFailed;
    say(check, fmt::format("the peak is {:.1f} % of the GPU's memory", 100 * worst / *predicted->limit));
  }
  return check;
}

// SLOs and deadlines: the limits of speeds.
std::optional<Check> check_slo(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  Check check{"slo", CheckState::kPassed, {}, {}};
  bool any = false;
  for (const PredictedMetric& p : decision.predictions) {
    if (!p.info().speed || !p.limit) continue;
    any = true;
    PredictedMetric limit = p;
    limit.value = {{}, *p.limit, p.limit};
    const JudgedMetric v = judge(limit, samples);
    worsen(check, v.measured.count == 0 ? CheckState::kUnknown : state_of(v.outcome));
    need(check, v.more);
    say(check,
        fmt::format("{} {}", p.metric, v.measured.count == 0 ? "not measured" : std::string(name_of(v.outcome))));
  }
  if (!any) return std::nullopt;
  return check;
}

std::optional<Check> check_cost(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  if (!decision.cost) return std::nullopt;
  Check check{"cost", CheckState::kUnknown, "not measured", {}};
  const Verification found = verify(decision, samples);
  if (!found.cost) return check;
  constexpr double kRounding = 1.005;
  const Usd most = decision.cost->high.value_or(decision.cost->likely) * kRounding;
  check.state = found.cost->cost <= most ? CheckState::kPassed : CheckState::kFailed;
  check.words = fmt::format("${:.2f}/{} ({}), predicted at most ${:.2f}", in_usd(found.cost->cost),
                            name_of(decision.summary.per), found.cost->method, in_usd(most));
  return check;
}

}  // namespace

std::string_view name_of(Stage stage) { return info_of(stage).name; }
std::string_view words_of(Stage stage) { return info_of(stage).words; }
double share_of(Stage stage) { return info_of(stage).share; }
Stage next_stage(Stage stage) { return stage == Stage::kAll ? stage : static_cast<Stage>(static_cast<int>(stage) + 1); }
std::optional<Stage> parse_stage(std::string_view name) {
  for (const Stage stage : kStages) {
    if (name == name_of(stage)) return stage;
  }
  return std::nullopt;
}

const StageRecord* running_stage(const std::vector<StageRecord>& stages) {
  return !stages.empty() && stages.back().state == StageState::kRunning ? &stages.back() : nullptr;
}

std::string_view name_of(StageState state) { return kStateNames[static_cast<std::size_t>(state)]; }
std::optional<StageState> parse_stage_state(std::string_view name) {
  for (const StageState state : {StageState::kRunning, StageState::kPassed, StageState::kFailed}) {
    if (name == name_of(state)) return state;
  }
  return std::nullopt;
}

std::string_view name_of(CheckState state) { return kCheckNames[static_cast<std::size_t>(state)]; }

std::vector<Check> check_stage(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  std::vector<Check> checks;
  for (const auto& check : {check_speed(decision, samples), check_memory(decision, samples),
                            check_slo(decision, samples), check_cost(decision, samples)}) {
    if (check) checks.push_back(*check);
  }
  return checks;
}

}  // namespace rightsize::decisions
