// The operations of a transformer layer and of the head in eager PyTorch.
#pragma once

#include "perf/model_work.h"
#include "perf/stacks/eager_ops.h"

namespace rightsize::perf {

enum class LayerKind { kDense, kExperts, kEncoder, kCrossDecoder };

struct EagerBatch {
  double batch = 1, sequence = 1;
  double tokens() const { return batch * sequence; }
};

EagerCost eager_layer(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode,
                      const ModelWork& work, LayerKind kind, const EagerBatch& batch);

// Final norm, logits, loss, embedding and its gradient, while training.
EagerCost eager_head(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
                     const EagerBatch& batch);

// GPU time of one direction.
Seconds device_time(const EagerCost::Direction& direction, const GpuSpeed& gpu, const EagerConstants& constants,
                    double bandwidth_share);

// A model's layers by kind, at most two kinds.
struct LayerCount {
  LayerKind kind = LayerKind::kDense;
  double count = 0;
};
struct LayerCounts {
  LayerCount first, second;
};
LayerCounts layers_of(const ModelWork& work);

}  // namespace rightsize::perf
