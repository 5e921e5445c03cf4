// Shared by the estimators of this room; not for callers.
#pragma once

#include "perf/perf.h"

namespace rightsize::perf {

// Training by stack.
Result<TrainEstimate> train_eager(const Constants& constants, const ModelWork& work, const model::Job& job,
                                  const GpuSpeed& gpu, const Cluster& cluster);
Result<TrainEstimate> train_sharded(const ShardedConstants& constants, const ModelWork& work, const model::Job& job,
                                    const GpuSpeed& gpu, const Cluster& cluster);
Result<TrainEstimate> train_megatron(const MegatronConstants& constants, const ModelWork& work, const model::Job& job,
                                     const GpuSpeed& gpu, const Cluster& cluster);
Result<TrainEstimate> train_images(const Constants& constants, const ModelWork& work, const model::Job& job,
                                   const GpuSpeed& gpu, const Cluster& cluster);

Result<ServeEstimate> serve_eager(const Constants& constants, const ModelWork& work, const model::Job& job,
                                  const GpuSpeed& gpu, const ServeLoad& load);
BatchEstimate batch_eager(const EagerConstants& constants, const ModelWork& work, const model::Job& job,
                          const GpuSpeed& gpu);
BatchEstimate batch_images(const Constants& constants, const ModelWork& work, const model::Job& job,
                           const GpuSpeed& gpu);

BatchEstimate generate_images(const Constants& constants, const ModelWork& work, const model::Job& job,
                              const GpuSpeed& gpu);
Result<BatchEstimate> batch_answers(const Constants& constants, const ModelWork& work, const model::Job& job,
                                    const GpuSpeed& gpu);

// What the optimizer reads and writes of one trained parameter.
double optimizer_bytes(const model::Job& job, bool half_precision);

// Trained parameters: all, or the adapters.
double trained_parameters(const ModelWork& work, const model::Job& job);

// What the adapters of a training stack move for a token, in all layers and both directions. Their products are too
// thin for the rank to show: inputs are read, results written, scaled and added, forward and backward. 20 bytes a
// width: data/measurements/adapters-h200.csv, 18.6 to 23.1 at four fifths of the bandwidth.
double adapter_bytes(const ModelWork& work, const model::Job& job);

// The time gradients and sharded parameters take to move: in every forward and backward pass, and once a step.
struct DataParallel {
  Seconds each_pass, once;

  Seconds of_step(double passes) const { return each_pass * passes + once; }
};
// `held`: parameters of a replica on one GPU, as a share of all; `group`: the GPUs that hold the same.
DataParallel data_parallel_time(const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                                const Cluster& cluster, double network_rate, double held, ShardGroup group);
// Adds what moves to host memory and back to the estimate of a job that keeps something there.
void add_offload(const EagerConstants& constants, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                 const Cluster& cluster, TrainEstimate& estimate);
// The group where every GPU between two of it belongs to the same replica.
ShardGroup replicas_of(const model::Job& job);

// What is said of the hardware: missing formats, assumed networks, tensor parallelism without links.
void note_hardware(const model::Job& job, const GpuSpeed& gpu, const Cluster& cluster, Notes& notes);

// The basis and width of an estimate of a stack on a GPU. `width` is the stack's own |log error| at 80 %.
struct Confidence {
  Basis basis;
  double width;
};
Confidence confidence_of(const GpuSpeed& gpu, int slot, model::JobKind kind, double width);
Interval interval_of(double width);
// The stack was measured, settings like these were not: |log error| of 0.2 more, unless the user's own runs say better.
void widen(Confidence& confidence, Notes& notes);

// compute or memory, whichever the GPU's time is mostly made of; host or communication where they exceed it.
Bound bound_of(Seconds arithmetic, Seconds device, Seconds host, Seconds communication);

// The weights' format in products on this GPU.
WeightFormat weight_format(model::Precision precision, const GpuSpeed& gpu);

const Calibration& calibration_of(const GpuSpeed& gpu, int slot, model::JobKind kind);

}  // namespace rightsize::perf
