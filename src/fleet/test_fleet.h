// Fleets for tests: GPUs with readings one minute apart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fleet/fleet.h"
#include "fleet/remedies.h"
#include "gpu_use/accumulate.h"
#include "perf/constants/sustained_rates.h"

namespace rightsize::fleet {

inline constexpr double kGiB = in_bytes(gib(1));
inline constexpr TimePoint kStart = unix_seconds(1767225600);  // 2026-01-01, a whole hour

inline const catalog::Catalog& facts() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}
inline const perf::SpeedTable& speeds() {
  static const perf::SpeedTable kTable(facts(), *perf::load_constants(""));
  return kTable;
}

inline DevicePrices book_at(double h100) {
  market::OwnPrices own;
  own.gpus["h100-sxm"] = usd_per_gpu_hour(h100);
  return {facts(), own};
}

// The readings of a GPU, one minute apart: activity by minute, with matching tensor and bandwidth use.
struct Life {
  std::string uuid = "GPU-0";
  std::string team = "a", pod = "job-0";
  double memory = 60 * kGiB;
  double tensor = 0.6, dram = 0.3;  // of activity
  std::string model = "NVIDIA H100 80GB HBM3";
  std::string mig_profile = {}, mig_id = {};
  std::string host = "n1";
  int index = 0;
  int from_minute = 0;  // when it begins
};

inline void live(UseAccumulator& sum, const Life& life, int minutes, const std::function<double(int)>& activity) {
  Device device{.index = life.index,
                .uuid = life.uuid,
                .name = life.model,
                .host = life.host,
                .mig_profile = life.mig_profile,
                .mig_id = life.mig_id};
  if (!life.team.empty()) device.labels = {{"namespace", life.team}, {"pod", life.pod}};
  const int number = sum.open(device);
  for (int m = 0; m < minutes; ++m) {
    telemetry::Sample sample;
    sample.time = kStart + seconds(60.0 * (life.from_minute + m));
    const double level = activity(m);
    sample.set(Metric::kGraphicsActive, level);
    sample.set(Metric::kTensorActive, level * life.tensor);
    sample.set(Metric::kDramActive, level * life.dram);
    sample.set(Metric::kMemoryUsed, life.memory);
    sample.set(Metric::kPower, 100 + 500 * level);
    sum.add(number, sample);
  }
}

inline double busy(int) { return 0.98; }
inline double nothing(int) { return 0; }
inline double trickle(int) { return 0.08; }
inline double mornings(int m) { return m / 60 % 24 < 8 ? 0.6 : 0.0; }
inline double evenings(int m) { return m / 60 % 24 >= 16 ? 0.6 : 0.0; }

inline constexpr int kDay = 24 * 60;

// One GPU of each kind of waste.
inline std::vector<GpuUse> mixed_fleet() {
  UseAccumulator sum({});
  live(sum, {.uuid = "GPU-busy"}, kDay, busy);
  live(sum, {.uuid = "GPU-held", .pod = "notebook-0", .memory = 40 * kGiB}, kDay, nothing);
  live(sum, {.uuid = "GPU-free", .team = "", .memory = 0.5 * kGiB}, kDay, nothing);
  live(sum, {.uuid = "GPU-trickle", .team = "b", .pod = "api-0", .memory = 6 * kGiB, .tensor = 0.1, .dram = 0.2}, kDay,
       trickle);
  return sum.finish();
}

inline const GpuRow& row(const FleetAnalysis& a, const std::string& uuid) {
  for (const GpuRow& gpu : a.gpus) {
    if (gpu.use.device.uuid == uuid) return gpu;
  }
  ADD_FAILURE() << uuid;
  return a.gpus.front();
}

// A judged fleet, with everything that the search for remedies needs.
struct Judged {
  std::vector<GpuRow> gpus;
  Thresholds thresholds;
  DevicePrices book = book_at(2);
  std::vector<Running> running;

  explicit Judged(std::vector<GpuUse> uses, Thresholds t = {}) : thresholds(t) {
    gpus = judge(std::move(uses), book);
    running = all_running(gpus, thresholds);
  }
  RemedyInput input() const { return {gpus, running, book, thresholds, speeds()}; }
};

}  // namespace rightsize::fleet
