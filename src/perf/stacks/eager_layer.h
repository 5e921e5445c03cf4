// A model's operations in eager PyTorch: each one runs as one or more kernels.
#pragma once

#include <vector>

#include "perf/model_work.h"
#include "perf/stacks/eager_ops.h"

namespace rightsize::perf {

struct EagerBatch {
  double batch = 1, sequence = 1;
  double tokens() const { return batch * sequence; }
};

// One layer of this kind.
EagerCost eager_layer(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode,
                      const ModelWork& work, const LayerWork& layer, const EagerBatch& batch);

// Operations outside the layers: embeddings, last norms, logits and loss. Without gradients the logits and the loss are
// left out, because inference computes only the logits it needs.
EagerCost eager_ends(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
                     const EagerBatch& batch);

// GPU time in one direction.
Seconds device_time(const EagerCost::Direction& direction, const GpuSpeed& gpu, const EagerConstants& constants,
                    double bandwidth_share);

}  // namespace rightsize::perf
