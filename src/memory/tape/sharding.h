// Sharded weights and gradients: ZeRO-2 and -3 (FSDP), and weights kept in host memory.
//
// Weights are gathered for the current layer and the next one, and gradients of a layer are summed and scattered when
// the backward pass leaves it, as FSDP2 does. Gathered weights count as buffers.
#pragma once

#include <vector>

#include "memory/tape/model_run.h"

namespace rightsize::memory::tape {

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

}  // namespace rightsize::memory::tape
