// Samples of any number of GPUs, in any order, as they are read from files -> GpuUse. Memory grows with GPUs (about
// 20 kB each) and owners, not with samples.
//
//   UseAccumulator sum(rule);
//   read_telemetry(path, sum);            // any number of files
//   std::vector<GpuUse> gpus = sum.finish();
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fleet/coverage.h"
#include "fleet/use.h"

namespace rightsize::fleet {

struct AccumulateOptions {
  IdleRule idle = {};
  std::optional<Seconds> interval = {};  // duration of a single reading if no series has two; default: 30 s
  std::optional<TimeSpan> window = {};   // ignore readings outside
  std::size_t most_gpus = 200'000;       // more are counted, not kept
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
  void add(int device, Metric metric, TimePoint time, double value);
  void add_points(int device, Metric metric, std::span<const telemetry::Point> points) override;
  void add_unusable(int device, Metric metric, TimePoint time) override;

  std::size_t readings() const;
  std::size_t refused() const;  // readings with impossible times; impossible values are counted in GpuUse::dropped
  std::size_t gpus_left_out() const;  // above most_gpus

  // All GPUs, by host, index and MIG instance. The accumulator is then empty, but the counters above stay.
  std::vector<GpuUse> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::fleet
