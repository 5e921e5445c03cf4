// Megatron-LM and Megatron-Bridge: tuned kernels, so the FLOPs of the whole model run at one rate per format, plus the
// cost of parallelism.
#include <algorithm>
#include <cmath>

#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {
namespace {

using model::Job;
using model::Precision;

// The share of peak is the stack's rate times the share that large products reach on this GPU, so GPUs with less power
// or older kernels are slower in every format.
struct Format {
  double rate;
  FlopsPerSecond peak;
};

Format format_of(const MegatronConstants& c, const Job& job, const GpuSpeed& gpu) {
  const double reached = gpu.matmul[static_cast<int>(MatmulFormat::kHalf)].rate;
  const auto share = [&](double of_reached) { return std::min(kMostArithmetic, of_reached * reached); };
  if (job.precision == Precision::kFp8) return {share(c.rate_fp8), gpu.fp8};
  if (job.precision == Precision::kFp4) return {share(c.rate_fp4), gpu.fp4};
  return {share(c.rate_bf16), gpu.half};
}

// Elementwise bytes relative to bf16, counted over a Llama layer (120 bytes per hidden element, forward and backward).
// fp8 casts the inputs of products (18) after finding their maximum (12; recipes differ), at 0.77 and 0.62 of the
// bandwidth, compared with 0.8 for plain kernels (data/measurements/casts-h200.csv). NVFP4 casts in both layouts, after
// a Hadamard transform for weight gradients (100, not measured). Frozen weights need only one layout.
double casting(const Job& job) {
  const bool frozen = job.train.method != model::Method::kFull;
  if (job.precision == Precision::kFp8) return frozen ? 1.17 : 1.29;
  if (job.precision == Precision::kFp4) return frozen ? 1.25 : 1.8;
  return 1.0;
}

// Bytes that a routed token moves besides the products of its expert, per element of the residual stream and of the
// expert's width, forward and backward, counted in Megatron Core's layer: a copy per expert, sorting by expert and
// back, the sum, the gate between the products, and the same for gradients. 8-bit formats also cast the inputs of each
// product in both layouts.
struct RoutedBytes {
  double hidden, width;
};

RoutedBytes routed_bytes(const Job& job) {
  const bool casts = job.precision == Precision::kFp8 || job.precision == Precision::kFp4;
  return casts ? RoutedBytes{28, 28} : RoutedBytes{20, 16};
}

// Start and end of each expert's products, four at a time, measured on one H200 (data/measurements/grouped-h200.csv:
// 1.3 us in bf16 and 1.9 us in fp8, at any depth).
constexpr Seconds kExpertProduct = microseconds(1.6);

// Parameters by placement: experts are split over expert-parallel GPUs, the rest over tensor-parallel GPUs.
struct Weights {
  double experts = 0, active_experts = 0, head = 0, dense = 0;  // dense: layers without experts
  double width = 0;                                             // inner width of an expert

  explicit Weights(const ModelWork& work) {
    for (const LayerWork& layer : work.kinds) {
      if (layer.experts < 0) continue;
      const model::ExpertsOp& how = work.mixtures[static_cast<std::size_t>(layer.experts)];
      const double one = static_cast<double>((how.gated ? 3 : 2) * how.hidden * how.intermediate);
      width = static_cast<double>(how.intermediate);
      experts += layer.count * static_cast<double>(how.count) * one;
      active_experts += layer.count * static_cast<double>(how.per_token) * one;
    }
    head = work.head_parameters;
    dense = work.active_parameters - active_experts - head * (work.tied ? 1.0 : 2.0);
  }
};

// Bytes per logit, forward and backward, with the fused loss of NVIDIA's recipes, measured on an H200
// (data/measurements/casts-h200.csv); 60 without fusion.
constexpr double kLogitBytes = 15.5;

// One GPU's share of a micro-batch.
class Stage {
 public:
  Stage(const MegatronConstants& c, const ModelWork& work, const Job& job, const GpuSpeed& gpu, const Cluster& cluster)
      : c_(c), work_(work), job_(job), gpu_(gpu), cluster_(cluster), p_(job.parallel), weights_(work) {
    tokens_ = static_cast<double>(job.batch * job.sequence) / p_.context;
    layers_ = uneven_layers();
    share_ = layers_ / work.layers / p_.tensor;
    redone_ = job.train.recompute == model::Recompute::kFull ? 4.0 / 3.0 : 1.0;
    passes_ = job.train.method == model::Method::kFull ? 3.0 : 2.0;
  }

  Seconds products() const {
    const Format format = format_of(c_, job_, gpu_);
    const double flops = 2.0 * tokens_ * passes_ * redone_ * share_;
    const FlopsPerSecond rate = format.peak * format.rate;
    const double head = 2.0 * tokens_ * passes_ * weights_.head / (p_.tensor * p_.pipeline);
    return flop(flops * weights_.dense) / rate + flop(flops * weights_.active_experts) / (rate * c_.expert_rate) +
           kExpertProduct * (2.0 * passes_ * redone_ * local_experts() * mixture_layers()) +
           flop(head) / (gpu_.half * c_.head_rate);
  }

