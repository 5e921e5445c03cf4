// The JSON document and the table of plans, one row per field.
#include "report/fields.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/candidates.h"
#include "plan/layouts.h"
#include "plan/limit_risk.h"
#include "plan/startup.h"
#include "rightsize/recommend/energy_fields.h"
#include "rightsize/recommend/own.h"
#include "rightsize/recommend/price_fields.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using market::JobAssumptions;
using market::RunningTime;
using plan::Plan;
using plan::Request;
using plan::WorkKind;
using report::cut;
using report::Fields;
using report::kTableOnly;
using report::positive;
using report::renamed;
using report::spare;
using report::when;

// One plan and the context that its fields need.
struct PlanView {
  const Request& request;
  const Plan& plan;
  const Plan& first;
  const catalog::Catalog& catalog;
  int rank = 1;
  std::optional<double> share = {};  // of the requests, if in a mix

  operator const Plan&() const { return plan; }
  bool is_training() const { return request.work.kind == WorkKind::kTraining; }
  bool is_served() const { return request.work.kind == WorkKind::kServing; }
};

// The units of work per second, or their cost, if the plan's work is counted in this unit.
template <WorkUnit kUnit>
std::optional<double> per_second(const PlanView& v) {
  return when(work_unit(v.request) == kUnit, v.plan.units_per_second);
}
template <WorkUnit kUnit>
std::optional<double> usd_per_million(const PlanView& v) {
  return when(work_unit(v.request) == kUnit, v.plan.usd_per_million_units());
}

std::optional<double> requests_per_second(const PlanView& v) {
  if (v.is_training()) return std::nullopt;
  const auto arriving = positive(v.plan.requests_per_second);
  return arriving ? arriving : per_second<WorkUnit::kRequests>(v);
}

std::optional<std::int64_t> longest_request(const PlanView& v) {
  const bool generates = !v.is_training() && v.plan.memory.kv_format && v.plan.job.stack != model::Stack::kHf;
  return generates ? std::optional(plan::longest_request(v.request, v.plan)) : std::nullopt;
}

std::string disaggregated(const PlanView& v) {
  const auto& d = v.plan.job.serve.disaggregated;
  return !d ? ""
            : fmt::format("prefill={}x{},decode={}x{}", d->prefill_workers, d->prefill_tensor, d->decode_workers,
                          d->decode_tensor);
}

std::optional<plan::Startup> startup_of(const PlanView& v) {
  if (v.is_served() || v.request.startup) return std::nullopt;
  return plan::startup_on(v.request, perf::work_of(v.request.model), *v.plan.offer.gpu);
}

struct HourView {
  std::size_t hour;
  double rate;
  int machines, replicas;
};
std::vector<HourView> hours_of(const PlanView& v) {
  std::vector<HourView> all;
  // A changed request may have hours where this one has none.
  for (std::size_t h = 0; h < std::min(v.plan.machines_by_hour.size(), v.request.work.rate_by_hour.size()); ++h) {
    const int machines = v.plan.machines_by_hour[h];
    all.push_back({h, v.request.work.rate_by_hour[h], machines, machines * v.plan.replicas / v.plan.machines});
  }
  return all;
}

const Fields<plan::Startup> kStartupFields = {
    {"machine_seconds", "until the machine is there, and the start of its processes", &plan::Startup::machine},
    {"image", "container image", &plan::Startup::image},
    {"image_bytes", "its compressed size; null: unknown and not counted", &plan::Startup::image_size},
    {"image_seconds", "pulling and unpacking it", &plan::Startup::image_pull},
    {"weights_bytes", "the weights as published", &plan::Startup::weights_size},
    {"weights_seconds", "reading them from storage", &plan::Startup::weights},
};

const Fields<HourView> kHourFields = {
    {"hour", "hour of the day", &HourView::hour},
    {"requests_per_second", "rate in this hour", &HourView::rate},
    {"instances", "machines it needs", &HourView::machines},
    {"replicas", "replicas on them", &HourView::replicas},
};

const Fields<perf::Interval> kIntervalFields = {
    {"low", "10th percentile", &perf::Interval::low},
    {"high", "90th percentile", &perf::Interval::high},
};

const Fields<model::TrainSettings> kTrainingFields = {
    {"method", "full, lora or qlora", &model::TrainSettings::method},
    {"accumulation", "gradient accumulation steps", &model::TrainSettings::accumulation},
    {"recompute", "activation recomputation", &model::TrainSettings::recompute},
};

