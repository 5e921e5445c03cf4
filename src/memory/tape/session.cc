#include "memory/tape/session.h"

namespace rightsize::memory::tape {
namespace {

constexpr Count kCublasWorkspace = Count{32} << 20;  // one per thread (forward and autograd), never freed
constexpr int kIterations = 2;                       // the second has the optimizer's states; a third would be the same

}  // namespace

Session::Session(const model::ModelShape& model, const GpuPlan& plan, CachingAllocator* allocator,
                 std::vector<AllocationEvent>* events)
    : plan_(plan), recorder_(allocator, events), model_(recorder_, model, plan_) {
  using model::Stack;
  recorder_.single_sample = plan.batch == 1;
  recorder_.keep_products = plan.recompute == model::Recompute::kSelective;
  recorder_.keep_every_product = plan.stack == Stack::kTorchTitan ? 2 : 1;  // torchtitan keeps every second product
  // Transformer Engine saves inputs in fp8; torchtitan's float8 casts them again in the backward.
  if (plan.fp8 && plan.stack != Stack::kTorchTitan) recorder_.saved_input_width = kByte;
  if (Sharding::is_needed(plan)) {
    sharding_ = std::make_unique<Sharding>(recorder_, model_.weights(), plan_);
    model_.set_hooks(sharding_.get());
    recorder_.set_watcher(sharding_.get());
  }
  states_ = std::make_unique<OptimizerStates>(recorder_, model_.weights(), plan_);
  if (plan.fp8 && plan.stack != Stack::kTorchTitan && plan.stack != Stack::kMegatron) cache_fp8_weights();
  states_->prepare();
  model_.make_inputs();
  if (plan.stack == Stack::kHf && plan.zero == 0 && plan.shards > 1) make_buckets();
}

void Session::run() {
  for (int i = 0; i < kIterations; ++i) {
    if (i + 1 == kIterations) {
      recorder_.reset_peaks();
      add_micro_batches_in_flight();
    }
    iterate();
    if (!keeps_gradients()) recorder_.drop_gradients();
    if (sharding_) sharding_->drop_gradients();
  }
}

// In these cases the next pass starts with memory that run_for_peaks() does not count: torchtitan keeps its logits, and
// an optimizer in the backward pass keeps the gradients of shared weights.
bool Session::needs_one_iteration(const GpuPlan& plan) {
  const bool holds_logits = plan.stack == model::Stack::kTorchTitan && !plan.accumulates;
  return !holds_logits && !plan.optimizer_in_backward;
}

void Session::run_for_peaks() {
  if (!needs_one_iteration(plan_)) return run();
  forward_workspace_ = workspace();
  backward_workspace_ = workspace();
  recorder_.reset_peaks();
  constexpr auto kStates = static_cast<std::size_t>(Part::kOptimizer);
  const Count before = recorder_.live().part[kStates];
  iterate();
  const Count states = recorder_.live().part[kStates] - before;
  const auto freed_by = [&](auto&& drop) {
    const Count live = recorder_.live().total;
    drop();
    return live - recorder_.live().total;
  };
  const Count in_flight = bytes_in_flight(plan_.in_flight, saved_by_forward_);
  const Count result = freed_by([&] { result_.reset(); });
  const Count sent_back = keeps_gradients() ? freed_by([&] { recorder_.drop_temporary_leaves(); }) : 0;
  recorder_.raise_peaks(TrainPhase::kForward, states + in_flight + sent_back + (plan_.accumulates ? 0 : result));
  recorder_.raise_peaks(TrainPhase::kBackward, states + in_flight + sent_back);
  recorder_.raise_peaks(TrainPhase::kStep, in_flight + sent_back);
}

bool Session::keeps_gradients() const { return plan_.gradient_width != 0 && !plan_.sharded_gradients(); }

void Session::iterate() {
  pass();
  if (plan_.accumulates) pass();
  states_->step(sharding_ && sharding_->has_gradients());
}

void Session::pass() {
  recorder_.enter(TrainPhase::kForward);
  recorder_.autocast = plan_.autocast;
  if (!forward_workspace_) forward_workspace_ = workspace();
  if (sharding_) sharding_->before_forward();
  const Count before = recorder_.live().total;
  result_ = model_.forward();
  recorder_.autocast = false;
  recorder_.forget_casts();
  saved_by_forward_ = recorder_.live().total - before;

  recorder_.enter(TrainPhase::kBackward);
  Tensor seed = recorder_.seed_gradient(result_);
  if (!backward_workspace_) backward_workspace_ = workspace();
  recorder_.run_backward();
  if (sharding_) sharding_->after_backward();
  recorder_.settle_gradients();
}

Tensor Session::workspace() { return recorder_.make(kCublasWorkspace, kByte, Layout::kPlain, Part::kBuffers); }

// Transformer Engine keeps an fp8 copy of every matrix and its transpose. Megatron's recipes (fp8_param_gather) have
// only these two and the master copy, which together take no more than the 16-bit weight.
void Session::cache_fp8_weights() {
  for (const ParameterInfo& info : model_.weights().infos()) {
    if (info.cols <= 1 || info.layer < 0) continue;
    extras_.push_back(recorder_.make(2 * info.elements, kByte, Layout::kPlain, Part::kWeights));
  }
}

// DistributedDataParallel copies gradients into separate buckets to send them.
void Session::make_buckets() {
  const std::vector<ParameterInfo>& infos = model_.weights().infos();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (!recorder_.trainable(static_cast<int>(i))) continue;
    const std::uint8_t width = recorder_.parameter(static_cast<int>(i)).width;
    extras_.push_back(recorder_.make(infos[i].elements, width, Layout::kPlain, Part::kBuffers));
  }
}

// The other micro-batches of a pipeline hold their activations while this one runs.
Count Session::bytes_in_flight(double in_flight, Count saved_by_forward) {
  if (in_flight <= 1 || saved_by_forward <= 0) return 0;
  const auto bytes = static_cast<Count>((in_flight - 1) * static_cast<double>(saved_by_forward));
  return bytes > 0 ? CachingAllocator::round_size(bytes) : 0;
}

void Session::add_micro_batches_in_flight() {
  if (const Count bytes = bytes_in_flight(plan_.in_flight, saved_by_forward_); bytes > 0)
    extras_.push_back(recorder_.make(bytes, kByte, Layout::kPlain, Part::kActivations));
}

}  // namespace rightsize::memory::tape
