#include "memory/kept_replays.h"

#include <array>
#include <bit>
#include <map>
#include <mutex>

namespace rightsize::memory {
namespace {

using model::Job;
using model::ModelShape;

// Everything a replay looks at. A new setting of a job belongs here: these sizes change with it.
static_assert(sizeof(model::TrainSettings) == 52 && sizeof(model::Parallelism) == 36,
              "a setting was added: is it part of the key?");

constexpr std::size_t kNumbers = 43;

struct Key {
  std::shared_ptr<const model::Forward> forward;  // held, so that its address is nobody else's
  std::array<std::int64_t, kNumbers> numbers;

  auto operator<=>(const Key&) const = default;
};

template <class T>
std::int64_t number(T value) {
  return static_cast<std::int64_t>(value);
}
template <class T>
std::int64_t number(const std::optional<T>& value) {
  return value ? number(*value) : -1;
}
std::int64_t number(double value) { return std::bit_cast<std::int64_t>(value); }

Key key_of(const ModelShape& m, const Job& job) {
  const model::TrainSettings& t = job.train;
  const model::Parallelism& p = job.parallel;
  const model::ImageSettings& i = job.image;
  return {m.forward,
          {number(m.kind),
           number(m.layers),
           number(m.encoder_layers),
           m.hidden,
           number(m.labels),
           m.vocabulary,
           number(m.image_size),
           number(m.image_height),
           number(m.dropout),
           number(m.attention_dropout),
           m.parameters(),
           number(job.precision),
           number(job.stack),
           job.batch,
           job.sequence,
           number(t.method),
           number(t.lora_rank),
           number(t.lora_targets),
           number(t.optimizer),
           number(t.optimizer_states),
           number(t.recompute),
           number(t.attention),
           number(t.cross_entropy),
           number(t.fused_kernels),
           number(t.compile),
           number(t.optimizer_in_backward),
           number(t.accumulation),
           number(t.offload),
           number(t.offload_activations),
           number(p.gpus),
           number(p.tensor),
           number(p.pipeline),
           number(p.context),
           number(p.expert),
           number(p.attention_data),
           number(p.pipeline_interleave),
           number(p.sequence_parallel),
           number(p.zero),
           number(i.guidance),
           number(i.resolution ? i.resolution->width : 0),
           number(i.resolution ? i.resolution->height : 0),
           number(i.count),
           i.tokens}};
}

template <class Value>
class Kept {
 public:
  template <class Make>
  Value get(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = values_.find(key); found != values_.end()) return found->second;
    }
    Value value = make();  // two who need it at once both make it, alike
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
  static Kept<std::shared_ptr<const tape::TrainingSurface>> kept;
  Job alike = job;  // what a surface does not look at
  alike.batch = 1;
  const int group = job.parallel.tensor * job.parallel.pipeline * job.parallel.context;
  alike.parallel.gpus = group * (job.parallel.data() > 1 ? 2 : 1);
  return kept.get(key_of(model, alike), make);
}

tape::TrainingPeak peak_of(const ModelShape& model, const Job& job) {
  const auto make = [&] { return tape::replay_training(model, job); };
  if (!model.forward) return make();
  static Kept<tape::TrainingPeak> kept;
  return kept.get(key_of(model, job), make);
}

}  // namespace rightsize::memory
