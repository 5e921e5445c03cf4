#include "diagnose/series.h"

#include <algorithm>
#include <numeric>

namespace rightsize::diagnose {
namespace {

// Adds `next` to a mean of `count` samples; counters and times keep the latest value.
void fold(Sample& mean, const Sample& next, std::size_t count) {
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    auto value = next.get(metric);
    if (!value) continue;
    auto before = mean.get(metric);
    const bool latest = metric == Metric::kEnergy || metric == Metric::kThrottle;
    const double n = static_cast<double>(count);
    mean.set(metric, !before || latest ? *value : (*before * n + *value) / (n + 1));
  }
  mean.time = next.time;
}

struct ActivityRun {
  bool idle = false;
  std::size_t first = 0, last = 0;
};

// The activity of every sample. The first reading has no counters, and its utilization covers the time before it, so
// the second reading is used instead.
std::vector<double> levels_of(const std::vector<Sample>& samples) {
  std::vector<double> levels;
  for (const Sample& sample : samples) levels.push_back(activity(sample).value_or(0));
  const auto counts = [](const Sample& sample) {
    return sample.has(Metric::kGraphicsActive) || sample.has(Metric::kSmActive);
  };
  if (samples.size() > 1 && !counts(samples[0]) && counts(samples[1])) levels[0] = levels[1];
  return levels;
}

// The threshold for low activity relative to the work of this recording; start-up also does a little work. While a
// program waits, polling and the desktop show a few percent: most samples may be like that, but not most of the work.
double threshold(std::vector<double> levels) {
  std::erase_if(levels, [](double level) { return level <= kIdleActivity; });
  if (levels.empty()) return kIdleActivity;
  constexpr double kLow = 0.2, kNoise = 0.05;
  std::ranges::sort(levels);
  const double work = std::accumulate(levels.begin(), levels.end(), 0.0);
  double below = 0;
  const auto half = std::ranges::find_if(levels, [&](double level) { return (below += level) >= work / 2; });
  return std::max({kIdleActivity, kLow * levels[levels.size() / 2], std::min(kNoise, kLow * *half)});
}

std::vector<ActivityRun> runs_of(const std::vector<Sample>& samples) {
  const std::vector<double> levels = levels_of(samples);
  const double low = threshold(levels);
  std::vector<ActivityRun> runs;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool idle = levels[i] < low;
    if (runs.empty() || runs.back().idle != idle) runs.push_back({idle, i, i});
    runs.back().last = i + 1;
  }
  return runs;
}

// From the first sample to the one after the last, or to the end of the recording.
Seconds duration(const std::vector<Sample>& samples, std::size_t first, std::size_t last) {
  if (samples.empty() || last <= first) return Seconds{};
  const TimePoint end = last < samples.size() ? samples[last].time : samples.back().time;
  return std::max(Seconds{}, end - samples[first].time);
}

// Whether idleness between the first and last work is most of the time. Otherwise it is pauses of the work.
bool alternates(const std::vector<ActivityRun>& runs) {
  std::size_t idle = 0, all = 0;
  for (std::size_t i = 1; i + 1 < runs.size(); ++i) {
    const std::size_t size = runs[i].last - runs[i].first;
    all += size;
    if (runs[i].idle) idle += size;
  }
  return all > 0 && static_cast<double>(idle) > 0.5 * static_cast<double>(all);
}

// Writing a checkpoint copies weights to the host while nothing else runs.
PhaseKind pause_kind(const std::vector<Sample>& samples, const ActivityRun& run) {
  double copied = 0;
  for (std::size_t i = run.first; i < run.last; ++i)
    copied = std::max(copied, samples[i].get(Metric::kPcieTx).value_or(0));
  constexpr BytesPerSecond kWriting = gb_per_s(0.3);
  return bytes_per_s(copied) > kWriting ? PhaseKind::kCheckpoint : PhaseKind::kPause;
}

// An engine counter that is read less often than the others covers the time since its last reading, so the first one in
// a phase also covers the phase before.
bool covers_time_before(const std::vector<Sample>& samples, std::size_t first, std::size_t at) {
  if (first == 0 || !samples[at].has(Metric::kGraphicsActive) || samples[first - 1].has(Metric::kGraphicsActive)) {
    return false;
  }
  for (std::size_t i = first; i < at; ++i) {
    if (samples[i].has(Metric::kGraphicsActive)) return false;
  }
  return true;
}

// Mean activity. Kernels may fill few SMs, so the engine's share is used if it is known.
double mean_level(const std::vector<Sample>& samples, std::size_t first, std::size_t last) {
  double sum = 0, engine = 0;
  std::size_t engines = 0;
  for (std::size_t i = first; i < last; ++i) {
    sum += activity(samples[i]).value_or(0);
    if (auto value = samples[i].get(Metric::kGraphicsActive); value && !covers_time_before(samples, first, i)) {
      engine += *value;
      ++engines;
    }
  }
  const double mean = last > first ? sum / static_cast<double>(last - first) : 0;
  return engines > 0 ? std::max(mean, engine / static_cast<double>(engines)) : mean;
}

Phase make_phase(PhaseKind kind, const std::vector<Sample>& samples, std::size_t first, std::size_t last) {
  const TimePoint origin = samples.front().time;
  const TimePoint end = last < samples.size() ? samples[last].time : samples.back().time;
  return {kind, samples[first].time - origin, end - origin, mean_level(samples, first, last), first, last};
}

