// What a server answered about the GPUs of a shard, cell by cell of the profile, and the rows that follow from it.
//
// The server counts moments (see promql.h). Whether a GPU was there is asked with a long look back, so that readings up
// to five minutes apart are connected; what that adds behind the last reading of a stretch is taken away again. Who had
// it and how busy it was is asked with a short look back and gives only proportions within a cell.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "fleet/promql.h"
#include "fleet/use.h"

namespace rightsize::fleet {

// One number a cell; cells nobody reported are 0.
using Cells = std::vector<float>;

struct CellAxis {
  TimePoint from;
  Seconds width;
  std::size_t count = 0;

  TimePoint begin_of(std::size_t cell) const { return from + width * static_cast<double>(cell); }
  TimePoint until() const { return begin_of(count); }
};

// A metric's mean and largest value by cell, weighed over the series that report it.
struct CellCurve {
  Cells sum, weight, max;
};

struct OwnerCells {
  Cells seen, share, known, idle;  // moments; `share` in parts of a moment
  std::optional<double> p95;
  double peak = 0;
  Bytes memory_peak;
};

// A GPU's own series, or those of one MIG instance.
struct PartCells {
  Device device;
  std::map<Owner, OwnerCells> owners;
  Cells seen;  // moments with any reading of it
  std::map<Metric, CellCurve> curves;
  std::array<std::optional<MetricUse>, telemetry::kMetrics> metrics;
  std::array<double, telemetry::kMetrics> weights{};
  double changes = 0;
};

struct GpuCells {
  std::map<std::string, PartCells> parts;  // by instance_name(), the GPU's own under ""
  Cells present;                           // moments, with the long look back
  Cells ends;                              // stretches that ended, where that was asked
  Cells seen, partitioned;                 // moments with the short look back: of anything, of any instance
  Cells active;                            // moments with a possible value of activity, with the long look back
  double readings = 0;                     // of the metric with the most
  Seconds interval;                        // between two of them, of the series that is read most often
  Seconds longest_interval;                // of the series that is read most rarely
  bool has_activity = false;               // a metric of it is reported
  bool dirty = false;                      // with values that cannot be
  bool duplicated = false, is_shared = false;

  bool is_partitioned() const { return parts.size() > 1 || !parts.contains(""); }
};

// The rows of one GPU.
std::vector<GpuUse> account(const GpuCells& gpu, const CellAxis& axis, const Grain& grain, const IdleRule& rule);

// Whether stretches ended within the window, so that `ends` has to be asked for.
bool has_breaks(const GpuCells& gpu, const CellAxis& axis, const Grain& grain);
// Whether owners were on the GPU at the same time, so that `share` has to be asked for.
bool has_overlaps(const GpuCells& gpu, const CellAxis& axis, const Grain& grain);

}  // namespace rightsize::fleet