  // 7 s^2 h: two products forward, five backward; half of that under a causal mask. Context-parallel GPUs share the
  // sequence.
  Seconds attention() const {
    const double sequence = static_cast<double>(job_.sequence);
    const double flops = 7.0 * tokens_ * sequence * work_.attention_width * share_ * redone_;
    const double rate = c_.attention_rate / (1.0 + c_.attention_short / sequence);
    return flop(flops) / (gpu_.half * (rate * gpu_.attention_scale));
  }

  // Traffic of the residual stream, routed tokens, logits and gradients.
  Seconds elementwise() const {
    const double rows = tokens_ / p_.tensor, routed = rows * work_.experts_per_token;
    const double layers = layers_ * c_.elementwise * casting(job_), mixtures = mixture_layers() * c_.permute;
    const double adapters = adapter_bytes(work_, job_) * tokens_ * share_;
    const RoutedBytes each = routed_bytes(job_);
    const double moved = each.hidden * work_.hidden + each.width * weights_.width;
    const double activations = work_.hidden * layers * rows + moved * mixtures * routed;
    const double logits = kLogitBytes * work_.vocabulary * tokens_ / (p_.tensor * p_.pipeline);
    return traffic_time(gpu_, bytes(activations + adapters + logits + gradients()), c_.bandwidth);
  }

  // Exposed launch time.
  Seconds launches() const { return c_.layer * layers_; }

  // Host time to launch the many small kernels of a mixture, some per local expert, and to read the token counts. Short
  // micro-batches on a fast GPU wait for it.
  Seconds host() const { return (c_.expert_host + c_.expert_launch * local_experts()) * mixture_layers(); }

  Seconds exchange() const {
    Seconds time;
    const Bytes activations = bytes(2.0 * tokens_ * work_.hidden);
    if (p_.tensor > 1) {  // gather and scatter around attention and MLP in both directions, and one more gather
      time += (collective_time(gpu_, cluster_, Collective::kAllGather, p_.tensor, activations * gathered()) * 6.0 +
               collective_time(gpu_, cluster_, Collective::kReduceScatter, p_.tensor, activations) * 4.0) *
              (c_.tensor_exposed * layers_);
    }
    if (p_.context > 1) {  // keys and values go around the ring, their gradients back
      const Bytes keys = bytes(2.0 * tokens_ * p_.context * work_.key_width / p_.tensor);
      time += collective_time(gpu_, cluster_, Collective::kAllGather, p_.context, keys) * (3.0 * c_.tensor_exposed) *
              layers_;
    }
    if (p_.expert > 1 && work_.experts > 0) {  // to the experts and back, in both directions
      const Bytes routed = activations * (destinations() / p_.tensor);
      time += collective_time(gpu_, cluster_, Collective::kAllToAll, p_.expert, routed) *
              (4.0 * c_.all_to_all * mixture_layers());
    }
    return time;
  }

  // Share of the parameters on this GPU, and the group that holds the same ones.
  DataParallel network() const {
    const double all = work_.parameters;
    const double dense = (all - weights_.experts) / all / (p_.tensor * p_.pipeline);
    const double experts = weights_.experts / all / (std::max(p_.tensor, p_.expert) * p_.pipeline);
    DataParallel sum =
        data_parallel_time(work_, job_, gpu_, cluster_, c_.network_rate, dense, {p_.data() * p_.context, p_.tensor});
    const int spread = std::max(p_.tensor, p_.expert), replicas = p_.gpus / (p_.pipeline * spread);
    const DataParallel more =
        data_parallel_time(work_, job_, gpu_, cluster_, c_.network_rate, experts, {replicas, spread});
    sum.each_pass += more.each_pass;
    sum.once += more.once;
    return sum;
  }

  Seconds optimizer() const {
    const double held = trained_parameters(work_, job_) / (p_.tensor * p_.pipeline) / std::max(1, p_.data());
    return traffic_time(gpu_, bytes(held * optimizer_bytes(job_, false)), c_.bandwidth);
  }

 private:
  // The largest stage: virtual stages hold whole layers.
  double uneven_layers() const {
    const double chunks = static_cast<double>(p_.pipeline) * p_.pipeline_interleave;
    return p_.pipeline == 1 ? work_.layers : std::ceil(work_.layers / chunks) * p_.pipeline_interleave;
  }
  // Weight gradients accumulate in 32 bits in every micro-batch; frozen weights have none.
  double gradients() const {
    if (job_.train.method != model::Method::kFull) return 0;
    const double experts = weights_.experts * layers_ / work_.layers / std::max(p_.tensor, p_.expert);
    return c_.gradient_bytes * (weights_.dense * share_ + experts);
  }
  double local_experts() const { return work_.experts / std::max(p_.tensor, p_.expert); }
  double mixture_layers() const { return layers_ * work_.expert_layers / work_.layers; }

