// One GPU's training run on the tape: the loop of forward, backward and step.
#pragma once

#include <memory>
#include <vector>

#include "memory/tape/model_run.h"
#include "memory/tape/optimizer.h"
#include "memory/tape/sharding.h"

namespace rightsize::memory::tape {

class Session {
 public:
  Session(const model::ModelShape& model, const GpuPlan& plan, CachingAllocator* allocator,
          std::vector<AllocationEvent>* events);

  // Two iterations; peaks are those of the second, which has the optimizer's states.
  void run();
  // The same peaks by phase and zone from one iteration, if the additions of the second are known. Use it without an
  // allocator: its state depends on earlier iterations.
  void run_for_peaks();

  const Recorder& recorder() const { return recorder_; }

 private:
  void iterate();
  void pass();
  Tensor workspace();
  void cache_fp8_weights();
  void make_buckets();
  bool keeps_gradients() const;
  Count bytes_in_flight() const;
  void add_micro_batches_in_flight();

  GpuPlan plan_;
  Recorder recorder_;
  ModelRun model_;
  std::unique_ptr<Sharding> sharding_;
  std::unique_ptr<OptimizerStates> states_;
  std::vector<Tensor> extras_;
  Tensor forward_workspace_, backward_workspace_, result_;
  Count saved_by_forward_ = 0;
};

}  // namespace rightsize::memory::tape
