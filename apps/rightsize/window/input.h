// The flags of `rightsize window` and the problem they describe.
#pragma once

#include <optional>
#include <string>

#include "capacity/planner.h"
#include "capacity/window.h"
#include "market/energy.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct WindowFlags {
  std::optional<RequestsPerSecond> volume;
  std::optional<std::int64_t> items;  // per day
  Seconds startup = seconds(120), chunk = seconds(300);
  std::optional<Seconds> window, deadline, item_time;
  std::optional<Seconds> opens;  // --window 22:00-06:00: the runs of a day begin then, since midnight
  std::string purchase;          // terms that may be used; empty: all
  std::optional<Bytes> item_memory;
  Bytes fixed_memory;
  std::string service, gpu, slo, catalog;
  PriceFlag price, spot_price;
  double peak = 1, interruptions = 0.05;
  bool pad = false;
  std::optional<int> gpus;
  std::string kwh_price, carbon, gpu_power;  // values or files by hour
  double pue = 1.3;
};

// The power of the runs and its cost; parts that were not given are empty.
struct WindowPower {
  Watts gpu, host;  // for each GPU
  double pue = 1;
  bool measured = false;                                     // given by the user, not the TDP
  std::vector<double> usd_per_kwh = {}, grams_per_kwh = {};  // by hour

  Watts each() const { return (gpu + host) * pue; }
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
  std::optional<WindowPower> power = {};
};

// --window 4h, or the hours of a day in which the work of a day runs: 22:00-06:00.
Result<> read_window(const std::string& text, WindowFlags& flags);
Checked<WindowProblem> read_problem(WindowFlags flags, const catalog::Catalog& catalog);

}  // namespace rightsize::app
