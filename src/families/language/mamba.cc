// Mamba-2, and Nemotron-H, which adds a few layers of attention, MLPs or experts. Each layer is one of these after one
// norm.
#include <algorithm>
#include <map>
#include <string_view>

#include "families/decoder.h"

namespace rightsize::model {
namespace {

enum class HybridLayer : char { kMamba = 'M', kAttention = '*', kMlp = '-', kExperts = 'E' };

class Hybrid : protected FamilyWriter {
 public:
  Hybrid(const Config& config, ModelShape& shape, Mamba2 mamba)
      : FamilyWriter(config, shape), mamba_(std::move(mamba)) {}

  // Neighbours of one kind are one block.
  void write(std::string_view pattern) {
    const WeightRef table = tokens("embeddings");
    std::vector<std::pair<Layer, int>> runs;
    for (std::size_t i = 0; i < pattern.size();) {
      std::size_t end = i;
      while (end < pattern.size() && pattern[end] == pattern[i]) ++end;
      runs.emplace_back(declare_run(static_cast<HybridLayer>(pattern[i]), static_cast<int>(end - i)),
                        static_cast<int>(end - i));
      i = end;
    }
    const WeightRef last = inventory_.norm("norm_f", shape_.hidden, false);
    const DecoderHead head = declare_head();

    Value x = f_.first_stage([&] {
      Value e = f_.embedding(kResidual, table, shape_.hidden);
      f_.want_gradient(e);
      return e;
    });
    const std::int32_t stack = f_.add_stack();
    for (const auto& [layer, count] : runs) {
      const std::int32_t program = f_.program({kResidual.times(shape_.hidden)},
                                              [&, &one = layer](std::span<Value> in) { return block(in[0], one); });
      f_.add_layers(stack, layer.norm1, count, program);
    }
    x = f_.layers(stack, std::move(x));
    x = f_.last_stage(std::move(x), [&](Value y) {
      y = f_.norm(NormKind::kRms, last, std::move(y), kResidual);
      return decoder_loss(head, table, std::move(y));
    });
    f_.forward().exact = false;
    finish(std::move(x));
  }

 private:
  struct Layer : LayerWeights {
    HybridLayer kind = HybridLayer::kMamba;
    WeightRef router, experts_in, experts_out, latent_in, latent_out;
    RecurrentWeights mamba;
  };

  Layer declare_run(HybridLayer kind, int count) {
    Layer w;
    w.kind = kind;
    inventory_.begin_block(count);
    w.norm1 = inventory_.norm("norm", shape_.hidden, false);
    switch (kind) {
      case HybridLayer::kMamba:
        w.mamba = declare_mamba2(inventory_, mamba_, shape_.hidden);
        break;
      case HybridLayer::kAttention:
        declare_attention(w);
        break;
      case HybridLayer::kMlp:
        declare_mlp(w, "mixer", shape_.intermediate);
        break;
      case HybridLayer::kExperts:
        declare_experts(w);
        break;
    }
    inventory_.end_block();
    return w;
  }

  void declare_attention(Layer& w) {
    const bool bias = config_.flag("attention_bias", false);
    declare(w, {{&Layer::q, "mixer.q_proj", bias},
                {&Layer::k, "mixer.k_proj", bias},
                {&Layer::v, "mixer.v_proj", bias},
                {&Layer::o, "mixer.o_proj", bias}});
  }

  void declare_mlp(Layer& w, const std::string& name, std::int64_t inner) {
    const bool bias = config_.flag("mlp_bias", false);
    w.up = inventory_.linear(name + ".up_proj", WeightRole::kMlp, inner, shape_.hidden, bias);
    w.down = inventory_.output(name + ".down_proj", WeightRole::kMlp, shape_.hidden, inner, bias);
  }

  void declare_experts(Layer& w) {
    const Experts& e = *shape_.experts;
    const std::int64_t width = expert_width();
    w.router = inventory_.router("mixer.gate", e.count, shape_.hidden, false);
    w.experts_in = inventory_.experts("mixer.experts.up_proj", e.count, e.intermediate, width, false, Split::kColumns);
    w.experts_out = inventory_.experts("mixer.experts.down_proj", e.count, width, e.intermediate, false, Split::kRows);
    declare_mlp(w, "mixer.shared_experts", e.shared_intermediate);
    if (width == shape_.hidden) return;
    w.latent_in = inventory_.linear("mixer.fc1_latent_proj", WeightRole::kOther, width, shape_.hidden, false);
    w.latent_out = inventory_.linear("mixer.fc2_latent_proj", WeightRole::kOther, shape_.hidden, width, false);
  }

  std::int64_t expert_width() const { return config_.size("moe_latent_size", shape_.hidden); }

  Value block(Value x, const Layer& w) {
    Value residual = x;
    x = f_.norm(NormKind::kRms, w.norm1, std::move(x), kResidual);
    return f_.add(std::move(residual), mix(std::move(x), w));
  }

  Value mix(Value given, const Layer& w) {
    if (w.kind == HybridLayer::kMamba) return mamba2(f_, std::move(given), w.mamba, mamba_);
    Value x = f_.gather_rows(std::move(given));
    if (w.kind == HybridLayer::kMlp) return f_.scatter_rows(mlp(std::move(x), w));
    if (w.kind == HybridLayer::kExperts) return f_.scatter_rows(experts(std::move(x), w));
    HeadValues heads = split_qkv(w, x);
    return f_.scatter_rows(f_.linear(w.o, f_.attention(heads.q, heads.k, heads.v, attention_op())));
  }

  Value mlp(Value x, const Layer& w) {
    x = f_.activate(f_.linear(w.up, std::move(x)), shape_.activation);
    return f_.linear(w.down, std::move(x));
  }

