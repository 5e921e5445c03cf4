#include "rightsize/rl/plan_report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/format.h"
#include "market/price_book.h"
#include "plan/limit_risk.h"
#include "plan/read_request.h"
#include "report/fields.h"
#include "rightsize/input/emitted.h"
#include "rightsize/input/energy.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/rl/offers.h"
#include "rl/files.h"
#include "rl/search.h"

namespace rightsize::app {
namespace {

using report::Fields;
using report::one_of;
using rl::RlChange;
using rl::RlPlan;

constexpr double kUsualSteps = 200;

struct RlPlanView {
  const rl::RlRequest& request;
  const RlPlan& plan;
  int rank = 1;

  const market::Offer& offer() const { return *plan.priced.offer; }
  plan::Plan energy() const { return plan.energy(request.request); }
};

const Fields<rl::Phase> kPlanPhaseFields = {
    {"name", "the phase", [](const rl::Phase& p) { return rl::name_of(p.kind); },
     one_of({"generate", "log_prob", "reward", "update", "sync"})},
    {"seconds", "time", "from its start to its end", &rl::Phase::time},
    {"exposed_seconds", "adds to the step", "what it adds to the step", &rl::Phase::exposed},
};

struct TrainerSizes {
  int tp, pp, cp, ep;
};
const Fields<TrainerSizes> kTrainerSizeFields = {
    {"tp", "tensor parallel size", &TrainerSizes::tp},
    {"pp", "pipeline parallel size", &TrainerSizes::pp},
    {"cp", "context parallel size", &TrainerSizes::cp},
    {"ep", "expert parallel size", &TrainerSizes::ep},
};
TrainerSizes trainer_sizes(const rl::RlJob& job) {
  const model::Parallelism& p = job.train.parallel;
  return {p.tensor, p.pipeline, p.context, p.expert};
}

std::string offload_words(const rl::RlMemory& memory) {
  std::string words;
  for (const rl::Offload offload : memory.offloads)
    words += (words.empty() ? "" : ", ") + std::string(rl::name_of(offload));
  return words;
}

// "trainer tp 2, pp 1, micro-batch 4; engine tp 2 in bf16, 2 replicas; engine and reference offloaded to the host".
std::string settings_words(const RlPlan& plan) {
  const rl::RlJob& job = plan.job;
  const model::Parallelism& p = job.train.parallel;
  std::string text = fmt::format("trainer tp {}", p.tensor);
  for (const auto& [name, size] : {std::pair{"pp", p.pipeline}, {"cp", p.context}, {"ep", p.expert}})
    if (size > 1) text += fmt::format(", {} {}", name, size);
  text += fmt::format("; engine tp {} in {}, {} replica{}", job.rollout.parallel.tensor,
                      model::name_of(job.rollout.precision), format_count(plan.step.replicas),
                      plan.step.replicas == 1 ? "" : "s");
  if (!plan.memory.offloads.empty())
    text += fmt::format("; {} in host memory between phases", offload_words(plan.memory));
  return text;
}

std::vector<std::string> caveats_of(const RlPlanView& v) {
  std::vector<std::string> caveats;
  if (v.plan.job.async > 0)
    caveats.push_back(fmt::format("answers are up to {} old; --async 0 keeps them on-policy",
                                  v.plan.job.async == 1 ? "one step" : format_number(v.plan.job.async) + " steps"));
  if (const std::string doubt = doubt_of(*v.plan.priced.price); !doubt.empty())
    caveats.push_back("confirm the price first: " + doubt);
  if (v.plan.priced.is_extrapolated()) caveats.emplace_back("no benchmark for this GPU");
  if (plan::has_arm_host(v.offer()))
    caveats.push_back(
        fmt::format("{} machines have Arm hosts: images and wheels must be built for arm64", v.offer().gpu->name));
  if (v.plan.priced.offer->gpu->vendor == "AMD")
    caveats.push_back(fmt::format("{} needs ROCm builds of the software", v.plan.priced.offer->gpu->name));
  if (v.plan.memory.verdict == memory::Verdict::kTight) caveats.emplace_back("memory is tight");
  if (std::string late = plan::limit_risk(v.request.request, v.energy()); !late.empty())
    caveats.push_back(std::move(late));
  return caveats;
}

const Fields<rl::RolloutMachines> kRolloutFields = {
    {"gpu", "the GPU", [](const rl::RolloutMachines& r) { return std::cref(r.offer->gpu->name); }},
    {"provider", "the provider", [](const rl::RolloutMachines& r) { return std::cref(r.offer->machine->provider); }},
    {"instance", "the machine", [](const rl::RolloutMachines& r) { return std::cref(r.offer->machine->instance); }},
    {"region", "its region", [](const rl::RolloutMachines& r) { return std::cref(r.offer->price->region); }},
    {"purchase", "terms of the price", [](const rl::RolloutMachines& r) { return r.offer->price->purchase; }},
    {"instances", "number of machines", &rl::RolloutMachines::machines},
    {"usd_per_hour", "price of all of them", &rl::RolloutMachines::rate},
};

const Fields<RlPlanView> kPlanFields = {
    {"rank", "#", "place of the plan", &RlPlanView::rank},
    {"provider", "provider", "the provider",
     [](const RlPlanView& v) { return std::cref(v.offer().machine->provider); }},
    {"instance", "machine", "the machine", [](const RlPlanView& v) { return std::cref(v.offer().machine->instance); }},
    {"region", "its region", [](const RlPlanView& v) { return std::cref(v.offer().price->region); }},
    {"purchase", "terms", "terms of the price", [](const RlPlanView& v) { return plan::terms_name(v.offer()); }},
    {"gpu", "GPU", "the GPU", [](const RlPlanView& v) { return std::cref(v.offer().gpu->name); }},
    {"instances", "number of machines", [](const RlPlanView& v) { return v.plan.priced.option->machines; }},
    {"gpus", "GPUs", "number of GPUs", [](const RlPlanView& v) { return v.plan.job.layout.gpus(); }},
    {"layout", "layout", "where trainer and engine run",
     [](const RlPlanView& v) { return rl::describe(v.plan.job.layout); }},
    {"async", "steps by which an answer may be older than the policy",
     [](const RlPlanView& v) { return v.plan.job.async; }},
    {"trainer", "parallel sizes of the trainer", kTrainerSizeFields,
     [](const RlPlanView& v) { return trainer_sizes(v.plan.job); }},
    {"rollout_tp", "tensor parallel size of the engine",
     [](const RlPlanView& v) { return v.plan.job.rollout.parallel.tensor; }},
    {"step_seconds", "step", "time of one step", [](const RlPlanView& v) { return v.plan.step.step; }},
    {"step_low_seconds", "lower end of its 80 % interval",
     [](const RlPlanView& v) { return v.plan.step.step * v.plan.step.interval.low; }},
    {"step_high_seconds", "upper end of the interval",
     [](const RlPlanView& v) { return v.plan.step.step * v.plan.step.interval.high; }},
    {"first_step_seconds?", "time of the first step, if answers grow (--osl-end)",
     [](const RlPlanView& v) { return v.plan.first_step; }},
    {"last_step_seconds?", "time of the last step", [](const RlPlanView& v) { return v.plan.last_step; }},
    {"phases", "the phases of a step", kPlanPhaseFields,
     [](const RlPlanView& v) { return std::cref(v.plan.step.phases); }},
    {"tokens_per_second_per_gpu", "tokens of prompts and answers of a step over its time and all GPUs",
     [](const RlPlanView& v) { return v.plan.step.tokens_per_gpu; }},
    {"idle_share", "idle", "share of the GPU time without work",
     [](const RlPlanView& v) { return Ratio::fraction(v.plan.step.idle); }},
    {"hours", "time", "time of all steps, start-up and interruptions included",
     [](const RlPlanView& v) { return v.plan.priced.time.total(); }},
    {"usd_per_hour", "price of all machines", [](const RlPlanView& v) { return v.plan.rate(); }},
    {"rollout?", "machines of the engine, with --rollout-gpu or --rollout-purchase", kRolloutFields,
     [](const RlPlanView& v) { return v.plan.rollout; }},
    {"usd_total", "cost", "cost of all steps", [](const RlPlanView& v) { return v.plan.priced.cost; }},
    {"storage_and_egress_usd?", "of it, storage and egress",
     [](const RlPlanView& v) { return report::positive(v.plan.priced.side_cost); }},
    {"electricity_usd?", "of it, electricity of your own machines: all that is new if they are idle",
     [](const RlPlanView& v) { return v.energy().electricity; }},
    {energy_fields(),
     [](const RlPlanView& v) { return v.plan.priced.power > Watts{} ? std::optional(v.energy()) : std::nullopt; }},
    {"low", "10th percentile of the cost", [](const RlPlanView& v) { return v.plan.priced.cost_low; }},
    {"high", "90th percentile of the cost", [](const RlPlanView& v) { return v.plan.priced.cost_high; }},
    {"price_age_days?", "age of the price", [](const RlPlanView& v) { return v.plan.priced.price->age; }},
    {"price_sources", "independent sources that agree on the price within 25 %",
     [](const RlPlanView& v) { return v.plan.priced.price->sources; }},
    {"memory_verdict", "whether every phase fits", [](const RlPlanView& v) { return v.plan.memory.verdict; },
     one_of({"fits", "tight", "no"})},
    {"offload?", "what must leave the GPUs while other phases run",
     [](const RlPlanView& v) { return offload_words(v.plan.memory); }},
    {"settings", "parallel sizes, number format and offloads in words",
     [](const RlPlanView& v) { return settings_words(v.plan); }},
    {"basis", "what the speeds are based on", [](const RlPlanView& v) { return v.plan.step.basis; },
     one_of({"measured", "calibrated", "transferred", "specification"})},
    {"caveats", "what to know before ordering", caveats_of},
};

std::string_view words_of(RlChange::Kind kind) {
  constexpr std::string_view kWords[] = {"twice the samples",
                                         "answers half as long",
                                         "separate GPUs for generation, one step off-policy",
                                         "training and generation on the same GPUs",
                                         "engine in fp8",
                                         "answers of more steps in flight"};
  return kWords[static_cast<std::size_t>(kind)];
}

const Fields<RlChange> kChangeFields = {
    {"what", "change", "the change", [](const RlChange& c) { return words_of(c.kind); }},
    {"flags", "flags", "the flags for it", &RlChange::flags},
    {"step_seconds", "step", "time of one step", [](const RlChange& c) { return c.step.step; }},
    {"hours", "time", "time of all steps, start-up and checkpoints included", &RlChange::time},
    {"usd_total", "cost", "cost of all steps on the first plan's machines", &RlChange::cost},
};

const Fields<RlFix> kFixFields = {
    {"flags", "the limit", &RlFix::flags},
    {"gpu", "the GPU of the plan", &RlFix::gpu},
};

struct RlPlansView {
  const RlInput& input;
  const rl::RlRequest& request;
  const rl::RlRecommendation& found;
  const std::map<std::string, std::string>& files;
  std::vector<std::string> assumed;  // settings that were not given
  std::vector<RlOffer> offers;       // cheaper plans under a change of the request
  std::string availability;
};

std::vector<RlPlanView> views_of(const RlPlansView& v, const std::vector<RlPlan>& plans) {
  std::vector<RlPlanView> views;
  for (const RlPlan& plan : plans) views.push_back({v.request, plan, static_cast<int>(views.size()) + 1});
  return views;
}
std::optional<RlPlanView> view_of(const RlPlansView& v, const std::optional<RlPlan>& plan) {
  std::optional<RlPlanView> view;
  if (plan) view.emplace(RlPlanView{v.request, *plan, 1});
  return view;
}
std::vector<RlPlanView> all_views(const RlPlansView& v) { return views_of(v, v.found.plans); }

// The other plans that cost at most 5 % more than the first.
std::vector<int> close_plans(const RlPlansView& v) {
  constexpr double kClose = 1.05;
  std::vector<int> ranks;
  for (const RlPlanView& view : all_views(v)) {
    if (view.offer().gpu != v.found.plans.front().priced.offer->gpu &&
        view.plan.priced.cost <= v.found.plans.front().priced.cost * kClose && view.plan.priced.price->may_lead())
      ranks.push_back(view.rank);
  }
  return ranks;
}

std::optional<std::string> verdict_of(const RlPlansView& v) {
  if (v.found.plans.empty()) return std::nullopt;
  const plan::PricedOption& first = v.found.plans.front().priced;
  if (first.is_extrapolated()) return "extrapolation";
  if (!close_plans(v).empty()) return "close";
  // As for other jobs: the range must keep the deadline and the budget, and the price must not be old with one source.
  const plan::PlanLimits& limits = v.request.request.limits;
  const bool late = limits.deadline && first.time.total() * first.option->speed.high > *limits.deadline;
  const bool dear = limits.budget && first.cost_high > *limits.budget;
  return late || dear || first.price->is_old() ? "ahead" : "clear";
}

std::string verdict_line(const RlPlansView& v);

const Fields<RlPlansView> kPlansFields = {
    {"model", "the model", [](const RlPlansView& v) { return std::cref(v.input.model.name); }},
    {"job", "reinforcement learning", [](const RlPlansView&) { return "rl"; }, one_of({"rl"})},
    {"stack", "the framework", [](const RlPlansView& v) { return v.input.job.framework; }},
    {"algorithm", "the algorithm", [](const RlPlansView& v) { return v.input.job.algorithm; }},
    {"steps", "steps of training", [](const RlPlansView& v) { return v.request.steps; }},
    {"plans", "best first", kPlanFields, all_views},
    {"verdict?", "how clear the choice of the first plan is", verdict_of,
     one_of({"clear", "ahead", "close", "extrapolation"})},
    {"verdict_text?", "the same in a sentence",
     [](const RlPlansView& v) { return v.found.plans.empty() ? std::string() : verdict_line(v); }},
    {"safe?", "the cheapest plan that keeps the deadline at the slow end of its speed, if the first may miss it",
     kPlanFields, [](const RlPlansView& v) { return view_of(v, v.found.safe); }},
    {"sooner?", "takes at most half the time of the first, for at most twice the cost", kPlanFields,
     [](const RlPlansView& v) { return view_of(v, v.found.sooner); }},
    {"held_back?", "over 10 % cheaper, with a price that may not rank first", kPlanFields,
     [](const RlPlansView& v) { return views_of(v, v.found.held_back); }},
    {"within?", "ranks of the plans that cost at most 5 % more than the first", close_plans},
    {"fixes?", "without plans: limits that one would meet", kFixFields,
     [](const RlPlansView& v) { return fixes_for(v.found, v.offers); }},
    {"assumed?", "what was assumed, with the flags that change it", &RlPlansView::assumed},
    {"changes?", "the first plan with one thing changed", kChangeFields,
     [](const RlPlansView& v) { return std::cref(v.found.changes); }},
    {"offers?", "cheaper plans under a change of the request", rl_offer_fields(), &RlPlansView::offers},
    {"availability?", "where to find the first plan's machines, and what to rent if there are none",
     &RlPlansView::availability},
    {"considered", "layouts on machines that were compared", [](const RlPlansView& v) { return v.found.considered; }},
    {"files?", "files for the framework and the cluster, by name",
     [](const RlPlansView& v) { return std::cref(v.files); }},
};
const report::Document<RlPlansView> kPlansDocument("recommend-rl", "What to rent for reinforcement learning",
                                                   kPlansFields);

std::string where(const RlPlan& plan) {
  const rl::Layout& layout = plan.job.layout;
  if (!layout.split) return "training and generation share the GPUs";
  const std::string late = lateness(plan.job);
  if (!plan.rollout) return fmt::format("{} GPUs train and {} generate{}", layout.train, layout.rollout, late);
  return fmt::format("they train, and {} {} of {} x {} ({}) generate{}", layout.rollout, plan.rollout->offer->gpu->name,
                     plan.rollout->machines, plan.rollout->offer->machine->instance,
                     catalog::name_of(plan.rollout->offer->price->purchase), late);
}

std::string headline(const RlPlansView& v) {
  const RlPlan& first = v.found.plans.front();
  const market::Offer& offer = *first.priced.offer;
  const int machines = first.priced.option->machines,
            gpus = first.rollout ? first.job.layout.train : first.job.layout.gpus();
  const std::string hardware =
      offer.machine->provider == market::kOwn
          ? fmt::format("Use {} of your own {} ({} {})", machines, offer.machine->instance, gpus, offer.gpu->name)
          : fmt::format("Rent {} x {} from {} ({} {}, {})", machines, offer.machine->instance, offer.machine->provider,
                        gpus, offer.gpu->name, catalog::name_of(offer.price->purchase));
  return fmt::format(
      "{}: {}. {} steps take {} and cost {} (80 % interval {} to {}) at ${:.2f}/h; a step takes {} ({} to {}) and "
      "costs {}.",
      hardware, where(first), format_count(v.request.steps), format_duration(first.priced.time.total()),
      format_usd(first.priced.cost), format_usd(first.priced.cost_low), format_usd(first.priced.cost_high),
      in_usd(first.rate() * hours(1)), format_duration(first.step.step),
      format_duration(first.step.step * first.step.interval.low),
      format_duration(first.step.step * first.step.interval.high), format_usd(first.priced.cost / v.request.steps));
}

// How clear the choice is, and cheaper GPUs without a benchmark.
std::string verdict_line(const RlPlansView& v) {
  const RlPlan& first = v.found.plans.front();
  const std::string& gpu = first.priced.offer->gpu->name;
  const auto price = [&] {
    if (!first.priced.price->age) return std::string();
    return fmt::format(" The price is {:.0f} days old ({} source{}).", in_days(*first.priced.price->age),
                       first.priced.price->sources, first.priced.price->sources == 1 ? "" : "s");
  };
  if (first.priced.is_extrapolated())
    return fmt::format("Extrapolation: no benchmark for {}; at the high end of its range it costs {}.", gpu,
                       format_usd(first.priced.cost_high)) +
           price();
  std::vector<std::string> near;
  for (const RlPlan& plan : v.found.plans) {
    const std::string text =
        fmt::format("{} x {} ({})", plan.job.layout.gpus(), plan.priced.offer->gpu->name, format_usd(plan.priced.cost));
    const bool other = plan.priced.offer->gpu != first.priced.offer->gpu;
    if (other && plan.priced.cost >= first.priced.cost && plan.priced.cost <= first.priced.cost * 1.05)
      near.push_back(text);
  }
  std::string line = near.empty() ? "No other GPU is within 5 %."
                                  : fmt::format("Close call: within 5 % is {}.", fmt::join(near, ", "));
  if (const auto& least = v.found.cheapest; least && least->priced.is_extrapolated())
    line += fmt::format(" Cheaper, but without a benchmark: {} x {} ({}, up to {}).", least->job.layout.gpus(),
                        least->priced.offer->gpu->name, format_usd(least->priced.cost),
                        format_usd(least->priced.cost_high));
  return line + price();
}

// What costs a tenth less for the same answers.
std::string levers_line(const RlPlansView& v) {
  constexpr double kWorthALine = 0.9;
  using Kind = RlChange::Kind;
  std::vector<std::string> parts;
  const Usd cost = v.found.plans.front().priced.cost;
  for (const RlChange& change : v.found.changes) {
    const bool less_work = change.kind == Kind::kMoreSamples || change.kind == Kind::kShorterAnswers;
    if (less_work || change.cost > cost * kWorthALine) continue;
    const std::string late = late_words(change.missing);
    parts.push_back(fmt::format("{} {}, {:.0f} % less ({}{})", words_of(change.kind), format_usd(change.cost),
                                100 * (1 - change.cost / cost), change.flags, late.empty() ? "" : ", " + late));
  }
  for (const RlOffer& offer : v.offers) {
    if (offer.cost > cost * kWorthALine) continue;
    parts.push_back(fmt::format("{} {}, {:.0f} % less ({}: {} x {} from {}{})", offer.what, format_usd(offer.cost),
                                100 * (1 - offer.cost / cost), offer.flags, offer.gpus, offer.gpu, offer.provider,
                                offer.doubt.empty() ? "" : ", " + offer.doubt));
  }
  return parts.empty() ? std::string() : fmt::format("\nTo pay less: {}.", fmt::join(parts, "; "));
}

// What the speeds and prices of the plans in the table are based on.
std::string evidence_line(const RlPlansView& v) {
  std::vector<std::string> speeds, ages;
  for (const RlPlan& plan : v.found.plans) {
    speeds.emplace_back(plan.priced.is_extrapolated() ? "no benchmark" : perf::name_of(plan.step.basis));
    ages.push_back(plan.priced.price->age ? fmt::format("{:.0f}", in_days(*plan.priced.price->age)) : "-");
  }
  const bool same = std::adjacent_find(speeds.begin(), speeds.end(), std::not_equal_to()) == speeds.end();
  return fmt::format("Speed{}: {}{}. Age of prices by plan: {} days.", same ? "" : " by plan",
                     same ? speeds.front() : fmt::format("{}", fmt::join(speeds, ", ")), same ? " for all plans" : "",
                     fmt::join(ages, ", "));
}

// What --explain adds: where a step, and the time that is paid for, go.
void add_details(report::Report& report, const RlPlansView& v) {
  const RlPlan& first = v.found.plans.front();
  report.show("Phases of a step",
              table_of(kPlanPhaseFields, first.step.phases, {"name", "seconds", "exposed_seconds"}));
  const market::RunningTime& time = first.priced.time;
  report.say(fmt::format("Paid time: {} of work, {} start-up, {} checkpoints, {} restarts and repeated work.",
                         format_duration(time.work), format_duration(time.startup), format_duration(time.saving),
                         format_duration(time.redoing)));
  std::vector<std::string> memory;
  for (const rl::PhaseMemory& phase : first.memory.phases)
    memory.push_back(fmt::format("{} {} of {}", rl::name_of(phase.kind), format_bytes(phase.need.device),
                                 format_bytes(phase.fit.capacity)));
  report.say(fmt::format("Memory of the fullest GPU: {}.", fmt::join(memory, ", ")));
  if (!v.found.changes.empty())
    report.show("What would change on the first plan's machines",
                table_of(kChangeFields, v.found.changes,
                         {report::renamed("what", "change"), "flags", "step_seconds", report::renamed("hours", "time"),
                          report::renamed("usd_total", "cost")}));
}

report::Report plans_report(const RlPlansView& v, bool explain) {
  report::Report report;
  const plan::PlanLimits& limits = v.request.request.limits;
  report.title = fmt::format("Reinforcement learning: {}{}{}", describe_rl(v.input),
                             limits.deadline ? " within " + format_duration(*limits.deadline) : "",
                             limits.budget ? " for at most " + format_usd(*limits.budget) : "");
  report.document = kPlansDocument.of(v);
  if (v.found.plans.empty()) {
    report.say(refusal_words(limits, v.found, v.offers));
    if (!v.offers.empty())
      report.show("Changes that make it possible",
                  table_of(rl_offer_fields(), v.offers,
                           {report::renamed("what", "change"), "flags", "gpus", "gpu", "provider", "purchase",
                            report::renamed("hours", "time"), report::renamed("usd_total", "cost"), "doubt"}));
    if (!v.assumed.empty()) report.say(fmt::format("Assumed: {}.", fmt::join(v.assumed, "; ")));
    return report;
  }
  report.say(headline(v));
  report.say(verdict_line(v) + held_back_lines(v.found) + beside_lines(v.found) + levers_line(v));
  const RlPlanView first{v.request, v.found.plans.front(), 1};
  std::string notes = fmt::format("Settings: {}. A step: {}. Idle share of the GPUs: {}.", settings_words(first.plan),
                                  phases_words(first.plan.step), format_percent(Ratio::fraction(first.plan.step.idle)));
  if (first.plan.last_step)
    notes += fmt::format(" Answers grow: the first step takes {}, the last one {}.",
                         format_duration(*first.plan.first_step), format_duration(*first.plan.last_step));
  if (const auto caveats = caveats_of(first); !caveats.empty())
    notes += fmt::format("\nCaveats: {}.", fmt::join(caveats, "; "));
  if (!v.assumed.empty()) notes += fmt::format("\nAssumed: {}.", fmt::join(v.assumed, "; "));
  report.say(std::move(notes));
  if (explain || shows_energy(v.request.request, first.energy()))
    report.say(energy_sentence(v.request.request, first.energy()));
  report.show("Plans",
              table_of(kPlanFields, all_views(v),
                       {"rank", "provider", "instance", "purchase", "gpu", "gpus", "layout", "step_seconds",
                        "idle_share", report::renamed("hours", "time"), report::renamed("usd_total", "cost")}));
  report.say(evidence_line(v));
  if (explain && !v.availability.empty()) report.say(v.availability);
  if (explain) add_details(report, v);
  return report;
}

bool is_job_setting(const std::string& name) {
  const std::vector<std::string>& all = model::job_settings();
  return std::find(all.begin(), all.end(), name) != all.end();
}

// The settings of the job, on a number of GPUs that every given size divides.
JobFlags template_of(const std::map<std::string, std::string>& settings) {
  JobFlags job;
  for (const auto& [name, value] : settings) {
    if (name == "model") job.model = value;
    if (is_job_setting(name) && name != "gpus") job.settings[name] = value;
  }
  job.settings["job"] = "rl";
  return job;
}

Checked<rl::RlRequest> read_rl_request(const std::map<std::string, std::string>& settings, const RlFlags& flags,
                                       const RlInput& input, const catalog::Catalog& catalog) {
  rl::RlRequest request;
  request.job = input.job;
  request.steps = kUsualSteps;
  if (settings.contains("steps")) {
    RIGHTSIZE_TRY(request.steps, settings::read_as<double>("steps", settings.at("steps")));
  }
  std::vector<model::Setting> general;
  for (const auto& [name, value] : settings)
    if ((!is_job_setting(name) || name == "gpus") && name != "samples") general.push_back({name, value, {}});
  general.push_back({"job", "train", {}});
  general.push_back({"tokens", fmt::format("{:.0f}", std::max(1.0, request.steps * input.job.tokens())), {}});
  RIGHTSIZE_TRY(request.request, plan::read_request(general, catalog));
  if (flags.settings.contains("layout")) request.layout = input.job.layout;
  if (flags.settings.contains("async")) request.async = input.job.async;
  const auto given = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return settings.contains(name); });
  };
  request.trainer_given = given({"tp", "pp", "cp", "ep"});
  request.engine_given = flags.settings.contains("rollout-tp") || flags.settings.contains("rollout-ep");
  return request;
}

}  // namespace

