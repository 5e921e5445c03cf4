// A server's answers about the GPUs of a shard, per step of the profile, and the rows derived from them.
//
// The server counts moments (see promql.h). Presence is queried with a long lookback, which connects readings up to
// five minutes apart; the time this adds after the last reading of a stretch is subtracted again. Owners and activity
// are queried with a short lookback and give only proportions within a step.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu_use/promql.h"
#include "gpu_use/use.h"

namespace rightsize::gpu_use {

// One number per step; 0 if the server has no answer.
using Cells = std::vector<float>;

struct StepAxis {
  TimePoint from;
  Seconds width;
  std::size_t count = 0;

  TimePoint begin_of(std::size_t step) const { return from + width * static_cast<double>(step); }
  TimePoint until() const { return begin_of(count); }
};

// Mean and maximum of a metric per step, weighted over the series that report it.
struct CellCurve {
  Cells sum, weight, max;
};

struct OwnerCells {
  Cells seen, share, known, idle;  // moments; `share` in fractions of a moment
  std::optional<double> p95;
  double peak = 0;  // of the best evidence of activity
  int peak_row = 100;
  Bytes memory_peak;
};

// The series of a GPU itself, or of one MIG instance.
struct PartCells {
  Device device;
  std::map<Owner, OwnerCells> owners;
  Cells seen;  // moments with any reading of it
  std::map<Metric, CellCurve> curves;
  std::map<Metric, MetricUse> metrics;
  double changes = 0;
};

struct GpuCells {
  std::map<std::string, PartCells> parts;  // by instance_name(); "" is the GPU itself
  Cells present;                           // moments, with the long lookback
  Cells ends;                              // stretches that ended, if queried
  Cells seen, partitioned;                 // moments with the short lookback: of anything, of any instance
  Cells active;                            // moments with a possible value of activity, with the long lookback
  double readings = 0;                     // of the metric with the most
  Seconds interval;                        // between two readings of the series read most often
  Seconds longest_interval;                // ... and of the series read least often
  bool has_activity = false;               // a metric of activity is reported
  bool dirty = false;                      // some values are impossible
  bool duplicated = false, is_shared = false;
  FinePeaks fine;  // of the GPU itself

  bool is_partitioned() const { return parts.size() > 1 || !parts.contains(""); }
};

// The rows of one GPU.
std::vector<GpuUse> account(const GpuCells& gpu, const StepAxis& axis, const Grain& grain, const IdleRule& rule);

// Whether stretches ended within the window and `ends` must be queried.
bool has_breaks(const GpuCells& gpu, const StepAxis& axis, const Grain& grain);
// Whether several owners used the GPU at the same time and `share` must be queried.
bool has_overlaps(const GpuCells& gpu, const StepAxis& axis, const Grain& grain);

}  // namespace rightsize::gpu_use
