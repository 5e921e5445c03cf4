// The picture `rightsize top` shows: text made from values, nothing of terminals.
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

// One GPU over the last while.
struct TopGpu {
  telemetry::Device device;
  const catalog::Gpu* gpu = nullptr;
  std::deque<telemetry::Sample> recent;
  diagnose::Diagnosis diagnosis;
  std::optional<UsdPerGpuSecond> price;
  std::vector<telemetry::GpuProcess> processes;
};

struct TopScreen {
  std::string title;  // "14:03:20", "recording.csv"
  std::vector<TopGpu> gpus;
};

struct TopSize {
  int columns = 100, rows = 40;
  bool colour = false;
  bool blocks = true;  // block characters for sparklines; else plain letters
};

// A bar a value, 0-1; the newest on the right, at most `width` of them, blanks where nothing is known.
std::string sparkline(const std::vector<std::optional<double>>& values, std::size_t width, bool blocks);

// Lines that fit the size, each ending in a newline. What has no room is counted in the last line.
std::string draw_top(const TopScreen& screen, const TopSize& size);

report::Json top_document(const TopScreen& screen);

}  // namespace rightsize::app