bool RlWorkload::is_rl() const { return asks_for_rl(JobFlags{{}, {}, settings}, rl); }

RlWorkload rl_workload(const std::vector<model::Setting>& settings, const RlFlags& flags) {
  RlWorkload workload;
  workload.rl = flags;
  for (const model::Setting& setting : settings) {
    if (is_rl_setting(setting.name))
      workload.rl.settings.try_emplace(setting.name, setting.value);
    else
      workload.settings[setting.name] = setting.value;
  }
  return workload;
}

namespace {

struct ReadRl {
  RlInput input;
  rl::RlRequest request;
};

Checked<ReadRl> read_workload(const RlWorkload& workload, const catalog::Catalog& catalog) {
  const auto& settings = workload.settings;
  RlFlags all = workload.rl;
  if (settings.contains("samples")) all.settings["samples"] = settings.at("samples");
  for (const auto& [name, value] : all.settings)
    if (Result<> checked = settings::check(name, value, {}); !checked) return fail(checked.error());
  const bool other_engine = all.settings.contains("rollout-gpu") || all.settings.contains("rollout-purchase");
  if (other_engine && settings.contains("gpus")) {
    return fail(bad_input("--gpus does not say how many GPUs train and how many generate")
                    .with_hint("use --layout split=TRAINER:ROLLOUT with --rollout-gpu and --rollout-purchase"));
  }
  if (other_engine && all.settings.contains("layout") && all.settings.at("layout") == "colocated")
    return fail(bad_input("trainer and engine cannot take turns on different machines")
                    .with_hint("drop --rollout-gpu and --rollout-purchase"));
  if (!settings.contains("model")) return fail(bad_input("--model is missing"));
  RIGHTSIZE_TRY(RlInput input, read_rl_template(template_of(settings), all));
  RIGHTSIZE_TRY(rl::RlRequest request, read_rl_request(settings, all, input, catalog));
  if (all.settings.contains("rollout-gpu")) {
    RIGHTSIZE_TRY(request.rollout_gpu, named_gpu(catalog, all.settings.at("rollout-gpu")));
  }
  if (all.settings.contains("rollout-purchase")) {
    request.rollout_purchase = catalog::parse_purchase(all.settings.at("rollout-purchase"));
    // --purchase applies to the trainer, which must not be interrupted unless the user allows spot.
    if (request.request.filter.purchases.empty()) request.request.filter.purchases = {catalog::Purchase::kOnDemand};
  }
  if (all.settings.contains("max-async")) {
    RIGHTSIZE_TRY(request.max_async, settings::read_as<double>("max-async", all.settings.at("max-async")));
  }
  return ReadRl{std::move(input), std::move(request)};
}

std::vector<std::string> assumed_in(const RlWorkload& workload, const ReadRl& read, const rl::RlRecommendation& found) {
  const rl::RlJob& job = read.input.job;
  const auto given = [&](const char* name) {
    return workload.settings.contains(name) || workload.rl.settings.contains(name);
  };
  std::vector<std::string> assumed;
  const auto unless_given = [&](const char* name, std::string text) {
    if (!given(name)) assumed.push_back(std::move(text));
  };
  unless_given("prompts", fmt::format("{} prompts per step (--prompts)", format_count(job.prompts)));
  unless_given("samples", fmt::format("{} answer{} per prompt (--samples)", format_count(job.samples),
                                      job.samples == 1 ? "" : "s"));
  unless_given("isl", fmt::format("prompts of {} tokens (--isl)", format_count(job.isl)));
  const std::string mean = format_count(std::round(job.answers.mean)),
                    most = format_count(std::round(job.longest() - job.isl));
  if (!given("osl") || workload.settings.at("osl").starts_with("max="))
    assumed.push_back(fmt::format("answers of {} tokens on average (--osl)", mean));
  const bool capped = given("osl") && workload.settings.at("osl").find("max") != std::string::npos;
  if (read.input.capped)
    assumed.push_back(fmt::format("answers of up to {} tokens, as many as the context of {} ({} tokens) leaves", most,
                                  read.input.model.name, format_count(static_cast<double>(read.input.model.context))));
  else if (!capped && job.answers.variation > 0)
    assumed.push_back(fmt::format("answers of up to {} tokens (--osl {:.0f},max=N)", most, job.answers.mean));
  unless_given("reference", fmt::format("{} reference model (--reference)", job.reference ? "a" : "no KL term and no"));
  if (!found.plans.empty())
    unless_given("memory-share", fmt::format("{} of the GPU memory for the engine (--memory-share)",
                                             format_percent(Ratio::fraction(found.plans.front().memory.engine_share))));
  unless_given("steps", fmt::format("{} steps (--steps)", format_count(read.request.steps)));
  if (!given("max-gpus") && !given("gpus"))
    assumed.push_back(fmt::format("at most {} GPUs (--max-gpus)", read.request.request.limits.max_gpus));
  return assumed;
}

}  // namespace

