#include "families/config.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/suggest.h"

namespace rightsize::model {
namespace {

struct NamedActivation {
  std::string_view name;
  Activation activation;
};

// gelu_new and gelu_fast are composed of elementwise operations, the others are one kernel; what cannot be told apart
// by cost is mapped to its nearest.
constexpr std::array kActivations = {
    NamedActivation{"silu", Activation::kSilu},
    NamedActivation{"swish", Activation::kSilu},
    NamedActivation{"swiglu", Activation::kSilu},
    NamedActivation{"gelu", Activation::kGelu},
    NamedActivation{"gelu_python", Activation::kGelu},
    NamedActivation{"gelu_10", Activation::kGelu},
    NamedActivation{"gelu_pytorch_tanh", Activation::kGeluTanh},
    NamedActivation{"gelu_new", Activation::kGeluNew},
    NamedActivation{"gelu_fast", Activation::kGeluNew},
    NamedActivation{"gelu_python_tanh", Activation::kGeluNew},
    NamedActivation{"quick_gelu", Activation::kQuickGelu},
    NamedActivation{"relu", Activation::kRelu},
    NamedActivation{"relu2", Activation::kSquaredRelu},
    NamedActivation{"relu6", Activation::kRelu},
    NamedActivation{"tanh", Activation::kRelu},
};

struct NamedHead {
  std::string_view suffix;
  Head head;
};

// Longest suffix first where one ends in another.
constexpr std::array kHeads = {
    NamedHead{"ForCausalLM", Head::kCausalLm},
    NamedHead{"WithLMHeadModel", Head::kConditionalGeneration},
    NamedHead{"LMHeadModel", Head::kCausalLm},
    NamedHead{"ForMaskedLM", Head::kMaskedLm},
    NamedHead{"ForPreTraining", Head::kPreTraining},
    NamedHead{"ForNextSentencePrediction", Head::kNextSentence},
    NamedHead{"ForSequenceClassification", Head::kSequenceClassification},
    NamedHead{"ForTokenClassification", Head::kTokenClassification},
    NamedHead{"ForQuestionAnswering", Head::kQuestionAnswering},
    NamedHead{"ForMultipleChoice", Head::kMultipleChoice},
    NamedHead{"ForImageClassification", Head::kImageClassification},
    NamedHead{"ForConditionalGeneration", Head::kConditionalGeneration},
    NamedHead{"EncoderModel", Head::kEncoder},
    NamedHead{"Model", Head::kBase},
};

}  // namespace

std::optional<Head> parse_head(std::string_view architecture) {
  for (const NamedHead& named : kHeads) {
    if (architecture.ends_with(named.suffix)) return named.head;
  }
  return std::nullopt;
}

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
  for (const NamedActivation& named : kActivations) {
    if (named.name == name) return named.activation;
  }
  std::vector<std::string> known;
  known.reserve(kActivations.size());
  for (const NamedActivation& named : kActivations) known.emplace_back(named.name);
  json_.fail_at(names, fmt::format("unknown activation '{}'", name.substr(0, 64)), did_you_mean(name, known));
  return Activation::kGelu;
}

Head Config::head(Head fallback) const {
  std::optional<std::vector<std::string>> classes = json_.get_strings("architectures");
  if (!classes || classes->empty()) return fallback;
  if (std::optional<Head> head = parse_head(classes->front())) return *head;
  json_.fail_at("architectures", fmt::format("the head of the class '{}' is not known", classes->front().substr(0, 64)),
                "a name ending in ForCausalLM, ForMaskedLM, ForSequenceClassification, ForImageClassification, "
                "ForConditionalGeneration or Model is expected");
  return fallback;
}

int Config::labels() const {
  // A dictionary from number to name; only how many there are matters.
  if (const JsonMember* names = json_.find("id2label"); names && names->value.type == JsonType::kObject) {
    return std::max<int>(1, static_cast<int>(names->value.members.size()));
  }
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

}  // namespace rightsize::model
