#include "rightsize/checklist/steps.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "market/offers.h"
#include "memory/memory.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;

const plan::Plan* best_plan(const ChecklistFacts& facts) {
  return facts.advice && !facts.advice->found.plans.empty() ? &facts.advice->found.plans.front() : nullptr;
}

constexpr const char* kSayWorkload =
    "describe the work: rightsize init --output work.yaml, then rightsize checklist work.yaml";
constexpr const char* kMeasure =
    "run it under the profiler with a usual batch: rightsize profile --format json -- YOUR COMMAND > profile.json, "
    "then add --profile profile.json";

std::string percent_of(double share) { return format_percent(Ratio::fraction(share)); }

std::string use_of(const MeasuredGpu& gpu) {
  std::string text = gpu.name + ":";
  if (gpu.sm_active) text += fmt::format(" SM activity {},", percent_of(*gpu.sm_active));
  if (gpu.gpu_util) text += fmt::format(" GPU utilization {},", percent_of(*gpu.gpu_util));
  if (gpu.memory_peak) text += fmt::format(" at most {} of memory,", format_bytes(*gpu.memory_peak));
  if (gpu.duration) text += fmt::format(" over {},", format_duration(*gpu.duration));
  text.pop_back();
  return text;
}

std::string fleet_sentence(const MeasuredFleet& fleet) {
  std::string text = fmt::format("a fleet of {} GPUs", format_count(fleet.gpus));
  if (fleet.spend) text += fmt::format(", {} spent", format_usd(*fleet.spend));
  if (fleet.waste && fleet.spend && *fleet.spend > Usd{})
    text += fmt::format(", {} of it ({}) wasted", format_usd(*fleet.waste), percent_of(*fleet.waste / *fleet.spend));
  return text;
}

Step profile_step(const ChecklistFacts& facts) {
  Step step{"profile"};
  if (!facts.profile.empty()) {
    step.done = true;
    step.answer = "Measured. " + use_of(facts.profile.front()) + ".";
    for (std::size_t i = 1; i < facts.profile.size(); ++i) step.evidence.push_back(use_of(facts.profile[i]));
  } else if (facts.fleet) {
    step.done = true;
    step.answer = "Measured from outside: " + fleet_sentence(*facts.fleet) + ".";
    step.next = kMeasure;
  } else {
    step.answer = "Not measured: SM activity, peak memory and throughput at a usual batch size.";
    step.next = kMeasure;
  }
  if (facts.fleet && !facts.profile.empty()) step.evidence.push_back(fleet_sentence(*facts.fleet));
  if (facts.fleet && !facts.fleet->first_action.empty()) step.evidence.push_back(facts.fleet->first_action);
  return step;
}

Step bottleneck_step(const ChecklistFacts& facts) {
  Step step{"bottleneck"};
  if (!facts.profile.empty() && !facts.profile.front().verdict.empty()) {
    const MeasuredGpu& gpu = facts.profile.front();
    step.done = true;
    step.answer = "Measured: " + gpu.verdict +
                  (gpu.confidence ? fmt::format(" (confidence {:.0f} %)", *gpu.confidence * 100) : std::string{}) + ".";
    step.evidence = gpu.evidence;
    if (!gpu.actions.empty()) step.next = gpu.actions.front();
  } else if (const plan::Plan* plan = best_plan(facts)) {
    step.done = true;
    step.answer = fmt::format("By the speed model, not measured: {} is what binds it on {}.",
                              perf::name_of(plan->bound), plan->offer.gpu->name);
    step.evidence.push_back(fmt::format("how the model knows this GPU: {}", perf::name_of(plan->basis)));
    step.next = kMeasure;
  } else {
    step.answer = "Unknown: compute, memory bandwidth, the host, or waiting for data.";
    step.next = kMeasure;
  }
  return step;
}

// The smallest GPU that programs for CUDA or ROCm run on and that holds what is needed.
const catalog::Gpu* smallest(const catalog::Catalog& catalog, const std::function<bool(const catalog::Gpu&)>& holds) {
  const catalog::Gpu* best = nullptr;
  for (const catalog::Gpu& gpu : catalog.gpus) {
    if (gpu.vendor != "NVIDIA" && gpu.vendor != "AMD") continue;
    if ((best == nullptr || gpu.capacity() < best->capacity()) && holds(gpu)) best = &gpu;
  }
  return best;
}

