#include "families/gpt_sizes.h"

namespace rightsize::model {
namespace {

const FieldNames kWidth = {"n_embd", "hidden_size"};
const FieldNames kDepth = {"n_layer", "num_hidden_layers"};
const FieldNames kHeadCount = {"n_head", "num_attention_heads"};

}  // namespace

void read_gpt_sizes(const Config& config, ModelShape& shape, int heads, std::int64_t context, const char* activation) {
  shape.kind = ModelKind::kDecoder;
  shape.layers = config.layers(kDepth);
  shape.hidden = config.hidden(kWidth);
  shape.heads = shape.kv_heads = config.count(kHeadCount, heads, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, kWidth, shape.heads, kHeadCount);
  shape.intermediate = config.size("n_inner", 4 * shape.hidden, kWidestMlp);
  shape.vocabulary = config.size("vocab_size", 50'257, kLargestVocabulary);
  shape.context = config.size({"n_positions", "max_position_embeddings"}, context, kLongestContext);
  shape.activation = config.activation("activation_function", activation);
  shape.dropout = config.dropout("resid_pdrop", 0.1);
  shape.attention_dropout = config.dropout("attn_pdrop", 0.1);
}

}  // namespace rightsize::model
