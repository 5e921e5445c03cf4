// Serving and offline jobs: how much one replica takes within its promise, then how many machines that makes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/search.h"

namespace rightsize::plan {
namespace {

using model::Job;

// Above this share of what an engine can do at most, queues grow with every fluctuation of the traffic.
constexpr double kBusiest = 0.9;
// A model that answers in one pass: requests wait for a batch to leave, then ride in the next.
constexpr double kBusiestBatches = 0.8;

// What one replica does.
struct Capacity {
  double requests_per_second = 0;  // within the promise; 0: it cannot be kept
  Job job;
  std::vector<double> by_size = {};  // the same for requests of one size alone
};

class ServingSearch {
 public:
  ServingSearch(const Request& request, const std::vector<MachineClass>& classes, const perf::Constants& constants,
                const perf::ModelWork& work)
      : request_(request), classes_(classes), constants_(constants), work_(work) {
    sizes_ = request.work.mix;
    if (sizes_.empty()) sizes_ = {{request.job.serve.isl, request.job.serve.osl, 1}};
  }

  SearchResult run() {
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const bool same_gpu = c > 0 && classes_[c - 1].gpu == classes_[c].gpu;
      if (!same_gpu) capacities_.clear();
      request_.work.kind == WorkKind::kOffline ? search_offline(c) : search_online(c);
    }
    return std::move(result_);
  }

 private:
  bool in_batches() const { return perf::serves_batches(work_); }
  double answer_tokens() const {
    double sum = 0;
    for (const RequestSize& size : sizes_) sum += size.share * static_cast<double>(size.osl);
    return in_batches() ? 1 : std::max(1.0, sum);
  }

  Obstacle& obstacle(const MachineClass& machines, Stage stage) {
    return result_.obstacles[{machines.gpu->name, stage}];
  }

