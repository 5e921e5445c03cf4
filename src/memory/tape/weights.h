// The parameters of a model on one GPU, made from its inventory in the framework's order: what each linear layer, norm
// and table is called there, builders ask for here.
#pragma once

#include <string_view>
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
struct NormWeights {
  int weight = -1, bias = -1;
};

// One layer: the weights [begin, end) of the inventory in their repeat-th occurrence.
struct Layer {
  std::size_t begin = 0, end = 0;
  int repeat = 0;
  int index = 0;  // among all layers this GPU has
};

// What the optimizer has to know of a parameter.
struct ParameterInfo {
  Count elements = 0;  // on this GPU, before sharding
  Count rows = 0, cols = 1;
  model::WeightRole role = model::WeightRole::kOther;
  int layer = -1;
  bool adapter = false;
  bool shared = false;  // used twice: tied embeddings
};

class Weights {
 public:
  Weights(Recorder& recorder, const model::ModelShape& model, const Plan& plan);

  // Layers in order; with a prefix those whose first weight's name begins with it ("decoder.").
  std::vector<Layer> layers(std::string_view prefix = "") const;

  // By the name in the inventory; empty when the model has no such weight. Without a layer: outside of all blocks.
  Linear linear(const Layer& layer, std::string_view name) const;
  Linear linear(std::string_view name) const;
  NormWeights norm(const Layer& layer, std::string_view name) const;
  NormWeights norm(std::string_view name) const;
  // By place in the inventory, for names that occur more than once.
  Linear linear_at(std::size_t index) const { return linear_at(index, 0); }
  NormWeights norm_at(std::size_t index) const {
    const Linear found = linear_at(index, 0);
    return {found.weight, found.bias};
  }
  bool has(const Layer& layer, std::string_view name) const;
  bool has(std::string_view name) const;

  const std::vector<ParameterInfo>& infos() const { return infos_; }  // by leaf
  Count sharded(Count elements) const { return (elements + plan_.shards - 1) / plan_.shards; }

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
  // How often the weights from `begin` on occur on this GPU; takes layers off the ones left to place.
  std::int64_t repeats_here(std::size_t begin, int& layers_left) const;
  void add_block(std::size_t begin, std::size_t end, std::int64_t repeats);
  void add_adapter(std::size_t index, int repeat, int layer);
  std::size_t find(std::size_t begin, std::size_t end, std::string_view name) const;
  Linear linear_at(std::size_t index, int repeat) const;

  Recorder& recorder_;
  const model::ModelShape& model_;
  const Plan& plan_;
  std::vector<Entry> entries_;  // beside model_.weights
  std::vector<Layer> layers_;
  std::vector<ParameterInfo> infos_;
  std::vector<int> adapters_;  // by leaf of the weight: its adapter's first leaf, or -1
};

}  // namespace rightsize::memory::tape
