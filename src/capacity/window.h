// Work that can wait: collected over a window, then processed on as few GPUs as the deadline allows.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace rightsize::capacity {

struct WindowWork {
  double items_per_day = 0;
  Seconds window;                    // time over which items are collected
  Seconds deadline;                  // from the end of the window to the last item
  Seconds item_time;                 // GPU time per item in a full batch
  Seconds startup;                   // per GPU and window: boot, load the model
  Seconds closes = {};               // when a window closes, since midnight
  int gpus = 0;                      // more than the fewest leave time to wait for good hours; 0: the fewest
  std::vector<double> by_hour = {};  // what each hour of the day costs, 24 values; empty: runs start at once
};

struct WindowRun {
  Seconds closes, starts, ends;  // since midnight
  double items = 0;
};

struct WindowSchedule {
  int gpus = 0;
  double items_per_window = 0;
  Seconds busy;            // per GPU and window, including startup
  Seconds latest;          // from the end of the window to the last item
  double utilization = 0;  // of GPUs that are rented all day
  std::vector<WindowRun> day;
  double gpu_hours_per_day = 0;  // if GPUs are rented for the runs only
};

inline constexpr int kMostWindowGpus = 1'000'000;
double window_gpus(const WindowWork& work);  // the fewest; infinite if the startup alone takes too long

// Empty if the startup alone takes longer than the deadline, or the work needs more than kMostWindowGpus. The work must
// also be done before the next window ends, so windows never compete for GPUs. With `by_hour`, every run starts when it
// is cheapest, the earliest such time if several are equal.
std::optional<WindowSchedule> schedule_window(const WindowWork& work);

// The mean of a value known by hour between two times since midnight; days repeat.
double mean_between(const std::vector<double>& by_hour, Seconds from, Seconds to);

}  // namespace rightsize::capacity
