// Work that can wait: collected over a window, then done at once on as few GPUs as the deadline allows.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"

namespace rightsize::capacity {

struct WindowWork {
  double items_per_day = 0;
  Seconds window;     // items are collected for so long
  Seconds deadline;   // and must be done so long after the window closes
  Seconds item_time;  // GPU time of one item in a full batch
  Seconds startup;    // of every GPU, every window: boot, load the model
};

struct WindowRun {
  Seconds closes, starts, ends;  // since midnight
  double items = 0;
};

struct WindowSchedule {
  int gpus = 0;
  double items_per_window = 0;
  Seconds busy;            // of each GPU, every window, with its startup
  Seconds latest;          // after the window closes, the last item is done
  double utilization = 0;  // of GPUs held all day
  std::vector<WindowRun> day;
  double gpu_hours_per_day = 0;  // when GPUs are rented for the runs only
};

// Nothing when no number of GPUs can do it: the startup alone takes longer than the deadline. GPUs are never needed by
// two windows at once: the work must also be done before the next window closes.
std::optional<WindowSchedule> schedule_window(const WindowWork& work);

}  // namespace rightsize::capacity