const Fields<model::Parallelism> kParallelFields = {
    {"tp", "tensor parallelism", &model::Parallelism::tensor},
    {"ep", "expert parallelism", &model::Parallelism::expert},
    {"attention_dp", "groups of data-parallel attention", &model::Parallelism::attention_data},
    {"pp", "pipeline stages", &model::Parallelism::pipeline},
    {"zero", "ZeRO stage", &model::Parallelism::zero},
};

const Fields<Plan> kReplicaFields = {
    {"replicas", "copies of the model", &Plan::replicas},
    {"requests_at_once", "mean number of requests running on one replica", &Plan::running},
};

const Fields<Plan> kServiceFields = {
    {"mean_latency_seconds", "mean time of a whole request", &Plan::latency},
    {"utilization", "share of capacity in use: the arrival rate over the highest rate that the replicas can serve",
     &Plan::load},
    {"busy_share", "share of the time with work on the GPU", &Plan::busy},
    {"prefix_hit?", "share of prompt tokens found in the prefix cache, with --sessions or a trace with hash_ids",
     &Plan::prefix_hit},
    {"max_sequences?", "engine limit: sequences at once", [](const Plan& p) { return positive(p.sequences); }},
    {"token_budget?", "engine limit: tokens per step", [](const Plan& p) { return positive(p.token_budget); }},
    {"max_delay_seconds?", "time a batch waits for requests", [](const Plan& p) { return positive(p.delay); }},
};

const Fields<RunningTime> kTimeFields = {
    {"hours", "expected hours that are paid for; a service: a month", [](const RunningTime& t) { return t.total(); }},
    {"work_seconds", "of it, work", &RunningTime::work},
    {"startup_seconds", "of it, start-up", &RunningTime::startup},
    {"checkpoint_seconds", "of it, saving checkpoints", &RunningTime::saving},
    {"checkpoint_interval_seconds?", "between two checkpoints",
     [](const RunningTime& t) { return positive(t.interval); }},
    {"rework_seconds", "of it, restarts and repeated work", &RunningTime::redoing},
};

const Fields<Plan> kEstimateFields = {
    {"memory_bytes", "memory in use on the fullest GPU", [](const Plan& p) { return p.memory.device; }},
    {"memory_low_bytes", "its 10th percentile", [](const Plan& p) { return p.memory.low; }},
    {"memory_high_bytes", "its 90th percentile", [](const Plan& p) { return p.memory.high; }},
    {"capacity_bytes", "memory of the GPU", [](const Plan& p) { return p.fit.capacity; }},
    {"bound", "what limits the speed", &Plan::bound},
    {"mfu?", "share of the peak FLOP/s that the model uses, causal attention counted once",
     [](const Plan& p) { return positive(p.mfu); }},
    {"basis", "what the speed is based on", &Plan::basis},
    {"extrapolated", "the speed was scaled from another architecture: the high cost decided the rank",
     &Plan::extrapolated},
    {"elapsed_hours?", "time until the job is done, where it runs only some hours of a day",
     [](const Plan& p) { return p.day_share < 1 ? std::optional(p.elapsed()) : std::nullopt; }},
    {"benchmarked", "the speed is based on runs of this GPU", &Plan::benchmarked},
    {"relative?", "the measured GPU that the speed was scaled from", [](const Plan& p) { return p.relative; }},
};

std::string gpus_shown(const Plan& p) { return fmt::format("{} x {}", p.gpus, p.offer.gpu->name); }

