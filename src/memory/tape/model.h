// What the builders of all families share: layers run one by one (checkpointed or not), linear layers with their
// adapters, attention as the job wants it, heads and losses.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "memory/tape/ops.h"
#include "memory/tape/plan.h"
#include "memory/tape/weights.h"

namespace rightsize::memory::tape {

// Told around every layer of the forward pass: gathering of sharded weights.
class LayerHooks {
 public:
  virtual ~LayerHooks() = default;
  virtual void before_layer(int layer) = 0;
  virtual void after_layer(int layer) = 0;
  virtual void before_head() = 0;
};

class Model : public Segment {
 public:
  Model(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);

  // One forward pass: the loss, or on a pipeline stage that is not the last, what is sent on.
  virtual Tensor forward() = 0;
  // Bytes of the inputs of an iteration.
  virtual Tensor make_inputs();

  const Weights& weights() const { return weights_; }
  void set_hooks(LayerHooks* hooks) { hooks_ = hooks; }

  Tensor run_segment(int index, std::span<Tensor> inputs) final { return run_layer(index, inputs); }
  void segment_done(int index) final {
    if (index == 0) release_shared();
  }

 protected:
  // inputs[0] is the hidden state, the rest what else needs gradients (encoder states, position biases).
  virtual Tensor run_layer(int index, std::span<Tensor> inputs) = 0;
  // Drops what layers share and no gradient flows through (rotary tables, masks).
  virtual void release_shared() {}

  // Layers [first, first + count); `second`: the decoder of an encoder-decoder model.
  Tensor run_layers(Tensor x, int first, int count, std::span<const Tensor> others = {}, bool second = false);
  // The end of the layers: what they shared goes, unless checkpoints still need it.
  void finish_layers();
  // What a pipeline stage that is not the first gets from the one before it.
  Tensor received();
  // Adapters with checkpointing: the embedding's output is asked for a gradient so that one reaches the layers.
  void start_gradient(Tensor& x);

  Tensor parameter(int leaf) const { return leaf < 0 ? Tensor() : recorder_.parameter(leaf); }
  Tensor apply(const Linear& linear, Tensor x, bool reshaped_gradient = true);
  Tensor norm_layer(const NormWeights& norm, Tensor x, Count rows) {
    return layer_norm(std::move(x), parameter(norm.weight), parameter(norm.bias), rows);
  }
  Tensor activate(Tensor x) const;

  // Sequence parallelism: whole rows before a pair of matrices, a share of them after; nothing without it.
  Tensor gather(Tensor x);
  Tensor scatter(Tensor x);

  AttentionShape attention_shape() const;
  // Attention over heads-first q, k and v, merged again: fused, eager or recomputed.
  Tensor attend(Tensor q, Tensor k, Tensor v, const AttentionShape& shape);

  // The language-model head and its loss over `rows` rows. `causal`: labels are shifted and logits go to 32 bits.
  Tensor head_loss(Tensor x, int weight_leaf, int bias_leaf, bool causal, bool scaled_logits = false);

  // The pass of a decoder whose head is a matrix of its own ("lm_head") or the embedding table again: `body` runs from
  // the table of this name to the last layer's output.
  template <class Body>
  Tensor table_to_head(const char* embeddings, const Body& body) {
    recorder_.enter(Zone::kStart, -1);
    recorder_.set_part(Part::kActivations);
    const int table = weights_.linear(embeddings).weight;
    Tensor x = body(table);
    if (!plan_.last_stage) return x;
    const Linear own = weights_.linear("lm_head");
    return head_loss(std::move(x), own ? own.weight : table, -1, true);
  }
  void enter_head();

  Count heads() const;
  Count kv_heads() const;
  Count vocabulary() const;

  Recorder& recorder_;
  const model::ModelShape& shape_;
  const Plan& plan_;
  Weights weights_;
  bool cached_casts_ = true;  // false: weights reach products as views, which autocast does not cache (falcon)

 private:
  std::int32_t gathered_ = -1;  // storage of the rows last gathered, and what they were gathered from
  Tensor gathered_from_;
  Tensor held_logits_;
  LayerHooks* hooks_ = nullptr;
};

struct BuiltModel {
  std::unique_ptr<Model> model;
  bool exact = true;  // false: the nearest known builder stands in for this family
};

// The builder for a family; every family the workload room knows gets one.
BuiltModel build_model(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);

}  // namespace rightsize::memory::tape
