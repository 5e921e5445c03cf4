#include "rightsize/rl/step_report.h"

#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using report::Fields;
using report::one_of;
using rl::Phase;
using rl::RlEstimate;

const Fields<Phase> kPhaseFields = {
    {"name", "phase", "the phase", [](const Phase& p) { return rl::name_of(p.kind); },
     one_of({"generate", "log_prob", "reward", "update", "sync"})},
    {"seconds", "time", "from its start to its end", &Phase::time},
    {"exposed_seconds", "of the step", "what it adds to the step; less if another phase runs at the same time",
     &Phase::exposed},
    {"power_watts?", "power", "mean of each GPU that works in it; the reward is judged by CPUs",
     [](const Phase& p) { return report::positive(p.power); }, format_power},
};

struct StepBounds {
  Seconds low, high;
};
const Fields<StepBounds> kStepBoundsFields = {
    {"low", "lower end in seconds", &StepBounds::low},
    {"high", "upper end in seconds", &StepBounds::high},
};

const Fields<RlEstimate> kStepFields = {
    {"step_seconds", "time of one step", &RlEstimate::step},
    {"step_interval", "80 % interval of the step", kStepBoundsFields,
     [](const RlEstimate& e) {
       return StepBounds{e.step * e.interval.low, e.step * e.interval.high};
     }},
    {"phases", "the phases of a step; their exposed times add up to it", kPhaseFields, &RlEstimate::phases},
    {"tokens_per_second_per_gpu", "tokens of prompts and answers of a step over its time and all GPUs",
     &RlEstimate::tokens_per_gpu},
    {"idle_share", "share of the GPU time without work", &RlEstimate::idle},
    {"trainer_idle_share", "of the trainer's GPUs", &RlEstimate::train_idle},
    {"rollout_idle_share", "of the engine's GPUs", &RlEstimate::rollout_idle},
    {"tail_seconds", "how long most replicas wait for the longest answers", &RlEstimate::tail},
    {"limit", "what the step waits for", &RlEstimate::limit, one_of({"generation", "training", "longest answers"})},
    {"replicas", "copies of the engine", &RlEstimate::replicas},
    {"answers_per_replica", "answers that each of them generates", &RlEstimate::per_replica},
    {"basis", "what the speeds are based on", &RlEstimate::basis,
     one_of({"measured", "calibrated", "transferred", "specification"})},
};

const Fields<Error> kStepReasonFields = {
    {"reason", "why the job cannot run", &Error::message},
    {"hints", "how to change that", &Error::hints},
};

const Fields<RlStepAnswer> kStepAnswerFields = {
    {"model", "the model", [](const RlStepAnswer& a) { return std::cref(a.input.model.name); }},
    {"job", "reinforcement learning", [](const RlStepAnswer&) { return "rl"; }, one_of({"rl"})},
    {"stack", "the framework", [](const RlStepAnswer& a) { return a.input.job.framework; }},
    {"algorithm", "the algorithm", [](const RlStepAnswer& a) { return a.input.job.algorithm; }},
    {"gpu", "the trainer's GPU", [](const RlStepAnswer& a) { return std::cref(a.gpu.name); }},
    {"rollout_gpu", "the engine's GPU", [](const RlStepAnswer& a) { return std::cref(a.rollout_gpu.name); }},
    {"gpus", "number of GPUs", [](const RlStepAnswer& a) { return a.input.job.layout.gpus(); }},
    {"layout", "where trainer and engine run", [](const RlStepAnswer& a) { return rl::describe(a.input.job.layout); }},
    {"feasible", "false: the job cannot run", [](const RlStepAnswer& a) { return a.step.has_value(); }},
    {kStepFields, [](const RlStepAnswer& a) { return a.step ? &*a.step : nullptr; }},
    {job_energy_fields(), &RlStepAnswer::energy},
    {"first_step_seconds?", "time of the first step, if answers grow (--osl-end)", &RlStepAnswer::first_step},
    {"last_step_seconds?", "time of the last step", &RlStepAnswer::last_step},
    {kStepReasonFields, [](const RlStepAnswer& a) { return a.step ? nullptr : &a.step.error(); }},
};
const report::Document<RlStepAnswer> kStepDocument("estimate-rl", "How long a step of reinforcement learning takes",
                                                   kStepAnswerFields);

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

std::string where(const RlStepAnswer& a) {
  const rl::Layout& layout = a.input.job.layout;
  if (!layout.split) return fmt::format("{} {}, alternating between training and generation", layout.train, a.gpu.name);
  return fmt::format("{} {} for training and {} {} for generation", layout.train, a.gpu.name, layout.rollout,
                     a.rollout_gpu.name);
}

