// Reads one configuration: typed fields of its JSON, with the limits of a plausible model, and the fields that families
// share. Every mistake is noted; getters then return a small substitute, and reading continues.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/located_json.h"
#include "model/model_shape.h"

namespace rightsize::model {

constexpr std::int64_t kMostLayers = 1'000;
constexpr std::int64_t kWidest = 1'000'000;  // hidden states, channels
constexpr std::int64_t kWidestMlp = 10'000'000;
constexpr std::int64_t kLargestVocabulary = 10'000'000;
constexpr std::int64_t kLongestContext = 1'000'000'000;
constexpr std::int64_t kMostHeads = 10'000;
constexpr std::int64_t kWidestHead = 100'000;
constexpr std::int64_t kMostExperts = 100'000;
constexpr std::int64_t kMostLabels = 10'000'000;
constexpr std::int64_t kLargestImage = 100'000;

// The head a model class ends in, from the name of the class.
enum class Head {
  kBase,  // none
  kCausalLm,
  kMaskedLm,
  kPreTraining,
  kNextSentence,
  kSequenceClassification,
  kTokenClassification,
  kQuestionAnswering,
  kMultipleChoice,
  kImageClassification,
  kConditionalGeneration,
  kEncoder,  // T5EncoderModel
};

class Config {
 public:
  Config(const JsonObject& json, std::optional<ImageSize> resolution = {}, std::optional<int> frames = {})
      : json_(json), resolution_(resolution), frames_(frames) {}

  // The requested image size, if it differs from the configuration's.
  const std::optional<ImageSize>& resolution() const { return resolution_; }
  // The requested number of video frames.
  const std::optional<int>& frames() const { return frames_; }

  // The same with defaults for layers and width, for sections of classes with such defaults.
  Config with_sizes(int layers, std::int64_t hidden) const {
    Config config = *this;
    config.layers_ = layers;
    config.hidden_ = hidden;
    return config;
  }

  const JsonObject& json() const { return json_; }

  // `fallback` is the default of the family's configuration class, for an absent field.
  std::int64_t size(const FieldNames& names, std::int64_t fallback, std::int64_t max = kWidest) const;
  int count(const FieldNames& names, int fallback, int min = 1, std::int64_t max = kMostLayers) const;
  bool flag(const FieldNames& names, bool fallback) const;
  double number(const FieldNames& names, double fallback, double min, double max) const;
  double dropout(const FieldNames& names, double fallback) const { return number(names, fallback, 0.0, 1.0); }

  // Required sizes.
  int layers(const FieldNames& names) const;
  std::int64_t hidden(const FieldNames& names) const;

  Activation activation(const FieldNames& names, std::string_view fallback) const;

  // The head of architectures[0], or `fallback` when the configuration names none.
  Head head(Head fallback) const;

  // num_labels as the framework reads it: the number of id2label entries, else num_labels, else 2.
  int labels() const;

  // A nested object. An absent one has no members, so every default applies.
  Config section(const FieldNames& names) const;

  // width / parts. Notes a mistake that names both fields and returns 1 if it leaves a remainder.
  int divide(std::int64_t width, const FieldNames& width_names, std::int64_t parts, const FieldNames& parts_names,
             std::string_view why = "") const;

 private:
  JsonObject json_;
  std::optional<ImageSize> resolution_;
  std::optional<int> frames_;
  std::optional<int> layers_;
  std::optional<std::int64_t> hidden_;
};

// A field by its names, with the default of the configuration class.
template <class T>
struct FieldDefault {
  FieldNames names;
  T value;
};

// The sizes every transformer has, as a family names them.
struct SizeFields {
  FieldNames layers = "num_hidden_layers", hidden = "hidden_size";
  FieldDefault<int> heads = {"num_attention_heads", 12};
  FieldDefault<std::int64_t> intermediate = {"intermediate_size", 0};  // 0: four times the width
  std::int64_t vocabulary = 0;                                         // of vocab_size
  FieldDefault<std::int64_t> context = {"max_position_embeddings", 2'048};
  FieldDefault<std::string_view> activation = {"hidden_act", "gelu"};
  FieldDefault<double> dropout = {"hidden_dropout_prob", 0.1};
  FieldDefault<double> attention_dropout = {"attention_probs_dropout_prob", 0.1};
  Positions positions = Positions::kLearned;
};
// Fields with empty names keep the shape's defaults. A head has hidden / heads elements, and every head has keys and
// values.
void read_sizes(const Config& config, const SizeFields& fields, ModelShape& shape);

}  // namespace rightsize::model
