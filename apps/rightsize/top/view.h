// The screen of `rightsize top` as text, independent of terminals.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "diagnose/diagnose.h"
#include "report/report.h"
#include "telemetry/live.h"

namespace rightsize::app {

// The recent past of one GPU.
struct TopGpu {
  telemetry::Device device;
  const catalog::Gpu* gpu = nullptr;
  std::deque<telemetry::Sample> recent;  // oldest first
  diagnose::Diagnosis diagnosis;
  double share = 1;  // of a whole GPU; less for a MIG instance
  std::optional<UsdPerSecond> price;
  std::vector<telemetry::GpuProcess> processes;
  Joules energy;    // since the first reading: the sum of power x time between readings,
  Seconds powered;  // and the total of those times

  std::optional<Watts> mean_power() const {
    return powered > Seconds{} ? std::optional(energy / powered) : std::nullopt;
  }
};

struct TopScreen {
  std::string title;  // "14:03:20", "recording.csv"
  std::vector<TopGpu> gpus;
  bool ended = false;  // a recording
};

struct TopSize {
  int columns = 100, rows = 40;
  bool colour = false;
  bool blocks = true;  // block characters for sparklines, otherwise ASCII
};

// One bar per value from 0 to 1, the newest on the right, at most `width`; blank if unknown.
std::string sparkline(const std::vector<std::optional<double>>& values, std::size_t width, bool blocks);

// Lines that fit the size, each ending in a newline. The last line counts the GPUs that are not shown.
std::string draw_top(const TopScreen& screen, const TopSize& size);

report::Json top_document(const TopScreen& screen);

}  // namespace rightsize::app