const Fields<PlanView> kPlanFields = {
    {"rank", "#", "1 is the best", &PlanView::rank},
    {"gpu", "GPU by its catalogue name", [](const Plan& p) { return p.offer.gpu->name; }},
    {"gpus", "GPUs that work", &Plan::gpus},
    {"provider", "provider", "provider of the machines", [](const Plan& p) { return p.offer.machine->provider; }},
    {"instance", "machine type", [](const Plan& p) { return p.offer.machine->instance; }},
    {"instances", "machines", &Plan::machines},
    {"region", "region of the price", [](const Plan& p) { return p.offer.price->region; }},
    {"purchase", "terms", "on-demand, spot, 1y, 3y or own", [](const Plan& p) { return plan::terms_name(p.offer); }},
    {"precision", "number format", [](const Plan& p) { return p.job.precision; }},
    {"stack", "training or serving software", [](const PlanView& v) { return plan::runs_with(v.request, v.plan); }},
    {"micro_batch", "samples per GPU in one pass", [](const Plan& p) { return p.job.batch; }},
    {"kv_precision?", "number format of the KV cache", [](const Plan& p) { return p.memory.kv_format; }},
    {"max_model_len?", "longest request that the engine accepts, prompt and answer together", longest_request},
    {kTrainingFields, [](const PlanView& v) { return v.is_training() ? &v.plan.job.train : nullptr; }},
    {kParallelFields, [](const PlanView& v) { return std::cref(v.plan.job.parallel); }},
    {"disaggregated?", "separate workers for prefill and decode", disaggregated},
    {kReplicaFields, [](const PlanView& v) { return v.is_training() ? nullptr : &v.plan; }},
    {"requests_per_second?", "requests that arrive; offline: requests done", requests_per_second},
    {"slo_percentile?", "percentile of TTFT and TPOT",
     [](const PlanView& v) { return when(v.is_served(), percentile_of(v.request)); }},
    {"ttft_seconds?", "TTFT", "time to first token; latency where a model answers in one pass",
     [](const PlanView& v) { return when(v.is_served() && v.plan.ttft > Seconds{}, v.plan.ttft); }, format_duration},
    {"tpot_seconds?", "TPOT", "time per output token",
     [](const PlanView& v) { return when(v.is_served() && v.plan.tpot > Seconds{}, v.plan.tpot); }, format_duration},
    {"answer_seconds?", "answer", "time of a whole answer, with --latency-slo",
     [](const PlanView& v) { return when(v.request.limits.latency.has_value(), v.plan.answer); }, format_duration},
    {kServiceFields, [](const PlanView& v) { return v.is_served() ? &v.plan : nullptr; }},
    {"machines_by_hour?", "machines in each hour, where the rate is known by hour", kHourFields, hours_of},
    {"samples_per_second?", "training speed of models without tokens", per_second<WorkUnit::kSamples>},
    {"output_tokens_per_second?", "generation speed of all replicas",
     [](const PlanView& v) { return v.is_served() ? per_second<WorkUnit::kTokens>(v) : std::nullopt; }},
    {"tokens_per_second?", "training speed, or output tokens of a service", per_second<WorkUnit::kTokens>},
    {kTimeFields, [](const PlanView& v) { return std::cref(v.plan.time); }},
    {"startup?", "parts of the start-up", kStartupFields, startup_of},
    {"usd_per_hour", "price of all machines", [](const Plan& p) { return p.rate(); }},
    {"usd_total", "total", "cost of the whole job; a service: of a month", &Plan::cost, format_usd},
    {"new_money_usd?", "of it, beyond what is committed already",
     [](const Plan& p) { return when(!p.draws.empty(), p.cost - market::sum_of(p.draws)); }},
    {"new_money", "new money", "cost beyond what is committed already",
     [](const Plan& p) { return p.cost - market::sum_of(p.draws); }, format_usd, report::kTableOnly},
    {"committed_spend?", "of it, drawn from commitments", draw_fields(), &Plan::draws},
    {"electricity_usd?", "of it, electricity of your own machines: all that is new if they are idle",
     &Plan::electricity},
    {"storage_and_egress_usd?", "of it, storage and egress", [](const Plan& p) { return positive(p.side_cost); }},
    {"usd_per_million_tokens?", "cost of a million tokens", usd_per_million<WorkUnit::kTokens>},
    {"usd_per_million_samples?", "cost of a million samples", usd_per_million<WorkUnit::kSamples>},
    {"usd_per_million_requests?", "cost of a million requests", usd_per_million<WorkUnit::kRequests>},
    {kEstimateFields, [](const PlanView& v) { return v.request.work.is_measured() ? nullptr : &v.plan; }},
    {energy_fields(), [](const PlanView& v) { return v.plan.power > Watts{} ? &v.plan : nullptr; }},
    {"time_factor", "the 80 % interval of the time as factors", kIntervalFields, &Plan::speed},
    {"low?", "10th percentile of the cost", [](const Plan& p) { return when(p.interval_known, p.cost_low); }},
    {"high?", "90th percentile of the cost; services: the limits met at the slow end of the speed, where simulated",
     [](const Plan& p) { return when(p.interval_known, p.cost_high); }},
    {"misses_if_slow?", "at the slow end of its speed it misses the deadline, or needs more machines than allowed",
     [](const Plan& p) { return when(p.misses_if_slow, true); }},
    {"chance_of_missing?", "the chance of that or of needing more machines, from 10 % on",
     [](const Plan& p) { return when(p.resizing >= plan::kRisky, p.resizing); }},
    {"list_usd_per_machine_hour", "list price of one machine", [](const Plan& p) { return p.price.listed; }},
    {"price_age_days?", "age of the price", [](const Plan& p) { return p.price.age; }},
    {"price_sources", "independent sources that agree on the price within 25 %",
     [](const Plan& p) { return p.price.sources; }},
    {"arm_host", "the machine's host is an Arm processor", [](const Plan& p) { return plan::has_arm_host(p.offer); }},
    {"held_back?", "why the price may not rank first", [](const Plan& p) { return held_back(p.price); }},
    {"spot?", "the same machines on spot, USD per machine-hour", spot_fields(), &Plan::spot},
    {"commitment?", "the shortest commitment", commitment_fields(),
     [](const Plan& p) { return p.commitments.empty() ? nullptr : &p.commitments.front(); }},
    {"commitments?", "the same machines for a year or three", commitment_fields(), &Plan::commitments},
    {"quota?", "what to ask the provider for", quota_fields(), &Plan::quota},
    {"why", "reasons for the settings and the rank",
     [](const PlanView& v) { return reasons(v.request, v.plan, v.first, v.catalog); }},
    {"caveats", "what to know before acting on it", [](const PlanView& v) { return plan_caveats(v.request, v.plan); }},
    {"price_source", "where the price comes from", [](const PlanView& v) { return price_source(v.plan, v.catalog); }},
    {"price_date", "when it was read", [](const Plan& p) { return price_date(p); }},
    {"share?", "share of the requests in a mix", &PlanView::share},
    {"gpus_shown", "GPUs", "number and kind", [](const Plan& p) { return gpus_shown(p); }, kTableOnly},
    {"machines", "machines", "number and type",
     [](const Plan& p) { return fmt::format("{} x {}", p.machines, p.offer.machine->instance); }, kTableOnly},
    {"paid_seconds", "time", "expected time", [](const Plan& p) { return p.elapsed(); }, format_duration, kTableOnly},
};

