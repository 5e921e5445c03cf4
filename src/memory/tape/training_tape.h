// The peak memory of training by replay: the iterations of one GPU run through the Recorder and the CachingAllocator.
//
//   TrainingPeak peak = replay_training(shape, job);     // a millisecond for a 32-layer model
//   TrainingSurface surface(shape, job);                 // the same for any batch and number of shards:
//   surface.at(16, 8);                                   // takes nanoseconds
//
// Reproduces torch's own peak (torch.cuda.max_memory_allocated) for the families with exact builders; docs/models.md
// has the measured errors.
#pragma once

#include <array>

#include "base/units.h"
#include "memory/memory.h"
#include "memory/tape/recorder.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::memory::tape {

struct TrainingPeak {
  Bytes peak_allocated;
  Bytes peak_reserved;                     // held by the caching allocator at the end of the run
  Parts parts;                             // at the peak; their sum is peak_allocated
  std::array<Bytes, kPhases> phase_peaks;  // forward, backward, step of a steady iteration
  bool exact = true;                       // false: not checked against recorded allocations
  bool out_of_memory = false;              // the given capacity was too small
};

struct ReplayOptions {
  bool allocator = true;  // false: twice as fast, but reserved bytes are unknown
  Bytes capacity;         // of the GPU; 0: without limit
  int layers = 0;         // number of layers to run (encoder and decoder each; not for image models); 0: all
  std::vector<AllocationEvent>* events = nullptr;
};

// The memory of the GPU that needs the most. job.batch and job.sequence must be set (image models ignore sequence).
TrainingPeak replay_training(const model::ModelShape& model, const model::Job& job, const ReplayOptions& options = {});

// Peaks as functions of the batch and of the number of GPUs that share the shards, for searches. They are interpolated
// from replays of a few layers at the corners, because the peak of every (phase, zone) is affine in the layers and
// nearly so in the batch, and sharded memory shrinks as 1 / shards. Within 2 % of the replay.
class TrainingSurface {
 public:
  // Ignores job.batch; job.parallel.gpus only tells whether there are several replicas.
  TrainingSurface(const model::ModelShape& model, const model::Job& job);

  Bytes at(double batch, double shards) const;
  bool exact() const { return exact_; }

 private:
  // A peak at the corners: two batches, few and many shards.
  struct Plane {
    double few_low = 0, few_high = 0, many_low = 0, many_high = 0;
    bool operator==(const Plane&) const = default;
  };
  struct Stretch {
    double from = 1, to = 1;
    std::vector<Plane> planes;
  };

  std::vector<Stretch> stretches_;
  bool sharded_ = false;
  int few_shards_ = 2;  // the corner with few replicas
  bool exact_ = true;
};

}  // namespace rightsize::memory::tape
