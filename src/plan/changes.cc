#include "plan/changes.h"

#include <algorithm>

#include <fmt/format.h>

#include "perf/perf.h"

namespace rightsize::plan {
namespace {

using model::Method;
using model::Precision;

template <class T>
bool has(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void add_training(const Request& request, std::vector<PossibleChange>& changes) {
  const bool full = has(request.choices.methods, Method::kFull);
  const auto add = [&](const char* what, const char* flags, const char* effect, auto change) {
    PossibleChange made{what, flags, effect, request};
    change(made.request);
    changes.push_back(std::move(made));
  };
  if (full && request.job.train.optimizer == model::Optimizer::kAdamW) {
    add("8-bit optimizer states", "--optimizer adamw-8bit", "same quality in published runs (Dettmers et al. 2022)",
        [](Request& r) { r.job.train.optimizer = model::Optimizer::kAdamW8bit; });
  }
  if (full && !has(precisions_for(request, Method::kFull), Precision::kBf16)) {
    add("pure bf16 training", "--precision bf16", "weights and optimizer states in 16 bits: small updates can be lost",
        [](Request& r) { r.choices.precisions = {Precision::kBf16}; });
  }
  const bool language = request.model.image_size == 0;
  if (language && !has(request.choices.methods, Method::kLora)) {
    add("LoRA adapters", "--method lora", "adapters only: enough for most fine-tuning, not for new knowledge",
        [](Request& r) {
          r.choices.methods = {Method::kLora};
          r.choices.precisions = {};
        });
  }
  if (language && !has(request.choices.methods, Method::kQlora)) {
    add("QLoRA adapters over an nf4 base", "--method qlora", "as LoRA, over 4-bit weights: slower, slightly less exact",
        [](Request& r) {
          r.choices.methods = {Method::kQlora};
          r.choices.precisions = {};
        });
  }
}

void add_serving(const Request& request, std::vector<PossibleChange>& changes) {
  const auto precision = [&](Precision value, const char* what, const char* flags, const char* effect) {
    if (has(precisions_for(request, Method::kFull), value)) return;
    PossibleChange made{what, flags, effect, request};
    made.request.choices.precisions = {value};
    changes.push_back(std::move(made));
  };
  const bool at_once = perf::serves_batches(perf::work_of(request.model));  // BERT, images: no engine for such formats
  if (!at_once)
    precision(Precision::kFp8, "fp8 weights", "--precision fp8",
              "usually within 1 % of the 16-bit model; check your own tasks");
  if (!at_once)
    precision(Precision::kInt4, "4-bit weights (AWQ, GPTQ)", "--precision int4",
              "a few percent on hard tasks; check your own");
  const auto slo = [&](std::optional<Seconds> Limits::*limit, const char* name, const char* flag) {
    if (!(request.limits.*limit)) return;
    PossibleChange made{std::string("twice the ") + name, "", "answers come later", request};
    const Seconds twice = *(request.limits.*limit) * 2.0;
    made.flags = std::string(flag) + " " + fmt::format("{:g}ms", in_milliseconds(twice));
    made.request.limits.*limit = twice;
    changes.push_back(std::move(made));
  };
  slo(&Limits::ttft, at_once ? "time to an answer" : "time to the first token", "--ttft-slo");
  slo(&Limits::tpot, "time for each token", "--tpot-slo");
}

void add_terms(const Request& request, std::vector<PossibleChange>& changes) {
  using catalog::Purchase;
  const auto terms = [&](Purchase purchase, const char* what, const char* effect) {
    if (request.filter.purchases.empty() || has(request.filter.purchases, purchase)) return;
    PossibleChange made{what, std::string("--purchase ") + std::string(catalog::name_of(purchase)), effect, request};
    made.request.filter.purchases = {purchase};
    changes.push_back(std::move(made));
  };
  if (request.work.kind != WorkKind::kServing) {
    terms(Purchase::kSpot, "spot machines", "interrupted now and then; the work that is done again is in the price");
    return;
  }
  terms(Purchase::kOneYear, "a commitment of one year", "paid whether used or not");
  terms(Purchase::kThreeYears, "a commitment of three years", "paid whether used or not");
}

void add_limits(const Request& request, std::vector<PossibleChange>& changes) {
  const auto without = [&](const char* what, std::string flags, auto change) {
    PossibleChange made{what, std::move(flags), "", request};
    change(made.request.limits);
    changes.push_back(std::move(made));
  };
  constexpr int kMany = 1024;
  if (request.limits.max_gpus < kMany && !request.limits.gpus) {
    without("more GPUs", "--max-gpus " + std::to_string(kMany), [](Limits& l) { l.max_gpus = kMany; });
  }
  if (request.limits.deadline) without("a later deadline", "no --deadline", [](Limits& l) { l.deadline.reset(); });
  if (request.limits.budget) without("a larger budget", "no --budget", [](Limits& l) { l.budget.reset(); });
  if (request.limits.deadline || request.limits.budget) {
    without("more GPUs and neither deadline nor budget", "--max-gpus " + std::to_string(kMany), [](Limits& l) {
      l.max_gpus = kMany;
      l.deadline.reset();
      l.budget.reset();
    });
  }
}

}  // namespace

std::vector<PossibleChange> possible_changes(const Request& asked, bool nothing_found) {
  Request request = asked;
  // The ends of each choice show where a change leads; what lies between takes several times as long to compile.
  if (request.choices.zero.size() > 2) request.choices.zero = {0, 3};
  for (std::vector<int>* split : {&request.choices.tensor, &request.choices.pipeline}) {
    if (split->size() > 2 && request.work.kind == WorkKind::kTraining) *split = {split->front(), split->back()};
  }
  std::vector<PossibleChange> changes;
  if (nothing_found) add_limits(request, changes);
  add_terms(request, changes);
  if (request.work.is_measured()) return changes;
  request.work.kind == WorkKind::kTraining ? add_training(request, changes) : add_serving(request, changes);
  return changes;
}

}  // namespace rightsize::plan
