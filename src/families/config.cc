#include "families/config.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/suggest.h"

namespace rightsize::model {
namespace {

template <class T>
struct Named {
  std::string_view name;
  T value;
};

// gelu_new and gelu_fast are composed of elementwise operations; the others are one kernel. Activations of the same
// cost are mapped to one.
constexpr Named<Activation> kActivations[] = {
    {"silu", Activation::kSilu},
    {"swish", Activation::kSilu},
    {"swiglu", Activation::kSilu},
    {"gelu", Activation::kGelu},
    {"gelu_python", Activation::kGelu},
    {"gelu_10", Activation::kGelu},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"gelu_new", Activation::kGeluNew},
    {"gelu_fast", Activation::kGeluNew},
    {"gelu_python_tanh", Activation::kGeluNew},
    {"quick_gelu", Activation::kQuickGelu},
    {"relu", Activation::kRelu},
    {"relu2", Activation::kSquaredRelu},
    {"relu6", Activation::kRelu},
    {"tanh", Activation::kRelu},
};

// How class names end. If one ending contains another, the longer one comes first.
constexpr Named<Head> kHeads[] = {
    {"ForCausalLM", Head::kCausalLm},
    {"WithLMHeadModel", Head::kConditionalGeneration},
    {"LMHeadModel", Head::kCausalLm},
    {"ForMaskedLM", Head::kMaskedLm},
    {"ForPreTraining", Head::kPreTraining},
    {"ForNextSentencePrediction", Head::kNextSentence},
    {"ForSequenceClassification", Head::kSequenceClassification},
    {"ForTokenClassification", Head::kTokenClassification},
    {"ForQuestionAnswering", Head::kQuestionAnswering},
    {"ForMultipleChoice", Head::kMultipleChoice},
    {"ForImageClassification", Head::kImageClassification},
    {"ForConditionalGeneration", Head::kConditionalGeneration},
    {"EncoderModel", Head::kEncoder},
    {"Model", Head::kBase},
};

}  // namespace

std::int64_t Config::size(const FieldNames& names, std::int64_t fallback, std::int64_t max) const {
  return json_.get_int(names, 1, max).value_or(fallback);
}

int Config::count(const FieldNames& names, int fallback, int min, std::int64_t max) const {
  max = std::min<std::int64_t>(max, std::numeric_limits<int>::max());
  return static_cast<int>(json_.get_int(names, min, max).value_or(fallback));
}

bool Config::flag(const FieldNames& names, bool fallback) const { return json_.get_bool(names).value_or(fallback); }

double Config::number(const FieldNames& names, double fallback, double min, double max) const {
  return json_.get_number(names, min, max).value_or(fallback);
}

int Config::layers(const FieldNames& names) const {
  if (layers_) return count(names, *layers_);
  return static_cast<int>(json_.require_int(names, 1, kMostLayers));
}

std::int64_t Config::hidden(const FieldNames& names) const {
  return hidden_ ? size(names, *hidden_) : json_.require_int(names, 1, kWidest);
}

Activation Config::activation(const FieldNames& names, std::string_view fallback) const {
  std::string name = json_.get_string(names).value_or(std::string(fallback));
  std::vector<std::string> known;
  for (const auto& [spelling, activation] : kActivations) {
    if (spelling == name) return activation;
    known.emplace_back(spelling);
  }
  json_.fail_at(names, fmt::format("unknown activation '{}'", name.substr(0, 64)), did_you_mean(name, known));
  return Activation::kGelu;
}

Head Config::head(Head fallback) const {
  std::optional<std::vector<std::string>> classes = json_.get_strings("architectures");
  if (!classes || classes->empty()) return fallback;
  for (const auto& [ending, head] : kHeads) {
    if (classes->front().ends_with(ending)) return head;
  }
  json_.fail_at("architectures", fmt::format("the head of the class '{}' is not known", classes->front().substr(0, 64)),
                "a name ending in ForCausalLM, ForMaskedLM, ForSequenceClassification, ForImageClassification, "
                "ForConditionalGeneration or Model is expected");
  return fallback;
}

int Config::labels() const {
  // A dictionary from number to name; only its size matters.
  if (const JsonMember* names = json_.find("id2label"); names && names->value.type == JsonType::kObject)
    return std::max<int>(1, static_cast<int>(names->value.members.size()));
  return count({"num_labels", "num_classes"}, 2, 1, kMostLabels);
}

Config Config::section(const FieldNames& names) const { return Config(json_.get_object_or_empty(names)); }

int Config::divide(std::int64_t width, const FieldNames& width_names, std::int64_t parts, const FieldNames& parts_names,
                   std::string_view why) const {
  if (parts > 0 && width % parts == 0) return static_cast<int>(width / parts);
  if (json_.is_wrong(width_names) || json_.is_wrong(parts_names)) return 1;
  json_.fail_at(json_.has(width_names) ? width_names : parts_names,
                fmt::format("'{}' ({}) must be a multiple of '{}' ({}){}", width_names.first(), width,
                            parts_names.first(), parts, why));
  return 1;
}

void read_sizes(const Config& config, const SizeFields& fields, ModelShape& shape) {
  const auto& [layers, hidden, heads, inner, vocabulary, context, activation, dropout, attention_dropout, positions] =
      fields;
  shape.layers = config.layers(layers);
  shape.hidden = config.hidden(hidden);
  shape.heads = shape.kv_heads = config.count(heads.names, heads.value, 1, kMostHeads);
  shape.head_dim = config.divide(shape.hidden, hidden, shape.heads, heads.names);
  shape.intermediate = inner.value > 0 ? inner.value : 4 * shape.hidden;
  if (!inner.names.empty()) shape.intermediate = config.size(inner.names, shape.intermediate, kWidestMlp);
  if (vocabulary > 0) shape.vocabulary = config.size("vocab_size", vocabulary, kLargestVocabulary);
  if (!context.names.empty()) shape.context = config.size(context.names, context.value, kLongestContext);
  if (!activation.names.empty()) shape.activation = config.activation(activation.names, activation.value);
  if (!dropout.names.empty()) shape.dropout = config.dropout(dropout.names, dropout.value);
  if (!attention_dropout.names.empty())
    shape.attention_dropout = config.dropout(attention_dropout.names, attention_dropout.value);
  shape.positions = positions;
}

}  // namespace rightsize::model