  // Calls `with` for every split and format a replica on these machines may have.
  template <class With>
  void for_each_replica(const MachineClass& machines, const With& with) {
    for (model::Precision precision : precisions_for(request_, model::Method::kFull)) {
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

  // The same for all machines with this GPU: replicas stay inside a machine.
  const Capacity& capacity_of(const MachineClass& machines, const Job& job) {
    const std::pair key(static_cast<int>(job.precision), job.parallel.tensor);
    auto found = capacities_.find(key);
    if (found == capacities_.end()) {
      Capacity made = request_.work.is_measured() ? measured(machines, job)
                      : in_batches()              ? batch_capacity(machines, job)
                                                  : token_capacity(machines, job);
      found = capacities_.emplace(key, std::move(made)).first;
    }
    return found->second;
  }

  Capacity measured(const MachineClass& machines, const Job& job) {
    const MeasuredRate* rate = rate_on(machines);
    if (rate == nullptr || job.parallel.tensor != 1) return {0, job};
    if (!rate->fits)
      return none(machines, job, Stage::kMemory, 1, "the memory it held", format_bytes(machines.gpu->capacity()));
    return {rate->units_per_second, job};
  }

  const MeasuredRate* rate_on(const MachineClass& machines) const {
    const std::vector<MeasuredRate>& rates = request_.work.measured;
    const auto found = std::find_if(rates.begin(), rates.end(),
                                    [&](const MeasuredRate& rate) { return rate.gpu == machines.gpu->name; });
    return found == rates.end() ? nullptr : &*found;
  }

  Capacity none(const MachineClass& machines, const Job& job, Stage stage, double distance, std::string need,
                std::string have) {
    result_.effort.unfit += machines.all_offers;
    obstacle(machines, stage).meet(machines.all_offers, distance, [&] { return std::pair(need, have); });
    return {0, job};
  }

  // Capacities of the sizes share the replica's time: 1 / r = sum of share / r_size.
  Capacity token_capacity(const MachineClass& machines, const Job& job) {
    Capacity capacity{0, job};
    double time = 0;
    for (const RequestSize& size : sizes_) {
      Job sized = job;
      sized.serve.isl = size.isl;
      sized.serve.osl = size.osl;
      const double rate = request_.work.kind == WorkKind::kOffline ? fastest(machines, sized, capacity.job)
                                                                   : within_promise(machines, sized);
      if (!(rate > 0)) return {0, job};
      capacity.by_size.push_back(rate);
      time += size.share / rate;
    }
    capacity.requests_per_second = 1 / time;
    return capacity;
  }

  // Tokens of cache beside the weights, or why there are none.
  double cache_tokens(const MachineClass& machines, const Job& job) {
    const double tokens = perf::kv_token_capacity(request_.model, job, *machines.gpu);
    if (tokens > 0) return tokens;
    Job one = job;
    one.serve.concurrency = 1;
    const Bytes need = memory::estimate_memory(request_.model, one, nullptr).high;
    const Bytes capacity = machines.gpu->capacity() * job.serve.memory_share;
    none(machines, job, Stage::kMemory, need / capacity,
         fmt::format("{} on each of {} GPU{} in {}", format_bytes(need), job.parallel.tensor,
                     job.parallel.tensor == 1 ? "" : "s", model::name_of(job.precision)),
         format_bytes(capacity));
    return 0;
  }

  Result<perf::ServeEstimate> estimate(const MachineClass& machines, const Job& job, double kv_tokens, double rate) {
    ++result_.effort.estimates;
    perf::ServeLoad load;
    load.kv_tokens = kv_tokens;
    load.rate = requests_per_s(rate);
    load.slot_rule = false;
    return perf::estimate_serving(constants_, work_, job, machines.speed, machines.cluster, load);
  }

  bool keeps(const perf::ServeEstimate& e) const {
    const Limits& limits = request_.limits;
    return e.stable && (!limits.ttft || e.ttft <= *limits.ttft) && (!limits.tpot || e.tpot <= *limits.tpot);
  }

  // The highest rate at which a replica keeps its promise: utilization is proportional to the rate, so one look at an
  // idle replica tells where it saturates; latencies grow with the rate, so halving finds the rest.
  double within_promise(const MachineClass& machines, const Job& job) {
    const double kv_tokens = cache_tokens(machines, job);
    if (!(kv_tokens > 0)) return 0;
    constexpr double kTrickle = 1e-4;
    const Result<perf::ServeEstimate> idle = estimate(machines, job, kv_tokens, kTrickle);
    if (!idle) return none(machines, job, Stage::kFormat, 1, idle.error().message, "").requests_per_second;
    if (!keeps(*idle)) {
      explain_promise(machines, job, *idle);
      return 0;
    }
    double low = kTrickle, high = kBusiest * kTrickle / idle->utilization;
    auto kept = [&](double rate) {
      const Result<perf::ServeEstimate> e = estimate(machines, job, kv_tokens, rate);
      return e && keeps(*e);
    };
    if (high <= low || kept(high)) return std::max(low, high);
    for (int i = 0; i < 10 && high > low * 1.01; ++i) {
      const double middle = std::sqrt(low * high);
      (kept(middle) ? low : high) = middle;
    }
    return low;
  }

  void explain_promise(const MachineClass& machines, const Job& job, const perf::ServeEstimate& idle) {
    const Limits& limits = request_.limits;
    const bool first = limits.ttft && idle.ttft > *limits.ttft;
    const Seconds need = first ? idle.ttft : idle.tpot, have = first ? *limits.ttft : *limits.tpot;
    none(machines, job, Stage::kPromise, need / have,
         fmt::format("{} to {} alone on {} GPU{}", format_duration(need), first ? "the first token" : "each token",
                     job.parallel.tensor, job.parallel.tensor == 1 ? "" : "s"),
         format_duration(have));
  }

  // Nobody waits for an offline job: as many requests at once as run fastest.
  double fastest(const MachineClass& machines, const Job& job, Job& chosen) {
    const double kv_tokens = cache_tokens(machines, job);
    if (!(kv_tokens > 0)) return 0;
    double best = 0;
    for (std::int64_t together = 1; together <= 1024; together *= 2) {
      Job sized = job;
      sized.serve.concurrency = together;
      const Result<perf::ServeEstimate> e = estimate(machines, sized, kv_tokens, 0);
      if (!e) return none(machines, job, Stage::kFormat, 1, e.error().message, "").requests_per_second;
      const bool cache_is_full = e->max_concurrency < static_cast<double>(together);
      if (cache_is_full && best > 0) break;
      if (e->requests_per_second <= best * 1.001) break;
      best = e->requests_per_second;
      chosen = sized;
    }
    return best;
  }

  Capacity batch_capacity(const MachineClass& machines, const Job& job) {
    Capacity best{0, job};
    const bool online = request_.work.kind == WorkKind::kServing;
    for (std::int64_t batch : request_.choices.batches) {
      Job sized = job;
      sized.batch = sized.serve.concurrency = batch;
      const memory::MemoryNeed need = memory::estimate_memory(request_.model, sized, machines.gpu);
      if (need.high > machines.gpu->capacity()) {
        none(machines, job, Stage::kMemory, need.high / machines.gpu->capacity(), format_bytes(need.high),
             format_bytes(machines.gpu->capacity()));
        break;
      }
      const Result<perf::BatchEstimate> e = perf::estimate_batch(constants_, work_, sized, machines.speed);
      ++result_.effort.estimates;
      if (!e) return none(machines, job, Stage::kFormat, 1, e.error().message, "");
      const Seconds latency = e->batch * 2.0;
      if (online && request_.limits.ttft && latency > *request_.limits.ttft) {
        none(machines, job, Stage::kPromise, latency / *request_.limits.ttft,
             fmt::format("{} with batches of {}", format_duration(latency), batch),
             format_duration(*request_.limits.ttft));
        break;
      }
      const double rate = e->samples_per_second * (online ? kBusiestBatches : 1.0);
      if (rate > best.requests_per_second) best = {rate, sized, {rate}};
    }
    return best;
  }

  int replicas_per_machine(const MachineClass& machines, const Capacity& capacity) const {
    const int usable = std::min(machines.gpus, request_.limits.gpus.value_or(machines.gpus));
    return usable / capacity.job.parallel.tensor;
  }

  // As few machines as carry the load; formats and splits compete for that.
  void search_online(std::size_t index) {
    const MachineClass& machines = classes_[index];
    Option best;
    for_each_replica(machines, [&](const Capacity& capacity) {
      const int each = replicas_per_machine(machines, capacity);
      if (!(capacity.requests_per_second > 0) || each == 0) return;
      result_.effort.priced += machines.all_offers;
      const double asked = in_requests_per_s(request_.work.rate);
      const double takes = capacity.requests_per_second * each;
      const double wanted = asked > 0 ? std::max(1.0, std::ceil(asked / takes - 1e-9)) : 1;
      if (wanted * machines.gpus > request_.limits.max_gpus ||
          (machines.most_machines > 0 && wanted > machines.most_machines)) {
        obstacle(machines, Stage::kLayout).meet(machines.all_offers, wanted * machines.gpus, [&] {
          return std::pair(fmt::format("{} GPUs", format_count(wanted * machines.gpus)),
                           fmt::format("{} at most", machines.most_machines > 0 ? machines.most_machines * machines.gpus
                                                                                : request_.limits.max_gpus));
        });
        return;
      }
      Option option = online_option(index, capacity, static_cast<int>(wanted), each);
      if (best.machines_class == index && best.units_per_second > 0 && best.machines <= option.machines) return;
      best = std::move(option);
    });
    if (best.units_per_second > 0) result_.options.push_back(std::move(best));
  }

  Option online_option(std::size_t index, const Capacity& capacity, int count, int each) {
    const MachineClass& machines = classes_[index];
    Option option;
    option.machines_class = index;
    option.machines = count;
    option.job = capacity.job;
    option.replicas = count * each;
    option.gpus = option.replicas * capacity.job.parallel.tensor;
    const double asked = in_requests_per_s(request_.work.rate);
    const double load = asked > 0 ? asked / option.replicas : capacity.requests_per_second;
    option.utilization = load / capacity.requests_per_second;
    option.units_per_second = load * option.replicas * answer_tokens();
    for (double rate : capacity.by_size) option.machine_takes.push_back(rate * each);
    if (in_batches()) {
      const auto e = perf::estimate_batch(constants_, work_, option.job, machines.speed);
      option.ttft = e->batch * 2.0;
      option.interval = e->interval;
      return option;
    }
    const RequestSize& largest = *std::max_element(
        sizes_.begin(), sizes_.end(), [](const RequestSize& a, const RequestSize& b) { return a.isl < b.isl; });
    option.job.serve.isl = largest.isl;
    option.job.serve.osl = largest.osl;
    const double kv_tokens = perf::kv_token_capacity(request_.model, option.job, *machines.gpu);
    if (const auto e = estimate(machines, option.job, kv_tokens, load)) {
      option.ttft = e->ttft;
      option.tpot = e->tpot;
      option.running = e->running;
      option.interval = e->tpot_interval;
      option.job.serve.concurrency = std::max<std::int64_t>(1, std::llround(std::ceil(e->running)));
    }
    return option;
  }

  // The fastest replicas on each number of machines.
  void search_offline(std::size_t index) {
    const MachineClass& machines = classes_[index];
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
    for (int count : machine_counts(machines, request_.limits, false)) {
      Option option;
      option.machines_class = index;
      option.machines = count;
      option.job = best.job;
      option.replicas = count * best_each;
      option.gpus = option.replicas * best.job.parallel.tensor;
      option.units_per_second = best.requests_per_second * option.replicas;
      option.utilization = 1;
      option.running = static_cast<double>(best.job.serve.concurrency);
      option.interval = interval_of(machines, best.job);
      result_.options.push_back(std::move(option));
    }
  }

  perf::Interval interval_of(const MachineClass& machines, const Job& job) {
    if (const MeasuredRate* rate = rate_on(machines)) return rate->interval;
    if (in_batches()) return perf::estimate_batch(constants_, work_, job, machines.speed)->interval;
    const auto e = estimate(machines, job, perf::kv_token_capacity(request_.model, job, *machines.gpu), 0);
    return e ? e->tpot_interval : perf::Interval{};
  }

  const Request& request_;
  const std::vector<MachineClass>& classes_;
  const perf::Constants& constants_;
  const perf::ModelWork& work_;
  std::vector<RequestSize> sizes_;
  std::map<std::pair<int, int>, Capacity> capacities_;  // of the GPU at hand, by format and split
  SearchResult result_;
};

}  // namespace

SearchResult search_serving(const Request& request, const std::vector<MachineClass>& classes,
                            const perf::Constants& constants, const perf::ModelWork& work) {
  return ServingSearch(request, classes, constants, work).run();
}

}  // namespace rightsize::plan
