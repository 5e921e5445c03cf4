#include "rightsize/checklist/steps.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/format.h"
#include "base/json_reader.h"
#include "memory/memory.h"
#include "plan/plan.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

const plan::Plan* best_plan(const ChecklistFacts& facts) {
  return facts.advice && !facts.advice->found.plans.empty() ? &facts.advice->found.plans.front() : nullptr;
}

constexpr const char* kDescribeWork =
    "describe the work: rightsize init --output work.yaml, then rightsize checklist work.yaml";
constexpr const char* kMeasure =
    "profile it at its usual batch size: rightsize profile --format json -- YOUR COMMAND > profile.json, then add "
    "--profile profile.json";
constexpr const char* kWhyNothing = "rightsize recommend shows which stage rejected each GPU, and what would help";

std::string percent_of(double share) { return format_percent(Ratio::fraction(share)); }

// The GPUs of a profile; the first one answers the steps.
const std::vector<JsonValue>& profiled_gpus(const ChecklistFacts& facts) {
  static const std::vector<JsonValue> kNone;
  return facts.profile ? items_at(facts.profile->root(), "gpus") : kNone;
}

std::optional<Bytes> peak_memory(const JsonValue& gpu) {
  const std::optional<double> peak = number_at(gpu, "metrics.memory_used_bytes.max");
  return peak ? std::optional(bytes(*peak)) : std::nullopt;
}

std::string use_of(const JsonValue& gpu) {
  std::string text = (text_at(gpu, "name").empty() ? "GPU" : text_at(gpu, "name")) + ":";
  if (const auto active = number_at(gpu, "metrics.sm_active.mean"))
    text += fmt::format(" SM activity {},", percent_of(*active));
  if (const auto busy = number_at(gpu, "metrics.gpu_util.mean"))
    text += fmt::format(" GPU utilization {},", percent_of(*busy));
  if (const auto peak = peak_memory(gpu)) text += fmt::format(" at most {} of memory,", format_bytes(*peak));
  if (const auto length = number_at(gpu, "seconds"))
    text += fmt::format(" over {},", format_duration(seconds(*length)));
  text.pop_back();
  return text;
}

std::string fleet_sentence(const JsonValue& fleet) {
  std::string text = fmt::format("a fleet of {} GPUs", format_count(number_at(fleet, "totals.gpus").value_or(0)));
  const std::optional<double> spend = number_at(fleet, "totals.spend_usd"),
                              waste = number_at(fleet, "totals.waste_usd");
  if (spend) text += fmt::format(", {} spent", format_usd(usd(*spend)));
  if (waste && spend && *spend > 0)
    text += fmt::format(", {} of it ({}) wasted", format_usd(usd(*waste)), percent_of(*waste / *spend));
  return text;
}

ChecklistStep profile_step(const ChecklistFacts& facts) {
  ChecklistStep step{"profile"};
  const std::vector<JsonValue>& gpus = profiled_gpus(facts);
  if (!gpus.empty()) {
    step.done = true;
    step.answer = "Measured. " + use_of(gpus.front()) + ".";
    for (std::size_t i = 1; i < gpus.size(); ++i) step.evidence.push_back(use_of(gpus[i]));
    if (facts.fleet) step.evidence.push_back(fleet_sentence(facts.fleet->root()));
  } else if (facts.fleet) {
    step.done = true;
    step.answer = "Measured for the fleet: " + fleet_sentence(facts.fleet->root()) + ".";
    step.next = kMeasure;
  } else {
    step.answer = "Not measured: SM activity, peak memory and throughput at the usual batch size.";
    step.next = kMeasure;
  }
  if (!facts.fleet) return step;
  const std::vector<JsonValue>& actions = items_at(facts.fleet->root(), "actions");
  if (!actions.empty() && !text_at(actions.front(), "what").empty())
    step.evidence.push_back(text_at(actions.front(), "what"));
  return step;
}

