// What one GPU did over the time that was looked at, in a size that does not depend on how long that was.
//
// Two producers fill it: accumulate.h from samples of files, scan.h from aggregates a metrics server computed. Shares
// are 0-1, values of a metric are in its canonical unit (telemetry/sample.h); what the source did not report stays
// missing.
//
// One definition of a GPU-hour for both: an hour of the union of the times any series tells of the GPU. A series covers
// the time from one reading to the next while they are at most `gap_limit` apart, and one of its own intervals after
// the last reading of a stretch. Activity, memory and ownership each count over the time they were reported.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/usage_units.h"
#include "telemetry/sample.h"

namespace rightsize::fleet {

using telemetry::Device;
using telemetry::Metric;

// One metric over the whole time, in its canonical unit.
struct MetricUse {
  double mean = 0;
  std::optional<double> p50, p95;
  double max = 0;
};

// A metric over time in steps of equal width, the same steps for all GPUs of a fleet once aligned (see align), in its
// canonical unit. Steps nobody reported are NaN.
struct Curve {
  std::vector<float> mean, max;

  bool empty() const { return mean.empty(); }
};

struct Profile {
  TimePoint start;          // of the first step, a multiple of the width
  Seconds width;            // of a step
  Curve activity;           // the best evidence of work there is: sm_active, graphics_active or gpu_util
  Curve dram;               // share of peak bandwidth
  Curve memory;             // bytes used
  std::vector<float> idle;  // share of the step's readings without activity

  std::size_t steps() const { return activity.mean.size(); }
  TimePoint begin_of(std::size_t step) const { return start + width * static_cast<double>(step); }
};

// Who a GPU worked for, as far as labels tell. Empty parts are unknown.
struct Owner {
  std::string team;      // namespace, Slurm account
  std::string workload;  // pod without its random ends, Slurm job name
  std::string user;      // Slurm user
  std::string instance;  // the pod or job itself

  auto operator<=>(const Owner&) const = default;
  // "team/workload", "user", or "(nobody)".
  std::string shown() const;
  bool empty() const { return team.empty() && workload.empty() && user.empty() && instance.empty(); }
};

// A stretch of a profile in which a GPU was busiest.
struct BusyStep {
  TimePoint begin;
  Seconds length;
  double activity = 0;  // the highest reading in it
  std::optional<Bytes> memory;
};

// One owner's time on a GPU. The times of all tenancies of a GPU add up to what it was observed for: owners that are on
// it at the same moment have equal parts of that moment, and what is left over is the empty owner's.
struct Tenancy {
  Owner owner;
  Seconds time = {};
  Seconds idle = {};                // without activity; unknown activity is not idle
  TimePoint first = {}, last = {};  // first reading, and the end of the time covered
  std::optional<double> activity_p95 = {}, activity_peak = {};
  std::optional<Bytes> memory_p95 = {}, memory_peak = {};
  std::vector<BusyStep> worst = {};  // the busiest steps of the profile while it was there, at most three
};

// How long a partitioned GPU had one set of MIG instances at the same time.
struct MigLayout {
  std::vector<std::string> instances;  // instance_name() of each
  Seconds time;
};

// The "instance" that stands for what no MIG instance was made of.
inline constexpr const char* kFreePart = "free";

struct GpuUse {
  Device device;
  Seconds covered;            // a partitioned GPU's own row counts only the time without instances
  TimePoint first, last;      // first and last reading
  Seconds interval;           // between two readings, the usual ones
  Seconds known;              // covered by readings of activity
  Seconds filled;             // covered, but between readings further apart than usual
  std::uint64_t dropped = 0;  // readings that were blank or impossible; the GPU was there all the same
  Seconds clock_off;          // the GPU's clock was so far ahead of the fleet's; its times were moved
  std::array<std::optional<MetricUse>, telemetry::kMetrics> metrics;
  double idle_share = 0;      // of the covered time: no activity
  double held_share = 0;      // of the covered time: no activity while memory was held
  double changes = 0;         // between idle and active, from one reading to the next
  bool duplicated = false;    // several series reported the same thing
  bool from_job_log = false;  // made of a scheduler's accounting: no readings, no profile
  Profile profile;
  std::vector<Tenancy> tenancies;  // longest first
  std::vector<MigLayout> layouts;  // only where device.mig_id is kFreePart: what the GPU was partitioned into

  TimePoint end() const { return last + interval; }  // of the time it was observed
  bool is_free_part() const { return device.mig_id == kFreePart; }

  const std::optional<MetricUse>& metric(Metric m) const { return metrics[static_cast<std::size_t>(m)]; }
  // The metric the idle share and Profile::activity speak of; nothing when the source reported no activity at all.
  std::optional<Metric> activity() const;
};

// The metrics that show activity, the most telling first.
inline constexpr Metric kActivityMetrics[] = {Metric::kSmActive, Metric::kGraphicsActive, Metric::kGpuUtil};
constexpr bool is_activity(Metric metric) {
  return std::find(std::begin(kActivityMetrics), std::end(kActivityMetrics), metric) != std::end(kActivityMetrics);
}

// Readings further apart than this are not connected: the longer of five minutes and 2.5 of the usual intervals.
Seconds gap_limit(Seconds interval);

// When a reading counts as no work, and memory as held.
struct IdleRule {
  double active_above = 0.005;  // share of time; at or below is idle
  Bytes held_above = gib(1);    // an empty driver shows up to 0.7 GiB on large GPUs
};

// The widths a step can have divide each other and the day, so that hours of the day stay apart: 1, 2, 4, 12 and 60 s,
// 5, 15 and 30 min, 1, 2, 4, 8 and 24 h, then doubling. The next one after `width`, and the first that is at least
// `width`.
Seconds wider_step(Seconds width);
Seconds step_at_least(Seconds width);

// Tells MIG instances of one GPU apart, also where an id was given to another profile later: "3/1g.10gb".
std::string instance_name(const Device& device);

// What no instance was made of, of the GPU that `part` is a part of, for so long: idle, its times and layouts not set.
GpuUse free_part(const GpuUse& part, Seconds covered);

// Puts tenancies in order, the longest first, and fills in what the profile tells of them: the busiest steps while they
// were there, and the 95th percentile of memory.
void finish_tenancies(GpuUse& use);

// Moves GPUs whose times lie more than a year from most of the fleet's into the fleet's time, and notes it in
// GpuUse::clock_off: their hours are real, their clock is not.
void correct_clocks(std::vector<GpuUse>& gpus);

// By host, index and MIG instance.
void sort_by_place(std::vector<GpuUse>& gpus);

// What a reader has to know of how hours were counted: what was filled, dropped, moved, and not known.
std::vector<std::string> accounting_notes(const std::vector<GpuUse>& gpus);

// Brings all profiles to one width (the widest) and one time axis, so that step i means the same hour everywhere.
void align(std::vector<GpuUse>& gpus);

// "n1.cluster.local" -> "n1".
std::string short_host(const std::string& host);

// The first of these labels that the device has; empty when it has none.
std::string first_label(const Device& device, std::initializer_list<const char*> names);

// The owner that labels speak of: Kubernetes names with and without "exported_", Slurm job, user and account.
Owner owner_of(const Device& device);

// A pod's name without what controllers append: "chat-7d4b9c6f5-x2x1z" -> "chat", "train-0" -> "train".
std::string workload_of_pod(const std::string& pod);

}  // namespace rightsize::fleet