struct RejectionView {
  const RecommendAnswer& answer;
  const plan::Rejection& rejection;
};
const Fields<RejectionView> kRejectionFields = {
    {"what", "the GPU, and whether only some settings are rejected",
     [](const RejectionView& v) { return v.rejection.gpu + (v.rejection.partly ? ", some settings" : ""); }},
    {"gpu", "GPU", "GPU by its catalogue name", [](const RejectionView& v) { return v.rejection.gpu; }},
    {"stage", "rejected", "what rejected it", [](const RejectionView& v) { return v.rejection.stage; }},
    {"need", "needs", "what it needs",
     [](const RejectionView& v) { return describe_shortfall(v.rejection.nearest).need; }},
    {"have", "has", "what there is",
     [](const RejectionView& v) { return describe_shortfall(v.rejection.nearest).have; }},
    {"count", "options", "configurations rejected", [](const RejectionView& v) { return v.rejection.count; },
     format_count},
    {"nearest_fix", "the change that would make it work",
     [](const RejectionView& v) {
       const std::string fix = describe_fix(v.answer.request, v.rejection, v.answer.found.best());
       return when(!fix.empty(), fix);
     }},
};

// Without another plan, the first plan is compared with itself.
PlanView plan_view(const RecommendAnswer& answer, const Plan& plan, int rank = 1) {
  const Plan* first = answer.found.best();
  return {answer.request, plan, first == nullptr ? plan : *first, answer.catalog, rank};
}

std::vector<PlanView> plan_views(const RecommendAnswer& answer, const std::vector<Plan>& plans) {
  std::vector<PlanView> views;
  for (const Plan& plan : plans) views.push_back(plan_view(answer, plan, static_cast<int>(views.size()) + 1));
  return views;
}

struct ChangeView {
  const RecommendAnswer& answer;
  const plan::RequestChange& change;

