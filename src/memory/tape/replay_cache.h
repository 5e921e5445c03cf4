// A cache of replays for the lifetime of the program, by model and settings. Bounded and thread-safe.
//
// A replay depends only on the model and the job, not on prices, deadlines or the GPU. A search needs the same replays
// in every variant of a request, and so does a page while a slider moves. Models are identified by their forward pass;
// copies of a shape share it.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "model/model_shape.h"

namespace rightsize::memory::tape {

// Everything of a model that a replay depends on.
struct ReplayedModel {
  explicit ReplayedModel(const model::ModelShape& m)
      : forward(m.forward),
        kind(m.kind),
        layers(m.layers),
        encoder_layers(m.encoder_layers),
        labels(m.labels),
        image_size(m.image_size),
        image_height(m.image_height),
        hidden(m.hidden),
        vocabulary(m.vocabulary),
        parameters(m.parameters()),
        dropout(m.dropout),
        attention_dropout(m.attention_dropout) {}
  auto operator<=>(const ReplayedModel&) const = default;

  std::shared_ptr<const model::Forward> forward;  // shared ownership keeps the address unique
  model::ModelKind kind;
  int layers, encoder_layers, labels, image_size, image_height;
  std::int64_t hidden, vocabulary, parameters;
  double dropout, attention_dropout;
};

template <class Settings, class Value>
class ReplayCache {
 public:
  template <class Make>
  Value get(const model::ModelShape& model, const Settings& settings, const Make& make) {
    if (!model.forward) return make();
    const Key key(ReplayedModel(model), settings);
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
    }
    Value value = make();  // concurrent callers may both compute it; the results are equal
    const std::lock_guard lock(mutex_);
    if (values_.size() >= kMost) values_.clear();
    values_.emplace(key, value);
    return value;
  }

 private:
  using Key = std::pair<ReplayedModel, Settings>;
  static constexpr std::size_t kMost = 4096;  // a few MB
  std::mutex mutex_;
  std::map<Key, Value> values_;
};

}  // namespace rightsize::memory::tape
