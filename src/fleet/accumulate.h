// Samples of any number of GPUs, in any order, as they stream out of files -> GpuUse. Memory is per GPU (about 20 kB)
// and owner, not per sample.
//
//   Accumulator sum(rule);
//   read_telemetry(path, sum);            // any number of files
//   std::vector<GpuUse> gpus = sum.finish();
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fleet/use.h"

namespace rightsize::fleet {

struct AccumulateOptions {
  IdleRule idle = {};
  double step = 0;                  // seconds a lone reading stands for where no series has two; 0: 30
  double from = 0, until = 0;       // only readings in [from, until); 0: no limit
  std::size_t most_gpus = 200'000;  // more are counted, not kept
};

class Accumulator : public telemetry::SampleSink {
 public:
  explicit Accumulator(AccumulateOptions options);
  ~Accumulator() override;
  Accumulator(Accumulator&&) = delete;
  Accumulator& operator=(Accumulator&&) = delete;

  int open(const Device& device) override;
  void add(int device, const telemetry::Sample& sample) override;

  // One reading of one metric.
  void add(int device, Metric metric, double time, double value);
  void add_points(int device, Metric metric, std::span<const telemetry::Point> points) override;
  void add_unusable(int device, Metric metric, double time) override;

  std::size_t readings() const;
  std::size_t refused() const;        // readings with times that are none; bad values are GpuUse::dropped
  std::size_t gpus_left_out() const;  // above most_gpus

  // Everything seen, by host, index and MIG instance. No GPU is left afterwards; the counters above stay.
  std::vector<GpuUse> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rightsize::fleet
