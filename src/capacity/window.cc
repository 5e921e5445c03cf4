#include "capacity/window.h"

#include <algorithm>
#include <cmath>

namespace rightsize::capacity {

std::optional<WindowSchedule> schedule_window(const WindowWork& work) {
  const Seconds allowed = std::min(work.deadline, work.window);
  const Seconds useful = allowed - work.startup;
  if (!(useful > seconds(0)) || !(work.window > seconds(0))) return std::nullopt;
  WindowSchedule plan;
  plan.items_per_window = work.items_per_day * (work.window / days(1));
  const Seconds total = work.item_time * plan.items_per_window;
  plan.gpus = std::max(1, static_cast<int>(std::ceil(total / useful - 1e-9)));
  plan.busy = total / plan.gpus + work.startup;
  plan.latest = plan.busy;
  plan.utilization = plan.busy / work.window;
  const int windows = std::max(1, static_cast<int>(std::lround(days(1) / work.window)));
  for (int i = 1; i <= windows; ++i) {
    const Seconds closes = work.window * i;
    plan.day.push_back({closes, closes, closes + plan.busy, plan.items_per_window});
  }
  plan.gpu_hours_per_day = plan.gpus * in_hours(plan.busy) * (days(1) / work.window);
  return plan;
}

}  // namespace rightsize::capacity
