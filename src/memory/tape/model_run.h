// Runs a model's forward pass on the tape of one GPU: walks the operations that the family wrote and applies the job's
// settings (autocast, adapters, fused kernels, checkpointing, every kind of parallelism).
#pragma once

#include <span>
#include <vector>

#include "memory/tape/ops.h"
#include "memory/tape/plan.h"
#include "memory/tape/weights.h"

namespace rightsize::memory::tape {

// Called around every layer of the forward pass, to gather sharded weights.
class LayerHooks {
 public:
  virtual ~LayerHooks() = default;
  virtual void before_layer(int layer) = 0;
  virtual void after_layer(int layer) = 0;
  virtual void before_head() = 0;
};

class ModelRun : public Segment {
 public:
  // `shape` must have a forward pass and outlive this.
  ModelRun(Recorder& recorder, const model::ModelShape& shape, const GpuPlan& plan);

  // Allocates the inputs of an iteration once.
  void make_inputs();
  // One forward pass. Returns the loss, or on a pipeline stage before the last, the activations to send.
  Tensor forward();

  const GpuWeights& weights() const { return weights_; }
  void set_hooks(LayerHooks* hooks) { hooks_ = hooks; }

  Tensor run_segment(int index, std::span<Tensor> inputs) final;
  void segment_done(int index) final {
    if (index == 0) release_shared();
  }

 private:
  // A layer of a stack, or a segment outside of stacks.
  struct Stretch {
    int program = 0;
    int repeat = 0;
  };
  // The values of one program while it runs.
  struct Frame {
    const model::Program& program;
    std::vector<Tensor> values;
    int repeat = 0;
  };

  void place_layers();
  TensorArray run_program(int program, int repeat, std::span<Tensor> inputs);
  void run(Frame& frame, const model::Op& op);
  void run_place(Frame& frame, const model::Op& op);
  // The result of an operation on weights, an elementwise operation, or a change of shape.
  Tensor compute(Frame& frame, const model::Op& op);
  Tensor combine(Frame& frame, const model::Op& op);
  Tensor reshape(Frame& frame, const model::Op& op);
  // Returns the last operation of a stage that is not on this GPU.
  std::size_t skip_stage(Frame& frame, std::size_t begin);

  Tensor take(Frame& frame, const model::Op& op, std::size_t input);
  Tensor& slot(Frame& frame, std::int32_t value);
  Linear linear_of(const Frame& frame, model::WeightRef ref) const;
  Count evaluate(const model::Size& size) const;
  // Elements of one of the operation's results.
  Count elements(const Frame& frame, const model::Op& op, std::size_t result) const;
  std::uint8_t bytes_of(model::Width width, const Tensor& like) const;
  Tensor parameter(int leaf) const { return leaf < 0 ? Tensor() : recorder_.parameter(leaf); }

  Tensor run_stack(Frame& frame, const model::Op& op);
  Tensor run_stretch(int index, std::span<Tensor> inputs);
  Tensor apply(const Linear& linear, Tensor x, bool reshaped_gradient);
  Tensor convolve(const Frame& frame, const model::Op& op, Tensor x, Count n);
  Tensor normalize(const Frame& frame, const model::Op& op, Tensor x);
  Tensor activate(const model::Op& op, Tensor x) const;
  Tensor attend(Frame& frame, const model::Op& op, Tensor q);
  Tensor fused_or_eager(Tensor q, Tensor k, Tensor v, const AttentionShape& shape, double dropout_p);
  Tensor route(const Frame& frame, const model::ExpertsOp& how, Tensor x);
  Tensor gather(Tensor x);
  Tensor scatter(Tensor x);
  Tensor language_loss(const Frame& frame, const model::Op& op, Tensor x);
  Tensor received();
  void enter_head();
  void release_shared();
  bool runs_fused_attention() const;

  Recorder& recorder_;
  const model::ModelShape& shape_;
  const model::Forward& forward_;
  const GpuPlan& plan_;
  GpuWeights weights_;
  std::vector<Stretch> stretches_;        // the layers on this GPU in order, then the segments in order of use
  std::vector<std::size_t> stack_begin_;  // where each stack begins in them
  std::vector<Tensor> shared_, inputs_;
  std::int32_t gathered_ = -1;  // storage of the rows gathered last, and their source
  Tensor gathered_from_;
  Tensor held_logits_, traced_mask_;
  std::size_t next_stretch_ = 0;
  LayerHooks* hooks_ = nullptr;
};

}  // namespace rightsize::memory::tape