ChecklistStep bottleneck_step(const ChecklistFacts& facts) {
  ChecklistStep step{"bottleneck"};
  const std::vector<JsonValue>& gpus = profiled_gpus(facts);
  if (!gpus.empty() && !text_at(gpus.front(), "verdict").empty()) {
    const std::optional<double> confidence = number_at(gpus.front(), "confidence");
    step.done = true;
    step.answer = "Measured: " + text_at(gpus.front(), "verdict") +
                  (confidence ? fmt::format(" (confidence {:.0f} %)", *confidence * 100) : std::string{}) + ".";
    for (const JsonValue& line : items_at(gpus.front(), "evidence")) step.evidence.push_back(line.text);
    const std::vector<JsonValue>& actions = items_at(gpus.front(), "actions");
    if (!actions.empty()) step.next = text_at(actions.front(), "text");
  } else if (const plan::Plan* plan = best_plan(facts)) {
    step.answer = fmt::format("By the speed model, not measured: bound by {} on {}.", perf::name_of(plan->bound),
                              plan->offer.gpu->name);
    step.evidence.push_back(fmt::format("basis of the estimate: {}", perf::name_of(plan->basis)));
    step.next = kMeasure;
  } else {
    step.answer = "Unknown: compute, memory bandwidth, the host or the data.";
    step.next = kMeasure;
  }
  return step;
}

// The GPU with the least memory that satisfies `holds`. The modelled software runs on CUDA and ROCm.
const catalog::Gpu* smallest(const catalog::Catalog& catalog, const std::function<bool(const catalog::Gpu&)>& holds) {
  const catalog::Gpu* best = nullptr;
  for (const catalog::Gpu& gpu : catalog.gpus) {
    if (gpu.vendor != "NVIDIA" && gpu.vendor != "AMD") continue;
    if ((best == nullptr || gpu.capacity() < best->capacity()) && holds(gpu)) best = &gpu;
  }
  return best;
}

std::string smallest_sentence(const catalog::Gpu* gpu) {
  if (gpu == nullptr) return "No GPU in the catalogue has enough memory.";
  return fmt::format("The smallest GPU with enough memory is {} ({}).", gpu->name, format_bytes(gpu->capacity()));
}

// The plan on the GPU with the least memory: other settings may fit a GPU that the best settings do not.
const plan::Plan& smallest_of(const std::vector<plan::Plan>& plans) {
  return *std::ranges::min_element(plans, [](const plan::Plan& a, const plan::Plan& b) {
    return a.offer.gpu->capacity() < b.offer.gpu->capacity();
  });
}

ChecklistStep size_of_plan(const ChecklistFacts& facts, const plan::Plan& plan) {
  const plan::Request& request = facts.advice->request;
  ChecklistStep step{"size", true, {}};
  const bool serve = plan.job.kind == model::JobKind::kServe;
  const auto holds = [&](const catalog::Gpu& gpu) {
    const memory::MemoryNeed need = serve ? memory::estimate_memory(request.model, plan.job, &gpu) : plan.memory;
    return memory::fits(need, gpu).verdict == memory::Verdict::kFits;
  };
  step.answer = fmt::format("{} on {} ({} at the high end). {}", format_bytes(plan.memory.device),
                            plan.gpus == 1 ? "1 GPU" : fmt::format("each of {} GPUs", plan.gpus),
                            format_bytes(plan.memory.high), smallest_sentence(smallest(facts.catalog, holds)));
  step.evidence.push_back(
      fmt::format("cheapest plan, on {}: {}", plan.offer.gpu->name, describe_settings(request, plan)));
  if (const plan::Plan& small = smallest_of(facts.advice->found.plans); small.offer.gpu != plan.offer.gpu)
    step.evidence.push_back(fmt::format("plan with the smallest GPU, {}: {}, {}", small.offer.gpu->name,
                                        describe_settings(request, small), describe_cost(request, small)));
  for (const plan::RequestChange& change : facts.advice->found.changes) {
    const ChangeWords& words = describe_change(change.kind);
    if (change.plan.cost < plan.cost && step.evidence.size() < 5)
      step.evidence.push_back(fmt::format("{} ({}): {} instead of {}{}", words.what, change.flags,
                                          format_usd(change.plan.cost), format_usd(plan.cost),
                                          words.effect.empty() ? "" : "; " + words.effect));
  }
  step.next = fmt::format("see where the memory goes: rightsize memory --model {}", request.model.name);
  return step;
}