  // Destinations of a token: it is sent once to each GPU (or machine, if experts span machines) that holds one of its
  // experts.
  double destinations() const {
    const double places =
        p_.expert > cluster_.node_gpus ? static_cast<double>(p_.expert) / cluster_.node_gpus : p_.expert;
    return places * (1.0 - std::pow(1.0 - 1.0 / places, work_.experts_per_token));
  }

  // Transformer Engine casts to the product's format before it gathers.
  double gathered() const { return job_.precision == Precision::kFp8 || job_.precision == Precision::kFp4 ? 0.5 : 1.0; }

  const MegatronConstants& c_;
  const ModelWork& work_;
  const Job& job_;
  const GpuSpeed& gpu_;
  const Cluster& cluster_;
  const model::Parallelism& p_;
  Weights weights_;
  double tokens_ = 0, layers_ = 0, share_ = 0, redone_ = 1, passes_ = 3;
};

void finish(TrainEstimate& estimate, const MegatronConstants& c, const ModelWork& work, const Job& job,
            const GpuSpeed& gpu) {
  const bool mixture = work.experts > 0;
  const bool few_rows = job.train.method != model::Method::kFull || job.precision == model::Precision::kFp4;
  const double width = mixture ? c.expert_width : std::hypot(c.dense_width, few_rows ? c.few_rows_width : 0.0);
  Confidence confidence = confidence_of(gpu, slot_of(job.stack), model::JobKind::kTrain, width);
  // No measured run used recompute or a quantized base.
  const bool beyond = job.train.recompute != model::Recompute::kNone || job.train.method == model::Method::kQlora;
  if (beyond) widen(confidence, estimate.notes);
  state(estimate, confidence);
  if (mixture) estimate.notes.push_back({NoteKind::kMixtureUnsure, 0});
}

}  // namespace

// t = F_linear / (e P) + F_experts / (x e P) + F_head / (h P16) + F_attention / (a P16) + traffic / BW + launches for
// the layers on one GPU, plus exposed tensor, context and expert-parallel communication, or the host time if that is
// longer; times 1 + (pp - 1) / (m v) for the pipeline bubble; plus exposed gradient traffic and the contention of
// hidden traffic; times 1 + l log2(GPUs / 8) for stragglers; plus the time between steps.
Result<TrainEstimate> train_megatron(const MegatronConstants& c, const ModelWork& work, const Job& job,
                                     const GpuSpeed& gpu, const Cluster& cluster) {
  const Stage stage(c, work, job, gpu, cluster);
  const model::Parallelism& p = job.parallel;
  const Calibration& own = calibration_of(gpu, slot_of(job.stack), model::JobKind::kTrain);
  const double micro = job.train.accumulation;
  const Seconds products = stage.products() * own.device, attention = stage.attention() * own.device;
  const Seconds passes = stage.elementwise() * own.device, launches = stage.launches() * own.device;
  const Seconds compute = products + attention + passes + launches, exchange = stage.exchange();
  const double bubble = (p.pipeline - 1.0) / (micro * p.pipeline_interleave);
  const DataParallel network = stage.network();
  const Seconds host = stage.host() * own.host, kept_busy = soft_max(compute + exchange, host, c.host_overlap);
  const Seconds pass = soft_max(kept_busy, network.each_pass, c.network_overlap);
  const Seconds busy = pass * (micro * (1.0 + bubble));
  // Gradients are reduced during the last backward pass, updated weights gathered during the first forward pass. Hidden
  // traffic still takes multiprocessors and bandwidth from the products.
  const Seconds hidden = soft_max(pass, network.once, c.network_overlap) - pass + network.once * c.contention;
  const double slowest = 1.0 + c.scale_loss * std::max(0.0, std::log2(p.gpus / 8.0));
  const Seconds alone = (busy + hidden) * slowest, between = c.step * own.host;

  TrainEstimate estimate;
  const Seconds optimizer = stage.optimizer();
  estimate.step = alone + between + optimizer;
  estimate.device = compute * micro + optimizer;
  estimate.host = host * micro;
  estimate.parts.push_back({"matrix products", products * micro});
  estimate.parts.push_back({"attention", attention * micro});
  estimate.parts.push_back({"elementwise", passes * micro});
  estimate.parts.push_back({"launches", launches * micro});
  if (exchange > Seconds{}) estimate.parts.push_back({"exchange of activations", exchange * micro});
  if (bubble > 0) estimate.parts.push_back({"pipeline bubble", pass * (micro * bubble)});
  estimate.parts.push_back({"optimizer", optimizer});
  const Seconds idle = kept_busy - compute - exchange;
  if (idle > compute * 0.0005) estimate.parts.push_back({"waiting for the host", idle * micro});
  const Seconds waiting = (pass - kept_busy) * micro + (alone - busy);
  if (waiting > Seconds{}) estimate.parts.push_back({"waiting for the network", waiting});
  estimate.parts.push_back({"between steps", between});
  estimate.bound = bound_of(products + attention, compute, host, exchange + network.of_step(micro) / micro);
  finish(estimate, c, work, job, gpu);
  return estimate;
}

}  // namespace rightsize::perf
