// Internal to this module: code shared by the estimators.
#pragma once

#include "perf/perf.h"

namespace rightsize::perf {

// Training, by stack.
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

// Bytes the optimizer reads and writes per trained parameter.
double optimizer_bytes(const model::Job& job, bool half_precision);

// Trained parameters: all, or the adapters.
double trained_parameters(const ModelWork& work, const model::Job& job);

// Bytes that LoRA adapters move per token, in all layers and both directions. The products are too thin for the rank to
// matter: inputs are read, results written, scaled and added, forward and backward. 20 bytes per unit of width;
// data/measurements/adapters-h200.csv has 18.6 to 23.1 at 80 % of the bandwidth.
double adapter_bytes(const ModelWork& work, const model::Job& job);

// Communication time of gradients and sharded parameters: per forward and backward pass, and once per step.
struct DataParallel {
  Seconds each_pass, once;
  Seconds updated;  // of `once`: gathering the parameters that the optimizer updated in shards

  Seconds of_step(double passes) const { return each_pass * passes + once; }
};
// `held`: share of a replica's parameters on one GPU; `group`: the GPUs that hold the same parameters.
DataParallel data_parallel_time(const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                                const Cluster& cluster, double network_rate, double held, ShardGroup group);
// Adds the transfers of a job that offloads to host memory.
void add_offload(const EagerConstants& constants, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                 const Cluster& cluster, TrainEstimate& estimate);
// The group of GPUs that hold the same weights, one per replica.
ShardGroup replicas_of(const model::Job& job);

// The GPU's wait in fp16 training: the gradient scaler reads whether gradients overflowed before every optimizer step
// (torch.amp.GradScaler), so the host cannot queue the optimizer while the backward pass runs.
Seconds scaler_wait(const model::Job& job, Seconds host_optimizer);

void note_hardware(const model::Job& job, const GpuSpeed& gpu, const Cluster& cluster, Notes& notes);

// Basis and width of an estimate for a stack on a GPU. `width` is the stack's own |log error| at 80 %.
struct Confidence {
  Basis basis;
  double width;
};
Confidence confidence_of(const GpuSpeed& gpu, int slot, model::JobKind kind, double width);
Interval interval_of(double width);
// The stack was measured, but not with such settings: adds a |log error| unless the user has calibrated it. 0.2 is a
// judgement: between a relative of a measured GPU and a GPU known only from its data sheet.
void widen(Confidence& confidence, Notes& notes, double by = 0.2);

template <class Estimate>
void state(Estimate& estimate, const Confidence& confidence) {
  estimate.basis = confidence.basis;
  estimate.interval = interval_of(confidence.width);
}

// Fails without a data-sheet rate.
Result<> check_rate(const GpuSpeed& gpu);

// The larger of compute and memory; host or communication if that takes longer.
Bound bound_of(Seconds arithmetic, Seconds device, Seconds host, Seconds communication);

// The weight format in products on this GPU.
WeightFormat weight_format(model::Precision precision, const GpuSpeed& gpu);

const Calibration& calibration_of(const GpuSpeed& gpu, int slot, model::JobKind kind);

}  // namespace rightsize::perf
