// The use of one GPU during the window, in constant size.
//
// It is computed from samples in files (accumulate.h) or aggregates of a metrics server (scan.h); see account.h. Shares
// are 0-1, metrics are in their canonical unit (telemetry/sample.h), and values that the source did not report are
// missing.
//
// A GPU-hour is an hour of the union of the times covered by any series of the GPU. A series covers the time from one
// reading to the next while they are at most `gap_limit` apart, and one interval after the last reading of a stretch.
// Activity, memory and ownership each count over the time in which they were reported.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/usage_units.h"
#include "diagnose/summary.h"
#include "gpu_use/fine_peaks.h"
#include "telemetry/labels.h"
#include "telemetry/sample.h"

namespace rightsize::gpu_use {

using telemetry::Device;
using telemetry::Metric;

// One metric over the whole window, in its canonical unit.
struct MetricUse {
  double mean = 0;
  std::optional<double> p50, p95;
  double max = 0;
};

// A metric over time in steps of equal width, in its canonical unit; NaN in steps without readings. After align() the
// steps are the same for all GPUs of a fleet.
struct MetricCurve {
  std::vector<float> mean, max;

  bool empty() const { return mean.empty(); }
};

// The value of a step without a reading.
inline constexpr float kUnknownStep = std::numeric_limits<float>::quiet_NaN();

struct Profile {
  TimePoint start = {};          // of the first step, a multiple of the width
  Seconds width = {};            // of a step
  MetricCurve activity = {};     // the best evidence available: sm_active, graphics_active or gpu_util
  MetricCurve dram = {};         // share of peak bandwidth
  MetricCurve memory = {};       // bytes used
  std::vector<float> idle = {};  // share of the step without activity

  std::size_t steps() const { return activity.mean.size(); }
  TimePoint begin_of(std::size_t step) const { return start + width * static_cast<double>(step); }
};

// The name shown if no label names the owner.
inline constexpr const char* kUnowned = "(unowned)";

// Who a GPU works for, according to its labels. Empty parts are unknown.
struct Owner {
  std::string team;      // namespace, Slurm account
  std::string workload;  // pod without its random ends, Slurm job name
  std::string user;      // Slurm user
  std::string instance;  // the pod or job itself

  auto operator<=>(const Owner&) const = default;
  // "team/workload", "user", or kUnowned.
  std::string shown() const;
  bool empty() const { return team.empty() && workload.empty() && user.empty() && instance.empty(); }
};

// One owner's time on a GPU. The tenancies of a GPU add up to its observed time: owners present at the same moment get
// equal parts of it, and the rest belongs to the empty owner.
struct Tenancy {
  Owner owner;
  Seconds time = {};
  Seconds idle = {};                // without activity; unknown activity is not idle
  TimePoint first = {}, last = {};  // first reading, and the end of the time covered
  std::optional<double> activity_p95 = {}, activity_peak = {};
  std::optional<Bytes> memory_peak = {};
  Seconds slack = {};  // of a job log: active time x (1 - utilization)
};

// How long a partitioned GPU had one set of MIG instances at the same time.
struct MigPeriod {
  std::vector<std::string> instances;  // instance_name() of each
  Seconds time;
};

// The mig_id of the part of a GPU that no MIG instance uses.
inline constexpr const char* kFreePart = "free";

struct GpuUse {
  Device device;
  Seconds covered;                      // the row of a partitioned GPU itself counts only the time without instances
  TimePoint first, last;                // first and last reading
  Seconds interval;                     // usual time between two readings
  Seconds known;                        // the part with reported activity
  Seconds filled;                       // the part between readings further apart than usual
  std::uint64_t dropped = 0;            // blank or impossible readings; the GPU was present
  Seconds clock_off;                    // how far its clock was ahead of the fleet's; times are corrected
  std::map<Metric, MetricUse> metrics;  // the reported ones; a fleet has tens of thousands of GPUs
  double idle_share = 0;                // of the covered time: no activity
  double held_share = 0;                // of the covered time: no activity while memory was held
  double changes = 0;                   // number of changes between idle and active
  bool duplicated = false;              // reported by several series at once
  bool from_job_log = false;            // from a scheduler's accounting: no readings, no profile
  Profile profile;
  FinePeaks fine;                  // empty if the source gave no single readings
  std::vector<Tenancy> tenancies;  // longest first
  std::vector<MigPeriod> layouts;  // only if is_free_part(): how the GPU was partitioned

  TimePoint end() const { return last + interval; }  // of the observed time
  bool is_one_reading() const { return first == last && !from_job_log; }
  bool is_free_part() const { return device.mig_id == kFreePart; }

  // Null if not reported.
  const MetricUse* metric(Metric m) const {
    const auto found = metrics.find(m);
    return found == metrics.end() ? nullptr : &found->second;
  }
  // The metric behind the idle share and Profile::activity; not set if no activity was reported.
  std::optional<Metric> activity() const;
};

// The metrics that show activity, best first.
inline constexpr Metric kActivityMetrics[] = {Metric::kSmActive, Metric::kGraphicsActive, Metric::kGpuUtil};
constexpr bool is_activity(Metric metric) {
  return std::ranges::find(kActivityMetrics, metric) != std::end(kActivityMetrics);
}

// Readings further apart than this are not connected: five minutes or 2.5 usual intervals, whichever is longer.
Seconds gap_limit(Seconds interval);

// When a reading counts as idle, and memory as held.
struct IdleRule {
  double active_above = diagnose::kIdleActivity;  // share of time; at or below is idle
  Bytes held_above = gib(1);                      // an empty driver shows up to 0.7 GiB on large GPUs
};

// Step widths divide each other and the day: 1, 2, 4, 12 and 60 s, 5, 15 and 30 min, 1, 2, 4, 8 and 24 h, then
// doubling. The next one after `width`, and the first that is at least `width`.
Seconds wider_step(Seconds width);
Seconds step_at_least(Seconds width);

// Device::key() of the GPU that a MIG instance is part of.
std::string whole_key(Device device);
// Identifies a MIG instance of a GPU, even if its ID was reused for another profile: "3/1g.10gb".
std::string instance_name(const Device& device);

// If the times of a GPU are more than a year away from most of the fleet, its clock is wrong but its hours are right:
// moves it into the fleet's window and sets GpuUse::clock_off.
void correct_clocks(std::vector<GpuUse>& gpus);

// Sorts by host, index and MIG instance.
void sort_by_place(std::vector<GpuUse>& gpus);

// Caveats about how hours were counted: filled, dropped, moved and unknown ones.
std::vector<std::string> accounting_notes(const std::vector<GpuUse>& gpus);

// Brings all profiles to the widest step width and one time axis.
void align(std::vector<GpuUse>& gpus);

// "n1.cluster.local" -> "n1".
std::string short_host(const std::string& host);

template <class Value>
void append(std::vector<Value>& to, std::vector<Value> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string count_of(std::size_t count, std::string_view thing);  // "1 GPU", "3 GPUs", "3 l4"

// The first of these labels that the device has; empty if it has none.
std::string first_label(const Device& device, std::span<const char* const> names);
std::string first_label(const Device& device, std::initializer_list<const char*> names);

using telemetry::kJobLabels;
using telemetry::kJobNameLabels;
using telemetry::kPodLabels;
using telemetry::kTeamLabels;
using telemetry::kUserLabels;
// Reads the owner from these labels.
Owner owner_of(const Device& device);

// A pod's name without the suffixes of controllers: "chat-7d4b9c6f5-x2x1z" -> "chat", "train-0" -> "train".
std::string workload_of_pod(const std::string& pod);

}  // namespace rightsize::gpu_use
