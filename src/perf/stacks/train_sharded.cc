// Sharded data-parallel training with fused kernels (llm-foundry, torchtitan), also with tensor, pipeline and context
// parallelism.
#include <algorithm>
#include <cmath>

#include "perf/kernels/scan.h"
#include "perf/stacks/engine_step.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::Precision;

// One GPU's part of a micro-batch.
struct Split {
  double tokens, batch, sequence;  // after context parallelism
  double tensor, layers;
};

Split split_of(const ModelWork& work, const Job& job) {
  const model::Parallelism& p = job.parallel;
  const double batch = static_cast<double>(job.batch), sequence = static_cast<double>(job.sequence);
  return {batch * sequence / p.context, batch, sequence, static_cast<double>(p.tensor), work.layers / p.pipeline};
}

// The forward product and both backward products of a linear layer.
struct LinearTime {
  Seconds forward, backward;
  LinearTime& operator+=(const LinearTime& o) {
    forward += o.forward, backward += o.backward;
    return *this;
  }
  LinearTime operator*(double n) const { return {forward * n, backward * n}; }
};

class ShardedLayer {
 public:
  ShardedLayer(const ShardedConstants& constants, const ModelWork& work, const Job& job, const GpuSpeed& gpu)
      : c_(constants), work_(work), job_(job), gpu_(gpu), split_(split_of(work, job)) {
    const double arch = gpu.hopper_or_later ? c_.matmul_rate_hopper : 1.0;
    rate_ = gpu.sustained * c_.matmul_rate * arch;
  }

  // `n` outputs and `k` inputs on this GPU. Frozen weights have no weight gradient.
  LinearTime linear(double n, double k, double rows, bool fp8) const {
    const WeightFormat format = fp8 ? WeightFormat::kFp8 : WeightFormat::kHalf;
    const double rate = fp8 ? c_.fp8_rate * c_.matmul_rate : rate_;
    const bool frozen = job_.train.method != model::Method::kFull;
    auto time = [&](double a, double b, double d) { return matmul_time(gpu_, {a, b, d}, format, rate).time; };
    LinearTime result{time(rows, n, k), time(rows, k, n)};
    if (!frozen) result.backward += time(k, n, rows);
    return result;
  }

  // Casts to fp8 around each linear: input, output gradient, weight.
  Seconds casts(double n, double k, double rows, bool recompute) const {
    return traffic_time(gpu_, bytes(4 * rows * k * (recompute ? 2 : 1) + 6 * rows * n + 4 * n * k), c_.cast_bandwidth);
  }

  LinearTime linears(const LayerWork& layer) const {
    const double t = split_.tensor, rows = split_.tokens;
    LinearTime sum{};
    for (const Product& product : layer.products) sum += one(product.outputs_on(t), product.inputs_on(t), rows);
    if (layer.experts < 0) return sum;
    const model::ExpertsOp& how = work_.mixtures[static_cast<std::size_t>(layer.experts)];
    const double count = static_cast<double>(how.count), hidden = static_cast<double>(how.hidden);
    const double inner = static_cast<double>(how.intermediate) / t, sides = how.gated ? 2.0 : 1.0;
    const double groups = count / job_.parallel.expert;
    const double routed = std::max(1.0, rows * static_cast<double>(how.per_token) / count * job_.parallel.expert);
    sum += one(sides * inner, hidden, routed) * groups;
    sum += one(hidden, inner, routed) * groups;
    return sum;
  }

  Seconds attention(const LayerWork& layer) const {
    const double factor = gpu_.hopper_or_later ? c_.attention_hopper : c_.attention_ampere;
    EngineLayout layout;
    layout.tensor = job_.parallel.tensor;
    Seconds sum;
    for (int number : layer.attentions) {
      const model::AttentionOp& how = work_.attentions[static_cast<std::size_t>(number)];
      sum += prefill_attention(gpu_, layout, how, split_.batch, split_.sequence).time;
    }
    for (int number : layer.scans) {
      sum += scan_time(gpu_, work_.scans[static_cast<std::size_t>(number)], layout.tensor,
                       split_.tokens * job_.parallel.context)
                 .time;
    }
    return sum * (factor / job_.parallel.context);
  }

  Seconds elementwise() const {
    const bool compiled = (job_.train.fused_kernels || job_.train.compile) && c_.elementwise_compiled > 0;
    const double spread = job_.parallel.sequence_parallel ? split_.tensor : 1.0;
    const double passes = 2 * (compiled ? c_.elementwise_compiled : c_.elementwise) / spread;
    // One direction; the backward pass counts twice.
    const double adapters = adapter_bytes(work_, job_) / 3 / work_.layers / split_.tensor;
    return traffic_time(gpu_, bytes(split_.tokens * (work_.hidden * passes + adapters)), c_.bandwidth);
  }

  // Logits stay 16-bit; the loss reads them several times.
  LinearTime logits() const {
    const double v = work_.vocabulary / split_.tensor;
    LinearTime sum = linear(v, work_.hidden, split_.tokens, false);
    sum.backward += traffic_time(gpu_, bytes(split_.tokens * v * c_.logits_bytes), c_.bandwidth);
    return sum;
  }

  const Split& split() const { return split_; }

 private:
  LinearTime one(double n, double k, double rows) const {
    if (job_.precision != Precision::kFp8) return linear(n, k, rows, false);
    LinearTime result = linear(n, k, rows, true);
    result.backward += casts(n, k, rows, job_.train.recompute == model::Recompute::kFull);
    return result;
  }

  const ShardedConstants& c_;
  const ModelWork& work_;
  const Job& job_;
  const GpuSpeed& gpu_;
  Split split_;
  double rate_ = 0;
};

