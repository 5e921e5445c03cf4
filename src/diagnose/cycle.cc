#include "diagnose/cycle.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::diagnose {
namespace {

enum class StepKind { kWait, kGenerate, kTrain };

struct CycleRun {
  StepKind kind = StepKind::kWait;
  std::size_t first = 0, last = 0;  // steps, `last` excluded
  Seconds length;
};

constexpr Seconds kShortest = seconds(5), kLongest = seconds(1800);
constexpr int kFewestCycles = 5;
constexpr double kLeastWait = 0.1;  // of the time; checkpoints take less

// Generation reads memory at a high rate and uses little of the tensor cores.
StepKind kind_of(const CycleStep& step) {
  if (*step.activity <= kIdleActivity) return StepKind::kWait;
  constexpr double kReads = 0.2, kComputes = 0.15;
  const bool generates = step.tensor && step.dram && *step.dram > kReads && *step.tensor < kComputes;
  return generates ? StepKind::kGenerate : StepKind::kTrain;
}

std::vector<CycleRun> runs_of(std::span<const CycleStep> steps) {
  std::vector<CycleRun> runs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepKind kind = kind_of(steps[i]);
    if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, i, i, {}});
    runs.back().last = i + 1;
    runs.back().length += steps[i].width;
  }
  return runs;
}

// Runs that are too short to be phases are merged into the previous one; equal neighbours are joined. Shorter runs are
// merged first: a phase with many short pauses stays one phase.
std::vector<CycleRun> without_short(std::vector<CycleRun> runs, Seconds shortest) {
  for (double part : {1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0}) {
    std::vector<CycleRun> kept;
    for (const CycleRun& run : runs) {
      const bool joins = !kept.empty() && (run.kind == kept.back().kind || run.length < shortest * part);
      if (!joins) {
        kept.push_back(run);
        continue;
      }
      kept.back().last = run.last;
      kept.back().length += run.length;
    }
    runs = std::move(kept);
  }
  return runs;
}

// Answers grow slowly during training, so only neighbours are compared. Equal phases can differ by the `width` of a
// step.
bool regular(const std::vector<Seconds>& first, const std::vector<Seconds>& second, Seconds width) {
  constexpr double kSimilar = 1.5, kMost = 0.8;
  int similar = 0, pairs = 0;
  for (const std::vector<Seconds>* lengths : {&first, &second}) {
    for (std::size_t i = 1; i < lengths->size(); ++i, ++pairs) {
      const auto [shorter, longer] = std::minmax((*lengths)[i], (*lengths)[i - 1]);
      if (longer < shorter * kSimilar || longer - shorter < width * 1.01) ++similar;
    }
  }
  return pairs > 0 && similar >= kMost * pairs;
}

bool holds_memory(std::span<const CycleStep> steps, const CycleRun& run) {
  for (std::size_t i = run.first; i < run.last; ++i) {
    if (steps[i].memory && *steps[i].memory < gib(1)) return false;
  }
  return true;
}

}  // namespace

std::string_view name_of(CycleKind kind) { return kind == CycleKind::kWaiting ? "waiting" : "colocated"; }

std::optional<Cycle> find_cycle(std::span<const CycleStep> all) {
  std::size_t first = 0, count = 0;
  for (std::size_t i = 0, begin = 0; i <= all.size(); ++i) {
    if (i < all.size() && all[i].activity) continue;
    if (i - begin > count) first = begin, count = i - begin;
    begin = i + 1;
  }
  const std::span<const CycleStep> steps = all.subspan(first, count);
  if (steps.size() < std::size_t{2} * kFewestCycles) return std::nullopt;
  std::vector<Seconds> widths;
  for (const CycleStep& step : steps) widths.push_back(step.width);
  std::nth_element(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2), widths.end());
  const Seconds width = widths[widths.size() / 2];
  const std::vector<CycleRun> runs = without_short(runs_of(steps), std::max(kShortest, width * 1.5));
  // The recording cuts off the first and the last run.
  if (runs.size() < 2 * kFewestCycles + 2) return std::nullopt;
  const std::span<const CycleRun> whole(runs.begin() + 1, runs.end() - 1);
  const bool waiting =
      std::any_of(whole.begin(), whole.end(), [](const CycleRun& r) { return r.kind == StepKind::kWait; });
  std::vector<Seconds> rests, works;
  Cycle cycle{waiting ? CycleKind::kWaiting : CycleKind::kColocated, 0, {}, 0, std::vector<bool>(all.size())};
  Seconds work, sum, waited;
  const auto ends_phase = [&](const CycleRun& run) {
    return run.kind == (waiting ? StepKind::kWait : StepKind::kGenerate);
  };
  for (const CycleRun& run : whole) {
    if (run.length > kLongest) return std::nullopt;
    sum += run.length;
    if (!ends_phase(run)) {
      work += run.length;
      continue;
    }
    if (work > Seconds{}) works.push_back(work);
    work = {};
    rests.push_back(run.length);
    if (run.kind != StepKind::kWait) continue;
    if (!holds_memory(steps, run)) return std::nullopt;
    waited += run.length;
  }
  cycle.cycles = static_cast<int>(std::min(rests.size(), works.size()));
  if (cycle.cycles < kFewestCycles || !regular(rests, works, width)) return std::nullopt;
  cycle.wait_share = waited / sum;
  if (waiting && cycle.wait_share < kLeastWait) return std::nullopt;
  cycle.period = sum / static_cast<double>(std::max(rests.size(), works.size()));
  for (const CycleRun& run : runs) {
    for (std::size_t i = run.first; run.kind == StepKind::kWait && i < run.last; ++i) cycle.waits[first + i] = true;
  }
  return cycle;
}

std::vector<CycleStep> cycle_steps(std::span<const Sample> samples) {
  std::vector<CycleStep> steps;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const Seconds width = std::max(Seconds{}, samples[i + 1].time - sample.time);
    const std::optional<double> memory = sample.get(Metric::kMemoryUsed);
    steps.push_back({width, activity(sample), sample.get(Metric::kTensorActive), sample.get(Metric::kDramActive),
                     memory ? std::optional(bytes(*memory)) : std::nullopt});
  }
  return steps;
}

std::string describe(const Cycle& cycle) {
  if (cycle.kind == CycleKind::kColocated) {
    return fmt::format("generation and training alternate every {}, as in reinforcement learning on the same GPUs",
                       format_duration(cycle.period));
  }
  return fmt::format(
      "work and waits alternate every {}, as in reinforcement learning: {} of the time it waits for other GPUs or for "
      "the "
      "environment",
      format_duration(cycle.period), format_percent(Ratio::fraction(cycle.wait_share)));
}

}  // namespace rightsize::diagnose