  const ChangeWords& words() const { return describe_change(change.kind); }
};
const Fields<ChangeView> kChangeFields = {
    {"what", "change", "the change", [](const ChangeView& v) { return change_words(v.answer.request, v.change.kind); }},
    {"flags", "flags", "flags that make it", [](const ChangeView& v) { return v.change.flags; }},
    {"effect", "what it does to the result", [](const ChangeView& v) { return v.words().effect; }},
    {"plan", "the best plan then", kPlanFields, [](const ChangeView& v) { return plan_view(v.answer, v.change.plan); }},
    {"gpus", "best plan", "its GPUs, and why its price must be confirmed",
     [](const ChangeView& v) {
       const std::string doubt = doubt_of_price(v.change.plan);
       return gpus_shown(v.change.plan) + (doubt.empty() ? "" : fmt::format(" ({})", doubt));
     },
     kTableOnly},
    {"usd_total", "total", "its cost", [](const ChangeView& v) { return v.change.plan.cost; }, format_usd, kTableOnly},
    {"ratio", "vs. first plan", "its cost over that of the first plan",
     [](const ChangeView& v) {
       const Plan* first = v.answer.found.best();
       return first == nullptr ? std::nullopt : std::optional(v.change.plan.cost / first->cost);
     },
     compare, kTableOnly},
};

std::vector<ChangeView> change_views(const RecommendAnswer& answer) {
  std::vector<ChangeView> all;
  for (const plan::RequestChange& c : answer.found.changes) all.push_back({answer, c});
  return all;
}

struct CloseView {
  const Plan* plan;
};
const Fields<CloseView> kCloseFields = {
    {"gpu", "GPU by its catalogue name", [](const CloseView& v) { return v.plan->offer.gpu->name; }},
    {"gpus", "GPUs that work", [](const CloseView& v) { return v.plan->gpus; }},
    {"provider", "provider of the machines", [](const CloseView& v) { return v.plan->offer.machine->provider; }},
    {"instance", "machine type", [](const CloseView& v) { return v.plan->offer.machine->instance; }},
    {"usd_total", "cost of the whole job; a service: of a month", [](const CloseView& v) { return v.plan->cost; }},
};

struct ExperimentView {
  const RecommendAnswer& answer;
  const plan::Experiment& experiment;
};
const Fields<ExperimentView> kExperimentFields = {
    {"plan", "the plan, if the extrapolated speed is right", kPlanFields,
     [](const ExperimentView& v) { return plan_view(v.answer, v.experiment.plan); }},
    {"saving_share", "what it would save of the first plan's cost",
     [](const ExperimentView& v) { return 1 - v.experiment.plan.cost / v.answer.found.plans.front().cost; }},
    {"expected_saving_usd",
     "mean saving over the error bars, using the cheaper plan after the test; a service: a month",
     [](const ExperimentView& v) { return v.experiment.expected_saving; }},
    {"test_seconds", "length of the test", [](const ExperimentView& v) { return v.experiment.test_time; }},
    {"test_usd", "cost of the test", [](const ExperimentView& v) { return v.experiment.test_cost; }},
    {"command", "writes the file that starts the test",
     [](const ExperimentView& v) { return test_command(v.answer, v.experiment); }},
};

const Fields<BreakpointWords> kBreakpointFields = {
    {"when", "what would have to happen", &BreakpointWords::when},
    {"then", "the recommendation then", &BreakpointWords::recommended},
};

const Fields<plan::TermNeed> kTermFields = {
    {"terms", "the terms", &plan::TermNeed::terms},
    {"gpu", "the GPU closest to the limits", &plan::TermNeed::gpu},
    {"need", "what it needs", [](const plan::TermNeed& t) { return describe_shortfall(t.lack).need; }},
    {"have", "what there is", [](const plan::TermNeed& t) { return describe_shortfall(t.lack).have; }},
};

struct AssumptionsView {
  const Request& request;
  const Plan* first;
  JobAssumptions job;
  std::optional<sim::RequestShape> lengths;

