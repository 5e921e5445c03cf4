// Training: branch and bound over settings, for each class and number of machines.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "plan/layouts.h"
#include "plan/power_caps.h"
#include "plan/search.h"

namespace rightsize::plan {
namespace {

using model::Job;

// Settings of a job on one kind of GPU, with a lower bound on their time: GPU-seconds per unit of work without losses
// to the optimizer, the network and pipeline bubbles.
struct Core {
  Job job;
  double least = 0;
  std::size_t group = 0;  // cores that differ only in their batch
};

// The Trainer of transformers falls back to fp16 with loss scaling; other frameworks do not.
bool lacks_bf16(const Request& request, const Job& job, const perf::GpuSpeed& gpu) {
  const bool falls_back = job.stack == model::Stack::kHf && request.choices.precisions.empty();
  return model::is_bf16(job.precision) && !gpu.has_bf16 && !falls_back;
}

// Steps so large that fixed costs per step are negligible.
constexpr int kEndlessAccumulation = 1 << 20;

perf::Cluster ideal_cluster(const perf::Cluster& cluster) {
  perf::Cluster ideal = cluster;
  ideal.node_gpus = 1 << 10;
  ideal.linked = true;
  return ideal;
}

class TrainingSearch {
 public:
  TrainingSearch(const Request& request, const std::vector<MachineClass>& classes, const perf::Constants& constants,
                 const perf::ModelWork& work, memory::MemoryTable& memory, const Excluded& excluded,
                 const catalog::Gpu* only)
      : only_(only),
        request_(request),
        classes_(classes),
        constants_(constants),
        work_(work),
        memory_(memory),
        excluded_(excluded) {}

  FoundOptions run() {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      if (only_ != nullptr && classes_[c].gpu != only_) continue;
      const bool same = c > 0 && same_speed(classes_[c - 1], classes_[c]);
      if (!same) make_cores(classes_[c]);
      search_class(c);
    }
    return std::move(result_);
  }

 private:
  double per_second(const perf::TrainEstimate& estimate) const {
    return work_.image ? estimate.samples_per_second_per_gpu : in_tokens_per_s(estimate.tokens_per_gpu);
  }

  Obstacle& obstacle(const MachineClass& machines, RejectionStage stage) {
    return result_.obstacles[{machines.gpu->name, stage}];
  }

  bool splits(int tensor, int pipeline) const {
    if (tensor > 1 && (request_.model.heads == 0 || request_.model.heads % tensor != 0)) return false;
    if (pipeline == 1 || request_.model.layers % pipeline == 0) return true;
    return request_.job.parallel.pipeline_interleave == 1 && pipeline_stages(request_.model.layers, pipeline);
  }

  int most_gpus() const { return request_.limits.gpus.value_or(request_.limits.max_gpus); }

  // Whole experts over one or more tensor-parallel groups need no more memory or time than slices. Slices are used only
  // if the experts cannot be divided that way, or on request.
  bool spreads(int expert, int tensor) const {
    const std::vector<int>& all = request_.choices.expert;
    if (expert % tensor == 0) return expert <= most_gpus();
    return all.size() == 1 ? tensor % expert == 0
                           : expert == 1 && std::find(all.begin(), all.end(), tensor) == all.end();
  }

  // Every combination of settings except data parallelism, fastest first.
  void make_cores(const MachineClass& machines) {
    cores_.clear();
    fits_.clear();
    const perf::Cluster ideal = ideal_cluster(machines.cluster);
    for (model::Method method : request_.choices.methods) {
      for (model::Precision precision : precisions_for(request_, method)) {
        for (model::Recompute recompute : request_.choices.recomputes) {
          for (int tensor : request_.choices.tensor) {
            for (int pipeline : request_.choices.pipeline) {
              if (!splits(tensor, pipeline)) continue;
              Job job = request_.job;
              job.train.method = method;
              job.precision = precision;
              job.train.recompute = recompute;
              job.parallel.tensor = tensor;
              job.parallel.pipeline = pipeline;
              for (int expert : request_.choices.expert) {
                job.parallel.expert = expert;
                if (spreads(expert, tensor) && computes(machines, job) && may_fit(machines, job))
                  add_cores(machines, ideal, job);
              }
            }
          }
        }
      }
    }
    std::stable_sort(cores_.begin(), cores_.end(), [](const Core& a, const Core& b) { return a.least < b.least; });
  }

