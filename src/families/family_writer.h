// The base of the classes that write a family's forward pass: the shape being filled, its weights, the tracer, and the
// common parts of transformers.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "families/config.h"
#include "families/families.h"
#include "model/inventory.h"
#include "model/model_shape.h"
#include "model/tracer.h"

namespace rightsize::model {

// The weights of one transformer layer. A family uses those it has.
struct LayerWeights {
  WeightRef first;  // in the framework's order
  WeightRef norm1, norm2, q, k, v, qkv, o, q_norm, k_norm, gate, up, down;
};

// One weight of a layer, by the name the framework gives it. A part without a name is left out.
struct LayerPart {
  WeightRef LayerWeights::*weight;
  std::string name;
  bool bias = true;
};

struct HeadValues {
  Value q, k, v;
};

// The output layer according to the class name.
struct DecoderHead {
  WeightRef weight, bias;
  bool language = true;  // false: a classifier
};

class ForwardWriter {
 protected:
  explicit ForwardWriter(ModelShape& shape) : shape_(shape), inventory_(shape.weights), f_(shape) {}

  WeightRef tokens(const char* name) {
    return inventory_.embedding(name, WeightRole::kTokenEmbedding, shape_.vocabulary, shape_.hidden);
  }
  WeightRef positions(const char* name, std::int64_t rows) {
    return inventory_.embedding(name, WeightRole::kPositionEmbedding, rows, shape_.hidden);
  }

  // Declares these weights in this order; sizes follow from the shape.
  void declare(LayerWeights& weights, std::initializer_list<LayerPart> parts);
  // The same as a block that occurs `count` times.
  LayerWeights declare_layers(int count, std::initializer_list<LayerPart> parts);

  Value layer_norm(WeightRef weight, Value x, const Size& rows = kTokens) {
    return f_.norm(NormKind::kLayer, weight, std::move(x), rows);
  }

  // Passes `x` through every layer of the model. `block` writes one layer, `first` is the layer's first weight.
  template <class Block>
  Value run_layers(Value x, WeightRef first, Block&& block, const Size& rows = kTokens) {
    const std::int32_t stack = f_.add_stack();
    const std::int32_t program =
        f_.program({rows.times(shape_.hidden)}, [&](std::span<Value> in) { return block(in[0]); });
    f_.add_layers(stack, first, shape_.layers, program);
    return f_.layers(stack, std::move(x));
  }

  // Attention of this shape over the job's own tokens: causal, or over all tokens without a cache.
  AttentionOp attention_op() const;
  AttentionOp encoder_attention() const;
  // Scores that `program` writes out, unless the job runs a fused kernel.
  AttentionOp written_attention(std::int32_t program) const;

  // q of `x`, k and v of `source`, each with its heads first.
  HeadValues split_qkv(const LayerWeights& w, const Value& x, const Value& source);
  HeadValues split_qkv(const LayerWeights& w, const Value& x) { return split_qkv(w, x, x); }
  // Attention with its output matrix.
  Value attend(const LayerWeights& w, const Value& x, const AttentionOp& how) {
    HeadValues heads = split_qkv(w, x);
    return f_.linear(w.o, f_.attention(heads.q, heads.k, heads.v, how));
  }

  // Rotates rotary_dim elements of each head of q and k and joins them with the rest, at once or after both are
  // rotated.
  void rotate_parts(Value& q, Value& k, const RotaryTables& tables, bool join_each = false);

  // The size of q for every token, and of k or v.
  Size q_size() const { return kTokens.split_into(shape_.heads, shape_.head_dim); }
  Size kv_size() const { return kTokens.split_into(shape_.kv_heads, shape_.head_dim); }

  void finish(Value x) { shape_.forward = std::make_shared<const Forward>(f_.finish(std::move(x))); }

  ModelShape& shape_;
  Inventory inventory_;
  Tracer f_;
};

class FamilyWriter : protected ForwardWriter {
 public:
  FamilyWriter(const Config& config, ModelShape& shape) : ForwardWriter(shape), config_(config) {}

 protected:
  // Call it after everything else is declared. `bias` is that of a language-model head.
  DecoderHead declare_head(std::int64_t width, bool bias = false);
  DecoderHead declare_head() { return declare_head(shape_.hidden); }
  // The loss over the output of the last layer. `table` is the token embedding, for tied heads.
  Value decoder_loss(const DecoderHead& head, WeightRef table, Value x, bool scaled_logits = false);
  // The loss on the last pipeline stage, and the end of the pass.
  void finish_decoder(Value x, const DecoderHead& head, WeightRef table, bool scaled_logits = false);

  const Config& config_;
};

}  // namespace rightsize::model
