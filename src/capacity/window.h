// Work that can wait: collected over a window, then processed on as few GPUs as the deadline allows.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace rightsize::capacity {

struct WindowWork {
  double items_per_day = 0;
  Seconds window;     // time over which items are collected
  Seconds deadline;   // from the end of the window to the last item
  Seconds item_time;  // GPU time per item in a full batch
  Seconds startup;    // per GPU and window: boot, load the model
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

// Empty if the startup alone takes longer than the deadline. The work must also be done before the next window ends, so
// windows never compete for GPUs.
std::optional<WindowSchedule> schedule_window(const WindowWork& work);

}  // namespace rightsize::capacity