  // Whether weights and states alone fit with the most GPUs and the most sharding.
  bool may_fit(const MachineClass& machines, Job job) {
    const int unit = std::max(job.parallel.tensor, job.parallel.expert) * job.parallel.pipeline;
    job.parallel.gpus = std::max(unit, most_gpus() / unit * unit);
    job.parallel.zero = *std::max_element(request_.choices.zero.begin(), request_.choices.zero.end());
    job.batch = request_.choices.batches.front();
    if (memory_.floor(job) <= machines.gpu->capacity()) return true;
    is_within(machines, job);  // records the shortfall
    too_large(machines, static_cast<double>(request_.choices.batches.size()));
    return false;
  }

  bool computes(const MachineClass& machines, const Job& job) {
    if (!lacks_bf16(request_, job, machines.speed)) return true;
    obstacle(machines, RejectionStage::kFormat)
        .add(1, 1, {.kind = Shortfall::Kind::kFormat, .reason = "this GPU has no bf16 arithmetic"});
    return false;
  }

  void add_cores(const MachineClass& machines, const perf::Cluster& ideal, Job job) {
    job.parallel.gpus = std::max(job.parallel.tensor, job.parallel.expert) * job.parallel.pipeline;
    job.parallel.zero = 0;
    job.train.accumulation = kEndlessAccumulation;
    for (std::int64_t batch : request_.choices.batches) {
      job.batch = batch;
      const Result<perf::TrainEstimate> estimate =
          perf::estimate_training(constants_, work_, job, machines.speed, ideal);
      ++result_.effort.estimates;
      if (!estimate) {
        obstacle(machines, RejectionStage::kFormat)
            .add(1, 1, {.kind = Shortfall::Kind::kFormat, .reason = estimate.error().message});
        return;
      }
      cores_.push_back({job, 1.0 / per_second(*estimate), fits_.size()});
    }
    fits_.emplace_back();
  }

  void search_class(std::size_t index) {
    const MachineClass& machines = classes_[index];
    if (cores_.empty()) return;  // no format or no memory: make_cores() recorded it
    if (!machines.networked && !request_.limits.gpus) {
      obstacle(machines, RejectionStage::kNetwork)
          .add(machines.all_offers * static_cast<double>(cores_.size()), 1, {.kind = Shortfall::Kind::kNoNetwork});
    }
    if (machines.networked && !machines.rdma && most_gpus() > kMostWithoutRdma * machines.gpus) {
      obstacle(machines, RejectionStage::kNetwork)
          .add(machines.all_offers, 1, {.kind = Shortfall::Kind::kNoRdma, .have_gpus = kMostWithoutRdma});
    }
    bool divides = false;
    const std::vector<int> counts = machine_counts(machines, request_.limits, true, request_.global_batch_assumed);
    for (int count : counts) {
      if (count != counts.back() && is_hopeless(request_.limits.gpus.value_or(count * machines.gpus))) {
        divides = true;
        continue;
      }
      adjusts_ = !divides_batch(machines, request_.limits.gpus.value_or(count * machines.gpus));
      if (adjusts_ && !request_.global_batch_assumed) continue;
      divides = true;
      search_machines(index, count);
    }
    if (divides) return;
    if (counts.empty()) {
      const bool alone = machines.gpus >= request_.limits.gpus.value_or(machines.gpus);
      const auto kind = alone || (machines.networked && machines.rdma) ? Shortfall::Kind::kGpus
                        : machines.networked                           ? Shortfall::Kind::kNoRdma
                                                                       : Shortfall::Kind::kNoNetwork;
      obstacle(machines, RejectionStage::kLayout)
          .add(machines.all_offers, 1,
               {.kind = kind,
                .need_gpus = request_.limits.gpus.value_or(machines.gpus),
                .have_gpus = kind == Shortfall::Kind::kNoRdma
                                 ? kMostWithoutRdma
                                 : std::min(most_gpus(), machines.gpus * std::max(1, machines.most_machines))});
      return;
    }
    obstacle(machines, RejectionStage::kLayout)
        .add(machines.all_offers, 1,
             {.kind = Shortfall::Kind::kGlobalBatch,
              .need_gpus = static_cast<int>(request_.global_batch),
              .have_gpus = request_.limits.gpus.value_or(machines.gpus)});
  }

  // Whether even the fastest settings without any loss miss the deadline. The largest number of machines is always
  // searched, to show how far off the GPU is.
  bool is_hopeless(int gpus) const {
    if (!request_.limits.deadline || cores_.empty()) return false;
    const Seconds least = seconds(request_.work.amount * cores_.front().least / gpus);
    return least > *request_.limits.deadline;
  }

