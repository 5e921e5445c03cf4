#include "memory/tape/training_tape.h"

#include <algorithm>

#include "memory/tape/session.h"

namespace rightsize::memory::tape {
namespace {

TrainingPeak replay_stage(const model::ModelShape& model, const GpuPlan& plan, const ReplayOptions& options) {
  const Count capacity = static_cast<Count>(in_bytes(options.capacity));
  CachingAllocator allocator(capacity > 0 ? capacity : CachingAllocator::kUnlimited);
  TrainingPeak peak;
  {
    Session session(model, plan, options.allocator ? &allocator : nullptr, options.events);
    session.run();
    const Recorder& recorder = session.recorder();
    peak.peak_allocated = bytes(static_cast<double>(recorder.peak().total));
    for (std::size_t i = 0; i < kParts; ++i) peak.parts.bytes[i] = bytes(static_cast<double>(recorder.peak().part[i]));
    for (std::size_t i = 0; i < kPhases; ++i)
      peak.phase_peaks[i] = bytes(static_cast<double>(recorder.peak_in(static_cast<TrainPhase>(i))));
    peak.exact = model.forward->exact;
    peak.out_of_memory = recorder.out_of_memory();
    peak.peak_reserved = bytes(static_cast<double>(allocator.reserved()));
  }
  return peak;
}

}  // namespace

TrainingPeak replay_training(const model::ModelShape& model, const model::Job& job, const ReplayOptions& options) {
  TrainingPeak most;
  for (const Stage stage : fullest_stages(model, job)) {
    GpuPlan plan = make_plan(model, job, stage);
    if (options.layers > 0 && model.stages.empty()) {
      plan.layers = std::min(plan.layers, options.layers);
      plan.encoder_layers = std::min(plan.encoder_layers, options.layers);
    }
    TrainingPeak peak = replay_stage(model, plan, options);
    if (peak.peak_allocated > most.peak_allocated) most = peak;
  }
  return most;
}

}  // namespace rightsize::memory::tape
