#include "plan/search_serving.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "serving/screen.h"

namespace rightsize::plan {
namespace {

using model::Job;
using serving::Quantity;
using serving::Slo;
using serving::Statistic;

double asked_rate(const Request& request) { return in_requests_per_s(request.work.rate); }

std::string gpus_in_words(int count) { return fmt::format("{} GPU{}", count, count == 1 ? "" : "s"); }

}  // namespace

serving::Service service_of(const Request& request, const perf::ModelWork& work, double requests_per_second) {
  const Limits& limits = request.limits;
  const bool batches = perf::serves_batches(work);
  serving::Service service;
  service.arrivals = request.work.mix.empty() || batches
                         ? sim::ArrivalProcess(sim::Poisson{requests_per_s(requests_per_second)})
                         : serving::mixed_arrivals(requests_per_second, request.work.mix);
  if (request.work.arrivals) service.arrivals = *request.work.arrivals;
  service.lengths = {static_cast<double>(request.job.serve.isl),
                     static_cast<double>(std::max<std::int64_t>(1, request.job.serve.osl)), false};
  const Quantity answer = batches ? Quantity::kLatency : Quantity::kTtft;
  if (limits.ttft) service.slos.push_back({answer, limits.slo_percentile, *limits.ttft});
  if (limits.tpot && !batches) service.slos.push_back({Quantity::kTpot, limits.slo_percentile, *limits.tpot});
  service.max_load = limits.max_load;
  return service;
}

ServingSearch::ServingSearch(const Request& request, const std::vector<MachineClass>& classes,
                             const perf::Constants& constants, const perf::ModelWork& work,
                             std::shared_ptr<serving::Findings> findings)
    : request_(request),
      classes_(classes),
      constants_(constants),
      work_(work),
      batches_(perf::serves_batches(work)),
      sizes_(request.work.mix),
      // Without a rate the replicas themselves say how much they take; see confirm().
      planner_(service_of(request, work, asked_rate(request) > 0 ? asked_rate(request) : 1), {}, 1,
               std::move(findings)) {
  if (sizes_.empty()) sizes_ = {{request.job.serve.isl, std::max<std::int64_t>(1, request.job.serve.osl), 1}};
}

SearchResult ServingSearch::screen() {
  for (std::size_t c = 0; c < classes_.size(); ++c) screen_class(c);
  return std::move(result_);
}

void ServingSearch::screen_class(std::size_t index) {
  const MachineClass& machines = classes_[index];
  if (!batches_ && !engine_runs_on(request_.job.stack, *machines.gpu))
    return note(machines, Stage::kSoftware, 1, std::string(model::name_of(request_.job.stack)), "GPUs it runs on");
  std::vector<Option> options;
  int fewest = std::numeric_limits<int>::max();
  for (model::Precision precision : precisions_for(request_, model::Method::kFull)) {
    for (int tensor : request_.choices.tensor) {
      const bool splits = tensor == 1 || (request_.model.heads > 0 && request_.model.heads % tensor == 0);
      if (!splits || tensor > machines.gpus || (request_.limits.gpus && *request_.limits.gpus % tensor != 0)) continue;
      Job job = request_.job;
      job.precision = precision;
      job.parallel.tensor = job.parallel.gpus = tensor;
      result_.effort.configurations += machines.all_offers;
      std::optional<Option> option = screened_option(index, job);
      if (!option) continue;
      result_.effort.priced += machines.all_offers;
      fewest = std::min(fewest, option->machines);
      options.push_back(*std::move(option));
    }
  }
  // The screen knows means only: splits that come near the best of the class may turn out better.
  for (Option& option : options) {
    if (option.machines <= 2 * fewest) result_.options.push_back(std::move(option));
  }
}

void ServingSearch::note(const MachineClass& machines, Stage stage, double distance, std::string need,
                         std::string have) {
  result_.effort.unfit += machines.all_offers;
  result_.obstacles[{machines.gpu->name, stage}].meet(machines.all_offers, distance,
                                                      [&] { return std::pair(need, have); });
}

// Replicas stay inside a machine: machines with the same GPU and links have the same ones.
Result<std::size_t> ServingSearch::replica_on(const MachineClass& machines, const Job& job) {
  const std::string key = fmt::format("{} {} {} {}", machines.gpu->name, machines.cluster.linked,
                                      static_cast<int>(job.precision), job.parallel.tensor);
  const auto known = replicas_.find(key);
  if (known != replicas_.end()) return known->second;
  const serving::Predictor predictor{constants_, request_.model, work_};
  ++result_.effort.estimates;
  Result<serving::Replica> made =
      batches_ ? serving::batch_replica(predictor, job, *machines.gpu, machines.speed)
               : serving::token_replica(predictor, job, *machines.gpu, machines.speed, machines.cluster);
  Result<std::size_t> index = made ? Result<std::size_t>(planner_.add(*std::move(made))) : fail(made.error());
  return replicas_.emplace(key, std::move(index)).first->second;
}

// What an idle replica takes already breaks an SLO.
void ServingSearch::note_slo(const MachineClass& machines, const Job& job, std::size_t replica) {
  const serving::Service& service = planner_.service();
  for (const Slo& slo : service.slos) {
    const Seconds idle = serving::unloaded(service, planner_.replicas()[replica], slo.quantity);
    if (idle <= slo.limit && &slo != &service.slos.back()) continue;
    return note(machines, Stage::kSlo, std::max(1.0, idle / slo.limit),
                fmt::format("{} {} {} on {}", serving::name_of(slo.quantity), format_duration(idle),
                            idle > slo.limit ? "alone" : "before any waits", gpus_in_words(job.parallel.tensor)),
                format_duration(slo.limit));
  }
}

std::optional<Option> ServingSearch::screened_option(std::size_t index, const Job& job) {
  const MachineClass& machines = classes_[index];
  const Result<std::size_t> replica = replica_on(machines, job);
  if (!replica) {
    const bool fits = batches_ || perf::kv_token_capacity(request_.model, job, *machines.gpu) > 0;
    const auto [distance, need, have] = missing_memory(request_, job, *machines.gpu);
    if (fits)
      note(machines, Stage::kFormat, 1, replica.error().message, "");
    else
      note(machines, Stage::kMemory, distance, need, have);
    return std::nullopt;
  }
  const serving::Replica& one = planner_.replicas()[*replica];
  const double takes = serving::screened_rate(planner_.service(), one);
  if (!(takes > 0)) {
    note_slo(machines, job, *replica);
    return std::nullopt;
  }
  Option option;
  option.machines_class = index;
  option.confirmed = false;
  option.replica = *replica;
  option.job = job;
  option.interval = one.interval;
  option.replicas_each = std::min(machines.gpus, request_.limits.gpus.value_or(machines.gpus)) / job.parallel.tensor;
  if (option.replicas_each == 0) return std::nullopt;
  const double asked = asked_rate(request_);
  const serving::Counts counts = counts_of(machines, option);
  const double wanted = asked > 0 ? std::max(1.0, std::ceil(asked / (takes * option.replicas_each) - 1e-9)) : 1;
  if (wanted * option.replicas_each > counts.most) {
    note(machines, Stage::kLayout, wanted * machines.gpus, fmt::format("{} GPUs", format_count(wanted * machines.gpus)),
         fmt::format("{} at most", counts.most * job.parallel.tensor));
    return std::nullopt;
  }
  option.machines = std::max(static_cast<int>(wanted), (counts.at_least + counts.step - 1) / counts.step);
  option.replicas = option.machines * option.replicas_each;
  option.gpus = option.replicas * job.parallel.tensor;
  option.requests_per_second = asked > 0 ? asked : takes * option.replicas;
  option.units_per_second = option.requests_per_second * answer_tokens();
  option.latency = serving::screened_latency(planner_.service(), one, option.requests_per_second / option.replicas);
  for (const RequestSize& size : sizes_) {
    const sim::RequestShape lengths{static_cast<double>(size.isl), static_cast<double>(size.osl), false};
    option.machine_takes.push_back(option.replicas_each * serving::screened_rate(planner_.service(), one, lengths));
  }
  return option;
}

double ServingSearch::answer_tokens() const {
  double sum = 0;
  for (const RequestSize& size : sizes_) sum += size.share * static_cast<double>(size.osl);
  return batches_ ? 1 : std::max(1.0, sum);
}

// Whole machines, as far as the limits go; `gpus` asks for exactly so many.
serving::Counts ServingSearch::counts_of(const MachineClass& machines, const Option& option) const {
  const Limits& limits = request_.limits;
  serving::Counts counts;
  counts.step = option.replicas_each;
  int most = limits.max_gpus / machines.gpus;
  if (machines.most_machines > 0) most = std::min(most, machines.most_machines);
  counts.most = most * option.replicas_each;
  if (!limits.gpus) return counts;
  counts.most = counts.at_least = *limits.gpus / option.job.parallel.tensor;
  return counts;
}

std::optional<serving::Assessment> ServingSearch::fewest(const Option& option, const serving::Counts& counts) {
  if (asked_rate(request_) > 0) return planner_.fewest(option.replica, counts);
  // As much as one machine takes: from what means allow downwards until the SLOs hold.
  constexpr double kLess = 0.85;
  constexpr int kTries = 16;
  double rate = option.requests_per_second;
  for (int i = 0; i < kTries; ++i, rate *= kLess) {
    const serving::Planner at(service_of(request_, work_, rate), {planner_.replicas()[option.replica]});
    if (auto found = at.fewest(0, {.step = counts.step, .most = counts.step, .at_least = 1})) return found;
  }
  return std::nullopt;
}

void ServingSearch::take(const serving::Assessment& found, Option& option) const {
  const Statistic at = request_.limits.slo_percentile;
  const double screened_machines = option.machines;
  option.confirmed = true;
  option.replicas = found.configuration.replicas();
  option.machines = option.replicas / option.replicas_each;
  option.gpus = option.replicas * option.job.parallel.tensor;
  option.requests_per_second = found.load * found.capacity;
  if (asked_rate(request_) > 0) option.requests_per_second = asked_rate(request_);
  option.units_per_second = option.requests_per_second * answer_tokens();
  option.load = found.load;
  option.busy = found.busy;
  option.running = found.profile.mean_batch;
  option.latency = found.value(Quantity::kLatency, Statistic::kMean);
  for (double& takes : option.machine_takes) takes *= screened_machines / option.machines;
  if (batches_) {
    option.ttft = found.value(Quantity::kLatency, at);
    option.job.batch = option.job.serve.concurrency = found.configuration.batching.max_batch;
    option.delay = sim::from_sim_time(found.configuration.batching.max_delay);
    return;
  }
  option.ttft = found.value(Quantity::kTtft, at);
  option.tpot = found.value(Quantity::kTpot, at);
  option.sequences = found.configuration.engine.max_sequences;
  option.token_budget = found.configuration.engine.token_budget;
  option.job.serve.concurrency = std::max<std::int64_t>(1, std::llround(std::ceil(option.running)));
  const RequestSize& largest = *std::max_element(
      sizes_.begin(), sizes_.end(), [](const RequestSize& a, const RequestSize& b) { return a.isl < b.isl; });
  option.job.serve.isl = largest.isl;
  option.job.serve.osl = largest.osl;
}

bool ServingSearch::confirm(Option& option, Obstacles& obstacles) {
  const MachineClass& machines = classes_[option.machines_class];
  const serving::Counts counts = counts_of(machines, option);
  if (const auto found = fewest(option, counts)) {
    take(*found, option);
    return true;
  }
  obstacles[{machines.gpu->name, Stage::kSlo}].meet(machines.all_offers, 1, [&] {
    std::string slos;
    for (const Slo& slo : planner_.service().slos)
      slos += fmt::format("{}{} {}", slos.empty() ? "" : ", ", serving::describe(slo), format_duration(slo.limit));
    return std::pair(fmt::format("more than {}", gpus_in_words(counts.most * option.job.parallel.tensor)),
                     slos.empty() ? "the load" : slos);
  });
  return false;
}

bool ServingSearch::confirm_mix(const std::vector<MixChoice>& choices) {
  serving::Configuration c;
  c.batching.max_batch = serving::kLargestBatch;
  for (const MixChoice& choice : choices) {
    const Option& option = *choice.kind->option;
    c.groups.push_back({option.replica, choice.machines * option.replicas_each});
    if (batches_) {
      c.batching.max_batch = std::min(c.batching.max_batch, static_cast<int>(option.job.batch));
      c.batching.max_delay = std::max(c.batching.max_delay, sim::to_sim_time(option.delay));
    } else {
      c.engine.max_sequences = std::min(c.engine.max_sequences, option.sequences);
      c.engine.token_budget = std::min(c.engine.token_budget, option.token_budget);
    }
  }
  return !std::isinf(planner_.bound(c)) && planner_.confirm(c).has_value();
}

}  // namespace rightsize::plan
