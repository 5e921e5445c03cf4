// One GPU's training run on the tape: the loop of forward, backward and step.
#pragma once

#include <memory>
#include <vector>

#include "memory/tape/model_run.h"
#include "memory/tape/plan.h"
#include "memory/tape/recorder.h"
#include "memory/tape/weights.h"

namespace rightsize::memory::tape {

// Optimizer states, and the temporaries of a step.
class OptimizerStates {
 public:
  OptimizerStates(Recorder& recorder, const GpuWeights& weights, const GpuPlan& plan)
      : recorder_(recorder), weights_(weights), plan_(plan) {}

  // Allocates what exists before the first step: 32-bit master weights and gradient buffers.
  void prepare();
  // One step over every parameter with a gradient. The first step allocates the states, as torch does.
  void step(bool has_gradient_shards);

 private:
  void make_states(const ParameterInfo& info);
  void add(Count elements, std::uint8_t width);
  void add_8bit(Count elements);
  void run_temporaries(const ParameterInfo& largest);

  Recorder& recorder_;
  const GpuWeights& weights_;
  const GpuPlan& plan_;
  std::vector<Tensor> states_;
  bool made_ = false;
};

// Sharded weights and gradients: ZeRO-2 and -3 (FSDP), and weights kept in host memory. Weights are gathered for the
// current layer and the next one, and gradients of a layer are summed and scattered when the backward pass leaves it,
// as FSDP2 does. Gathered weights count as buffers.
class Sharding : public LayerHooks, public LayerWatcher {
 public:
  Sharding(Recorder& recorder, const GpuWeights& weights, const GpuPlan& plan);

  static bool is_needed(const GpuPlan& plan) { return plan.gathers() || plan.sharded_gradients(); }

  void before_forward();
  void before_layer(int layer) override;
  void after_layer(int layer) override;
  void before_head() override;
  void backward_moves(int from, int to) override;
  void after_backward();
  void drop_gradients();
  bool has_gradients() const { return reduced_; }

 private:
  void gather(int layer);
  void release(int layer);
  void reduce(int layer);
  Count gathered_elements(int layer) const;
  std::size_t slot(int layer) const { return static_cast<std::size_t>(layer) + 1; }  // -1 is the first

  Recorder& recorder_;
  const GpuWeights& weights_;
  const GpuPlan& plan_;
  std::vector<std::vector<int>> leaves_;  // by layer; the first entry has those outside of layers
  std::vector<Tensor> gathered_;          // by layer
  std::vector<Tensor> shards_;            // of gradients, by leaf
  Tensor end_matrix_;                     // embedding or head while it is in use
  Tensor in_transit_;                     // the last sum that was sent, kept until the next one
  Count largest_end_ = 0;
  bool reduced_ = false;
};

class Session {
 public:
  Session(const model::ModelShape& model, const GpuPlan& plan, CachingAllocator* allocator,
          std::vector<AllocationEvent>* events);

  // Two iterations; peaks are those of the second, which has the optimizer's states.
  void run();
  // The same peaks by phase and zone from one iteration, if the additions of the second are known. Use it without an
  // allocator: its state depends on earlier iterations.
  void run_for_peaks();
  static bool needs_one_iteration(const GpuPlan& plan);

  // What the other micro-batches in flight hold. If one iteration is enough, it is a part of every peak.
  static Count bytes_in_flight(double in_flight, Count saved_by_forward);
  Count saved_by_forward() const { return saved_by_forward_; }

  const Recorder& recorder() const { return recorder_; }

 private:
  void iterate();
  void pass();
  Tensor workspace();
  void cache_fp8_weights();
  void make_buckets();
  bool keeps_gradients() const;
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
