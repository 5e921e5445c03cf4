// The parameters of a model on one GPU, created from its inventory in the framework's order.
#pragma once

#include <algorithm>
#include <vector>

#include "memory/tape/plan.h"
#include "memory/tape/recorder.h"
#include "model/model_shape.h"

namespace rightsize::memory::tape {

// Leaves of the recorder; -1: there is none.
struct Linear {
  int weight = -1, bias = -1;
  int adapter_a = -1, adapter_b = -1;
  Count outputs = 0;
  bool quantized = false;

  explicit operator bool() const { return weight >= 0; }
};

// One layer: the weights [begin, end) of the inventory in their repeat-th occurrence.
struct GpuLayer {
  std::size_t begin = 0, end = 0;
  int repeat = 0;
  int index = 0;  // among all layers this GPU has
};

// The properties of a parameter that the optimizer needs.
struct ParameterInfo {
  Count elements = 0;  // on this GPU, before sharding
  Count rows = 0, cols = 1;
  model::WeightRole role = model::WeightRole::kOther;
  int layer = -1;
  bool adapter = false;
  bool shared = false;  // used twice: tied embeddings
};

class GpuWeights {
 public:
  GpuWeights(Recorder& recorder, const model::ModelShape& model, const GpuPlan& plan);

  // The layers on this GPU in order, those of an encoder before those of its decoder.
  const std::vector<GpuLayer>& layers() const { return layers_; }

  // By index in the inventory, in the repeat-th occurrence of its block; empty if it is on another stage.
  Linear linear_at(std::size_t index, int repeat) const;

  const std::vector<ParameterInfo>& infos() const { return infos_; }  // by leaf
  // The share of a parameter that this GPU keeps. Experts are already divided over some of the GPUs of a stage, so only
  // the others hold copies of them.
  Count sharded(const ParameterInfo& info) const { return sharded(info, info.elements); }
  Count sharded(const ParameterInfo& info, Count elements) const {
    const bool divided = info.role == model::WeightRole::kExpert;
    const Count copies =
        divided ? std::max(1, plan_.shards * plan_.tensor / (plan_.expert * plan_.expert_tensor)) : plan_.shards;
    return (elements + copies - 1) / copies;
  }

 private:
  struct Entry {
    int first_leaf = -1;  // of the first occurrence
    int leaves_per_repeat = 0;
  };
  struct Local {
    Count rows = 0, cols = 1, biases = 0, copies = 1;
    Count elements() const { return rows * cols * copies; }
  };

  Local local(const model::Weight& weight) const;
  void add_weight(const model::Weight& weight, int layer);
  void add_leaf(Count elements, Count stored_bytes, const ParameterInfo& info, bool trainable);
  void add_adapters();
  Count adapter_rank(const model::Weight& weight) const;
  bool is_here(std::size_t index, std::size_t first_block, std::size_t last_block) const;
  // The number of occurrences of the block at `begin` on this GPU. Subtracts what it counts from `skipped` and
  // layers_left.
  std::int64_t repeats_here(std::size_t begin, int& skipped, int& layers_left) const;
  void add_block(std::size_t begin, std::size_t end, std::int64_t repeats);
  void add_adapter(std::size_t index, int repeat, int layer);

  Recorder& recorder_;
  const model::ModelShape& model_;
  const GpuPlan& plan_;
  std::vector<Entry> entries_;  // parallel to model_.weights
  std::vector<GpuLayer> layers_;
  std::vector<ParameterInfo> infos_;
  std::vector<int> adapters_;  // by leaf of the weight: its adapter's first leaf, or -1
};

}  // namespace rightsize::memory::tape
