// Statistics of a GPU over some time, small enough to keep for every GPU of a fleet.
//
// Made from samples by a SummaryBuilder, or from the aggregates of a monitoring server. Unknown values stay empty and
// lower the confidence of classify().
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/log_histogram.h"
#include "base/units.h"
#include "telemetry/sample.h"

namespace rightsize::diagnose {

using telemetry::Metric;
using telemetry::Sample;

struct MetricStatistics {
  double mean = 0, p50 = 0, p95 = 0, max = 0;
};

// How work and idleness alternate, at the resolution of the samples.
struct OnOff {
  double idle_share = 0;      // share of the time in which nothing ran and nothing was copied
  double active_level = 0;    // mean activity of the other samples
  Seconds idle_run;           // median length of an idle period; zero if there was none
  Seconds active_run;         // median length of a period of work
  std::uint64_t changes = 0;  // between the two
};

struct Summary {
  Seconds duration;
  Seconds interval;  // median time between samples
  std::uint64_t samples = 0;
  std::uint64_t clock_jumps = 0;  // samples that are not later than the previous one, or after a long gap
  std::array<std::optional<MetricStatistics>, telemetry::kMetrics> metrics{};
  std::optional<OnOff> on_off;
  std::optional<double> power_capped;      // share of samples with clocks lowered by the power limit
  std::optional<double> thermally_capped;  // by heat
  std::optional<Joules> energy;            // of the whole duration

  const std::optional<MetricStatistics>& of(Metric metric) const { return metrics[static_cast<std::size_t>(metric)]; }
  void set(Metric metric, const MetricStatistics& statistics) {
    metrics[static_cast<std::size_t>(metric)] = statistics;
  }
  void clear(Metric metric) { metrics[static_cast<std::size_t>(metric)].reset(); }
  std::optional<double> mean(Metric metric) const {
    return of(metric) ? std::optional(of(metric)->mean) : std::nullopt;
  }
};

// The share of a sample's time in which the GPU ran or copied something, if known. Counters take precedence over
// nvidia-smi's utilization, which is refreshed more slowly: SMs show whether anything ran, the engine for how long.
std::optional<double> activity(const Sample& sample);

// A GPU with at most this activity is idle, in profile and in fleet: one with an open context shows 0.006 %.
inline constexpr double kIdleActivity = 0.005;

// Folds samples into a Summary in bounded memory: means and maxima exactly, quantiles within 1 %.
class SummaryBuilder {
 public:
  // Activity up to `idle` is idleness: drivers and displays also do a little work.
  SummaryBuilder() = default;
  explicit SummaryBuilder(double idle) : idle_level_(idle) {}

  void add(const Sample& sample);
  Summary summary() const;

 private:
  struct Column {
    double sum = 0, min = 0, max = 0;
    LogHistogram<7> histogram;  // within 1/128 of a value

    void add(double value);
    std::uint64_t count() const { return histogram.count(); }
    double mean() const { return count() > 0 ? sum / static_cast<double>(count()) : 0; }
    double quantile(double q) const;
  };

  void add_time(const Sample& sample);
  void add_activity(double level, Seconds time);
  void add_throttle(const Sample& sample);
  double active_level() const;
  OnOff on_off() const;
  std::optional<Joules> energy(Seconds duration) const;

  double idle_level_ = kIdleActivity;
  std::array<Column, telemetry::kMetrics> columns_;
  std::uint64_t samples_ = 0, clock_jumps_ = 0;
  TimePoint last_time_;
  Seconds covered_;  // by intervals without jumps
  Column intervals_;
  std::uint64_t levels_ = 0, idle_ = 0, changes_ = 0;
  double active_sum_ = 0;
  Seconds run_;  // the current stretch of work or idleness
  std::optional<bool> idling_;
  Column idle_runs_, active_runs_;
  std::uint64_t throttle_known_ = 0, power_capped_ = 0, thermally_capped_ = 0;
  std::optional<Joules> first_energy_, last_energy_;
  TimePoint first_energy_time_, last_energy_time_;
  Joules power_energy_;  // power times the intervals it was known in,
  Seconds power_time_;   // and these intervals
};

}  // namespace rightsize::diagnose