  Value experts(Value x, const Layer& w) {
    ExpertsOp how;
    how.count = shape_.experts->count;
    how.per_token = shape_.experts->per_token;
    how.hidden = expert_width();
    how.intermediate = shape_.experts->intermediate;
    how.router = w.router;
    how.in = w.experts_in;
    how.out = w.experts_out;
    how.activation = shape_.activation;
    how.gated = false;
    Value routed = w.latent_in ? f_.linear(w.latent_in, x) : x;
    routed = f_.experts(std::move(routed), how);
    if (w.latent_out) routed = f_.linear(w.latent_out, std::move(routed));
    return f_.add(std::move(routed), mlp(std::move(x), w));
  }

  Mamba2 mamba_;
};

struct MambaNames {
  const char *heads, *head_dim, *state;
};

Mamba2 read_mamba2_layer(const Config& config, const MambaNames& names) {
  Mamba2 layer;
  layer.scan.heads = config.count(names.heads, 128, 1, kMostHeads);
  layer.scan.head_dim = config.count(names.head_dim, 64, 1, kWidestHead);
  layer.scan.groups = config.count({"n_groups", "mamba_n_groups"}, 8, 1, kMostHeads);
  layer.scan.state = config.count(names.state, 128, 1, kWidestHead);
  layer.scan.chunk = config.count({"chunk_size", "mamba_chunk_size"}, 256, 1, kLongestContext);
  layer.scan.conv_kernel = config.count({"conv_kernel", "mamba_d_conv"}, 4, 1, 1'024);
  layer.scan.conv_width = layer.inner() + 2 * layer.scan.groups * layer.scan.state;
  layer.bias = config.flag("use_bias", false);
  layer.conv_bias = config.flag({"use_conv_bias", "mamba_conv_bias"}, true);
  return layer;
}

void read_hybrid_basics(const Config& config, ModelShape& shape, std::int64_t vocabulary) {
  shape.kind = ModelKind::kDecoder;
  shape.vocabulary = config.size("vocab_size", vocabulary, kLargestVocabulary);
  shape.tied_embeddings = config.flag("tie_word_embeddings", false);
  shape.positions = Positions::kNone;
}

void read_mamba2(const Config& config, ModelShape& shape) {
  read_hybrid_basics(config, shape, 32'768);
  shape.layers = config.layers({"num_hidden_layers", "n_layer"});
  shape.hidden = config.hidden({"hidden_size", "d_model"});
  const Mamba2 layer = read_mamba2_layer(config, {"num_heads", "head_dim", "state_size"});
  shape.heads = shape.kv_heads = static_cast<int>(layer.scan.heads);
  shape.head_dim = static_cast<int>(layer.scan.head_dim);
  shape.intermediate = layer.inner();
  shape.context = config.size("max_position_embeddings", 1'048'576, kLongestContext);  // none in the model itself
  Hybrid(config, shape, layer).write(std::string(static_cast<std::size_t>(shape.layers), 'M'));
}

// One letter per layer. Newer files spell the kinds out.
std::string read_pattern(const Config& config) {
  static const std::map<std::string_view, char> kKinds = {{"mamba", 'M'},     {"linear_attention", 'M'},
                                                          {"attention", '*'}, {"full_attention", '*'},
                                                          {"mlp", '-'},       {"moe", 'E'}};
  std::string pattern = config.json().get_string("hybrid_override_pattern").value_or("");
  for (const std::string& kind :
       config.json().get_strings({"layers_block_type", "layer_types"}).value_or(std::vector<std::string>{})) {
    const auto found = kKinds.find(kind);
    pattern += found == kKinds.end() ? '?' : found->second;
  }
  if (pattern.empty()) return "ME*-";  // the default of NemotronHConfig
  if (pattern.find_first_not_of("M*-E") == std::string::npos) return pattern;
  config.json().fail_at(
      "hybrid_override_pattern",
      "'hybrid_override_pattern' says what each layer is: M (Mamba-2), * (attention), - (MLP), E (experts)");
  return "M";
}

void read_nemotron_h(const Config& config, ModelShape& shape) {
  read_hybrid_basics(config, shape, 131'072);
  const std::string pattern = read_pattern(config);
  shape.layers = static_cast<int>(pattern.size());
  shape.hidden = config.hidden("hidden_size");
  shape.heads = config.count("num_attention_heads", 32, 1, kMostHeads);
  shape.kv_heads = config.count("num_key_value_heads", shape.heads % 8 == 0 ? 8 : shape.heads, 1, kMostHeads);
  shape.head_dim = config.count({"head_dim", "attention_head_dim"}, 128, 1, kWidestHead);
  check_groups(config, shape, "num_attention_heads", "num_key_value_heads");
  shape.intermediate = config.size("intermediate_size", 21'504, kWidestMlp);
  shape.context = config.size("max_position_embeddings", 4'096, kLongestContext);
  shape.activation = config.activation("mlp_hidden_act", "relu2");
  if (pattern.find('E') != std::string::npos) {
    read_experts(config, {8, 2, {"n_routed_experts", "num_local_experts"}, 7'688, 7'688}, shape);
    shape.experts->dense_layers = static_cast<int>(std::ranges::count_if(pattern, [](char c) { return c != 'E'; }));
  }
  Hybrid(config, shape, read_mamba2_layer(config, {"mamba_num_heads", "mamba_head_dim", "ssm_state_size"}))
      .write(pattern);
}

}  // namespace

Families mamba() {
  return {
      {"mamba2", "Mamba-2: a recurrent state in place of attention", read_mamba2},
      {"nemotron_h", "Nemotron-H and Nemotron 3: Mamba-2 with a few layers of attention, MLPs or experts",
       read_nemotron_h},
  };
}

}  // namespace rightsize::model
