// Reading one configuration: the typed fields of its JSON with the limits a model can sanely have, and the parts that
// families share. Every mistake is noted; getters then return a small stand-in so that reading goes on.
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
  Config(const JsonObject& json, std::optional<ImageSize> resolution = {}) : json_(json), resolution_(resolution) {}

  // The size of images the user asked for, where other than the configuration's.
  const std::optional<ImageSize>& resolution() const { return resolution_; }

  // The same where layers and width may be left out: sections whose class has sizes of its own.
  Config with_sizes(int layers, std::int64_t hidden) const {
    Config config = *this;
    config.layers_ = layers;
    config.hidden_ = hidden;
    return config;
  }

  const JsonObject& json() const { return json_; }

  // Absent: the fallback, which is the default of the family's configuration class.
  std::int64_t size(const FieldNames& names, std::int64_t fallback, std::int64_t max = kWidest) const;
  int count(const FieldNames& names, int fallback, int min = 1, std::int64_t max = kMostLayers) const;
  bool flag(const FieldNames& names, bool fallback) const;
  double number(const FieldNames& names, double fallback, double min, double max) const;
  double dropout(const FieldNames& names, double fallback) const { return number(names, fallback, 0.0, 1.0); }

  // Sizes no default can stand for.
  int layers(const FieldNames& names) const;
  std::int64_t hidden(const FieldNames& names) const;

  Activation activation(const FieldNames& names, std::string_view fallback) const;

  // The head of architectures[0], or `fallback` when the configuration names none.
  Head head(Head fallback) const;

  // num_labels as the framework takes it: the number of id2label entries, then num_labels, then 2.
  int labels() const;

  // A nested object, or one without members when it is absent, so that every default applies.
  Config section(const FieldNames& names) const;

  // width / parts, refused when it leaves a rest; both named in the error. 1 stands in.
  int divide(std::int64_t width, const FieldNames& width_names, std::int64_t parts, const FieldNames& parts_names,
             std::string_view why = "") const;

 private:
  JsonObject json_;
  std::optional<ImageSize> resolution_;
  std::optional<int> layers_;
  std::optional<std::int64_t> hidden_;
};

// What the head of the class is called ("LlamaForCausalLM" -> kCausalLm), or nothing.
std::optional<Head> parse_head(std::string_view architecture);

}  // namespace rightsize::model