  // Whether some split of the model has a number of replicas that divides the samples of a step.
  bool divides_batch(const MachineClass& machines, int gpus) const {
    for (int tensor : request_.choices.tensor) {
      for (int pipeline : request_.choices.pipeline) {
        const int replica = tensor * pipeline;
        if (splits(tensor, pipeline) && tensor <= machines.gpus && gpus % replica == 0 &&
            request_.global_batch % (gpus / replica) == 0)
          return true;
      }
    }
    return false;
  }

  // Whether the loss may be computed in chunks: the trainer's file can ask for it, and the result is the same.
  bool may_chunk() const {
    return request_.loss_assumed && request_.job.stack == model::Stack::kHf && request_.model.image_size == 0 &&
           request_.model.kind == model::ModelKind::kDecoder && !request_.job.train.preference &&
           request_.job.train.cross_entropy == model::CrossEntropy::kEager;
  }

  // The fastest settings on `count` machines. Where memory is short, the loss in chunks costs nothing, and more
  // machines do.
  void search_machines(std::size_t index, int count) {
    Fastest best;
    search_machines(index, count, request_.job.train.cross_entropy, best);
    const bool is_short = !(best.option.units_per_second > 0) || best.option.memory_used > kTight;
    if (is_short && may_chunk()) search_machines(index, count, model::CrossEntropy::kChunked, best);
    if (best.option.units_per_second > 0) result_.options.push_back(std::move(best.option));
  }

  struct Fastest {
    Option option;
    double least = 1e300;
  };

  // Cores are ordered by their lower bound: once that is no better than the best found, the search ends.
  void search_machines(std::size_t index, int count, model::CrossEntropy loss, Fastest& best) {
    const MachineClass& machines = classes_[index];
    const int gpus = request_.limits.gpus.value_or(count * machines.gpus);
    std::size_t looked_at = 0;
    const double zeros = gpus > 1 ? static_cast<double>(request_.choices.zero.size()) : 1;
    for (const Core& core : cores_) {
      if (core.least >= best.least) break;
      ++looked_at;
      Job job = core.job;
      job.train.cross_entropy = loss;
      if (!lay_out(machines, gpus, job)) {
        unfit(machines, zeros);
        continue;
      }
      KnownFit& known = fits_[core.group];
      if (known.gpus != gpus || known.of != machines.gpu || known.loss != loss)
        known = {machines.gpu, gpus, loss, can_fit(machines, job)};
      if (!known.fits) {
        too_large(machines, zeros);
        continue;
      }
      for (int zero : request_.choices.zero) {
        if (zero > 0 && job.parallel.data() == 1) continue;
        job.parallel.zero = zero;
        if (!is_usual(request_, job) || !fits(machines, job)) continue;
        const Result<perf::TrainEstimate> estimate =
            perf::estimate_training(constants_, work_, job, machines.speed, machines.cluster);
        ++result_.effort.estimates;
        result_.effort.priced += machines.all_offers;
        if (!estimate) continue;
        const double time = 1.0 / per_second(*estimate), used = memory_.high(job) / machines.gpu->capacity();
        const double counted = time * (used > kTight ? kSpareWins : 1);
        if (counted >= best.least) continue;
        best.least = counted;
        best.option = {{count, gpus, job, gpus / time, estimate->interval, estimate->basis}, index};
        best.option.gpu_power = estimate->power.mean;
        best.option.memory_used = used;
      }
    }
    const double all = static_cast<double>(cores_.size()) * zeros * machines.all_offers;
    result_.effort.configurations += all;
    result_.effort.bounded += static_cast<double>(cores_.size() - looked_at) * zeros * machines.all_offers;
  }

  // The largest batch up to the assumed size that is divisible by the replicas: no number of GPUs may win by larger
  // steps. 0 if it would be much smaller. If the number of GPUs was given, at least one sample per replica.
  std::int64_t adjusted_batch(int replicas) const {
    const std::int64_t samples = request_.global_batch / replicas * replicas;
    if (static_cast<double>(samples) >= kLeastShareOfBatch * static_cast<double>(request_.global_batch)) return samples;
    return request_.limits.gpus ? std::max<std::int64_t>(samples, replicas) : 0;
  }