// Before a program has allocated its memory and after it released it, idleness is not part of its work.
bool without_memory(const std::vector<Sample>& samples, const ActivityRun& run) {
  double most = 0;
  std::optional<double> least;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto used = samples[i].get(Metric::kMemoryUsed);
    if (!used) continue;
    most = std::max(most, *used);
    if (i >= run.first && i < run.last) least = std::min(least.value_or(*used), *used);
  }
  return least && *least < most / 2;
}

Sample without_engine(Sample sample) {
  sample.clear(Metric::kGraphicsActive);
  return sample;
}

// The runs of the steady part, without idleness at either end that is not part of the work.
std::pair<std::size_t, std::size_t> steady_runs(const std::vector<Sample>& samples,
                                                const std::vector<ActivityRun>& runs, bool from_start) {
  std::size_t first = 0, last = runs.size();
  const Seconds whole = duration(samples, 0, samples.size());
  constexpr double kEdge = 0.25;  // of a recording: longer idle time at an end may be part of a pattern
  auto is_edge = [&](const ActivityRun& run) {
    return from_start || duration(samples, run.first, run.last) < kEdge * whole || without_memory(samples, run);
  };
  if (runs.size() < 2) return {first, last};
  const bool pattern = alternates(runs);
  if (runs.front().idle && is_edge(runs.front()) && !(pattern && !from_start)) ++first;
  if (runs.back().idle && is_edge(runs.back()) && !pattern && last - first > 1) --last;
  return {first, last};
}

// Whether the program fills its memory once and then only holds it until the recording ends: the beginning was
// start-up, and the program only holds memory.
bool ends_holding(const std::vector<Sample>& samples, const std::vector<ActivityRun>& runs) {
  const ActivityRun& end = runs.back();
  if (!end.idle || without_memory(samples, end)) return false;
  Seconds worked;
  for (const ActivityRun& run : runs) worked += run.idle ? Seconds{} : duration(samples, run.first, run.last);
  const std::size_t began = runs.front().idle ? runs[1].first : 0;
  constexpr Seconds kMoment = seconds(1);
  constexpr double kMostly = 0.9;  // of the time since the first work
  return worked < kMoment &&
         duration(samples, end.first, end.last) > kMostly * duration(samples, began, samples.size());
}

}  // namespace

void SampleSeries::add(const Sample& sample) {
  if (merged_ == 0) {
    pending_ = sample;
  } else {
    fold(pending_, sample, merged_);
  }
  if (++merged_ < merge_) return;
  merged_ = 0;
  samples_.push_back(pending_);
  if (samples_.size() < kMost) return;
  if (detail_.empty()) detail_ = samples_;
  for (std::size_t i = 0; i + 1 < samples_.size(); i += 2) {
    fold(samples_[i], samples_[i + 1], 1);
    samples_[i / 2] = samples_[i];
  }
  samples_.resize(samples_.size() / 2);
  merge_ *= 2;
}

std::string_view name_of(PhaseKind kind) {
  static constexpr std::string_view kNames[] = {"start-up", "steady", "checkpoint", "pause", "idle"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Phase> find_phases(const std::vector<Sample>& samples, bool from_start) {
  if (samples.empty()) return {};
  const std::vector<ActivityRun> runs = runs_of(samples);
  if (runs.size() == 1) {
    return {make_phase(runs[0].idle ? PhaseKind::kIdle : PhaseKind::kSteady, samples, 0, samples.size())};
  }
  if (ends_holding(samples, runs)) {
    const std::size_t idle = runs.back().first;
    return {make_phase(PhaseKind::kStartUp, samples, 0, idle),
            make_phase(PhaseKind::kSteady, samples, idle, samples.size())};
  }
  const auto [first, last] = steady_runs(samples, runs, from_start);
  std::vector<Phase> phases;
  if (first > 0) phases.push_back(make_phase(PhaseKind::kStartUp, samples, 0, runs[first].first));
  const bool pattern = alternates(runs);
  constexpr Seconds kPause = seconds(1);
  for (std::size_t i = first; i < last; ++i) {
    const ActivityRun& run = runs[i];
    const bool inside = i > first && i + 1 < last;
    const bool pause = run.idle && inside && !pattern && duration(samples, run.first, run.last) >= kPause;
    const PhaseKind kind = pause ? pause_kind(samples, run) : PhaseKind::kSteady;
    if (!phases.empty() && phases.back().kind == kind && phases.back().last == run.first) {
      phases.back() = make_phase(kind, samples, phases.back().first, run.last);
    } else {
      phases.push_back(make_phase(kind, samples, run.first, run.last));
    }
  }
  if (last < runs.size()) phases.push_back(make_phase(PhaseKind::kIdle, samples, runs[last].first, samples.size()));
  return phases;
}

double pause_share(const std::vector<Phase>& phases) {
  Seconds paused;
  for (const Phase& phase : phases) paused += phase.kind == PhaseKind::kPause ? phase.end - phase.begin : Seconds{};
  return paused > Seconds{} ? paused / (phases.back().end - phases.front().begin) : 0;
}

Summary summarize_steady(const std::vector<Sample>& samples, const std::vector<Phase>& phases) {
  SummaryBuilder steady(threshold(levels_of(samples))), whole;
  bool any = false;
  for (const Phase& phase : phases) {
    if (phase.kind != PhaseKind::kSteady) continue;
    any = true;
    for (std::size_t i = phase.first; i < phase.last; ++i) {
      steady.add(covers_time_before(samples, phase.first, i) ? without_engine(samples[i]) : samples[i]);
    }
  }
  if (any) return steady.summary();
  for (const Sample& sample : samples) whole.add(sample);
  return whole.summary();
}

}  // namespace rightsize::diagnose
