// A model's operations in eager PyTorch: each is run as it is written, one kernel or several.
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

// What stands outside of the layers: embeddings, last norms, logits and loss. Without gradients the logits and what
// follows them are left out: inference computes as many as it needs.
EagerCost eager_ends(const GpuSpeed& gpu, const EagerConstants& constants, const EagerMode& mode, const ModelWork& work,
                     const EagerBatch& batch);

// GPU time of one direction.
Seconds device_time(const EagerCost::Direction& direction, const GpuSpeed& gpu, const EagerConstants& constants,
                    double bandwidth_share);

}  // namespace rightsize::perf
