// Offline jobs have no latency limit: each replica runs the number of concurrent requests with the highest throughput.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "capacity/replica.h"
#include "plan/power_caps.h"
#include "plan/search.h"

namespace rightsize::plan {
namespace {

using model::Job;

// The speed of one replica.
struct Capacity {
  double requests_per_second = 0;  // 0: it cannot run
  Job job;
  perf::Interval interval = {};
  perf::Basis basis = perf::Basis::kMeasured;
  Watts power = {};  // of each GPU; zero: unknown
};

class OfflineSearch {
 public:
  OfflineSearch(const Request& request, const std::vector<MachineClass>& classes, const perf::Constants& constants,
                const perf::ModelWork& work)
      : request_(request), classes_(classes), constants_(constants), work_(work) {}

  FoundOptions run() {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const bool same = c > 0 && same_speed(classes_[c - 1], classes_[c]);
      if (!same) capacities_.clear();
      search_class(c);
    }
    return std::move(result_);
  }

 private:
  bool in_batches() const { return perf::serves_batches(work_); }

  // Calls `with` for every split and format of a replica on these machines.
  template <class With>
  void for_each_replica(const MachineClass& machines, const With& with) {
    for (model::Precision precision : precisions_for(request_, model::Method::kFull)) {
      if (!suits(request_, precision, *machines.gpu)) continue;
      for (int tensor : request_.choices.tensor) {
        const bool splits = tensor == 1 || (request_.model.heads > 0 && request_.model.heads % tensor == 0);
        if (!splits || tensor > machines.gpus || (request_.limits.gpus && *request_.limits.gpus % tensor != 0))
          continue;
        Job job = request_.job;
        job.precision = precision;
        job.parallel.tensor = job.parallel.gpus = tensor;
        result_.effort.configurations += machines.all_offers;
        with(capacity_of(machines, job));
      }
    }
  }

  // One result for all machines with this GPU and its links, because replicas stay inside a machine.
  const Capacity& capacity_of(const MachineClass& machines, const Job& job) {
    const bool linked = job.parallel.tensor > 1 && machines.cluster.linked;
    const std::tuple key(static_cast<int>(job.precision), job.parallel.tensor, linked);
    auto found = capacities_.find(key);
    if (found == capacities_.end()) {
      const Capacity made = request_.work.is_measured() ? measured(machines, job)
                            : in_batches()              ? batch_capacity(machines, job)
                                                        : token_capacity(machines, job);
      found = capacities_.emplace(key, made).first;
    }
    return found->second;
  }

  Capacity measured(const MachineClass& machines, const Job& job) {
    const std::vector<MeasuredRate>& rates = request_.work.measured;
    const auto rate = std::ranges::find(rates, machines.gpu->name, &MeasuredRate::gpu);
    if (rate == rates.end() || job.parallel.tensor != 1) return {0, job};
    if (!rate->fits)
      return none(machines, job, RejectionStage::kMemory, 1,
                  {.kind = Shortfall::Kind::kMemoryHeld, .have_bytes = machines.gpu->capacity()});
    return {rate->units_per_second, job, rate->interval, perf::Basis::kMeasured, {}};
  }

  Capacity none(const MachineClass& machines, const Job& job, RejectionStage stage, double distance,
                const Shortfall& shortfall) {
    result_.reject(machines, stage, distance, shortfall);
    return {0, job};
  }

  // Whether the weights leave memory for a KV cache.
  bool fits_weights(const MachineClass& machines, const Job& job) {
    if (engine_starts(request_, job, *machines.gpu)) return true;
    const Shortfall missing = missing_memory(request_, job, *machines.gpu);
    none(machines, job, RejectionStage::kMemory, missing.need_bytes / missing.have_bytes, missing);
    return false;
  }

  Capacity token_capacity(const MachineClass& machines, const Job& job) {
    Capacity best{0, job};
    if (!fits_weights(machines, job)) return best;
    for (std::int64_t together = 1; together <= 1024; together *= 2) {
      Job sized = job;
      sized.serve.concurrency = together;
      perf::ServeLoad load = capacity::load_of(request_.model, sized, *machines.gpu);
      load.of_job = true;
      const Result<perf::ServeEstimate> e =
          perf::estimate_serving(constants_, work_, sized, machines.speed, machines.cluster, load);
      ++result_.effort.estimates;
      if (!e)
        return none(machines, job, RejectionStage::kFormat, 1,
                    {.kind = Shortfall::Kind::kFormat, .reason = e.error().message});
      const bool cache_is_full = e->max_concurrency < static_cast<double>(together);
      if (cache_is_full && best.requests_per_second > 0) break;
      if (e->requests_per_second <= best.requests_per_second * 1.001) break;
      best = {e->requests_per_second, sized, e->tpot_interval, e->basis, e->power.mean};
    }
    return best;
  }