  bool is_served() const { return request.work.kind == WorkKind::kServing; }
};
const Fields<JobAssumptions> kJobFields = {
    {"startup_seconds", "from the order to the first step", &JobAssumptions::startup},
    {"restart_seconds", "after an interruption", &JobAssumptions::restart},
    {"spot_interruptions_per_machine_hour", "of one spot machine", &JobAssumptions::spot_interruptions_per_hour},
    {"failures_per_gpu_hour", "of any hardware", &JobAssumptions::failures_per_gpu_hour},
    {"checkpoint_bytes_per_second", "speed of saving: as given for all machines, else of each machine that writes",
     [](const JobAssumptions& a) { return a.checkpoint_total.value_or(a.checkpoint_rate); }},
    {"checkpoint_every_seconds", "longest time between two checkpoints", &JobAssumptions::checkpoint_every},
};
const Fields<AssumptionsView> kAssumptionsFields = {
    {"text", "what was not given, each with its flag",
     [](const AssumptionsView& v) { return assumptions(v.request, v.first); }},
    {"global_batch", "samples per optimizer step", [](const AssumptionsView& v) { return v.request.global_batch; }},
    {kJobFields, &AssumptionsView::job},
    {"max_gpus", "most GPUs of a plan", [](const AssumptionsView& v) { return v.request.limits.max_gpus; }},
    {"slo_percentile?", "percentile the SLOs hold at",
     [](const AssumptionsView& v) { return when(v.is_served(), percentile_of(v.request)); }},
    {"max_load?", "most load on the replicas",
     [](const AssumptionsView& v) { return when(v.is_served(), v.request.limits.max_load); }},
    {"allow_single?", "one replica is enough",
     [](const AssumptionsView& v) { return when(v.is_served(), v.request.limits.allow_single); }},
    {"isl?", "assumed tokens in",
     [](const AssumptionsView& v) { return when(v.request.lengths_assumed, v.request.job.serve.isl); }},
    {"osl?", "assumed tokens out",
     [](const AssumptionsView& v) { return when(v.request.lengths_assumed, v.request.job.serve.osl); }},
    {"isl_p95?", "95th percentile of the tokens in",
     [](const AssumptionsView& v) {
       return v.lengths ? std::optional(v.lengths->size_at(sim::Statistic::kP95)) : std::nullopt;
     }},
    {"osl_p95?", "95th percentile of the tokens out",
     [](const AssumptionsView& v) {
       return v.lengths ? std::optional(v.lengths->output_at(sim::Statistic::kP95)) : std::nullopt;
     }},
};

// The start-up is that of the first plan's GPU or, without a plan, of an NVIDIA GPU.
AssumptionsView assumptions_of(const RecommendAnswer& a) {
  const Plan* first = a.found.best();
  const catalog::Gpu gpu = first != nullptr ? *first->offer.gpu : catalog::Gpu{};
  AssumptionsView view{a.request, first, plan::assumptions_on(a.request, perf::work_of(a.request.model), gpu), {}};
  const bool varies = view.is_served() && a.request.work.mix.empty() && !a.request.work.trace;
  if (varies && !answers_at_once(a.request)) view.lengths = plan::request_lengths(a.request);
  return view;
}

const Fields<plan::SearchEffort> kEffortFields = {
    {"priced", "configurations computed in full", &plan::SearchEffort::priced},
    {"bounded", "excluded by a bound", &plan::SearchEffort::bounded},
    {"unfit", "excluded by memory, format or layout", &plan::SearchEffort::unfit},
    {"estimates", "calls of the speed model", &plan::SearchEffort::estimates},
    {"memory_surfaces", "memory curves compiled", &plan::SearchEffort::curves},
    {"search_seconds", "time of the search", &plan::SearchEffort::search_seconds},
    {"verify_seconds", "time of the checks of what is shown", &plan::SearchEffort::verify_seconds},
    {"explain_seconds", "time of the explanation", &plan::SearchEffort::explain_seconds},
};

