#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "perf/perf.h"
#include "plan/explain.h"

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
  const auto add = [&](RequestChangeKind kind, const char* flags, auto change) {
    PossibleChange made{kind, flags, request};
    change(made.request);
    changes.push_back(std::move(made));
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
  const bool language = request.model.image_size == 0 && !pretraining;
  if (language && !has(request.choices.methods, Method::kLora)) {
    add(RequestChangeKind::kLora, "--method lora", [](Request& r) {
      r.choices.methods = {Method::kLora};
      r.choices.precisions = {};
    });
  }
  if (language && !has(request.choices.methods, Method::kQlora)) {
    add(RequestChangeKind::kQlora, "--method qlora", [](Request& r) {
      r.choices.methods = {Method::kQlora};
      r.choices.precisions = {};
    });
  }
}

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

void add_serving(const Request& request, std::vector<PossibleChange>& changes) {
  const auto precision = [&](Precision value, RequestChangeKind kind, const char* flags) {
    const std::vector<Precision> now = precisions_for(request, Method::kFull);
    const bool narrower = std::all_of(now.begin(), now.end(), [&](Precision p) { return bits_of(value) < bits_of(p); });
    if (!narrower) return;
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
  const auto slo = [&](std::optional<Seconds> PlanLimits::*limit, RequestChangeKind kind, const char* flag) {
    if (!(request.limits.*limit)) return;
    const Seconds twice = *(request.limits.*limit) * 2.0;
    const double ms = in_milliseconds(twice);
    PossibleChange made{kind, ms < 1e4 ? fmt::format("{} {:g}ms", flag, ms) : fmt::format("{} {:g}s", flag, ms / 1e3),
                        request};
    made.request.limits.*limit = twice;
    changes.push_back(std::move(made));
  };
  slo(&PlanLimits::ttft, RequestChangeKind::kTwiceTtft, "--ttft-slo");
  slo(&PlanLimits::tpot, RequestChangeKind::kTwiceTpot, "--tpot-slo");
  slo(&PlanLimits::latency, RequestChangeKind::kTwiceLatency, "--latency-slo");
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

// Settings that need less memory and give the same result, as `rightsize memory` lists them.
void add_less_memory(const Request& request, std::vector<PossibleChange>& changes) {
  const bool tokens = request.work.kind == WorkKind::kTraining && request.model.image_size == 0;
  if (!tokens || request.work.is_measured()) return;
  const auto add = [&](RequestChangeKind kind, const char* flags) -> Job& {
    changes.push_back({kind, flags, request});
    return changes.back().request.job;
  };
  if (request.job.train.cross_entropy == model::CrossEntropy::kEager)
    add(RequestChangeKind::kChunkedLoss, "--cross-entropy chunked").train.cross_entropy = model::CrossEntropy::kChunked;
  if (request.job.train.offload != model::Offload::kNone) return;
  if (has(request.choices.methods, Method::kFull))
    add(RequestChangeKind::kOffloadOptimizer, "--offload optimizer").train.offload = model::Offload::kOptimizer;
  add(RequestChangeKind::kOffloadParameters, "--offload parameters").train.offload = model::Offload::kParameters;
}

}  // namespace

std::vector<PossibleChange> relaxed_limits(const Request& request) {
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
  add_less_memory(request, changes);
  static constexpr int kMany = 1024;
  if (request.limits.max_gpus < kMany && !request.limits.gpus) {
    without(RequestChangeKind::kMoreGpus, "--max-gpus " + std::to_string(kMany),
            [](PlanLimits& l) { l.max_gpus = kMany; });
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
  if (request.limits.deadline || request.limits.budget) {
    std::string flags = "--max-gpus " + std::to_string(kMany);
    if (request.limits.deadline) flags += ", no --deadline";
    if (request.limits.budget) flags += ", no --budget";
    without(RequestChangeKind::kNoLimits, std::move(flags), [](PlanLimits& l) {
      l.max_gpus = std::max(l.max_gpus, kMany);
      l.deadline.reset();
      l.budget.reset();
    });
    if (request.limits.deadline) changes.back().request.objective = Objective::kTime;
  }
  return changes;
}

std::vector<PossibleChange> confirmed_prices(const Request& request) {
  std::vector<PossibleChange> changes = relaxed_limits(request);
  std::erase_if(changes, [](const PossibleChange& c) {
    return c.kind != RequestChangeKind::kNoBudget && c.kind != RequestChangeKind::kNoDeadline;
  });
  return changes;
}

namespace {

// "120d", "36h": whole days are written in days, to keep long deadlines readable.
std::string duration_flag(Seconds time) {
  const double days = in_days(time);
  return days >= 2 && days == std::round(days) ? fmt::format("{:g}d", days) : fmt::format("{:g}h", in_hours(time));
}

void add_deadline(const Request& request, std::vector<PossibleChange>& changes) {
  if (!request.limits.deadline) return;
  const Seconds twice = *request.limits.deadline * 2.0;
  PossibleChange made{RequestChangeKind::kTwiceDeadline, "--deadline " + duration_flag(twice), request};
  made.request.limits.deadline = twice;
  changes.push_back(std::move(made));
}

}  // namespace

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
  add_terms(request, changes);
  add_deadline(request, changes);
  if (request.work.is_measured()) return changes;
  request.work.kind == WorkKind::kTraining ? add_training(request, changes) : add_serving(request, changes);
  return changes;
}

}  // namespace rightsize::plan
