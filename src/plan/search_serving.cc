#include "plan/search_serving.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "capacity/screen.h"
#include "plan/explain.h"
#include "plan/layouts.h"

namespace rightsize::plan {
namespace {

using capacity::Quantity;
using capacity::Slo;
using capacity::Statistic;
using model::Job;

double asked_rate(const Request& request) { return in_requests_per_s(request.work.rate); }

// A replica that serves queries with `documents` pairs each: a query is done when all its pairs are. Pairs that do not
// fit one pass take several.
capacity::Replica of_queries(capacity::Replica pairs, int documents) {
  const sim::ServiceTimes each = pairs.times;
  const int most = each.max_batch();
  pairs.times = {{0}, {0}};
  pairs.sizes.clear();
  for (int queries = 1; queries == 1 || queries * documents <= most; ++queries) {
    const int full = queries * documents / most, rest = queries * documents % most;
    const auto at = [&](const auto& list, int batch) { return list[static_cast<std::size_t>(batch)]; };
    pairs.times.shortest.push_back(full * at(each.shortest, most) + (rest > 0 ? at(each.shortest, rest) : 0));
    pairs.times.scale.push_back(full * at(each.scale, most) + (rest > 0 ? at(each.scale, rest) : 0));
    if (std::has_single_bit(static_cast<unsigned>(queries))) pairs.sizes.push_back(queries);
  }
  return pairs;
}

}  // namespace

ServingSearch::ServingSearch(const Request& request, const std::vector<MachineClass>& classes,
                             const perf::Constants& constants, const perf::ModelWork& work,
                             std::shared_ptr<capacity::RunCache> run_cache)
    : request_(request),
      classes_(classes),
      constants_(constants),
      work_(work),
      batches_(perf::serves_batches(work)),
      sizes_(request.work.mix),
      // Without a rate, the capacity of the replicas sets it; see confirm().
      planner_(service_of(request, work, asked_rate(request) > 0 ? asked_rate(request) : 1), {}, 1,
               std::move(run_cache)) {
  if (sizes_.empty()) sizes_ = {{request.job.serve.isl, std::max<std::int64_t>(1, request.job.serve.osl), 1}};
}

FoundOptions ServingSearch::screen() {
  for (std::size_t c = 0; c < classes_.size(); ++c) screen_class(c);
  return std::move(result_);
}

void ServingSearch::screen_class(std::size_t index) {
  const MachineClass& machines = classes_[index];
  if (!batches_ && !engine_runs_on(request_.job.stack, *machines.gpu))
    return result_.reject(machines, RejectionStage::kSoftware, 1,
                          {.kind = Shortfall::Kind::kOldChip, .stack = request_.job.stack});
  std::vector<Option> options;
  for (model::Precision precision : precisions_for(request_, model::Method::kFull)) {
    if (!suits(request_, precision, *machines.gpu)) continue;
    Job job = request_.job;
    job.precision = precision;
    const std::size_t before = options.size();
    screen_format(index, job, options);
    if (options.size() == before) screen_machines(index, precision, options);
  }
  for (Option& option : options) result_.options.push_back(std::move(option));
}

// A replica that fits no single machine spans the fewest that hold it: tensor parallel within a machine, with one
// pipeline stage on each.
void ServingSearch::screen_machines(std::size_t index, model::Precision precision, std::vector<Option>& options) {
  constexpr int kMostMachines = 8;
  const MachineClass& machines = classes_[index];
  const std::vector<int>& tensors = request_.choices.tensor;
  const bool whole = std::find(tensors.begin(), tensors.end(), machines.gpus) != tensors.end() &&
                     request_.model.heads > 0 && request_.model.heads % machines.gpus == 0;
  if (batches_ || !machines.networked || !whole || machines.gpus < 2) return;
  Job job = request_.job;
  job.precision = precision;
  job.parallel.tensor = machines.gpus;
  if (engine_starts(request_, job, *machines.gpu)) return;  // memory is sufficient
  for (int stages = 2; stages <= kMostMachines; ++stages) {
    job.parallel.pipeline = stages;
    job.parallel.gpus = machines.gpus * stages;
    if (job.parallel.gpus > request_.limits.max_gpus || stages > request_.model.layers) return;
    if (!engine_starts(request_, job, *machines.gpu)) continue;
    if (request_.limits.gpus && *request_.limits.gpus % job.parallel.gpus != 0) return;
    result_.effort.configurations += machines.all_offers;
    if (std::optional<Option> option = screened_option(index, job)) {
      result_.effort.priced += machines.all_offers;
      options.push_back(*std::move(option));
    }
    return;
  }
}

// Plain replicas, attention in groups, separate workers. The screen knows only means, so it cannot compare these
// layouts: all are passed on, and each is simulated only if nothing cheaper is left.
void ServingSearch::screen_format(std::size_t index, Job job, std::vector<Option>& options) {
  const MachineClass& machines = classes_[index];
  const auto add = [&](const Job& tried) {
    result_.effort.configurations += machines.all_offers;
    std::optional<Option> option = screened_option(index, tried);
    if (!option) return;
    result_.effort.priced += machines.all_offers;
    options.push_back(*std::move(option));
  };
  for (int tensor : request_.choices.tensor) {
    const bool splits = tensor == 1 || (request_.model.heads > 0 && request_.model.heads % tensor == 0);
    if (!splits) continue;
    for (int pipeline : request_.choices.pipeline) {
      const int copy = tensor * pipeline;
      if (copy > machines.gpus || (request_.limits.gpus && *request_.limits.gpus % copy != 0)) continue;
      job.parallel.tensor = tensor, job.parallel.pipeline = pipeline, job.parallel.gpus = copy;
      for (const Groups& groups : groups_of(request_, tensor)) {
        job.parallel.expert = groups.expert, job.parallel.attention_data = groups.attention;
        if (groups.plain() || pipeline == 1) add(job);
      }
    }
  }
  job.parallel.expert = job.parallel.attention_data = job.parallel.pipeline = 1;
  for (const Job& apart : separations(machines, job)) add(apart);
}

// Splits the workers of a machine between prefill and decode, based on the rates of plain replicas. The more lengths
// vary, the less load prefill workers can carry before requests queue too long, so splits for several loads are tried.
std::vector<Job> ServingSearch::separations(const MachineClass& machines, Job job) {
  std::vector<Job> found;
  if (batches_ || !may_separate(request_)) return found;
  const auto copy_on = [&](int tensor) -> const capacity::Replica* {
    job.parallel.tensor = job.parallel.gpus = tensor;
    if (tensor > 1 && (request_.model.heads <= 0 || request_.model.heads % tensor != 0)) return nullptr;
    const Result<std::size_t> replica = replica_on(machines, job);
    return replica ? &planner_.replicas()[*replica] : nullptr;
  };
  const double prompt = capacity::mean_of(planner_.service()).size;
  std::map<int, double> prefills, decodes;
  for (int tensor : request_.choices.tensor) {
    const capacity::Replica* copy = tensor < machines.gpus ? copy_on(tensor) : nullptr;
    if (copy == nullptr) continue;
    capacity::Replica answers = *copy;
    answers.step.prefill = 0;
    prefills[tensor] = 1 / (prompt * in_seconds(copy->fit->lone_prompt_token));
    decodes[tensor] = capacity::screened_rate(planner_.service(), answers);
  }
  const auto decode = [&](int tensor) { return decodes[tensor]; };
  const int gpus = std::min(machines.gpus, request_.limits.gpus.value_or(machines.gpus));
  for (const double load : {0.8, 0.6, 0.4, 0.25, 1.2, 1.8}) {
    const auto loaded = [&](int tensor) { return load * prefills[tensor]; };
    const auto split = best_separation(request_.choices.tensor, gpus, loaded, decode);
    const auto same = [&](const Job& one) {
      const model::Disaggregated& d = *one.serve.disaggregated;
      return d.prefill_workers == split->prefill_workers && d.prefill_tensor == split->prefill_tensor &&
             d.decode_workers == split->decode_workers && d.decode_tensor == split->decode_tensor;
    };
    const bool is_new = split && std::none_of(found.begin(), found.end(), same);
    if (!is_new) continue;
    Job apart = job;
    apart.serve.disaggregated = split;
    apart.parallel.tensor = split->decode_tensor;
    apart.parallel.gpus = split->gpus();
    found.push_back(apart);
  }
  return found;
}

// Machines with the same GPU and links have the same replicas; the traffic between pipeline stages is small.
Result<std::size_t> ServingSearch::replica_on(const MachineClass& machines, const Job& job) {
  std::string key =
      fmt::format("{} {} {} {} {} {} {} {}", machines.gpu->name, machines.cluster.linked,
                  in_watts(machines.speed.power.cap), static_cast<int>(job.precision), job.parallel.tensor,
                  job.parallel.pipeline, job.parallel.expert, job.parallel.attention_data);
  if (const auto& d = job.serve.disaggregated)
    key += fmt::format(" {} {} {} {}", d->prefill_workers, d->prefill_tensor, d->decode_workers, d->decode_tensor);
  const auto known = replicas_.find(key);
  if (known != replicas_.end()) return known->second;
  ++result_.effort.estimates;
  Result<capacity::Replica> made = make_replica(machines, job);
  Result<std::size_t> index = made ? Result<std::size_t>(planner_.add(*std::move(made))) : fail(made.error());
  return replicas_.emplace(key, std::move(index)).first->second;
}

Result<capacity::Replica> ServingSearch::make_replica(const MachineClass& machines, const Job& job) {
  const capacity::Predictor predictor{constants_, request_.model, work_};
  if (batches_ && request_.work.documents > 1) {
    RIGHTSIZE_TRY(capacity::Replica pairs, capacity::batch_replica(predictor, job, *machines.gpu, machines.speed));
    return of_queries(std::move(pairs), request_.work.documents);
  }
  if (batches_) return capacity::batch_replica(predictor, job, *machines.gpu, machines.speed);
  if (!job.serve.disaggregated)
    return capacity::token_replica(predictor, job, *machines.gpu, machines.speed, machines.cluster);
  // Both kinds of workers are derived from plain replicas.
  const auto worker = [&](int tensor) {
    Job one = job;
    one.serve.disaggregated.reset();
    one.parallel.tensor = one.parallel.gpus = tensor;
    return replica_on(machines, one);
  };
  RIGHTSIZE_TRY(const std::size_t decode, worker(job.serve.disaggregated->decode_tensor));
  RIGHTSIZE_TRY(const std::size_t prefill, worker(job.serve.disaggregated->prefill_tensor));
  return capacity::separate_workers(predictor, job, *machines.gpu, machines.speed, machines.cluster,
                                    planner_.replicas()[decode], planner_.replicas()[prefill]);
}

std::vector<Slo> ServingSearch::stated_slos() const {
  std::vector<Slo> slos = planner_.service().slos;
  for (Slo& slo : slos)
    if (slo.quantity == Quantity::kTtft && takes_one_pass(request_)) slo.quantity = Quantity::kLatency;
  return slos;
}

// The SLO that a nearly idle replica misses by the largest factor.
void ServingSearch::note_slo(const MachineClass& machines, const Job& job, std::size_t replica) {
  const capacity::Service& service = planner_.service();
  Shortfall missed{.kind = Shortfall::Kind::kSloUnderLoad, .slos = stated_slos()};
  double distance = 1;
  for (std::size_t i = 0; i < service.slos.size(); ++i) {
    const Slo& slo = service.slos[i];
    const Seconds idle = capacity::screened_idle(service, planner_.replicas()[replica], slo);
    if (idle / slo.limit <= distance) continue;
    distance = idle / slo.limit;
    missed = {.kind = Shortfall::Kind::kSloAlone,
              .at_least = true,
              .need_gpus = replica_gpus(job),
              .need_time = idle,
              .have_time = slo.limit,
              .slos = {stated_slos()[i]}};
  }
  result_.reject(machines, RejectionStage::kSlo, distance, missed);
}

// Records that the budget does not pay for this number of replicas. False: it is not the budget that limits them.
bool ServingSearch::note_budget(const Option& option, int replicas, Obstacles& obstacles) const {
  const MachineClass& machines = classes_[option.machines_class];
  const int groups = (replicas + option.replicas_each - 1) / option.replicas_each,
            needed = groups * option.machines_each;
  if (needed <= machines.affordable.value_or(needed) || needed * machines.gpus > request_.limits.max_gpus) return false;
  const Usd cost = machines.least_price() * rightsize::machines(needed) * kMonth, budget = *request_.limits.budget;
  obstacles[{machines.gpu->name, RejectionStage::kBudget}].add(
      machines.all_offers, cost / budget,
      {.kind = Shortfall::Kind::kBudget, .at_least = true, .need_cost = cost, .have_cost = budget});
  return true;
}

std::optional<Option> ServingSearch::screened_option(std::size_t index, const Job& job) {
  const MachineClass& machines = classes_[index];
  const bool starts = batches_ || engine_starts(request_, job, *machines.gpu);
  const Result<std::size_t> replica = replica_on(machines, job);
  if (!replica || !starts) {
    const Shortfall missing = missing_memory(request_, job, *machines.gpu);
    if (starts)
      result_.reject(machines, RejectionStage::kFormat, 1,
                     {.kind = Shortfall::Kind::kFormat, .reason = replica.error().message});
    else
      result_.reject(machines, RejectionStage::kMemory, missing.need_bytes / missing.have_bytes, missing);
    return std::nullopt;
  }
  const capacity::Replica& one = planner_.replicas()[*replica];
  const double takes = planner_.screened(*replica);
  if (!(takes > 0)) {
    note_slo(machines, job, *replica);
    return std::nullopt;
  }
  Option option;
  option.machines_class = index;
  option.confirmed = false;
  option.sized = !(asked_rate(request_) > 0);
  option.replica = *replica;
  option.job = job;
  option.speed = one.interval;
  option.basis = one.basis;
  const int copy = replica_gpus(job);
  option.machines_each = (copy + machines.gpus - 1) / machines.gpus;
  option.replicas_each = std::max(1, std::min(machines.gpus, request_.limits.gpus.value_or(machines.gpus)) / copy);
  if (request_.limits.gpus && *request_.limits.gpus % copy != 0) return std::nullopt;
  const double asked = asked_rate(request_);
  const capacity::ReplicaCounts counts = counts_of(machines, option);
  if (counts.at_least > counts.most) {
    if (!note_budget(option, counts.at_least, result_.obstacles))
      result_.reject(machines, RejectionStage::kLayout, counts.at_least * copy,
                     {.kind = Shortfall::Kind::kReplicas,
                      .at_least = true,
                      .need_gpus = counts.at_least * copy,
                      .have_gpus = counts.most * copy});
    return std::nullopt;
  }
  // Mean loads may overestimate the machines; this margin lets such options still be sized.
  const double may_take = asked > 0 ? 1.2 : 1;
  const auto groups_for = [&](double each) { return std::max(1.0, std::ceil(asked / each - 1e-9)); };
  const double by_means = takes * option.replicas_each;
  double wanted = groups_for(may_take * by_means);
  // Means say little about a simulated prefix cache: the run decides whether the allowed machines are enough.
  if (planner_.service().cache_block > 0) wanted = std::min(wanted, 1.0 * (counts.most / option.replicas_each));
  if (wanted < 1 || wanted * option.replicas_each > counts.most) {
    const double gpus = groups_for(by_means) * machines.gpus * option.machines_each;
    result_.reject(machines, RejectionStage::kLayout, gpus,
                   {.kind = Shortfall::Kind::kGpus,
                    .at_least = true,
                    .need_gpus = static_cast<int>(std::min(gpus, 1e9)),
                    .have_gpus = counts.most * copy});
    return std::nullopt;
  }
  const int groups = std::max(static_cast<int>(wanted), (counts.at_least + counts.step - 1) / counts.step);
  option.machines = groups * option.machines_each;
  option.replicas = groups * option.replicas_each;
  option.gpus = option.replicas * copy;
  option.replica_takes = replica_capacity(*replica);
  option.screened = asked / (may_take * takes);
  if (asked > 0) option.least_machines = std::min(option.machines, fewest_machines(option, 0));
  option.requests_per_second = asked > 0 ? asked : takes * option.replicas;
  option.units_per_second = option.requests_per_second * answer_tokens();
  option.latency = capacity::screened_latency(planner_.service(), one, option.requests_per_second / option.replicas);
  follow_hours(option);
  const bool all_alike = request_.work.mix.empty() && !request_.work.trace;
  if (all_alike) option.machine_takes = {may_take * by_means / option.machines_each};
  for (const RequestSize& size : all_alike ? std::vector<RequestSize>{} : sizes_) {
    sim::RequestShape lengths = planner_.service().lengths;
    lengths.size = static_cast<double>(size.isl), lengths.output = static_cast<double>(size.osl);
    option.machine_takes.push_back(may_take * capacity::screened_rate(planner_.service(), one, lengths) *
                                   option.replicas_each / option.machines_each);
  }
  return option;
}

double ServingSearch::answer_tokens() const {
  double sum = 0;
  for (const RequestSize& size : sizes_) sum += size.share * static_cast<double>(size.osl);
  return batches_ ? 1 : std::max(1.0, sum);
}

// Whole machines within the limits, or exactly the number of GPUs that `gpus` asks for.
capacity::ReplicaCounts ServingSearch::counts_of(const MachineClass& machines, const Option& option) const {
  const PlanLimits& limits = request_.limits;
  capacity::ReplicaCounts counts{.step = option.replicas_each};
  if (asked_rate(request_) > 0) counts.together = lost_together(option, asked_rate(request_));
  int most = limits.max_gpus / machines.gpus;
  if (machines.most_machines > 0) most = std::min(most, machines.most_machines);
  if (machines.affordable) most = std::min(most, *machines.affordable);
  counts.most = most / option.machines_each * option.replicas_each;
  counts.at_least = least_replicas(option, asked_rate(request_));
  if (limits.gpus) counts.most = counts.at_least = *limits.gpus / replica_gpus(option.job);
  return counts;
}

// Limits counts to the machines of interest, and to the minimum already known.
capacity::ReplicaCounts ServingSearch::within(capacity::ReplicaCounts counts, const Option& option,
                                              int of_interest) const {
  if (!(asked_rate(request_) > 0)) return counts;
  const int machines = std::max(of_interest, option.machines);
  counts.most = std::min(counts.most, machines / option.machines_each * option.replicas_each);
  return counts;
}

// The fewest replicas by a short simulation, if they need more machines than are of interest.
std::optional<int> ServingSearch::takes_more(const Option& option, int of_interest) const {
  if (!(asked_rate(request_) > 0)) return std::nullopt;
  const int least = planner_.at_least(option.replica, counts_of(classes_[option.machines_class], option));
  if (least / option.replicas_each * option.machines_each > std::max(of_interest, option.machines)) return least;
  return std::nullopt;
}

// The others carry the load if a machine is lost with all its replicas, or a replica where there is only one machine or
// one of the user's is enough.
int ServingSearch::least_replicas(const Option& option, double rate) const {
  if (request_.limits.allow_single || !(rate > 0)) return 1;
  return lost_together(option, rate) + replicas_for(option, rate);
}

int ServingSearch::replicas_for(const Option& option, double rate) const {
  const double left = std::ceil(rate / (capacity::kLoadAfterLoss * replica_capacity(option.replica)) - 1e-9);
  return static_cast<int>(std::clamp(left, 1.0, 1e6));
}

int ServingSearch::lost_together(const Option& option, double rate) const {
  const MachineClass& machines = classes_[option.machines_class];
  const bool one_is_enough = machines.own != nullptr && replicas_for(option, rate) < option.replicas_each;
  return machines.most_machines == 1 || one_is_enough ? 1 : option.replicas_each;
}

double ServingSearch::replica_capacity(std::size_t replica) const {
  capacity::Configuration one;
  one.groups = {{replica, 1}};
  one.batching.max_batch = batches_ ? planner_.replicas()[replica].sizes.back() : 1;
  return planner_.capacity(one);
}

std::optional<capacity::Assessment> ServingSearch::fewest(const Option& option,
                                                          const capacity::ReplicaCounts& counts) const {
  if (asked_rate(request_) > 0) return planner_.fewest(option.replica, counts);
  // The most that the given GPUs, or one machine, can carry: from the mean capacity down until the SLOs hold, then
  // closer to the last rate that was too high.
  constexpr double kLess = 0.85;
  constexpr int kTries = 16, kHalvings = 3;
  const int all = request_.limits.gpus ? counts.most : counts.step;
  const auto at = [&](double rate) {
    const capacity::Planner planner(service_of(request_, work_, rate), {planner_.replicas()[option.replica]});
    return planner.fewest(0, {.step = all, .most = all, .at_least = all});
  };
  double rate = option.requests_per_second;
  std::optional<capacity::Assessment> best = at(rate);
  if (best) return best;
  for (int i = 1; i < kTries && !best; ++i) best = at(rate *= kLess);
  double too_high = rate / kLess;
  for (int i = 0; i < kHalvings && best; ++i) {
    const double middle = std::sqrt(rate * too_high);
    auto found = at(middle);
    (found ? rate : too_high) = middle;
    if (found) best = std::move(found);
  }
  return best;
}

void ServingSearch::set_replicas(int replicas, Option& option) const {
  const double before = option.machines;
  option.replicas = replicas;
  option.machines = option.replicas / option.replicas_each * option.machines_each;
  option.gpus = option.replicas * replica_gpus(option.job);
  for (double& takes : option.machine_takes) takes *= before / option.machines;
  follow_hours(option);
}

// Scales in proportion until the option is simulated.
void ServingSearch::follow_hours(Option& option) const {
  option.machines_by_hour.clear();
  const double peak = asked_rate(request_), groups = option.machines / option.machines_each;
  for (const double rate : request_.work.rate_by_hour) {
    const double least = std::ceil(static_cast<double>(least_replicas(option, rate)) / option.replicas_each);
    const double needed = rate > 0 ? std::min(groups, std::max(least, std::ceil(groups * rate / peak - 1e-9))) : 0;
    option.machines_by_hour.push_back(static_cast<int>(needed) * option.machines_each);
  }
}

void ServingSearch::size(Option& option) const {
  option.sized = true;
  set_replicas(planner_.at_least(option.replica, counts_of(classes_[option.machines_class], option)), option);
  option.latency = capacity::screened_latency(planner_.service(), planner_.replicas()[option.replica],
                                              option.requests_per_second / option.replicas);
}

int ServingSearch::fewest_machines(const Option& option, double ratio) const {
  const double carried = asked_rate(request_) / (request_.limits.max_load * option.replica_takes);
  const double replicas = std::max({std::ceil(carried - 1e-9), std::ceil(option.screened * ratio - 1e-9),
                                    static_cast<double>(least_replicas(option, asked_rate(request_)))});
  return static_cast<int>(std::ceil(replicas / option.replicas_each)) * option.machines_each;
}

void ServingSearch::take(const capacity::Assessment& found, Option& option) const {
  const Statistic at = request_.limits.slo_percentile;
  option.sized = option.confirmed = true;
  set_replicas(found.configuration.replicas(), option);
  option.least_machines = (least_replicas(option, asked_rate(request_)) + option.replicas_each - 1) /
                          option.replicas_each * option.machines_each;
  option.requests_per_second = found.load * found.capacity;
  if (asked_rate(request_) > 0) option.requests_per_second = asked_rate(request_);
  option.units_per_second = option.requests_per_second * answer_tokens();
  option.load = found.load;
  option.busy = found.busy;
  option.prefix_hit = found.profile.prefix_hit();
  option.running = found.profile.mean_batch;
  option.latency = found.value(Quantity::kLatency, Statistic::kMean);
  option.answer = found.tested(Quantity::kLatency, at);
  if (batches_) {
    option.ttft = option.answer;
    option.job.batch = option.job.serve.concurrency =
        std::min(capacity::kLargestBatch, found.configuration.batching.max_batch * request_.work.documents);
    option.delay = sim::from_sim_time(found.configuration.batching.max_delay);
    return;
  }
  option.ttft = found.tested(Quantity::kTtft, at);
  option.tpot = found.tested(Quantity::kTpot, at);
  option.sequences = found.configuration.engine.max_sequences;
  option.token_budget = found.configuration.engine.token_budget;
  option.job.serve.concurrency = std::max<std::int64_t>(1, std::llround(std::ceil(option.running)));
  // Requests of all sizes run together, so memory and speed follow their mean.
  double isl = 0, osl = 0;
  for (const RequestSize& size : sizes_) {
    isl += size.share * static_cast<double>(size.isl);
    osl += size.share * static_cast<double>(size.osl);
  }
  option.job.serve.isl = std::llround(isl);
  option.job.serve.osl = std::llround(osl);
}

ServingSearch::Confirmed ServingSearch::confirm(Option& option, Obstacles& obstacles, int of_interest) {
  const MachineClass& machines = classes_[option.machines_class];
  if (const auto replicas = takes_more(option, of_interest)) {
    set_replicas(*replicas, option);
    return Confirmed::kTakesMore;
  }
  const capacity::ReplicaCounts counts = counts_of(machines, option);
  const capacity::ReplicaCounts interest = within(counts, option, of_interest);
  if (const auto found = fewest(option, interest)) {
    take(*found, option);
    if (!request_.work.rate_by_hour.empty()) option.machines_by_hour = machines_by_hour(option);
    return Confirmed::kKept;
  }
  if (interest.most < counts.most) {
    set_replicas(interest.most + interest.step, option);
    return Confirmed::kTakesMore;
  }
  if (note_budget(option, counts.most + counts.step, obstacles)) return Confirmed::kNever;
  const bool idle = planner_.idle_from(option.replica) <= counts.most;
  obstacles[{machines.gpu->name, RejectionStage::kSlo}].add(
      machines.all_offers, 1,
      {.kind = Shortfall::Kind::kSloUnderLoad,
       .have_gpus = idle ? 0 : counts.most * replica_gpus(option.job),
       .slos = stated_slos()});
  return Confirmed::kNever;
}

void ServingSearch::look_ahead(const Option& option, int of_interest) const {
  if (asked_rate(request_) > 0 && !takes_more(option, of_interest))
    fewest(option, within(counts_of(classes_[option.machines_class], option), option, of_interest));
}

std::vector<int> ServingSearch::machines_by_hour(const Option& option) {
  constexpr double kLevels = 12;  // of the daily peak rate: each hour is planned for the next higher level
  const double peak = asked_rate(request_);
  std::map<int, int> known;
  std::vector<int> machines;
  for (double rate : request_.work.rate_by_hour) {
    if (!(rate > 0)) {  // no requests: no machine is needed, not even a spare one
      machines.push_back(0);
      continue;
    }
    const int level = std::max(1, static_cast<int>(std::ceil(rate / peak * kLevels - 1e-9)));
    const auto [at, fresh] = known.try_emplace(level, option.machines);
    if (fresh && level < kLevels) {
      Request hour = request_;
      hour.work.rate = requests_per_s(peak * level / kLevels);
      ServingSearch search(hour, classes_, constants_, work_, capacity::RunCache::of_process());
      Option there = option;
      there.replica = search.planner_.add(planner_.replicas()[option.replica]);
      const auto found = search.fewest(there, search.counts_of(classes_[option.machines_class], there));
      const int groups = found ? found->configuration.replicas() / option.replicas_each : option.machines;
      at->second = std::min(option.machines, groups * option.machines_each);
    }
    machines.push_back(at->second);
  }
  return machines;
}

bool ServingSearch::confirm_mix(const std::vector<MixChoice>& choices) {
  capacity::Configuration c;
  c.batching.max_batch = capacity::kLargestBatch;
  for (const MixChoice& choice : choices) {
    const Option& option = *choice.kind->option;
    c.groups.push_back({option.replica, choice.machines * option.replicas_each});
    if (batches_) {
      c.batching.max_batch =
          std::min(c.batching.max_batch, std::max(1, static_cast<int>(option.job.batch) / request_.work.documents));
      c.batching.max_delay = std::max(c.batching.max_delay, sim::to_sim_time(option.delay));
    } else {
      c.engine.max_sequences = std::min(c.engine.max_sequences, option.sequences);
      c.engine.token_budget = std::min(c.engine.token_budget, option.token_budget);
    }
  }
  return !std::isinf(planner_.bound(c)) && planner_.confirm(c);
}

}  // namespace rightsize::plan
