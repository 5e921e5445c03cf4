// The training peak by replay: one GPU's iterations run through the Recorder and the CachingAllocator.
//
//   TrainingPeak peak = replay_training(shape, job);     // a millisecond for a 32-layer model
//   TrainingSurface surface(shape, job);                 // the same for any batch and number of shards,
//   surface.at(16, 8);                                   // in some nanoseconds
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
  bool exact = true;                       // false: the nearest known family stands in
  bool out_of_memory = false;              // a capacity was given and did not suffice
};

struct ReplayOptions {
  bool allocator = true;  // false: reserved is not known, in half the time
  Bytes capacity;         // of the GPU; 0: without limit
  int layers = 0;         // cut the model to so many layers (encoder and decoder each; not image models); 0: all
  std::vector<Event>* events = nullptr;
};

// The job's need on the fullest GPU. job.batch and job.sequence must be set (images: sequence is ignored).
TrainingPeak replay_training(const model::ModelShape& model, const model::Job& job, const ReplayOptions& options = {});

// Peaks as functions of the batch and of the number of GPUs that share the shards, for searches: compiled from replays
// of a few layers at the corners, since the peak of every (phase, zone) is affine in the layers and nearly so in the
// batch. What is sharded shrinks as 1 / shards, so every (phase, zone) is joined by a plane. Within 2 % of the replay.
class TrainingSurface {
 public:
  // job.batch is not looked at, and job.parallel.gpus only for whether there are several replicas.
  TrainingSurface(const model::ModelShape& model, const model::Job& job);

  Bytes at(double batch, double shards) const;
  bool exact() const { return exact_; }

 private:
  // A peak at the corners: two batches, few and many shards.
  struct Plane {
    double few_low = 0, few_high = 0, many_low = 0, many_high = 0;
  };
  struct Stretch {
    double from = 1, to = 1;
    std::vector<Plane> planes;
  };

  std::vector<Stretch> stretches_;
  bool sharded_ = false;
  bool exact_ = true;
};

}  // namespace rightsize::memory::tape