const Fields<RecommendAnswer> kAnswerFields = {
    {"name", "name of the workload", [](const RecommendAnswer& a) { return a.request.name; }},
    {"what", "the request in words", [](const RecommendAnswer& a) { return describe_request(a.request); }},
    {"objective", "cost, time or cost-time", [](const RecommendAnswer& a) { return a.request.objective; }},
    {"plans", "best first", kPlanFields, [](const RecommendAnswer& a) { return plan_views(a, a.found.plans); }},
    {"pareto", "cost against time, cheapest first", kPlanFields,
     [](const RecommendAnswer& a) { return plan_views(a, a.found.pareto); }},
    {"trade_off?", "plans that no other beats in cost, time and energy at once, cheapest first", trade_off_fields(),
     [](const RecommendAnswer& a) { return std::span(a.found.trade_off); }},
    {"api?", "the best plan compared with --api-price", api_fields(),
     [](const RecommendAnswer& a) { return api_cost(a); }},
    {"next_best", "the next best GPU and why it is not first",
     [](const RecommendAnswer& a) {
       const bool shown = !a.found.plans.empty() && !a.request.plans_only;
       return shown ? std::optional(next_best_sentence(a.request, a.found)) : std::nullopt;
     }},
    {"rejected", "why other GPUs are not among the plans", kRejectionFields,
     [](const RecommendAnswer& a) {
       std::vector<RejectionView> all;
       for (const plan::Rejection& r : a.found.rejected) all.push_back({a, r});
       return all;
     }},
    {"changes", "changes of the request, and the best plan under each", kChangeFields, change_views},
    {"breakpoints", "what would change the recommendation", kBreakpointFields,
     [](const RecommendAnswer& a) {
       std::vector<BreakpointWords> all;
       for (const plan::Breakpoint& b : a.found.breakpoints) all.push_back(describe_breakpoint(b, *a.found.best()));
       return all;
     }},
    {"mix?", "several kinds of machines behind one router", kPlanFields,
     [](const RecommendAnswer& a) {
       std::vector<PlanView> all;
       for (const plan::MixPart& part : a.found.mix)
         all.push_back({a.request, part.plan, part.plan, a.catalog, 1, part.share});
       return all;
     }},
    {"verdict?", "clear, ahead, uncertain, close (others within 5 %) or extrapolation (no benchmark of the GPU)",
     [](const RecommendAnswer& a) {
       return when(!a.found.plans.empty() && !a.request.plans_only, a.found.decision());
     }},
    {"verdict_text?", "the same in a sentence",
     [](const RecommendAnswer& a) {
       return a.found.plans.empty() ? std::string() : decision_sentence(a.request, a.found);
     }},
    {"within", "the best plan on each other GPU that costs at most 5 % more", kCloseFields,
     [](const RecommendAnswer& a) {
       std::vector<CloseView> all;
       if (!a.found.plans.empty())
         for (const Plan* p : a.found.close_calls()) all.push_back({p});
       return all;
     }},
    {"held_back?", "over 10 % cheaper, with a price that may not rank first", kPlanFields,
     [](const RecommendAnswer& a) { return plan_views(a, a.found.held_back); }},
    {"unpriced?", "providers that were asked for and have no price on these terms",
     [](const RecommendAnswer& a) { return a.found.unpriced; }},
    {"missing_terms?", "terms that were asked for and have no price",
     [](const RecommendAnswer& a) { return a.found.missing_terms; }},
    {"other_terms?", "the first plan of each of the requested terms that do not rank first", kPlanFields,
     [](const RecommendAnswer& a) { return plan_views(a, a.found.other_terms); }},
    {"unmet_terms?", "requested terms on which nothing meets the limits, and what the nearest GPU lacks", kTermFields,
     [](const RecommendAnswer& a) { return std::span(a.found.unmet_terms); }},
    {"use?", "rank of the plan on your own machines that the answer names first, because they are idle",
     [](const RecommendAnswer& a) {
       const std::size_t own = a.found.plans.empty() ? 0 : named_first(a.found);
       return when(own > 0, static_cast<int>(own) + 1);
     }},
    {"experiment?", "a cheaper GPU without benchmarks, and the test that would settle it", kExperimentFields,
     [](const RecommendAnswer& a) {
       std::optional<ExperimentView> view;
       if (a.found.experiment) view.emplace(ExperimentView{a, *a.found.experiment});
       return view;
     }},
    {"confidence", "share of what-ifs in which the first plan's GPU remains the cheapest",
     [](const RecommendAnswer& a) { return a.found.plans.empty() ? std::nullopt : a.found.confidence; }},
    {"warnings", "doubts about the price of the first plan",
     [](const RecommendAnswer& a) {
       std::vector<std::string> all;
       for (const plan::PriceWarning& w : a.found.warnings) all.push_back(describe_warning(w));
       return all;
     }},
    {"terms", "spot, commitment and quota of the first plan",
     [](const RecommendAnswer& a) {
       return a.found.plans.empty() ? std::vector<std::string>{} : terms_sentences(a.request, a.found);
     }},
    {"caveats", "what to know before acting on the first plan",
     [](const RecommendAnswer& a) {
       return a.found.plans.empty() ? std::vector<std::string>{} : caveats(a.request, a.found);
     }},
    {"feasible", "plans that meet every limit", [](const RecommendAnswer& a) { return a.found.feasible; }},
    {"assumptions", "what was assumed", kAssumptionsFields, assumptions_of},
    {"considered", "configurations scored", [](const RecommendAnswer& a) { return a.found.effort.configurations; }},
    {"seconds", "time of the search", [](const RecommendAnswer& a) { return a.found.effort.search_seconds; }},
    {"stats?", "where the time of the search went", kEffortFields,
     [](const RecommendAnswer& a) { return when(a.shown.stats, a.found.effort); }},
    {"request?", "the settings as given",
     [](const RecommendAnswer& a) {
       std::vector<std::pair<std::string, std::string>> all;
       for (const model::Setting& s : a.settings) all.emplace_back(s.name, s.value);
       return all;
     }},
    {"catalogue?", "version of the catalogue", &RecommendAnswer::catalogue},
};