ChecklistStep size_step(const ChecklistFacts& facts) {
  const plan::Plan* plan = best_plan(facts);
  if (plan != nullptr && !facts.advice->request.work.is_measured()) return size_of_plan(facts, *plan);
  ChecklistStep step{"size"};
  const std::vector<JsonValue>& gpus = profiled_gpus(facts);
  if (const std::optional<Bytes> peak = gpus.empty() ? std::nullopt : peak_memory(gpus.front())) {
    constexpr double kHeadroom = 1.1;
    const Bytes need = *peak * kHeadroom;
    step.done = true;
    step.answer = fmt::format(
        "At most {} were in use, {} with 10 % to spare. {}", format_bytes(*peak), format_bytes(need),
        smallest_sentence(smallest(facts.catalog, [&](const catalog::Gpu& gpu) { return gpu.capacity() >= need; })));
    step.evidence.emplace_back("frameworks hold on to freed memory, so the work may need less");
  } else {
    step.answer = facts.advice ? "Nothing meets the limits." : "Unknown: how much memory the work needs.";
  }
  step.next = facts.advice ? kWhyNothing : kDescribeWork;
  return step;
}

ChecklistStep cloud_step(const ChecklistFacts& facts) {
  ChecklistStep step{"cloud"};
  const plan::Plan* plan = best_plan(facts);
  if (plan == nullptr) {
    step.answer = facts.advice ? "Nothing meets the limits." : "Unknown: it depends on the work.";
    step.next = facts.advice ? kWhyNothing : kDescribeWork;
    return step;
  }
  const plan::Request& request = facts.advice->request;
  step.done = true;
  step.answer = fmt::format("Rent {}: {}.", describe_machines(*plan), describe_cost(request, *plan));
  step.evidence.push_back(fmt::format("{}/h, from {} of {}", format_usd_per_hour(plan->rate()),
                                      price_source(*plan, facts.catalog), price_date(*plan)));
  const bool others = std::ranges::any_of(facts.advice->found.plans,
                                          [&](const plan::Plan& p) { return p.offer.gpu != plan->offer.gpu; });
  step.evidence.push_back(fmt::format(
      "{} options {}; {}", format_count(facts.advice->found.feasible),
      request.work.kind == plan::WorkKind::kServing ? "were screened, and this one was simulated and meets your limits"
                                                    : "meet your limits",
      others ? fmt::format("{} remains the cheapest GPU in {} of cases within the error bars of speeds and prices",
                           plan->offer.gpu->name, percent_of(facts.advice->found.confidence.value_or(1)))
             : "no other GPU was considered"));
  step.next = "see all plans and why other GPUs were rejected: rightsize recommend with the same workload";
  return step;
}

ChecklistStep commit_step(const ChecklistFacts& facts) {
  ChecklistStep step{"commit"};
  const plan::Plan* plan = best_plan(facts);
  if (plan == nullptr) {
    step.answer = "Unknown: a commitment is to a machine, and none is chosen.";
    step.next = kDescribeWork;
    return step;
  }
  bool pays = false;
  for (const plan::Commitment& c : plan->commitments) {
    const bool cheaper = c.break_even > 0 && c.break_even < 1;
    pays |= cheaper;
    step.evidence.push_back(
        fmt::format("{}: {}/h per machine, {} in total; {}", catalog::name_of(c.offer.price->purchase),
                    format_usd_per_hour(c.offer.rate()), format_usd(c.total),
                    cheaper            ? fmt::format("cheaper than on-demand above {} use", percent_of(c.break_even))
                    : c.break_even > 0 ? "never cheaper than on-demand"
                                       : "no on-demand price on file to compare with"));
  }
  step.done = !plan->commitments.empty();
  if (!step.done) {
    step.answer = fmt::format("Unknown: no reserved price of {} on file.", plan->offer.machine->instance);
    step.next = "ask the provider, and add its price to your own catalogue (--catalog), prices/NAME.csv";
    return step;
  }
  if (facts.advice->request.work.kind != plan::WorkKind::kServing)
    step.answer = fmt::format("Not for this work alone, which runs for {}; only if similar work fills the hours below.",
                              format_duration(plan->time.total()));
  else
    step.answer = pays ? "A service runs all hours: commit if it will run to the end of the term."
                       : "No: the committed price is not lower.";
  step.next = "check how steady your use is before you commit: rightsize fleet --from YOUR METRICS";
  return step;
}

}  // namespace

std::vector<ChecklistStep> checklist_steps(const ChecklistFacts& facts) {
  return {profile_step(facts), bottleneck_step(facts), size_step(facts), cloud_step(facts), commit_step(facts)};
}

}  // namespace rightsize::app