  // Sets replicas and micro-batches; false if the GPUs are not divisible.
  bool lay_out(const MachineClass& machines, int gpus, Job& job) {
    const int replica = job.parallel.tensor * job.parallel.pipeline;
    // Tensor parallelism across machines would wait for the network in every layer.
    const int stage = std::max(job.parallel.tensor, job.parallel.expert) * job.parallel.pipeline;
    const bool divides = gpus % replica == 0 && gpus % stage == 0 && job.parallel.tensor <= machines.gpus;
    if (!divides) return false;
    const std::int64_t together = job.batch * (gpus / replica);
    const std::int64_t samples = adjusts_ ? adjusted_batch(gpus / replica) : request_.global_batch;
    if (samples == 0 || samples % together != 0) return false;
    job.parallel.gpus = gpus;
    job.train.accumulation = static_cast<int>(samples / together);
    return true;
  }

  // Whether the settings can fit at all: with the smallest batch, the most sharding and the most recomputation. More
  // splitting, sharding and recomputing never need more memory, so if this fails, everything else does.
  bool can_fit(const MachineClass& machines, Job job) {
    job.batch = request_.choices.batches.front();
    const std::int64_t together = job.batch * job.parallel.data();
    job.train.accumulation = static_cast<int>((request_.global_batch + together - 1) / together);
    job.parallel.zero = 0;
    for (int zero : request_.choices.zero) {
      Job sharded = job;
      sharded.parallel.zero = zero;
      if ((zero == 0 || job.parallel.data() > 1) && is_usual(request_, sharded)) job = sharded;
    }
    Job least = job;
    least.train.recompute = request_.choices.recomputes.back();
    return is_small_enough(machines, least) && is_small_enough(machines, job);
  }

  bool is_small_enough(const MachineClass& machines, const Job& job) {
    const auto key =
        std::tuple(machines.gpu, job.train.method, job.precision, job.train.recompute, job.train.cross_entropy,
                   job.parallel.tensor, job.parallel.pipeline, job.parallel.expert, job.parallel.gpus);
    const auto found = small_enough_.find(key);
    if (found != small_enough_.end()) return found->second;
    const bool within = is_within(machines, job);
    small_enough_.emplace(key, within);
    return within;
  }

  void unfit(const MachineClass& machines, double settings) { result_.effort.unfit += machines.all_offers * settings; }

  void too_large(const MachineClass& machines, double settings) {
    unfit(machines, settings);
    obstacle(machines, RejectionStage::kMemory).count += machines.all_offers * settings;
  }

  bool fits(const MachineClass& machines, const Job& job) {
    const bool within = is_within(machines, job);
    if (!within) too_large(machines, 1);
    return within;
  }

  bool is_within(const MachineClass& machines, const Job& job) {
    const Bytes capacity = machines.gpu->capacity();
    Bytes need = memory_.floor(job);
    const bool hopeless = need > capacity;
    if (!hopeless) need = memory_.high(job);
    if (need <= capacity && !excluded_(job, *machines.gpu)) return true;
    // Settings with weights and states that alone do not fit are never the closest.
    constexpr double kFar = 1e6;
    obstacle(machines, RejectionStage::kMemory)
        .add(0, need / capacity * (hopeless ? kFar : 1),
             {.kind = Shortfall::Kind::kMemory,
              .need_gpus = job.parallel.gpus,
              .need_bytes = need,
              .have_bytes = capacity});
    return false;
  }

  static constexpr double kLeastShareOfBatch = 0.7;
  // Settings with memory to spare win against faster ones that fill the GPU, if those save at most 5 % of the time.
  static constexpr double kTight = 0.95, kSpareWins = 1.05;

  const catalog::Gpu* only_;
  bool adjusts_ = false;  // for the current number of machines
  const Request& request_;
  const std::vector<MachineClass>& classes_;
  const perf::Constants& constants_;
  const perf::ModelWork& work_;
  memory::MemoryTable& memory_;
  const Excluded& excluded_;
  std::vector<Core> cores_;  // of the current GPU
  // By group of cores, for the last number of GPUs.
  struct KnownFit {
    const catalog::Gpu* of = nullptr;
    int gpus = 0;
    model::CrossEntropy loss = model::CrossEntropy::kEager;
    bool fits = false;
  };
  std::vector<KnownFit> fits_;
  std::map<std::tuple<const catalog::Gpu*, model::Method, model::Precision, model::Recompute, model::CrossEntropy, int,
                      int, int, int>,
           bool>
      small_enough_;
  FoundOptions result_;
};

}  // namespace

FoundOptions search_training(const Request& request, const std::vector<MachineClass>& classes,
                             const perf::Constants& constants, const perf::ModelWork& work, memory::MemoryTable& memory,
                             const Excluded& excluded, const catalog::Gpu* only) {
  return TrainingSearch(request, classes, constants, work, memory, excluded, only).run();
}

}  // namespace rightsize::plan