std::string smallest_sentence(const catalog::Gpu* gpu) {
  if (gpu == nullptr) return "No GPU of the catalogue holds that.";
  return fmt::format("The smallest GPU that holds it is {} ({}).", gpu->name, format_bytes(gpu->capacity()));
}

// The plan whose GPU has the least memory: other settings may fit where the best ones do not.
const plan::Plan& smallest_of(const std::vector<plan::Plan>& plans) {
  return *std::min_element(plans.begin(), plans.end(), [](const plan::Plan& a, const plan::Plan& b) {
    return a.offer.gpu->capacity() < b.offer.gpu->capacity();
  });
}

Step size_of_plan(const ChecklistFacts& facts, const plan::Plan& plan) {
  const plan::Request& request = facts.advice->request;
  Step step{"size", true, {}};
  const bool serve = plan.job.kind == model::JobKind::kServe;
  const auto holds = [&](const catalog::Gpu& gpu) {
    const memory::MemoryNeed need = serve ? memory::estimate_memory(request.model, plan.job, &gpu) : plan.memory;
    return memory::fits(need, gpu).verdict == memory::Verdict::kFits;
  };
  step.answer = fmt::format("{} on {} ({} at the high end). {}", format_bytes(plan.memory.device),
                            plan.gpus == 1 ? "1 GPU" : fmt::format("each of {} GPUs", plan.gpus),
                            format_bytes(plan.memory.high), smallest_sentence(smallest(facts.catalog, holds)));
  step.evidence.push_back(
      fmt::format("the cheapest way is {}: {}", plan.offer.gpu->name, describe_settings(request, plan)));
  if (const plan::Plan& small = smallest_of(facts.advice->found.plans); small.offer.gpu != plan.offer.gpu)
    step.evidence.push_back(fmt::format("the smallest GPU among the best plans is {}: {}, {}", small.offer.gpu->name,
                                        describe_settings(request, small), describe_cost(request, small)));
  for (const plan::Change& change : facts.advice->found.changes) {
    const ChangeWords& words = describe_change(change.kind);
    if (change.plan.cost < plan.cost && step.evidence.size() < 5)
      step.evidence.push_back(fmt::format("{} ({}): {} instead of {}{}", words.what, change.flags,
                                          format_usd(change.plan.cost), format_usd(plan.cost),
                                          words.effect.empty() ? "" : "; " + words.effect));
  }
  step.next = fmt::format("where the memory goes and what frees some: rightsize memory --model {}", request.model.name);
  return step;
}

Step size_step(const ChecklistFacts& facts) {
  const plan::Plan* plan = best_plan(facts);
  if (plan != nullptr && !facts.advice->request.work.is_measured()) return size_of_plan(facts, *plan);
  Step step{"size"};
  if (!facts.profile.empty() && facts.profile.front().memory_peak) {
    constexpr double kHeadroom = 1.1;
    const Bytes need = *facts.profile.front().memory_peak * kHeadroom;
    step.done = true;
    step.answer = fmt::format(
        "{} were in use at most, {} with a tenth to spare. {}", format_bytes(*facts.profile.front().memory_peak),
        format_bytes(need),
        smallest_sentence(smallest(facts.catalog, [&](const catalog::Gpu& gpu) { return gpu.capacity() >= need; })));
    step.evidence.emplace_back("frameworks keep memory they no longer use: the work itself may need less");
  } else {
    step.answer = facts.advice ? "Nothing meets the limits." : "Unknown: how much memory the work needs.";
  }
  step.next =
      facts.advice ? "rightsize recommend says what was rejected at which stage, and what would help" : kSayWorkload;
  return step;
}

Step cloud_step(const ChecklistFacts& facts) {
  Step step{"cloud"};
  const plan::Plan* plan = best_plan(facts);
  if (plan == nullptr) {
    step.answer = facts.advice ? "Nothing meets the limits." : "Unknown: what to buy depends on the work.";
    step.next =
        facts.advice ? "rightsize recommend says what was rejected at which stage, and what would help" : kSayWorkload;
    return step;
  }
  const plan::Request& request = facts.advice->request;
  step.done = true;
  step.answer = fmt::format("Rent {}: {}.", describe_machines(*plan), describe_cost(request, *plan));
  step.evidence.push_back(fmt::format("{}/h, from {} of {}", format_usd_per_hour(plan->rate()),
                                      price_source(*plan, facts.catalog), price_date(*plan)));
  step.evidence.push_back(fmt::format(
      "{} options {}; {} stays the best GPU in {} of cases when speeds "
      "are off by their error bars",
      format_count(facts.advice->found.feasible),
      request.work.kind == plan::WorkKind::kServing ? "were screened, and this one is simulated and keeps every limit"
                                                    : "meet your limits",
      plan->offer.gpu->name, percent_of(facts.advice->found.confidence)));
  step.next = "all of them, and why not the others: rightsize recommend with the same workload";
  return step;
}

