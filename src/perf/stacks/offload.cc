// Offloading to host memory during training, and the time of the transfers. There is no benchmark for it.
#include <algorithm>
#include <cmath>

#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::Offload;

// Elements per token that a layer keeps for its backward pass: inputs and outputs of every product (for a mixture, only
// those of the token's experts). A checkpointed layer keeps only its input.
double kept_elements(const ModelWork& work, const LayerWork& layer, const Job& job) {
  if (job.train.recompute == model::Recompute::kFull) return work.hidden;
  const double t = job.parallel.tensor;
  double sum = 0;
  for (const Product& product : layer.products) sum += product.inputs_on(t) + product.outputs_on(t);
  if (layer.experts < 0) return sum;
  const model::ExpertsOp& how = work.mixtures[static_cast<std::size_t>(layer.experts)];
  const double sides = how.gated ? 3.0 : 2.0;
  return sum + static_cast<double>(how.per_token) *
                   (2.0 * static_cast<double>(how.hidden) + sides * static_cast<double>(how.intermediate)) / t;
}

Bytes activation_bytes(const ModelWork& work, const Job& job) {
  const double tokens = static_cast<double>(job.batch * job.sequence) / job.parallel.context;
  double elements = 0;
  for (const LayerWork& layer : work.kinds) elements += layer.count * kept_elements(work, layer, job);
  return bytes(2.0 * tokens * elements / job.parallel.pipeline);
}

}  // namespace

// Activations leave in the forward pass and return in the backward pass, both overlapped with GPU work. With optimizer
// states in host memory, gradients leave and weights return in 16 bits, overlapped; the CPU update is exposed
// (ZeRO-Offload, arXiv 2101.06840). Weights in host memory are copied in every pass, and gradients leave.
void add_offload(const EagerConstants& c, const ModelWork& work, const Job& job, const GpuSpeed& gpu,
                 const Cluster& cluster, TrainEstimate& estimate) {
  const model::TrainSettings& train = job.train;
  if (train.offload == Offload::kNone && !train.offload_activations) return;
  const model::Parallelism& p = job.parallel;
  const double passes = train.accumulation, split = static_cast<double>(p.tensor) * p.pipeline;
  const double shards = p.zero > 0 ? p.data() : 1;
  const double updated = trained_parameters(work, job) / split / shards;
  Bytes moved;
  if (train.offload_activations) moved += activation_bytes(work, job) * (2.0 * passes);
  Seconds update;
  if (train.offload != Offload::kNone) {
    moved += bytes(4.0 * updated);
    update =
        c.offload_update * (updated * std::min(p.gpus, cluster.node_gpus));  // one host serves all GPUs of a machine
  }
  if (train.offload == Offload::kParameters) {
    const double redone = train.recompute == model::Recompute::kFull ? 1 : 0;
    moved += bytes((2.0 * (2 + redone) * work.parameters / split / shards + 2.0 * updated) * passes);
  }
  const Seconds copies = moved / (gpu.host_link * c.offload_link);
  const Seconds before = estimate.step;
  estimate.step = soft_max(before, copies, c.network_overlap) + update;
  estimate.parts.push_back({"host memory", estimate.step - before});
  if (copies > estimate.device) estimate.bound = Bound::kCommunication;
  if (estimate.basis == Basis::kCalibrated) return;
  Confidence confidence{estimate.basis, std::log(estimate.interval.high)};
  widen(confidence, estimate.notes);
  state(estimate, confidence);
}

}  // namespace rightsize::perf
