#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "memory/memory.h"
#include "perf/perf.h"
#include "plan/explain.h"
#include "plan/hardware.h"
#include "plan/layouts.h"

namespace rightsize::plan {
namespace {

using model::Job;
using model::Method;
using model::Precision;

template <class T>
bool has(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void add_training(const Request& request, std::vector<PossibleChange>& changes) {
  const bool full = has(request.choices.methods, Method::kFull);
  const auto add = [&](RequestChangeKind kind, std::string flags, auto change) {
    changes.push_back({kind, std::move(flags), request});
    change(changes.back().request);
  };
  if (full && request.job.train.optimizer == model::Optimizer::kAdamW) {
    add(RequestChangeKind::kEightBitOptimizer, "--optimizer adamw-8bit",
        [](Request& r) { r.job.train.optimizer = model::Optimizer::kAdamW8bit; });
  }
  if (full && !has(precisions_for(request, Method::kFull), Precision::kBf16)) {
    add(RequestChangeKind::kPureBf16, "--precision bf16",
        [](Request& r) { r.choices.precisions = {Precision::kBf16}; });
  }
  // Training on more tokens than the model has parameters is pre-training, which adapters cannot replace.
  const bool pretraining = request.work.amount > static_cast<double>(request.model.parameters());
  // Only PEFT trains adapters with the commands that we write.
  const bool language = request.model.image_size == 0 && !pretraining && request.job.stack == model::Stack::kHf;
  for (const auto& [kind, method] :
       {std::pair(RequestChangeKind::kLora, Method::kLora), std::pair(RequestChangeKind::kQlora, Method::kQlora)}) {
    Job job = request.job;
    job.train.method = method;  // which the framework may not support
    if (!language || has(request.choices.methods, method) || !memory::check_job(request.model, job).empty()) continue;
    add(kind, fmt::format("--method {}", model::name_of(method)), [only = method](Request& r) {
      r.choices.methods = {only};
      r.choices.precisions = {};
    });
  }
}

// Other software for the same training, where we write its command. `asked`: with every choice, because the settings
// that lead with one framework say nothing about those of another.
void add_stacks(const Request& asked, std::vector<PossibleChange>& changes) {
  const bool full = asked.choices.methods == std::vector{Method::kFull};
  const bool decoder = asked.model.kind == model::ModelKind::kDecoder && asked.model.image_size == 0;
  if (!asked.stack_assumed || !full || !decoder || asked.job.train.preference || asked.work.is_measured()) return;
  Request usual = asked;  // with the choices that were not given
  usual.choices = {};
  fill_choices(usual);
  for (const auto& [kind, stack] : {std::pair(RequestChangeKind::kTorchTitan, model::Stack::kTorchTitan),
                                    std::pair(RequestChangeKind::kMegatron, model::Stack::kMegatron)}) {
    Request other = asked;
    other.job.stack = stack;
    if (!memory::check_job(other.model, other.job).empty()) continue;
    if (other.job.train.compile && stack == model::Stack::kMegatron) continue;
    const auto open = [&](auto SearchChoices::*choice) {
      if (other.choices.*choice == usual.choices.*choice) (other.choices.*choice).clear();
    };
    open(&SearchChoices::recomputes), open(&SearchChoices::zero), open(&SearchChoices::expert);
    open(&SearchChoices::tensor), open(&SearchChoices::pipeline);
    fill_choices(other);
    changes.push_back({kind, fmt::format("--stack {}", model::name_of(stack)), std::move(other)});
  }
}

// Longer deadlines are in days.
constexpr double kHourDays = 4;

// Bits per weight.
int bits_of(Precision precision) {
  switch (precision) {
    case Precision::kFp8:
    case Precision::kInt8:
      return 8;
    case Precision::kInt4:
    case Precision::kNf4:
    case Precision::kFp4:
      return 4;
    case Precision::kFp32:
      return 32;
    default:
      return 16;
  }
}

// Limits that a change relaxes, and their flags.
struct LimitRow {
  RequestChangeKind kind;
  std::optional<Seconds> PlanLimits::*limit;
  const char* flag;
};
constexpr LimitRow kLimits[] = {{RequestChangeKind::kLongerTtft, &PlanLimits::ttft, "--ttft-slo"},
                                {RequestChangeKind::kLongerTpot, &PlanLimits::tpot, "--tpot-slo"},
                                {RequestChangeKind::kLongerLatency, &PlanLimits::latency, "--latency-slo"},
                                {RequestChangeKind::kLaterDeadline, &PlanLimits::deadline, "--deadline"}};

void set_limit(PossibleChange& change, const LimitRow& row, Seconds value) {
  change.request.limits.*row.limit = value;
  const bool latency = row.kind == RequestChangeKind::kLongerTtft && takes_one_pass(change.request);
  change.flags = fmt::format("{} {}", latency ? "--latency-slo" : row.flag, duration_flag(value));
}

// Doubles the deadline, or every limit on latency.
void add_limits(const Request& request, bool deadline, std::vector<PossibleChange>& changes) {
  for (const LimitRow& row : kLimits) {
    if (!(request.limits.*row.limit) || (row.kind == RequestChangeKind::kLaterDeadline) != deadline) continue;
    changes.push_back({row.kind, {}, request});
    const Seconds twice = *(request.limits.*row.limit) * 2.0;
    set_limit(changes.back(), row, deadline ? rounded_up(twice, true) : twice);
  }
}

void add_serving(const Request& request, std::vector<PossibleChange>& changes) {
  const auto precision = [&](Precision value, RequestChangeKind kind, const char* flags) {
    const std::vector<Precision> now = precisions_for(request, Method::kFull);
    const bool narrower = std::all_of(now.begin(), now.end(), [&](Precision p) { return bits_of(value) < bits_of(p); });
    // A format that the user chose can be slower than a wider one: 4-bit weights save memory, not arithmetic.
    const bool chosen = !request.choices.precisions.empty() && !has(now, value);
    if (!narrower && !(chosen && bits_of(value) < bits_of(request.model.checkpoint.value_or(Precision::kBf16)))) return;
    PossibleChange made{kind, flags, request};
    made.request.choices.precision_auto = false;
    made.request.choices.precisions = {value};
    changes.push_back(std::move(made));
  };
  const bool at_once =
      perf::serves_batches(perf::work_of(request.model));  // encoders, images: no engine supports these formats
  if (!at_once) precision(Precision::kFp8, RequestChangeKind::kFp8Weights, "--precision fp8");
  if (!at_once) precision(Precision::kInt4, RequestChangeKind::kInt4Weights, "--precision int4");
  if (!at_once) precision(Precision::kFp4, RequestChangeKind::kFp4Weights, "--precision fp4");
  add_limits(request, false, changes);
}

void add_terms(const Request& request, std::vector<PossibleChange>& changes) {
  using catalog::Purchase;
  const auto terms = [&](Purchase purchase, RequestChangeKind kind) {
    if (request.filter.purchases.empty() || has(request.filter.purchases, purchase)) return;
    PossibleChange made{kind, fmt::format("--purchase {}", catalog::name_of(purchase)), request};
    made.request.filter.purchases = {purchase};
    changes.push_back(std::move(made));
  };
  terms(Purchase::kOnDemand, RequestChangeKind::kOnDemand);
  terms(Purchase::kSpot, RequestChangeKind::kSpot);
}

// One machine may fail at any time.
void add_no_spare(const Request& request, std::vector<PossibleChange>& changes) {
  const bool spare = request.work.kind == WorkKind::kServing && request.work.rate > RequestsPerSecond{} &&
                     !request.limits.allow_single && !request.limits.gpus;
  if (!spare) return;
  changes.push_back({RequestChangeKind::kNoSpare, "--allow-single", request});
  changes.back().request.limits.allow_single = true;
}

// Where the cache is short: it holds conversations, or is half full of running requests. Null: nothing meets the
// limits.
void add_fp8_cache(const Request& request, const Plan* first, std::vector<PossibleChange>& changes) {
  const bool engine = request.work.kind == WorkKind::kServing && !request.job.serve.kv_precision &&
                      request.model.kind == model::ModelKind::kDecoder && !request.work.is_measured() &&
                      (first != nullptr ? first->job : request.job).stack != model::Stack::kHf;
  const auto is_short = [&] {
    const double held = first->running * static_cast<double>(first->job.serve.isl + first->job.serve.osl);
    return first->prefix_hit || 2 * held > perf::kv_token_capacity(request.model, first->job, *first->offer.gpu);
  };
  if (!engine || (first != nullptr ? has_fp8_cache(request, *first) || !is_short() : !simulates_cache(request))) return;
  changes.push_back({RequestChangeKind::kFp8Cache, "--kv-precision fp8", request});
  changes.back().request.job.serve.kv_precision = Precision::kFp8;
}

// What the limits on places cost, one at a time: a user may be able to give up only one of them.
void add_places(const Request& request, std::vector<PossibleChange>& changes) {
  const std::vector<std::string>& providers = request.filter.providers;
  const bool own = !request.own.empty() && providers == std::vector<std::string>{market::kOwn};
  if (!request.filter.regions.empty() && !own) {
    changes.push_back({RequestChangeKind::kAnyRegion, "no --regions", request});
    changes.back().request.filter.regions.clear();
  }
  if (!providers.empty() && !own) {
    changes.push_back({RequestChangeKind::kAnyProvider, "no --providers", request});
    changes.back().request.filter.providers.clear();
  }
}

// Settings that need less memory and give the same result, as `rightsize memory` lists them. `answered`: a plan exists
// without them, so parameters are offloaded only where there is no larger state.
void add_less_memory(const Request& request, bool answered, std::vector<PossibleChange>& changes) {
  const bool tokens = request.work.kind == WorkKind::kTraining && request.model.image_size == 0;
  if (!tokens || request.work.is_measured()) return;
  const auto add = [&](RequestChangeKind kind, const char* flags) -> Job& {
    changes.push_back({kind, flags, request});
    return changes.back().request.job;
  };
  // No trainer computes the loss of pairs in chunks.
  if (request.job.train.cross_entropy == model::CrossEntropy::kEager && !request.job.train.preference)
    add(RequestChangeKind::kChunkedLoss, "--cross-entropy chunked").train.cross_entropy = model::CrossEntropy::kChunked;
  if (request.job.train.offload != model::Offload::kNone) return;
  const bool full = has(request.choices.methods, Method::kFull);
  if (full) add(RequestChangeKind::kOffloadOptimizer, "--offload optimizer").train.offload = model::Offload::kOptimizer;
  if (!full || !answered)
    add(RequestChangeKind::kOffloadParameters, "--offload parameters").train.offload = model::Offload::kParameters;
}

// What the GPU closest to a limit of this kind needs, rounded up to two digits; 0: none is known.
double least_need(const std::vector<Rejection>& rejected, Shortfall::Kind kind) {
  double least = INFINITY;
  for (const Rejection& row : rejected) {
    const double need = kind == Shortfall::Kind::kPower ? in_watts(row.nearest.need_power) : row.nearest.need_kg;
    if (row.nearest.kind == kind && !row.partly && need > 0) least = std::min(least, need);
  }
  if (!std::isfinite(least)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(least)) - 1);
  return std::ceil(least / unit) * unit;
}

}  // namespace

std::vector<PossibleChange> relaxed_limits(const Request& request, const std::vector<Rejection>& rejected) {
  std::vector<PossibleChange> changes;
  const auto without = [&](RequestChangeKind kind, std::string flags, auto change) {
    PossibleChange made{kind, std::move(flags), request};
    change(made.request.limits);
    changes.push_back(std::move(made));
  };
  // A format that no engine or speed model supports.
  if (!request.choices.precisions.empty() && !request.work.is_measured()) {
    changes.push_back({RequestChangeKind::kUsualPrecision, "no --precision", request});
    changes.back().request.choices.precisions.clear();
  }
  // Hundreds of replicas with conversations take minutes to simulate, and a budget that fewer exceed seldom pays for
  // more.
  const bool too_long = simulates_cache(request) && request.limits.budget;
  if (request.limits.max_gpus < kManyGpus && !request.limits.gpus && !too_long) {
    without(RequestChangeKind::kMoreGpus, "--max-gpus " + std::to_string(kManyGpus),
            [](PlanLimits& l) { l.max_gpus = kManyGpus; });
  }
  // Without tensor or pipeline parallelism, every GPU needs a sample of each step.
  if (request.limits.deadline && request.global_batch_assumed && request.limits.max_gpus > request.global_batch) {
    const std::int64_t larger = 8 * request.global_batch;
    without(RequestChangeKind::kLargerBatch, "--global-batch " + std::to_string(larger), [](PlanLimits&) {});
    changes.back().request.global_batch = larger;
  }
  if (request.limits.deadline) {
    without(RequestChangeKind::kNoDeadline, "no --deadline", [](PlanLimits& l) { l.deadline.reset(); });
    changes.back().request.objective = Objective::kTime;  // the soonest is closest to the deadline
  }
  if (request.limits.budget)
    without(RequestChangeKind::kNoBudget, "no --budget", [](PlanLimits& l) { l.budget.reset(); });
  if (const double need = least_need(rejected, Shortfall::Kind::kPower); need > 0)
    without(RequestChangeKind::kMorePower, fmt::format("--max-power {:.10g}W", need),
            [&](PlanLimits& l) { l.power = watts(need); });
  if (const double need = least_need(rejected, Shortfall::Kind::kCarbon); need > 0)
    without(RequestChangeKind::kMoreCarbon, fmt::format("--max-carbon {:.10g}", need),
            [&](PlanLimits& l) { l.co2_kg = need; });
  add_no_spare(request, changes);
  add_fp8_cache(request, nullptr, changes);
  add_places(request, changes);
  const Work& work = request.work;
  const bool rented = work.kind == WorkKind::kServing && work.rate > RequestsPerSecond{} && work.rate_by_hour.empty();
  if (request.limits.budget && rented) {
    changes.push_back({RequestChangeKind::kFewerHours, fmt::format("--hours-per-day {}", kWorkingHours), request});
    std::vector<double>& hours = changes.back().request.work.rate_by_hour;
    hours.assign(24, 0);
    std::fill_n(hours.begin(), kWorkingHours, in_requests_per_s(work.rate));
  }
  if (work.isl_varies_as_usual && work.osl_varies_as_usual && !request.lengths_assumed) {
    changes.push_back({RequestChangeKind::kSameLengths,
                       fmt::format("--isl {},fixed --osl {},fixed", request.job.serve.isl - request.job.image.tokens,
                                   request.job.serve.osl),
                       request});
    Work& same = changes.back().request.work;
    same.isl_variation = same.osl_variation = 0;
    same.isl_varies_as_usual = same.osl_varies_as_usual = false;
  }
  std::string flags;
  if (request.limits.deadline) flags += ", no --deadline";
  if (request.limits.budget) flags += ", no --budget";
  if (request.limits.power) flags += ", no --max-power";
  if (request.limits.co2_kg) flags += ", no --max-carbon";
  if (!flags.empty()) {
    flags = fmt::format("--max-gpus {}{}", kManyGpus, flags);
    without(RequestChangeKind::kNoLimits, std::move(flags), [](PlanLimits& l) {
      l.max_gpus = std::max(l.max_gpus, kManyGpus);
      l.deadline.reset();
      l.budget.reset();
      l.power.reset();
      l.co2_kg.reset();
    });
    if (request.limits.deadline) changes.back().request.objective = Objective::kTime;
  }
  return changes;
}

std::vector<PossibleChange> changes_without_budget(const Request& request) {
  Request open = request;
  open.limits.budget.reset();
  std::vector<PossibleChange> changes = possible_changes(open);
  add_no_spare(open, changes);
  add_places(open, changes);
  return changes;
}

std::vector<PossibleChange> confirmed_prices(const Request& request) {
  std::vector<PossibleChange> changes = relaxed_limits(request);
  std::erase_if(changes, [](const PossibleChange& c) {
    return c.kind != RequestChangeKind::kNoBudget && c.kind != RequestChangeKind::kNoDeadline;
  });
  return changes;
}

std::vector<PossibleChange> further_changes(const Request& request, const Plan& first) {
  std::vector<PossibleChange> changes;
  // Only where the spare machine is a large part of the cost.
  constexpr int kFewMachines = 6;
  if (first.machines <= kFewMachines) add_no_spare(request, changes);
  add_places(request, changes);
  add_fp8_cache(request, &first, changes);
  if (request.objective == Objective::kEnergy && !request.power_cap && !request.best_power_cap) {
    changes.push_back({RequestChangeKind::kPowerCap, "--power-cap best", request});
    changes.back().request.best_power_cap = true;
  }
  return changes;
}

bool keeps_result(RequestChangeKind kind) {
  return kind >= RequestChangeKind::kChunkedLoss && kind <= RequestChangeKind::kOffloadParameters;
}

bool changes_stack(RequestChangeKind kind) {
  return kind == RequestChangeKind::kTorchTitan || kind == RequestChangeKind::kMegatron;
}

bool gives_up_one(RequestChangeKind kind) {
  return kind >= RequestChangeKind::kNoDeadline && kind <= RequestChangeKind::kMoreCarbon;
}

bool takes_one_pass(const Request& request) { return request.limits.ttft_is_latency || is_one_pass(request); }

bool extends(RequestChangeKind kind) {
  return std::any_of(std::begin(kLimits), std::end(kLimits), [&](const LimitRow& row) { return row.kind == kind; });
}

bool reduces_work(RequestChangeKind kind) {
  return kind == RequestChangeKind::kFewerHours || kind == RequestChangeKind::kSameLengths;
}

bool relaxes(RequestChangeKind kind) {
  return extends(kind) || kind == RequestChangeKind::kNoSpare || kind == RequestChangeKind::kAnyRegion ||
         kind == RequestChangeKind::kAnyProvider;
}

// "30.2d", "36h", "17min", "1.5s", "47ms": long deadlines are written in days.
std::string duration_flag(Seconds time) {
  const double days = in_days(time), hours = in_hours(time), ms = in_milliseconds(time);
  if (days > kHourDays || (days >= 2 && days == std::round(days))) return fmt::format("{:.4g}d", days);
  const auto is_whole = [](double count) { return std::abs(count - std::round(count)) < 1e-9; };
  if (hours >= 0.5 && is_whole(hours * 10)) return fmt::format("{:g}h", hours);
  if (hours >= 0.1 && is_whole(hours * 60)) return fmt::format("{:.0f}min", hours * 60);
  if (hours >= 4) return fmt::format("{:g}h", hours);
  return ms < 1e3 ? fmt::format("{:g}ms", ms) : fmt::format("{:g}s", ms / 1e3);
}

// Two digits; deadlines in minutes up to four hours, in whole hours up to four days, and in tenths of days above.
Seconds rounded_up(Seconds time, bool deadline) {
  const double exact = in_seconds(time), day = 86'400;
  const double unit = !deadline                 ? std::pow(10, std::floor(std::log10(exact)) - 1)
                      : exact > kHourDays * day ? day / 10
                      : exact > 4 * 3'600.0     ? 3'600.0
                                                : 60.0;
  return seconds(std::ceil(exact / unit - 1e-9) * unit);
}

Seconds limited_time(RequestChangeKind kind, const PricedOption& plan) {
  return kind == RequestChangeKind::kLaterDeadline ? plan.time.total() / plan.day_share
         : kind == RequestChangeKind::kLongerTpot  ? plan.option->tpot
         : kind == RequestChangeKind::kLongerTtft  ? plan.option->ttft
                                                   : plan.option->answer;
}

PossibleChange extended_limits(const Request& request, const std::vector<RequestChangeKind>& kinds, double factor) {
  PossibleChange change{kinds.size() == 1 ? kinds.front() : RequestChangeKind::kLongerLimits, {}, request};
  std::string flags;
  for (const LimitRow& row : kLimits) {
    if (!has(kinds, row.kind)) continue;
    set_limit(change, row, rounded_up(*(request.limits.*row.limit) * factor, false));
    flags += (flags.empty() ? "" : " ") + change.flags;
  }
  change.flags = std::move(flags);
  return change;
}

PossibleChange without_limits(const Request& request, const std::vector<RequestChangeKind>& kinds) {
  PossibleChange change{kinds.front(), {}, request};
  for (const LimitRow& row : kLimits)
    if (has(kinds, row.kind)) (change.request.limits.*row.limit).reset();
  return change;
}

double factor_needed(const Request& request, const std::vector<RequestChangeKind>& kinds, const PricedOption& plan) {
  double factor = 1;
  for (const LimitRow& row : kLimits)
    if (has(kinds, row.kind)) factor = std::max(factor, limited_time(row.kind, plan) / *(request.limits.*row.limit));
  return factor;
}

std::vector<PossibleChange> smaller_changes(const PossibleChange& relaxed, const PricedOption& plan) {
  std::vector<PossibleChange> changes;
  const auto row = std::find_if(std::begin(kLimits), std::end(kLimits),
                                [&](const LimitRow& limit) { return limit.kind == relaxed.kind; });
  // The traffic of sessions depends on the limits, and takes long to settle.
  if (row == std::end(kLimits) || relaxed.request.work.trace) return changes;
  const bool deadline = row->kind == RequestChangeKind::kLaterDeadline;
  const Seconds needs = limited_time(row->kind, plan);
  const Seconds most = *(relaxed.request.limits.*row->limit);
  if (!(needs > Seconds{})) return changes;
  const Seconds least = rounded_up(needs, deadline);
  std::vector<Seconds> limits = {least, rounded_up(most * std::sqrt(least / most), deadline)};
  // Near a deadline, plans with room for their slow end are preferred.
  if (deadline) limits.insert(limits.begin() + 1, rounded_up(needs * plan.option->speed.high, deadline));
  // A little more time often saves most.
  if (!deadline) limits.push_back(rounded_up(most / 2 * 1.2, deadline));
  std::sort(limits.begin(), limits.end());
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  constexpr double kWorthwhile = 0.9;
  for (const Seconds limit : limits) {
    if (limit > most * kWorthwhile || limit * 2.0 <= most) continue;
    changes.push_back({relaxed.kind, {}, relaxed.request});
    set_limit(changes.back(), *row, limit);
  }
  return changes;
}

std::vector<PossibleChange> possible_changes(const Request& asked, const std::vector<model::Job>& leading) {
  Request request = asked;
  // Tries only the extremes of each choice and those of the leading plans. All choices would take several times as
  // long, and a relaxed limit never costs more.
  const auto narrow = [&](auto& choices, auto value_of) {
    if (choices.size() <= 2) return;
    auto kept = choices;
    std::erase_if(kept, [&](const auto& value) {
      const bool led =
          std::any_of(leading.begin(), leading.end(), [&](const Job& job) { return value_of(job) == value; });
      return !led && value != choices.front() && value != choices.back();
    });
    choices = std::move(kept);
  };
  narrow(request.choices.zero, [](const Job& job) { return job.parallel.zero; });
  narrow(request.choices.recomputes, [](const Job& job) { return job.train.recompute; });
  if (request.work.kind == WorkKind::kTraining) {
    narrow(request.choices.tensor, [](const Job& job) { return job.parallel.tensor; });
    narrow(request.choices.pipeline, [](const Job& job) { return job.parallel.pipeline; });
    narrow(request.choices.expert, [](const Job& job) { return job.parallel.expert; });
  }
  std::vector<PossibleChange> changes;
  const bool answered = !leading.empty();
  add_less_memory(answered ? request : asked, answered, changes);
  add_terms(request, changes);
  add_limits(request, true, changes);
  if (request.work.is_measured()) return changes;
  if (request.work.kind == WorkKind::kTraining) add_stacks(asked, changes);
  request.work.kind == WorkKind::kTraining ? add_training(request, changes) : add_serving(request, changes);
  return changes;
}

}  // namespace rightsize::plan
