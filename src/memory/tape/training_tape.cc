#include "memory/tape/training_tape.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "memory/tape/model.h"
#include "memory/tape/optimizer.h"
#include "memory/tape/sharding.h"

namespace rightsize::memory::tape {
namespace {

constexpr Count kCublasWorkspace = Count{32} << 20;  // one for the forward's thread, one for autograd's; never freed
constexpr int kIterations = 2;  // the second has the optimizer's states; a third changes nothing

// One GPU's training run.
class Session {
 public:
  Session(const workload::ModelShape& model, const Plan& plan, CachingAllocator* allocator, std::vector<Event>* events)
      : plan_(plan), recorder_(allocator) {
    recorder_.log_events(events);
    recorder_.single_sample = plan.batch == 1;
    recorder_.keep_products = plan.recompute == workload::Recompute::kSelective;
    // torchtitan keeps every second matrix product.
    recorder_.keep_every_product = plan.stack == workload::Stack::kTorchTitan ? 2 : 1;
    if (plan.fp8 && plan.stack != workload::Stack::kTorchTitan) recorder_.saved_input_width = kByte;
    built_ = build_model(recorder_, model, plan_);
    if (Sharding::is_needed(plan)) {
      sharding_ = std::make_unique<Sharding>(recorder_, built_.model->weights(), plan_);
      built_.model->set_hooks(sharding_.get());
      recorder_.set_watcher(sharding_.get());
    }
    states_ = std::make_unique<OptimizerStates>(recorder_, built_.model->weights(), plan_);
    if (plan.fp8) cache_fp8_weights();
    states_->prepare();
    inputs_ = built_.model->make_inputs();
    if (plan.stack == workload::Stack::kHf && plan.zero == 0 && plan.shards > 1) make_buckets();
  }

  void run() {
    for (int i = 0; i < kIterations; ++i) {
      if (i + 1 == kIterations) {
        recorder_.reset_peaks();
        add_micro_batches_in_flight();
      }
      pass();
      if (plan_.accumulates) pass();
      states_->step(sharding_ && sharding_->has_gradients());
      if (plan_.gradient_width == 0 || plan_.sharded_gradients()) recorder_.drop_gradients();
      if (sharding_) sharding_->drop_gradients();
    }
  }

  Recorder& recorder() { return recorder_; }
  bool exact() const { return built_.exact; }

 private:
  void pass() {
    recorder_.enter(Phase::kForward);
    recorder_.autocast = plan_.autocast;
    if (!forward_workspace_) forward_workspace_ = workspace();
    if (sharding_) sharding_->before_forward();
    const Count before = recorder_.live().total;
    Tensor loss = built_.model->forward();
    result_ = std::move(loss);
    recorder_.autocast = false;
    recorder_.forget_casts();
    saved_by_forward_ = recorder_.live().total - before;

    recorder_.enter(Phase::kBackward);
    Tensor seed = recorder_.seed_gradient(result_);
    if (!backward_workspace_) backward_workspace_ = workspace();
    recorder_.run_backward();
    if (sharding_) sharding_->after_backward();
    recorder_.settle_gradients();
  }

  Tensor workspace() { return recorder_.make(kCublasWorkspace, kByte, Layout::kPlain, Part::kBuffers); }

  // Transformer Engine keeps an fp8 copy of every matrix, and its transpose.
  void cache_fp8_weights() {
    if (plan_.stack == workload::Stack::kTorchTitan) return;
    for (const ParameterInfo& info : built_.model->weights().infos()) {
      if (info.cols <= 1 || info.layer < 0) continue;
      extras_.push_back(recorder_.make(2 * info.elements, kByte, Layout::kPlain, Part::kWeights));
    }
  }

  // DistributedDataParallel copies gradients into buckets of its own to send them.
  void make_buckets() {
    Count bytes = 0;
    const std::vector<ParameterInfo>& infos = built_.model->weights().infos();
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (recorder_.trainable(static_cast<int>(i))) bytes += infos[i].elements * plan_.width;
    }
    extras_.push_back(recorder_.make(bytes, kByte, Layout::kPlain, Part::kBuffers));
  }

  // The other micro-batches of a pipeline are in the middle of their way while this one runs.
  void add_micro_batches_in_flight() {
    if (plan_.in_flight <= 1 || saved_by_forward_ <= 0) return;
    const Count bytes = static_cast<Count>((plan_.in_flight - 1) * static_cast<double>(saved_by_forward_));
    if (bytes > 0) extras_.push_back(recorder_.make(bytes, kByte, Layout::kPlain, Part::kActivations));
  }

  Plan plan_;
  Recorder recorder_;
  BuiltModel built_;
  std::unique_ptr<Sharding> sharding_;
  std::unique_ptr<OptimizerStates> states_;
  std::vector<Tensor> extras_;
  Tensor inputs_, forward_workspace_, backward_workspace_, result_;
  Count saved_by_forward_ = 0;
};

TrainingPeak replay_stage(const workload::ModelShape& model, const Plan& plan, const ReplayOptions& options) {
  const Count capacity = static_cast<Count>(in_bytes(options.capacity));
  CachingAllocator allocator(capacity > 0 ? capacity : CachingAllocator::kUnlimited);
  TrainingPeak peak;
  {
    Session session(model, plan, options.allocator ? &allocator : nullptr, options.events);
    session.run();
    const Recorder& recorder = session.recorder();
    peak.peak_allocated = bytes(static_cast<double>(recorder.peak().total));
    for (std::size_t i = 0; i < kParts; ++i) peak.parts.bytes[i] = bytes(static_cast<double>(recorder.peak().part[i]));
    for (std::size_t i = 0; i < kPhases; ++i) {
      peak.phase_peaks[i] = bytes(static_cast<double>(recorder.peak_in(static_cast<Phase>(i))));
    }
    peak.exact = session.exact();
    peak.out_of_memory = recorder.out_of_memory();
    peak.peak_reserved = bytes(static_cast<double>(allocator.reserved()));
  }
  return peak;
}

}  // namespace

TrainingPeak replay_training(const workload::ModelShape& model, const workload::Job& job, const ReplayOptions& options) {
  auto stage = [&](bool last) {
    Plan plan = make_plan(model, job, last);
    if (options.layers > 0) {
      plan.layers = std::min(plan.layers, options.layers);
      plan.encoder_layers = std::min(plan.encoder_layers, options.layers);
    }
    return replay_stage(model, plan, options);
  };
  TrainingPeak first = stage(false);
  if (job.parallel.pipeline <= 1) return first;
  TrainingPeak last = stage(true);
  return last.peak_allocated > first.peak_allocated ? last : first;
}

}  // namespace rightsize::memory::tape