// A commitment is paid for every hour, on demand only for those used: they cost the same at the month's hours times the
// ratio of rates.
std::string break_even(const market::MachineQuote& on_demand, const market::MachineQuote& committed) {
  const double hours_a_month = in_hours(kMonth) * (committed.rate / on_demand.rate);
  const auto where = [](const market::MachineQuote& quote) {
    return quote.is_own() ? "your own price" : quote.offer->price->region;
  };
  return fmt::format("{}: {}/h in {} against {} on-demand in {}: {}",
                     catalog::name_of(committed.offer->price->purchase), format_usd_per_hour(committed.rate),
                     where(committed), format_usd_per_hour(on_demand.rate), where(on_demand),
                     hours_a_month < in_hours(kMonth)
                         ? fmt::format("pays from {:.0f} of the month's {} hours", hours_a_month, in_hours(kMonth))
                         : std::string("never pays"));
}

// Where this GPU can be committed to, when its own machine cannot.
std::string commitment_elsewhere(const ChecklistFacts& facts, const plan::Plan& plan) {
  const std::string& gpu = plan.offer.gpu->name;
  const auto best = facts.prices->cheapest_offer(gpu, {.purchases = {Purchase::kOneYear, Purchase::kThreeYears}});
  if (!best) return fmt::format("no commitment to any {} is in the catalogue", gpu);
  return fmt::format("the cheapest commitment to a {} elsewhere: {} at {} in {}, {}, {}/GPU-h", gpu,
                     best->machine->instance, best->machine->provider, best->price->region,
                     catalog::name_of(best->price->purchase), format_usd_per_hour(best->rate_per_gpu()));
}

Step commit_step(const ChecklistFacts& facts) {
  Step step{"commit"};
  const plan::Plan* plan = best_plan(facts);
  if (plan == nullptr) {
    step.answer = "Unknown: a commitment is to a machine, and none is chosen.";
    step.next = kSayWorkload;
    return step;
  }
  const bool served = facts.advice->request.work.kind == plan::WorkKind::kServing;
  const std::string& instance = plan->offer.machine->instance;
  const catalog::Machine& machine = *plan->offer.machine;
  const std::string& region = plan->offer.price->region;
  const auto on_demand = facts.prices->machine(machine, Purchase::kOnDemand, region);
  bool any = false, pays = false;
  for (Purchase purchase : {Purchase::kOneYear, Purchase::kThreeYears}) {
    const auto committed = facts.prices->list_price(machine, purchase, region);
    if (!committed || !on_demand) {
      step.evidence.push_back(fmt::format("{}: no {} price of {} is known", catalog::name_of(purchase),
                                          !committed ? "such" : "on-demand", instance));
      continue;
    }
    any = true;
    pays |= committed->rate < on_demand->rate;
    step.evidence.push_back(break_even(*on_demand, *committed));
  }
  if (plan->offer.price->purchase != Purchase::kOnDemand)
    step.evidence.push_back(fmt::format("the plan itself pays {}/h per machine, {}",
                                        format_usd_per_hour(plan->offer.rate()),
                                        catalog::name_of(plan->offer.price->purchase)));
  if (!any) step.evidence.push_back(commitment_elsewhere(facts, *plan));
  step.done = any;
  if (!any) {
    step.answer = fmt::format("Unknown for {}: the catalogue has no price of a commitment.", instance);
    step.next = "ask the provider and put its price into your own catalogue (--catalog), prices/NAME.csv";
  } else if (served && pays) {
    step.answer = "Serving runs every hour: commit, if it will run as long as the commitment does.";
  } else if (served) {
    step.answer = "No: the committed price is not lower.";
  } else {
    step.answer =
        fmt::format("Not for this work alone: it runs {}. Only if such work fills the hours below every month.",
                    format_duration(plan->time.total()));
  }
  if (any) step.next = "see how steady the use is before committing: rightsize fleet --from YOUR METRICS";
  return step;
}

}  // namespace

std::vector<Step> checklist_steps(const ChecklistFacts& facts) {
  return {profile_step(facts), bottleneck_step(facts), size_step(facts), cloud_step(facts), commit_step(facts)};
}

}  // namespace rightsize::app