  Capacity batch_capacity(const MachineClass& machines, const Job& job) {
    Capacity best{0, job};
    for (std::int64_t batch : request_.choices.batches) {
      Job sized = job;
      sized.batch = sized.serve.concurrency = batch;
      const memory::MemoryNeed need = memory::estimate_memory(request_.model, sized, machines.gpu);
      if (need.high > machines.gpu->capacity()) {
        none(machines, job, RejectionStage::kMemory, need.high / machines.gpu->capacity(),
             {.kind = Shortfall::Kind::kMemory,
              .need_gpus = job.parallel.tensor,
              .need_bytes = need.high,
              .have_bytes = machines.gpu->capacity()});
        break;
      }
      const Result<perf::BatchEstimate> e = perf::estimate_batch(constants_, work_, sized, machines.speed);
      ++result_.effort.estimates;
      if (!e)
        return none(machines, job, RejectionStage::kFormat, 1,
                    {.kind = Shortfall::Kind::kFormat, .reason = e.error().message});
      const double rate = e->samples_per_second * job.parallel.tensor;
      if (rate > best.requests_per_second) best = {rate, sized, e->interval, e->basis, e->power.mean};
    }
    return best;
  }

  int replicas_per_machine(const MachineClass& machines, const Capacity& capacity) const {
    const int usable = std::min(machines.gpus, request_.limits.gpus.value_or(machines.gpus));
    return usable / capacity.job.parallel.tensor;
  }

  // The fastest replicas on each number of machines.
  void search_class(std::size_t index) {
    const MachineClass& machines = classes_[index];
    if (!request_.work.is_measured() && !in_batches() && !engine_runs_on(request_.job.stack, *machines.gpu)) {
      none(machines, request_.job, RejectionStage::kSoftware, 1,
           {.kind = Shortfall::Kind::kOldChip, .stack = request_.job.stack});
      return;
    }
    Capacity best;
    int best_each = 0;
    for_each_replica(machines, [&](const Capacity& capacity) {
      const int each = replicas_per_machine(machines, capacity);
      if (!(capacity.requests_per_second > 0) || each == 0) return;
      result_.effort.priced += machines.all_offers;
      if (capacity.requests_per_second * each <= best.requests_per_second * best_each) return;
      best = capacity;
      best_each = each;
    });
    if (!(best.requests_per_second > 0)) return;
    std::vector<int> counts = machine_counts(machines, request_.limits, false);
    add_fewest(machines, best.requests_per_second * best_each, counts);
    if (counts.empty())
      result_.reject(
          machines, RejectionStage::kLayout, 1,
          {.kind = Shortfall::Kind::kGpus, .need_gpus = machines.gpus, .have_gpus = request_.limits.max_gpus});
    for (int count : counts) {
      Option option;
      option.machines_class = index;
      option.machines = count;
      option.job = best.job;
      option.replicas = count * best_each;
      option.gpus = option.replicas * best.job.parallel.tensor;
      option.units_per_second = best.requests_per_second * option.replicas;
      option.running = static_cast<double>(best.job.serve.concurrency);
      option.speed = best.interval, option.basis = best.basis, option.gpu_power = best.power;
      result_.options.push_back(std::move(option));
    }
  }

  // The fewest machines that meet the deadline: start-up, interruptions and the slow end of the speed take a part of
  // the time, so the numbers up to twice that of the work alone are tried.
  void add_fewest(const MachineClass& machines, double requests_per_second, std::vector<int>& counts) const {
    const auto& deadline = request_.limits.deadline;
    if (!deadline || request_.limits.gpus || counts.empty()) return;
    const double work = request_.work.amount / (requests_per_second * in_seconds(*deadline));
    constexpr double kLongest = 2, kMostNumbers = 16;
    const double step = std::max(1.0, std::ceil((kLongest - 1) * work / kMostNumbers));
    const double most = std::min(static_cast<double>(request_.limits.max_gpus / machines.gpus),
                                 machines.most_machines > 0 ? machines.most_machines : 1e9);
    for (double n = std::max(1.0, std::ceil(work)); n <= std::min(kLongest * work + 1, most); n += step)
      counts.push_back(static_cast<int>(n));
    std::ranges::sort(counts);
    const auto same = std::ranges::unique(counts);
    counts.erase(same.begin(), same.end());
  }

  const Request& request_;
  const std::vector<MachineClass>& classes_;
  const perf::Constants& constants_;
  const perf::ModelWork& work_;
  std::map<std::tuple<int, int, bool>, Capacity> capacities_;  // of the current GPU, by format, split and links
  FoundOptions result_;
};

}  // namespace

FoundOptions search_offline(const Request& request, const std::vector<MachineClass>& classes,
                            const perf::Constants& constants, const perf::ModelWork& work) {
  return OfflineSearch(request, classes, constants, work).run();
}

Shortfall missing_memory(const Request& request, const Job& job, const catalog::Gpu& gpu) {
  Job one = job;
  one.serve.concurrency = 1;
  if (request.max_model_len) one.serve.isl = std::max(one.serve.isl, *request.max_model_len - one.serve.osl);
  return {.kind = Shortfall::Kind::kMemory,
          .precision = job.precision,
          .serving = true,
          .need_gpus = job.parallel.tensor,
          .need_bytes = memory::estimate_memory(request.model, one, nullptr).high,
          .have_bytes = gpu.capacity() * job.serve.memory_share};
}

}  // namespace rightsize::plan
