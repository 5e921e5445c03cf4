// The flags of `rightsize window`, and what they mean.
#pragma once

#include <optional>
#include <string>

#include "capacity/planner.h"
#include "capacity/window.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct WindowFlags {
  std::string volume, window = "4h", deadline, item_time, service, gpu, item_memory, fixed_memory, startup = "2min";
  PriceFlag price, spot_price;
  std::string slo, chunk = "5min", catalog;
  double peak = 1, interruptions = 0.05;
  bool pad = false;
};

// The work, the GPU and the prices.
struct WindowProblem {
  capacity::WindowWork work;
  std::string gpu;
  int batch = 1;              // of the offline runs
  Seconds single;             // one item alone, for the real-time option
  capacity::Replica replica;  // of the real-time option
  std::optional<market::GpuQuote> on_demand, spot;
  capacity::Slo slo;         // of the real-time option
  double peak = 1;           // real time: the busiest hour over the mean
  double interruptions = 0;  // spot: an hour
  Seconds chunk;             // spot: work that is saved at a time
};

Checked<WindowProblem> read_problem(const WindowFlags& flags, const catalog::Catalog& catalog);

// Items a day: "1M/d", "12/s".
Result<double> parse_volume(const std::string& text);

}  // namespace rightsize::app