// Which phase the step waits for, and which GPUs wait.
std::string reason(const RlStepAnswer& a, const RlEstimate& e) {
  const bool split = a.input.job.layout.split;
  if (e.limit == rl::Limit::kTraining && split)
    return fmt::format("Training is the bottleneck; the engine's GPUs are idle {} of the time.",
                       percent(e.rollout_idle));
  if (e.limit == rl::Limit::kLongestAnswers) {
    return fmt::format(
        "The longest answers are the bottleneck: replicas finish with small batches. GPUs are idle {} of the time.",
        percent(e.idle));
  }
  if (split)
    return fmt::format("Generation is the bottleneck; the trainer's GPUs are idle {} of the time.",
                       percent(e.train_idle));
  return fmt::format("GPUs are idle {} of the time.", percent(e.idle));
}

}  // namespace

report::Report step_report(const RlStepAnswer& answer) {
  report::Report report;
  report.title = "Step of reinforcement learning";
  report.document = kStepDocument.of(answer);
  if (!answer.step) {
    std::string text =
        fmt::format("{} cannot run on {}: {}.", describe_rl(answer.input), where(answer), answer.step.error().message);
    for (const std::string& hint : answer.step.error().hints) text += "\nhint: " + hint;
    report.say(std::move(text));
    return report;
  }
  const RlEstimate& e = *answer.step;
  report.say(fmt::format("A step takes {} (80 % interval {} to {}): {} on {}. That is {} tok/s per GPU.",
                         format_duration(e.step), format_duration(e.step * e.interval.low),
                         format_duration(e.step * e.interval.high), describe_rl(answer.input), where(answer),
                         format_count(std::round(e.tokens_per_gpu))));
  report.say(reason(answer, e));
  if (answer.last_step)
    report.say(fmt::format("Answers grow: the first step takes {}, the last one {}.",
                           format_duration(*answer.first_step), format_duration(*answer.last_step)));
  if (answer.energy) report.say(energy_sentence(*answer.energy, "token", answer.sought_cap));
  report.blocks.emplace_back(
      table_of(kPhaseFields, e.phases,
               {report::renamed("name", "phase"), "seconds", "exposed_seconds", report::spare("power_watts")}));
  return report;
}

Checked<Outcome> estimate_rl(const JobFlags& job, const RlFlags& flags, const Facts& facts,
                             const std::string& power_cap, const Electricity& electricity) {
  RIGHTSIZE_TRY(const RlGpus gpus, read_rl_gpus(job, flags, facts.catalog));
  RIGHTSIZE_TRY(const RlInput input, read_rl(job, flags));
  const perf::ModelWork work = perf::work_of(input.model);
  rl::Pool train = rl::pool_of(facts.constants, *gpus.train), rollout = rl::pool_of(facts.constants, *gpus.rollout);
  RIGHTSIZE_TRY(const bool sought, read_power_cap(power_cap, *gpus.train, train.speed.power));
  std::optional<Watts> cap;
  if (train.speed.power.capped()) cap = train.speed.power.cap;
  const auto step_of = [&](const rl::RlJob& at, std::optional<Watts> within) {
    train.speed.power.cap = rollout.speed.power.cap = within.value_or(Watts{});
    return rl::estimate_step({facts.constants, input.model, work}, at, train, rollout, rl::constants_of(at.framework));
  };
  const auto energy_of = [](const Result<rl::RlEstimate>& e) {
    std::optional<JobEnergy> energy;
    if (e && e->power.known()) energy = energy_at(e->power, e->tokens_per_gpu, e->interval);
    return energy;
  };
  Result<rl::RlEstimate> step = step_of(input.job, {});
  const std::optional<JobEnergy> free = energy_of(step);
  if (sought && free)
    cap = least_energy_cap(train.speed.power, *free, [&](Watts tried) { return energy_of(step_of(input.job, tried)); });
  if (cap) step = step_of(input.job, cap);
  RlStepAnswer answer{input, *gpus.train, *gpus.rollout, step};
  answer.sought_cap = sought;
  answer.energy = energy_of(step);
  if (answer.energy) {
    answer.energy->cap = cap, answer.energy->electricity = electricity;
    answer.energy->capped_time = answer.energy->unit_time() / free->unit_time();
  }
  if (step && input.job.last_mean > 0) {
    const Result<rl::RlEstimate> first = step_of(rl::at_first_step(input.job), cap),
                                 last = step_of(rl::at_last_step(input.job), cap);
    if (first && last) answer.first_step = first->step, answer.last_step = last->step;
  }
  return Outcome{step_report(answer), step ? 0 : kNoFeasibleAnswer};
}

}  // namespace rightsize::app
