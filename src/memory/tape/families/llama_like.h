// The llama line of decoders: one builder, told by its Style what a family does differently.
#pragma once

#include <array>
#include <vector>

#include "memory/tape/families/builders.h"

namespace rightsize::memory::tape {

class LlamaLike : public Model {
 public:
  LlamaLike(Recorder& recorder, const model::ModelShape& shape, const Plan& plan);
  Tensor forward() override;

 protected:
  enum class NormStyle { kRms, kGemma, kOlmo, kCohere, kLayer };
  enum class Block {
    kSequential,  // norm, attention, add, norm, MLP, add
    kPostNorm,    // attention, norm, add (olmo2)
    kParallel,    // one norm, attention and MLP side by side (phi, cohere)
  };
  enum class RotaryStyle {
    kWhole,
    kConcatenate,      // the rotated part joined with the rest at once (phi3: even when there is no rest)
    kConcatenateLate,  // after both q and k are rotated (phi, stablelm, gpt_neox)
  };
  enum class QkNorm { kNone, kPerHead, kPerHeadTransposed, kFullWidth };

  struct Style {
    NormStyle norm = NormStyle::kRms;
    Block block = Block::kSequential;
    RotaryStyle rotary = RotaryStyle::kWhole;
    QkNorm qk_norm = QkNorm::kNone;
    bool scaled_embedding = false;
    bool wide_rotation = false;  // q and k go to 32 bits to be rotated (cohere)
    bool scaled_logits = false;
    bool narrow_router = false;  // routing weights go back to the hidden state's width before they are used
  };
  struct LayerWeights {
    Linear q, k, v, qkv, o, gate, up, gate_up, down;
    std::array<NormWeights, 4> norms;
    NormWeights q_norm, k_norm;
    Linear router, experts_in, experts_out, shared_gate, shared_up, shared_down, shared_switch;
    Count window = 0;
  };

  Tensor run_layer(int index, std::span<Tensor> inputs) override;
  void release_shared() override { rotary_ = {}; }

  virtual Tensor attention(Tensor x, const LayerWeights& layer);
  void project(const Tensor& x, const LayerWeights& layer, Tensor& q, Tensor& k, Tensor& v);
  Tensor mlp(Tensor x, const LayerWeights& layer);
  Tensor dense_mlp(Tensor x, const Linear& gate, const Linear& up, const Linear& down);
  Tensor mixture(Tensor x, const LayerWeights& layer);  // mixture.cc
  Tensor routed_experts(Tensor x, const LayerWeights& layer);
  Tensor norm(Tensor x, const NormWeights& weights, Count rows);
  Tensor body();
  Tensor head(Tensor x);
  void rotate_both(Tensor& q, Tensor& k);
  Tensor turn(Tensor x);
  Tensor windowed_attend(Tensor q, Tensor k, Tensor v, Count window);

  Style style_;
  std::vector<LayerWeights> layers_;
  int embedding_ = -1;
  NormWeights final_norm_;
  Rotary rotary_;

 private:
  Style style_of_family() const;
  LayerWeights layer_weights(const Layer& layer) const;
  Tensor sequential_block(Tensor x, const LayerWeights& layer);
  Tensor post_norm_block(Tensor x, const LayerWeights& layer);
  Tensor parallel_block(Tensor x, const LayerWeights& layer);
};

}  // namespace rightsize::memory::tape
