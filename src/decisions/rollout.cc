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

const StageInfo& info_of(RolloutStage stage) { return kStageInfo[static_cast<std::size_t>(stage)]; }

void say(Check& check, const std::string& words) { check.words += (check.words.empty() ? "" : "; ") + words; }

// Adds one of several metrics: a check has the worst of their states (failed, then unknown).
void add(Check& check, const JudgedMetric& metric, const std::string& instead) {
  if (metric.outcome == Judgement::kBroken) check.state = CheckState::kFailed;
  if (metric.outcome == Judgement::kInconclusive && check.state == CheckState::kPassed)
    check.state = CheckState::kUnknown;
  if (metric.more) check.more = std::max(check.more.value_or(0), *metric.more);
  say(check,
      fmt::format("{} {}", metric.prediction.metric, instead.empty() ? std::string(name_of(metric.outcome)) : instead));
}

// Checks speeds and latencies against their intervals.
std::optional<Check> check_speed(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  Check check{"speed", CheckState::kPassed, {}, {}};
  for (const PredictedMetric& p : decision.predictions) {
    const JudgedMetric v = judge(p, samples);
    // Latency, duration and speed are equivalent, so one of them is enough.
    if (p.info().speed && v.measured.count > 0) add(check, v, v.reason);
  }
  if (check.words.empty()) check.state = CheckState::kUnknown, check.words = "not measured";
  return check;
}

std::optional<Check> check_memory(const Decision& decision, const std::vector<MeasuredValue>& samples) {
  Check check{"memory", CheckState::kUnknown, "not measured", {}};
  const std::vector<double> ooms = values_of(samples, kOom), peaks = values_of(samples, kMemory);
  const PredictedMetric* predicted = decision.find(kMemory);
  if (!ooms.empty()) {
    const bool any = std::ranges::any_of(ooms, [](double count) { return count > 0; });
    check.state = any ? CheckState::kFailed : CheckState::kPassed;
    check.words = any ? "out of memory was seen" : "no out-of-memory was seen";
  }
  if (!peaks.empty() && predicted != nullptr && predicted->limit) {
    const double worst = *std::ranges::max_element(peaks);
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
  for (PredictedMetric p : decision.predictions) {
    if (!p.info().speed || !p.limit) continue;
    p.value = {{}, *p.limit, p.limit};
    const JudgedMetric v = judge(p, samples);
    add(check, v, v.measured.count == 0 ? "not measured" : "");
  }
  return check.words.empty() ? std::nullopt : std::optional(check);
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

std::string_view name_of(RolloutStage stage) { return info_of(stage).name; }
std::string_view words_of(RolloutStage stage) { return info_of(stage).words; }
double share_of(RolloutStage stage) { return info_of(stage).share; }
RolloutStage next_stage(RolloutStage stage) {
  return stage == RolloutStage::kAll ? stage : static_cast<RolloutStage>(static_cast<int>(stage) + 1);
}

const StageRecord* running_stage(const std::vector<StageRecord>& stages) {
  return !stages.empty() && stages.back().state == StageState::kRunning ? &stages.back() : nullptr;
}

std::string_view name_of(StageState state) { return kStateNames[static_cast<std::size_t>(state)]; }
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
