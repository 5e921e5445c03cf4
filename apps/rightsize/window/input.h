// The flags of `rightsize window` and the problem they describe.
#pragma once

#include <optional>
#include <string>

#include "capacity/planner.h"
#include "capacity/window.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct WindowFlags {
  RequestsPerSecond volume;
  Seconds window = hours(4), startup = seconds(120), chunk = seconds(300);
  std::optional<Seconds> deadline, item_time;
  std::optional<Bytes> item_memory;
  Bytes fixed_memory;
  std::string service, gpu, slo, catalog;
  PriceFlag price, spot_price;
  double peak = 1, interruptions = 0.05;
  bool pad = false;
};

// The work, the GPU and the prices.
struct WindowProblem {
  WindowFlags given;
  capacity::WindowWork work = {};
  std::string gpu = {};
  int batch = 1;                   // of the offline runs
  capacity::Replica replica = {};  // of the real-time option
  std::optional<market::GpuQuote> on_demand = {}, spot = {};
  capacity::Slo slo = {};  // of the real-time option
};

Checked<WindowProblem> read_problem(const WindowFlags& flags, const catalog::Catalog& catalog);

}  // namespace rightsize::app
