#include "families/family_writer.h"

namespace rightsize::model {

void ForwardWriter::declare(LayerWeights& weights, std::initializer_list<LayerPart> parts) {
  using L = LayerWeights;
  const std::int64_t hidden = shape_.hidden, inner = shape_.intermediate;
  const std::int64_t q = std::int64_t{shape_.heads} * shape_.head_dim;
  const std::int64_t kv = std::int64_t{shape_.kv_heads} * shape_.head_dim;
  const auto declare_one = [&](const LayerPart& part) {
    const auto& which = part.weight;
    if (which == &L::norm1 || which == &L::norm2) return inventory_.norm(part.name, hidden, part.bias);
    if (which == &L::q_norm) return inventory_.norm(part.name, q, part.bias);
    if (which == &L::k_norm) return inventory_.norm(part.name, kv, part.bias);
    if (which == &L::k || which == &L::v) return inventory_.keys(part.name, kv, hidden, part.bias, shape_.head_dim);
    if (which == &L::o) return inventory_.output(part.name, WeightRole::kAttention, hidden, q, part.bias);
    if (which == &L::down) return inventory_.output(part.name, WeightRole::kMlp, hidden, inner, part.bias);
    if (which == &L::q || which == &L::qkv) {
      const std::int64_t outputs = which == &L::q ? q : q + 2 * kv;
      return inventory_.linear(part.name, WeightRole::kAttention, outputs, hidden, part.bias);
    }
    return inventory_.linear(part.name, WeightRole::kMlp, inner, hidden, part.bias);
  };
  for (const LayerPart& part : parts) {
    if (part.name.empty()) continue;
    weights.*part.weight = declare_one(part);
    if (!weights.first) weights.first = weights.*part.weight;
  }
}

LayerWeights ForwardWriter::declare_layers(int count, std::initializer_list<LayerPart> parts) {
  LayerWeights weights;
  inventory_.begin_block(count);
  declare(weights, parts);
  inventory_.end_block();
  return weights;
}

AttentionOp ForwardWriter::attention_op() const {
  AttentionOp attention;
  attention.heads = shape_.heads;
  attention.kv_heads = shape_.kv_heads;
  attention.head_dim = attention.value_dim = shape_.head_dim;
  attention.dropout = shape_.attention_dropout;
  return attention;
}

AttentionOp ForwardWriter::encoder_attention() const {
  AttentionOp attention = attention_op();
  attention.causal = attention.cached = false;
  return attention;
}

AttentionOp ForwardWriter::written_attention(std::int32_t program) const {
  AttentionOp attention = attention_op();
  attention.kernel = AttentionOp::Kernel::kWritten;
  attention.written = program;
  return attention;
}

HeadValues ForwardWriter::split_qkv(const LayerWeights& w, const Value& x, const Value& source) {
  HeadValues heads;
  heads.q = f_.split_heads(f_.linear(w.q, x));
  heads.k = f_.split_heads(f_.linear(w.k, source));
  heads.v = f_.split_heads(f_.linear(w.v, source));
  return heads;
}

void ForwardWriter::rotate_parts(Value& q, Value& k, const RotaryTables& tables, bool join_each) {
  auto parts = [&](const Value& x, std::int64_t heads) {
    Value turning = f_.slice(x, kTokens.split_into(heads, shape_.rotary_dim));
    Value passing = f_.slice(x, kTokens.split_into(heads, shape_.head_dim - shape_.rotary_dim));
    return std::pair(std::move(turning), std::move(passing));
  };
  auto [q_turning, q_passing] = parts(q, shape_.heads);
  auto [k_turning, k_passing] = parts(k, shape_.kv_heads);
  Value new_q, new_k;
  if (join_each) {
    new_q = f_.cat(f_.rotate(q_turning, tables), q_passing);
    new_k = f_.cat(f_.rotate(k_turning, tables), k_passing);
  } else {
    new_q = f_.rotate(q_turning, tables);
    new_k = f_.rotate(k_turning, tables);
    new_q = f_.cat(std::move(new_q), q_passing);
    new_k = f_.cat(std::move(new_k), k_passing);
  }
  q = std::move(new_q);
  k = std::move(new_k);
}

DecoderHead FamilyWriter::declare_head(std::int64_t width, bool bias) {
  DecoderHead head;
  const Head kind = config_.head(Head::kCausalLm);
  const bool labels = kind == Head::kSequenceClassification || kind == Head::kTokenClassification;
  if (kind == Head::kBase) return head;
  if (labels || kind == Head::kQuestionAnswering) {
    shape_.labels = labels ? config_.labels() : 2;
    head.weight = inventory_.linear(labels ? "score" : "qa_outputs", WeightRole::kHead, shape_.labels, width,
                                    kind != Head::kSequenceClassification);
    head.language = false;
  } else if (!shape_.tied_embeddings) {
    head.weight = inventory_.logits("lm_head", shape_.vocabulary, width, bias);
  } else if (bias) {
    head.bias = inventory_.logits_bias("lm_head.bias", shape_.vocabulary);
  }
  return head;
}

Value FamilyWriter::decoder_loss(const DecoderHead& head, WeightRef table, Value given, bool scaled_logits) {
  Value x = f_.gather_rows(std::move(given));
  if (head.language)
    return f_.language_loss(std::move(x), {head.weight ? head.weight : table, head.bias, true, scaled_logits});
  f_.head();
  Value logits = f_.linear(head.weight, std::move(x));
  Value pooled = f_.index(std::move(logits), kSamples.times(shape_.labels));
  return f_.class_loss(f_.cast(std::move(pooled), Width::kSingle), kSamples);
}

void FamilyWriter::finish_decoder(Value x, const DecoderHead& head, WeightRef table, bool scaled_logits) {
  finish(f_.last_stage(std::move(x),
                       [&](Value last) { return decoder_loss(head, table, std::move(last), scaled_logits); }));
}

}  // namespace rightsize::model