// Collectives inside a micro-batch: tensor-parallel layers gather and scatter activations (four times per layer, six
// with recompute), context-parallel layers pass keys and values around, experts exchange tokens.
Seconds activation_exchange(const ModelWork& work, const Job& job, const GpuSpeed& gpu, const Cluster& cluster,
                            const Split& split) {
  const model::Parallelism& p = job.parallel;
  const double redone = job.train.recompute == model::Recompute::kFull ? 1.5 : 1.0;
  const Bytes activations = bytes(2 * split.tokens * work.hidden);
  Seconds time = collective_time(gpu, cluster, Collective::kAllReduce, p.tensor, activations) * (4 * redone);
  const Bytes keys = bytes(2 * split.tokens * p.context * work.key_width / p.tensor);
  time += collective_time(gpu, cluster, Collective::kAllGather, p.context, keys) * (3 * redone);
  if (work.experts > 0 && p.expert > 1) {
    time += collective_time(gpu, cluster, Collective::kAllToAll, p.expert, activations * work.experts_per_token) *
            (4 * redone);
  }
  return time * split.layers;
}

void finish(TrainEstimate& estimate, const ShardedConstants& c, const Job& job, const GpuSpeed& gpu,
            const ModelWork& work) {
  const int slot = slot_of(job.stack);
  Confidence confidence = confidence_of(gpu, slot, model::JobKind::kTrain, c.train_width);
  const model::Parallelism& p = job.parallel;
  // torchtitan was measured with every kind of parallelism and in fp8, llm-foundry without.
  const bool spread = p.tensor * p.pipeline * p.context > 1 || job.precision == Precision::kFp8;
  const bool beyond_rows = work.experts > 0 || p.expert > 1 || job.train.method != model::Method::kFull ||
                           (spread && job.stack != model::Stack::kTorchTitan);
  if (beyond_rows) widen(confidence, estimate.notes);
  state(estimate, confidence);
}

}  // namespace

// compute   = L (forward (2 with full recompute) + backward) + logits
// moved     = gathers and reductions of the sharded parameters, overlapped with compute
// step      = (soft_max_3(compute, moved) (1 + loss log2(N / 8)) + exchanges) x micro-batches (1 + bubble) + optimizer
// The bubble of an interleaved pipeline is (p - 1) / (m v) (Narayanan et al. 2021, section 2.2).
Result<TrainEstimate> train_sharded(const ShardedConstants& c, const ModelWork& work, const Job& job,
                                    const GpuSpeed& gpu, const Cluster& cluster) {
  const ShardedLayer layer(c, work, job, gpu);
  const Split& split = layer.split();
  const model::Parallelism& p = job.parallel;
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), model::JobKind::kTrain);
  const Seconds passes = layer.elementwise();
  Seconds attention;
  LinearTime linears{};
  for (const LayerWork& kind : work.kinds) {
    linears += layer.linears(kind) * (kind.count / p.pipeline);
    attention += layer.attention(kind) * (kind.count / p.pipeline);
  }
  const LinearTime logits = layer.logits() * (1.0 / p.pipeline);

  const Seconds layers_forward = linears.forward + attention + passes * split.layers;
  const Seconds forward = (layers_forward + logits.forward) * own.device;
  const Seconds backward =
      (linears.backward + attention * 2.5 + passes * (2.0 * split.layers) + logits.backward) * own.device;
  const double redone = job.train.recompute == model::Recompute::kFull        ? 1.0
                        : job.train.recompute == model::Recompute::kSelective ? c.selective_share
                                                                              : 0.0;
  const Seconds recompute = layers_forward * (redone * own.device);
  const Seconds compute = forward + backward + recompute;
  const double held = 1.0 / (p.tensor * p.pipeline);
  const DataParallel network = data_parallel_time(work, job, gpu, cluster, c.network_rate, held, replicas_of(job));
  const Seconds exchange = activation_exchange(work, job, gpu, cluster, split);
  const double scale = 1.0 + c.scale_loss * std::max(0.0, std::log2(p.gpus / 8.0));
  const double micro = job.train.accumulation;
  const double bubble = (p.pipeline - 1.0) / (micro * p.pipeline_interleave);
  const double shards = p.zero > 0 ? p.data() : 1.0;
  const Seconds optimizer = traffic_time(
      gpu, bytes(trained_parameters(work, job) * held / shards * optimizer_bytes(job, false)), c.bandwidth);

  TrainEstimate estimate;
  const Seconds pass = soft_max(compute, network.each_pass, c.network_overlap);
  const Seconds last = soft_max(pass, network.once, c.network_overlap) - pass;  // during the last backward pass
  const Seconds busy = ((pass * micro + last) * scale) + exchange * micro;
  estimate.step = busy * (1.0 + bubble) + optimizer;
  estimate.device = compute * micro + optimizer;
  estimate.parts.push_back({"forward", forward * micro});
  estimate.parts.push_back({"backward", backward * micro});
  if (redone > 0) estimate.parts.push_back({"recompute", recompute * micro});
  estimate.parts.push_back({"optimizer", optimizer});
  if (exchange > Seconds{}) estimate.parts.push_back({"exchange of activations", exchange * micro});
  const Seconds waiting = busy - (compute + exchange) * micro;
  if (p.gpus > 1) estimate.parts.push_back({"waiting for the network", waiting});
  if (bubble > 0) estimate.parts.push_back({"pipeline bubble", busy * bubble});
  const Seconds arithmetic =
      (linears.forward * (1 + redone) + linears.backward + attention * (3.5 + redone)) * own.device;
  estimate.bound = bound_of(arithmetic, compute, Seconds{}, network.of_step(micro) / micro + exchange);
  finish(estimate, c, job, gpu, work);
  return estimate;
}

}  // namespace rightsize::perf
