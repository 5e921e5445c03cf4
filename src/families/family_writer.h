// Base of the classes that write a family's forward pass by hand: the configuration, the shape being filled, its
// weights and the tracer.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "families/config.h"
#include "model/inventory.h"
#include "model/model_shape.h"
#include "model/tracer.h"

namespace rightsize::model {

class FamilyWriter {
 protected:
  FamilyWriter(const Config& config, ModelShape& shape)
      : config_(config), shape_(shape), inventory_(shape.weights), f_(shape) {}

  Value layer_norm(WeightRef weight, Value x) { return f_.norm(NormKind::kLayer, weight, std::move(x), kTokens); }

  // Passes `x` through every layer of the model. `block` writes one layer, `first` is the layer's first weight.
  template <class Block>
  Value run_layers(Value x, WeightRef first, Block&& block) {
    const std::int32_t stack = f_.add_stack();
    const std::int32_t program =
        f_.program({kTokens.times(shape_.hidden)}, [&](std::span<Value> in) { return block(in[0]); });
    f_.add_layers(stack, first, shape_.layers, program);
    return f_.layers(stack, std::move(x));
  }

  void finish(Value x) { shape_.forward = std::make_shared<const Forward>(f_.finish(std::move(x))); }

  const Config& config_;
  ModelShape& shape_;
  Inventory inventory_;
  Tracer f_;
};

}  // namespace rightsize::model