// The answer for one workload, or the answers for a file with several; --emit adds files.
struct Recommended {
  const RecommendAnswer* answer = nullptr;
  std::map<std::string, std::string> files = {};
  std::vector<Recommended> workloads = {};
};
extern const Fields<Recommended> kRecommendedFields;
const Fields<Recommended> kRecommendedFields = {
    {kAnswerFields, [](const Recommended& r) { return std::cref(*r.answer); }},
    {"emit?", "files for other tools, by tool", &Recommended::files},
    {"workloads?", "one answer per workload of a file with several", kRecommendedFields, &Recommended::workloads},
};
const report::Document<Recommended> kRecommendDocument("recommend", "What to rent for a workload", kRecommendedFields);

}  // namespace

report::Table plans_table(const RecommendAnswer& answer, std::string title, const std::vector<Plan>& plans) {
  const std::string percentile = fmt::format("p{} ", percentile_of(answer.request));
  const bool tokens = !plan::is_one_pass(answer.request), serving = answer.request.work.kind == WorkKind::kServing;
  const std::string ttft = percentile + (tokens ? "TTFT" : "latency"), tpot = percentile + "TPOT";
  // If all plans have the same terms, the answer above already states them, and a narrow terminal has no space.
  const bool same_terms = std::all_of(plans.begin(), plans.end(), [&](const Plan& p) {
    return plan::terms_name(p.offer) == plan::terms_name(plans.front().offer);
  });
  std::vector<report::ColumnOf> columns = {"rank", renamed("gpus_shown", "gpus"), cut("machines", 20), "provider",
                                           same_terms ? spare("purchase") : report::ColumnOf("purchase")};
  if (serving) columns.push_back(renamed("ttft_seconds", "ttft_seconds", ttft));
  if (serving && tokens) columns.push_back(renamed("tpot_seconds", "tpot_seconds", tpot));
  if (answer.request.limits.latency)
    columns.push_back(renamed("answer_seconds", "answer_seconds", percentile + "answer"));
  if (!serving) columns.push_back(renamed("paid_seconds", "seconds"));
  columns.push_back(serving ? renamed("usd_total", "usd_total", "$/month") : report::ColumnOf("usd_total"));
  if (answer.request.objective == plan::Objective::kEnergy) columns.emplace_back("energy_kwh");
  if (std::any_of(plans.begin(), plans.end(), [](const Plan& p) { return !p.draws.empty(); }))
    columns.push_back(report::renamed("new_money", "new_money_usd"));
  report::Table table = report::table_of(kPlanFields, plan_views(answer, plans), columns);
  table.title = std::move(title);
  return table;
}

report::Table changes_table(const RecommendAnswer& answer) {
  report::Table table = report::table_of(kChangeFields, change_views(answer),
                                         {renamed("what", "change"), "flags", "gpus", "usd_total", "ratio"});
  table.title = "What else could change";
  return table;
}

report::Table rejections_table(const RecommendAnswer& answer) {
  std::vector<RejectionView> views;
  for (const plan::Rejection& r : answer.found.rejected)
    if (!r.partly && r.stage != plan::RejectionStage::kPrice) views.push_back({answer, r});
  report::Table table = report::table_of(kRejectionFields, views, {"gpu", "stage", "need", "have", "count"});
  table.title = "Why not these";
  table.most_shown = 8;
  return table;
}

report::Json document_of(const RecommendAnswer& answer, std::map<std::string, std::string> files) {
  return kRecommendDocument.of({&answer, std::move(files)});
}

}  // namespace rightsize::app
