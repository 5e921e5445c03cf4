// Accumulates samples of any number of GPUs, in any order, into GpuUse. Memory grows with GPUs (about 20 kB each, 10 kB
// in fleets of thousands) and owners, not with samples.
//
//   UseAccumulator sum({});
//   RIGHTSIZE_TRY(const telemetry::FeedOutcome outcome, telemetry::read_feeds(paths, {}, sum));
//   std::vector<GpuUse> gpus = sum.finish();
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "gpu_use/coverage.h"
#include "gpu_use/use.h"

namespace rightsize::gpu_use {

struct PartTally;

struct AccumulateOptions {
  IdleRule idle = {};
  std::optional<Seconds> interval = {};  // duration of a single reading if no series has two; default: 30 s
  std::optional<TimeSpan> window = {};   // ignore readings outside
  std::size_t most_gpus = 200'000;       // more are counted, not kept
  telemetry::NameMap names = {};         // for identity()
};

class UseAccumulator : public telemetry::SampleSink {
 public:
  explicit UseAccumulator(AccumulateOptions options);
  ~UseAccumulator() override;
  UseAccumulator(UseAccumulator&&) = delete;
  UseAccumulator& operator=(UseAccumulator&&) = delete;

  int open(const Device& device) override;
  void add(int device, const telemetry::Sample& sample) override;
  // One reading of one metric.
  void add(int device, Metric metric, TimePoint time, double value) {
    const telemetry::Point point{time, value};
    add_points(device, metric, {&point, 1});
  }
  void add_points(int device, Metric metric, std::span<const telemetry::Point> points) override;
  // Counted as a dropped reading, like any impossible value.
  void add_unusable(int device, Metric metric, TimePoint time) override { add(device, metric, time, -1); }

  std::size_t readings();
  std::size_t refused();  // readings with impossible times; impossible values are counted in GpuUse::dropped
  std::size_t gpus_left_out() const { return left_out_; }  // above most_gpus

  // Fails if series of possibly different GPUs were merged into one. Call it before finish().
  Result<> identity();

  // All GPUs, by host, index and MIG instance. The accumulator is then empty, but the counters above stay.
  std::vector<GpuUse> finish();

 private:
  struct Series {
    PartTally* part = nullptr;  // null: above most_gpus
    std::size_t number = 0;     // of PartTally::series
    std::vector<telemetry::Sample> waiting = {};
  };
  Series open_series(const Device& device);
  void add_waiting(Series& series);
  void limit_curves();
  void add_all_waiting();
  std::optional<TimePoint> taken(PartTally& part, TimePoint time);
  Seconds usual_interval() const;

  AccumulateOptions options_;
  std::vector<Series> series_;
  std::unordered_map<std::uint64_t, int> by_identity_;
  std::unordered_map<std::string, PartTally*> by_key_;
  std::vector<std::unique_ptr<PartTally>> parts_;
  std::size_t readings_ = 0, refused_ = 0, left_out_ = 0;
};

}  // namespace rightsize::gpu_use
