#include "memory/kept_replays.h"

#include <compare>
#include <map>
#include <mutex>

#include "memory/tape/plan.h"

namespace rightsize::memory {
namespace {

using model::Job;
using model::ModelShape;

// Everything a replay depends on.
struct Key {
  std::shared_ptr<const model::Forward> forward;  // shared ownership keeps the address unique
  model::ModelKind kind;
  int layers, encoder_layers, labels, image_size, image_height;
  std::int64_t hidden, vocabulary, parameters;
  double dropout, attention_dropout;
  Job job;

  auto operator<=>(const Key&) const = default;
};

Key key_of(const ModelShape& m, const Job& job) {
  return {
      m.forward,    m.kind,         m.layers,  m.encoder_layers,    m.labels, m.image_size, m.image_height, m.hidden,
      m.vocabulary, m.parameters(), m.dropout, m.attention_dropout, job};
}

template <class Value>
class ReplayCache {
 public:
  template <class Make>
  Value get(const Key& key, const Make& make) {
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
  static constexpr std::size_t kMost = 4096;  // a few MB
  std::mutex mutex_;
  std::map<Key, Value> values_;
};

}  // namespace

std::shared_ptr<const tape::TrainingSurface> surface_of(const ModelShape& model, const Job& job) {
  const auto make = [&] { return std::make_shared<const tape::TrainingSurface>(model, job); };
  if (!model.forward) return make();
  static ReplayCache<std::shared_ptr<const tape::TrainingSurface>> kept;
  Job alike = job;  // a surface does not depend on the batch or on the number of data-parallel groups
  alike.batch = 1;
  alike.train.accumulation = tape::micro_batches_held(job);
  const int group = job.parallel.tensor * job.parallel.pipeline * job.parallel.context;
  alike.parallel.gpus = group * (job.parallel.data() > 1 ? 2 : 1);
  return kept.get(key_of(model, alike), make);
}

tape::TrainingPeak peak_of(const ModelShape& model, const Job& job) {
  const auto make = [&] { return tape::replay_training(model, job); };
  if (!model.forward) return make();
  static ReplayCache<tape::TrainingPeak> kept;
  Job alike = job;
  alike.train.accumulation = tape::micro_batches_held(job);
  return kept.get(key_of(model, alike), make);
}

}  // namespace rightsize::memory
