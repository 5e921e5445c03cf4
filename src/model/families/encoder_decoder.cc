// T5, Whisper and BART: an encoder, and a decoder that also attends to its output.
#include "model/families/families.h"
#include "model/inventory.h"

namespace rightsize::model {
namespace {

struct T5Layout {
  std::int64_t inner;  // heads * d_kv, which need not be d_model
  std::int64_t buckets;
  bool bias_in_every_layer;  // umt5; T5 itself has one table for all layers, held by the first
};

void add_t5_attention(Inventory& inventory, const ModelShape& shape, const T5Layout& layout, const std::string& name) {
  for (const char* part : {"q", "k", "v"}) {
    inventory.linear(name + "." + part, WeightRole::kAttention, layout.inner, shape.hidden, false);
  }
  inventory.linear(name + ".o", WeightRole::kAttention, shape.hidden, layout.inner, false);
}

void add_t5_mlp(Inventory& inventory, const ModelShape& shape) {
  const char* first = shape.gated_mlp ? "DenseReluDense.wi_0" : "DenseReluDense.wi";
  inventory.linear(first, WeightRole::kMlp, shape.intermediate, shape.hidden, false);
  if (shape.gated_mlp)
    inventory.linear("DenseReluDense.wi_1", WeightRole::kMlp, shape.intermediate, shape.hidden, false);
  inventory.linear("DenseReluDense.wo", WeightRole::kMlp, shape.hidden, shape.intermediate, false);
}

void add_t5_stack(Inventory& inventory, const ModelShape& shape, const T5Layout& layout, int layers, bool decoder) {
  const std::string prefix = decoder ? "decoder." : "encoder.";
  // The first layer differs by its table of position biases.
  const std::int64_t first_run = layout.bias_in_every_layer ? layers : 1;
  for (std::int64_t run : {first_run, layers - first_run}) {
    const bool with_table = layout.bias_in_every_layer || run == first_run;
    inventory.begin_block(run);
    add_t5_attention(inventory, shape, layout, prefix + "SelfAttention");
    if (with_table) {
      inventory.embedding(prefix + "relative_attention_bias", WeightRole::kPositionEmbedding, layout.buckets,
                          shape.heads);
    }
    inventory.norm(prefix + "SelfAttention.layer_norm", shape.hidden, false);
    if (decoder) {
      add_t5_attention(inventory, shape, layout, prefix + "EncDecAttention");
      inventory.norm(prefix + "EncDecAttention.layer_norm", shape.hidden, false);
    }
    add_t5_mlp(inventory, shape);
    inventory.norm(prefix + "ff.layer_norm", shape.hidden, false);
    inventory.end_block();
    if (layout.bias_in_every_layer || layers == 1) break;
  }
  inventory.norm(prefix + "final_layer_norm", shape.hidden, false);
}

// "relu", "gated-gelu": the part before the dash says that there is a gate. gated-gelu means gelu_new.
void read_t5_activation(const Config& config, ModelShape& shape, const char* fallback) {
  std::string text = config.json().get_string("feed_forward_proj").value_or(fallback);
  shape.gated_mlp = text.starts_with("gated-");
  std::string name = shape.gated_mlp ? text.substr(6) : text;
  if (name == "relu") {
    shape.activation = Activation::kRelu;
  } else if (name == "gelu") {
    shape.activation = shape.gated_mlp ? Activation::kGeluNew : Activation::kGelu;
  } else if (name == "silu") {
    shape.activation = Activation::kSilu;
  } else {
    config.json().fail_at("feed_forward_proj",
                          "'feed_forward_proj' must be relu, gelu, silu or one of them after 'gated-'");
  }
}

}  // namespace

void read_t5(const Config& config, ModelShape& shape) {
  const bool multilingual = shape.family != "t5";  // mt5, umt5: other defaults
  shape.kind = ModelKind::kEncoderDecoder;
  shape.encoder_layers = config.layers({"num_layers", "num_hidden_layers"});
  shape.layers = config.count("num_decoder_layers", shape.encoder_layers);
  shape.hidden = config.hidden({"d_model", "hidden_size"});
  shape.heads = shape.kv_heads =
      config.count({"num_heads", "num_attention_heads"}, multilingual ? 6 : 8, 1, kMostHeads);
  shape.head_dim = config.count({"d_kv", "head_dim"}, 64, 1, kWidestHead);
  shape.intermediate = config.size("d_ff", multilingual ? 1'024 : 2'048, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", multilingual ? 250'112 : 32'128, kLargestVocabulary);
  shape.context = config.size("n_positions", 512, kLongestContext);
  shape.dropout = shape.attention_dropout = config.dropout("dropout_rate", 0.1);
  shape.positions = Positions::kRelative;
  read_t5_activation(config, shape, multilingual ? "gated-gelu" : "relu");
  shape.tied_embeddings = config.flag("tie_word_embeddings", shape.family == "t5");

  T5Layout layout{};
  layout.inner = std::int64_t{shape.heads} * shape.head_dim;
  layout.buckets = config.size("relative_attention_num_buckets", 32);
  layout.bias_in_every_layer = shape.family == "umt5";
  const Head head = config.head(Head::kConditionalGeneration);
  Inventory inventory(shape.weights);
  inventory.embedding("shared", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  add_t5_stack(inventory, shape, layout, shape.encoder_layers, false);
  if (head == Head::kEncoder) {
    shape.kind = ModelKind::kEncoder;
    shape.layers = shape.encoder_layers;
    shape.encoder_layers = 0;
    return;
  }
  add_t5_stack(inventory, shape, layout, shape.layers, true);
  const bool generates = head == Head::kConditionalGeneration || head == Head::kCausalLm;
  if (generates && !shape.tied_embeddings) {
    inventory.linear("lm_head", WeightRole::kHead, shape.vocabulary, shape.hidden, false);
  }
}

namespace {

// Whisper and BART layers are alike but for the bias of k, which Whisper leaves out.
struct SpeechOrTextLayout {
  bool key_bias;
  std::int64_t encoder_intermediate, decoder_intermediate;
};

void add_bart_attention(Inventory& inventory, const ModelShape& shape, const std::string& name, bool key_bias) {
  const std::int64_t width = shape.hidden;
  inventory.linear(name + ".k_proj", WeightRole::kAttention, width, width, key_bias);
  inventory.linear(name + ".v_proj", WeightRole::kAttention, width, width, true);
  inventory.linear(name + ".q_proj", WeightRole::kAttention, width, width, true);
  inventory.linear(name + ".out_proj", WeightRole::kAttention, width, width, true);
  inventory.norm(name + "_layer_norm", width, true);
}

void add_bart_layers(Inventory& inventory, const ModelShape& shape, const SpeechOrTextLayout& layout, bool decoder) {
  const std::string prefix = decoder ? "decoder." : "encoder.";
  const std::int64_t intermediate = decoder ? layout.decoder_intermediate : layout.encoder_intermediate;
  inventory.begin_block(decoder ? shape.layers : shape.encoder_layers);
  add_bart_attention(inventory, shape, prefix + "self_attn", layout.key_bias);
  if (decoder) add_bart_attention(inventory, shape, prefix + "encoder_attn", layout.key_bias);
  inventory.linear(prefix + "fc1", WeightRole::kMlp, intermediate, shape.hidden, true);
  inventory.linear(prefix + "fc2", WeightRole::kMlp, shape.hidden, intermediate, true);
  inventory.norm(prefix + "final_layer_norm", shape.hidden, true);
  inventory.end_block();
}

SpeechOrTextLayout read_bart_sizes(const Config& config, ModelShape& shape, int heads, std::int64_t ffn) {
  shape.kind = ModelKind::kEncoderDecoder;
  shape.encoder_layers = config.layers({"encoder_layers", "num_hidden_layers"});
  shape.layers = config.layers("decoder_layers");
  shape.hidden = config.hidden({"d_model", "hidden_size"});
  shape.heads = shape.kv_heads = config.count({"decoder_attention_heads", "num_attention_heads"}, heads, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, {"d_model", "hidden_size"}, shape.heads, "decoder_attention_heads");
  int encoder_heads = config.count("encoder_attention_heads", shape.heads, 1, kMostHeads);
  config.divide(shape.hidden, {"d_model", "hidden_size"}, encoder_heads, "encoder_attention_heads");
  shape.activation = config.activation("activation_function", "gelu");
  shape.attention_dropout = config.dropout("attention_dropout", 0.0);
  shape.norm = Norm::kLayer;
  shape.positions = Positions::kLearned;
  shape.tied_embeddings = config.flag("tie_word_embeddings", true);
  SpeechOrTextLayout layout{};
  layout.encoder_intermediate = config.size("encoder_ffn_dim", ffn, kWidestMlp);
  layout.decoder_intermediate = config.size("decoder_ffn_dim", ffn, kWidestMlp);
  shape.intermediate = layout.decoder_intermediate;
  return layout;
}

// Convolutions over time have one axis: kernel columns, not its square.
void add_audio_conv(Inventory& inventory, const char* name, std::int64_t outputs, std::int64_t inputs, int stride) {
  Weight weight;
  weight.name = name;
  weight.role = WeightRole::kConv;
  weight.rows = outputs;
  weight.kernel = 3;
  weight.cols = inputs * weight.kernel;
  weight.has_bias = true;
  weight.stride = stride;
  inventory.add(std::move(weight));
}

}  // namespace

void read_whisper(const Config& config, ModelShape& shape) {
  SpeechOrTextLayout layout = read_bart_sizes(config, shape, 6, 1'536);
  layout.key_bias = false;
  shape.dropout = config.dropout("dropout", 0.0);
  shape.vocabulary = config.size("vocab_size", 51'865, kLargestVocabulary);
  shape.context = config.size("max_target_positions", 448, kLongestContext);
  shape.encoder_context = config.size("max_source_positions", 1'500, kLongestContext);
  shape.channels = config.count("num_mel_bins", 80, 1, kWidest);

  Inventory inventory(shape.weights);
  add_audio_conv(inventory, "encoder.conv1", shape.hidden, shape.channels, 1);
  add_audio_conv(inventory, "encoder.conv2", shape.hidden, shape.hidden, 2);
  inventory.embedding("encoder.embed_positions", WeightRole::kPositionEmbedding, shape.encoder_context, shape.hidden);
  add_bart_layers(inventory, shape, layout, false);
  inventory.norm("encoder.layer_norm", shape.hidden, true);
  inventory.embedding("decoder.embed_tokens", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  inventory.embedding("decoder.embed_positions", WeightRole::kPositionEmbedding, shape.context, shape.hidden);
  add_bart_layers(inventory, shape, layout, true);
  inventory.norm("decoder.layer_norm", shape.hidden, true);
  if (config.head(Head::kConditionalGeneration) != Head::kBase && !shape.tied_embeddings) {
    inventory.linear("proj_out", WeightRole::kHead, shape.vocabulary, shape.hidden, false);
  }
}

void read_bart(const Config& config, ModelShape& shape) {
  SpeechOrTextLayout layout = read_bart_sizes(config, shape, 16, 4'096);
  layout.key_bias = true;
  shape.dropout = config.dropout("dropout", 0.1);
  shape.vocabulary = config.size("vocab_size", 50'265, kLargestVocabulary);
  shape.context = config.size("max_position_embeddings", 1'024, kLongestContext);

  Inventory inventory(shape.weights);
  inventory.embedding("shared", WeightRole::kTokenEmbedding, shape.vocabulary, shape.hidden);
  for (bool decoder : {false, true}) {
    const std::string prefix = decoder ? "decoder." : "encoder.";
    inventory.embedding(prefix + "embed_positions", WeightRole::kPositionEmbedding, shape.context + 2, shape.hidden);
    add_bart_layers(inventory, shape, layout, decoder);
    inventory.norm(prefix + "layernorm_embedding", shape.hidden, true);
  }
  const Head head = config.head(Head::kConditionalGeneration);
  if (head == Head::kSequenceClassification) {
    shape.labels = config.labels();
    inventory.linear("classification_head.dense", WeightRole::kOther, shape.hidden, shape.hidden, true);
    inventory.linear("classification_head.out_proj", WeightRole::kHead, shape.labels, shape.hidden, true);
  } else if (head == Head::kConditionalGeneration && !shape.tied_embeddings) {
    inventory.linear("lm_head", WeightRole::kHead, shape.vocabulary, shape.hidden, false);
  }
}

}  // namespace rightsize::model