Errors mistakes_of_rl(const RlWorkload& workload, const catalog::Catalog& catalog) {
  const Checked<ReadRl> read = read_workload(workload, catalog);
  return read ? Errors{} : read.error();
}

Checked<Outcome> plan_rl(const RlWorkload& workload, const Facts& facts, const RlPlanOptions& options) {
  RIGHTSIZE_TRY(ReadRl read, read_workload(workload, facts.catalog));
  auto& [input, request] = read;
  request.request.plans_only = options.plans_only && options.emit.empty();
  catalog::Catalog catalog = facts.catalog;
  if (Result<> added = market::add_own_hardware(catalog, request.request.own); !added)
    return fail(std::move(added).error());
  const market::PriceBook book(catalog, request.request.prices);
  const rl::RlRecommendation found = rl::recommend_rl(request, book, facts.constants);
  std::map<std::string, std::string> files;
  const auto wanted = static_cast<std::size_t>(options.plan);
  if (!options.emit.empty() && !found.plans.empty() && wanted > found.plans.size())
    return fail(bad_input(fmt::format("plan {} does not exist: {} found", options.plan, found.plans.size())));
  for (const std::string& name : found.plans.empty() ? std::vector<std::string>() : options.emit) {
    RIGHTSIZE_TRY(files[name], rl::file_for(name, request, found.plans[wanted - 1]));
  }
  std::vector<RlOffer> offers;
  if (!request.request.plans_only && files.empty())
    offers = rl_offers(request, found.plans.empty() ? nullptr : &found.plans.front(), book, facts.constants);
  const bool sought = !found.plans.empty() && !request.request.plans_only;
  const RlPlansView view{input,
                         request,
                         found,
                         files,
                         assumed_in(workload, read, found),
                         std::move(offers),
                         sought ? availability_line(found, book) : std::string()};
  report::Report report = plans_report(view, options.explain);
  show_only(files, report);
  return Outcome{std::move(report), found.plans.empty() ? kNoFeasibleAnswer : 0};
}

}  // namespace rightsize::app
