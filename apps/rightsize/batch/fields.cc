// The JSON document of `rightsize batch`.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/list_of.h"
#include "rightsize/batch/report.h"

namespace rightsize::app {
namespace {

using capacity::Configuration;
using capacity::Quantity;
using capacity::Slo;
using report::Fields;
using report::when;

struct LatencyStatistics {
  sim::StatisticValues ns;
};
// Unknown if the run is too short.
template <std::size_t i>
std::optional<double> in_ms(const LatencyStatistics& s) {
  return when(std::isfinite(s.ns[i]), s.ns[i] * 1e-6);
}
const Fields<LatencyStatistics> kStatisticFields = {
    {"mean", "mean", in_ms<0>},           {"p50", "median", in_ms<1>},          {"p90", "90th percentile", in_ms<2>},
    {"p95", "95th percentile", in_ms<3>}, {"p99", "99th percentile", in_ms<4>},
};

// How scripts name a limit: "p99" of the latency, "ttft", "tpot".
std::string metric_of(const Slo& slo) {
  if (slo.quantity == Quantity::kLatency) return std::string(capacity::name_of(slo.at));
  return slo.quantity == Quantity::kTtft ? "ttft" : "tpot";
}

struct SloView {
  const capacity::Assessment* run;
  Slo slo;
};
const Fields<SloView> kSloFields = {
    {"metric", "the limited quantity: a statistic of the latency, ttft or tpot",
     [](const SloView& v) { return metric_of(v.slo); }},
    {"slo_percentile", "the statistic that is limited", [](const SloView& v) { return capacity::name_of(v.slo.at); }},
    {"limit_ms", "the limit", [](const SloView& v) { return v.slo.limit; }},
    {"value_ms", "the simulated value", [](const SloView& v) { return v.run->value(v.slo); }},
    {"half_width_ms", "half the width of its 95 % confidence interval",
     [](const SloView& v) { return v.run->half_width(v.slo); }},
};

struct SecondType {
  std::string gpu;
  int replicas = 0, tp = 1;
};
const Fields<SecondType> kSecondFields = {
    {"gpu", "the GPU", &SecondType::gpu},
    {"replicas", "replicas of this type", &SecondType::replicas},
    {"tp", "GPUs per replica", &SecondType::tp},
};
std::optional<SecondType> second_type(const BatchPlan& p) {
  const auto& groups = p.run->configuration.groups;
  if (groups.size() < 2) return std::nullopt;
  const BatchOffer& offer = p.input->offers[groups[1].replica];
  return SecondType{offer.replica.gpu, groups[1].count, offer.replica.gpus};
}

std::vector<SloView> slo_views(const BatchPlan& p) {
  return list_of(p.input->service.slos, [&](const Slo& slo) { return SloView{p.run, slo}; });
}

std::optional<double> known(double value) { return when(std::isfinite(value), value); }

const Fields<capacity::Assessment> kTokenFields = {
    {"ttft_ms", "time to first token", kStatisticFields,
     [](const capacity::Assessment& a) { return LatencyStatistics{a.profile.ttft}; }},
    {"tpot_ms", "time per output token after the first", kStatisticFields,
     [](const capacity::Assessment& a) { return LatencyStatistics{a.profile.tpot}; }},
};
const capacity::Assessment* token_run(const BatchPlan& p) { return p.input->continuous ? p.run : nullptr; }

const Fields<sim::RequestShape> kLengthFields = {
    {"isl", "mean prompt tokens", &sim::RequestShape::size},
    {"osl", "mean output tokens", &sim::RequestShape::output},
    {"isl_p95", "95th percentile of the prompt tokens",
     [](const sim::RequestShape& s) { return s.size_at(sim::Statistic::kP95); }},
    {"osl_p95", "95th percentile of the output tokens",
     [](const sim::RequestShape& s) { return s.output_at(sim::Statistic::kP95); }},
};

// Fields of both a run and a plan.
const Fields<BatchPlan> kLatencyFields = {
    {"latency_ms", "latency of completed requests", kStatisticFields,
     [](const BatchPlan& p) { return LatencyStatistics{p.run->profile.latency}; }},
    {kTokenFields, token_run},
    {"mean_batch", "mean items of a batch, or sequences of a step",
     [](const BatchPlan& p) { return p.run->profile.mean_batch; }},
    {"prefix_hit?", "share of prompt tokens found in the prefix cache, with --sessions or a trace with hash_ids",
     [](const BatchPlan& p) { return p.run->profile.prefix_hit(); }},
    {"busy_share", "share of the time with work on the GPU", [](const BatchPlan& p) { return p.run->busy; }},
    {"utilization",
     "the same as busy_share; in 'recommend', 'estimate' and 'service' it is the share of capacity in use",
     [](const BatchPlan& p) { return p.run->busy; }},
};

// The measurements of one simulated configuration.
const Fields<BatchPlan> kRunFields = {
    {kLatencyFields, [](const BatchPlan& p) { return &p; }},
    {"half_width_ms", "half the widths of their 95 % confidence intervals", kStatisticFields,
     [](const BatchPlan& p) { return LatencyStatistics{p.run->profile.interval.half_widths()}; }},
    {"steps?", "steps of the engine",
     [](const BatchPlan& p) { return when(p.input->continuous, p.run->profile.batches); }},
    {"lengths?", "request lengths of synthetic arrivals", kLengthFields,
     [](const BatchPlan& p) {
       return when(p.input->continuous && sim::trace_of(p.input->service.arrivals) == nullptr,
                   p.input->service.lengths);
     }},
    {"preemptions?", "sequences preempted because the cache was full",
     [](const BatchPlan& p) { return when(p.input->continuous, p.run->profile.preemptions); }},
    {"output_tokens_per_second?", "output tokens per second",
     [](const BatchPlan& p) { return when(p.input->continuous, p.run->profile.output_rate); }},
    {"batches", "batches or steps", [](const BatchPlan& p) { return p.run->profile.batches; }},
    {"rejected", "rejected requests", [](const BatchPlan& p) { return p.run->profile.rejected; }},
    {"requests", "simulated requests", [](const BatchPlan& p) { return p.run->profile.requests; }},
    {"requests_left_out?", "requests of the trace that were not replayed because of --requests",
     [](const BatchPlan& p) { return report::positive(p.input->left_out()); }},
    {"capacity_per_second", "requests per second with batches as large as allowed",
     [](const BatchPlan& p) { return p.run->capacity; }},
    {"load", "arrival rate over capacity", [](const BatchPlan& p) { return p.run->load; }},
    {"simulated_seconds", "simulated time",
     [](const BatchPlan& p) { return sim::from_sim_time(p.run->profile.elapsed); }},
    {"quantile_relative_error", "largest relative error of the percentiles' histogram",
     [](const BatchPlan&) { return sim::LatencyHistogram::kRelativeError; }},
};

const Fields<LoadPoint> kLoadFields = {
    {kStatisticFields, [](const LoadPoint& p) { return LatencyStatistics{p.latency}; }},
    {"requests_per_second", "arrival rate", &LoadPoint::rate},
};

template <double sim::StepCost::*kPart>
double step_ms(const capacity::Replica& replica) {
  return replica.step.*kPart * 1e-6;
}
template <perf::Interval perf::StepFit::*kOf>
std::vector<double> fit_interval(const capacity::Replica& replica) {
  return {((*replica.fit).*kOf).low, ((*replica.fit).*kOf).high};
}
const Fields<capacity::Replica> kFitFields = {
    {"gpu", "the GPU", &capacity::Replica::gpu},
    {"tp", "GPUs per replica", &capacity::Replica::gpus},
    {"base_ms", "time of every step", step_ms<&sim::StepCost::base>},
    {"sequence_ms", "added per decoding sequence", step_ms<&sim::StepCost::sequence>},
    {"context_token_ms", "added per token in the cache", step_ms<&sim::StepCost::context>},
    {"prompt_token_ms", "added per prompt token", step_ms<&sim::StepCost::prefill>},
    {"with_prompts_ms", "added to a step with prompts", step_ms<&sim::StepCost::with_prompts>},
    {"request_ms", "per request, outside the steps", step_ms<&sim::StepCost::request>},
    {"kv_tokens", "capacity of the KV cache in tokens", [](const capacity::Replica& r) { return r.step.kv_tokens; }},
    {"worst_step_error", "largest relative error of the fit over decode steps",
     [](const capacity::Replica& r) { return r.fit->worst_step_error; }},
    {"worst_prompt_error", "largest relative error for prompts of half and twice the length",
     [](const capacity::Replica& r) { return r.fit->worst_prompt_error; }},
    {"tpot_interval", "80 % interval of the TPOT, as factors", fit_interval<&perf::StepFit::tpot_interval>},
    {"ttft_interval", "80 % interval of the TTFT, as factors", fit_interval<&perf::StepFit::ttft_interval>},
};

std::vector<const capacity::Replica*> fitted_replicas(const BatchDocument& d) {
  std::vector<const capacity::Replica*> fitted;
  for (const BatchOffer& offer : d.input->offers) {
    if (offer.replica.fit) fitted.push_back(&offer.replica);
  }
  return fitted;
}

const Fields<Relaxation> kRelaxationFields = {
    {"value_ms", "the relaxed limit", &Relaxation::value},
    {"gpus", "GPUs that are then needed", &Relaxation::gpus},
    {"saving_usd_per_month", "monthly saving", [](const Relaxation& r) { return known(r.saving); }},
};

const Fields<capacity::ConfigurationSearch> kSearchFields = {
    {"considered", "settings", &capacity::ConfigurationSearch::considered},
    {"pruned_unstable", "settings that cannot carry the load", &capacity::ConfigurationSearch::unstable},
    {"pruned_by_bound", "settings excluded by the latency of an idle replica", &capacity::ConfigurationSearch::bounded},
    {"simulated", "settings simulated", &capacity::ConfigurationSearch::simulated},
    {"confirmed", "settings confirmed with confidence intervals", &capacity::ConfigurationSearch::confirmed},
};

std::optional<BatchPlan> run_of(const BatchDocument& d) {
  return d.run != nullptr ? std::optional(BatchPlan{d.input, d.run}) : std::nullopt;
}
std::optional<BatchPlan> plan_of(const BatchDocument& d, const std::optional<capacity::Assessment>& run) {
  return run ? std::optional(BatchPlan{d.input, &*run}) : std::nullopt;
}

// Fields that only a search has.
const Fields<BatchDocument> kFoundFields = {
    {"plan", "the cheapest configuration that meets every SLO", kBatchPlanFields,
     [](const BatchDocument& d) { return plan_of(d, d.found->best); }},
    {"unbatched", "the cheapest one with one request at a time", kBatchPlanFields,
     [](const BatchDocument& d) { return plan_of(d, d.found->unbatched); }},
    {"relaxations?", "savings from relaxed SLOs", kRelaxationFields,
     [](const BatchDocument& d) { return d.relaxations; }},
    {kSearchFields, [](const BatchDocument& d) { return d.found; }},
    {"frontier", "the fastest configuration at each price", kBatchPlanFields,
     [](const BatchDocument& d) {
       return list_of(d.found->frontier, [&](const capacity::Assessment& a) { return BatchPlan{d.input, &a}; });
     }},
};

const Fields<BatchDocument> kDocumentFields = {
    {"stable?", "whether the server can carry the load",
     [](const BatchDocument& d) { return when(d.run != nullptr || d.overload, d.run != nullptr); }},
    {"arrivals_per_second?", "arrival rate of an overloaded server",
     [](const BatchDocument& d) { return when(d.overload.has_value(), d.input->rate()); }},
    {"capacity_per_second?", "capacity of an overloaded server", &BatchDocument::overload},
    {kRunFields, run_of},
    {kFoundFields, [](const BatchDocument& d) { return d.found != nullptr ? &d : nullptr; }},
    {"seconds?", "wall-clock time of the simulation", [](const BatchDocument& d) { return report::positive(d.wall); }},
    {"step_fits?", "steps predicted by the speed model", kFitFields, fitted_replicas},
    {"load_curve?", "latency at other loads", kLoadFields, &BatchDocument::curve},
    {"triton_config?", "config.pbtxt for Triton", &BatchDocument::triton_config},
    {"emit?", "files for other tools, by name", &BatchDocument::emitted},
};
const report::Document<BatchDocument> kBatchDocument("batch", "Latency of a batching server under load",
                                                     kDocumentFields);

const Configuration& setting(const BatchPlan& p) { return p.run->configuration; }
Seconds first_slo_half_width(const BatchPlan& p) { return p.run->half_width(p.input->service.slos.front()); }

}  // namespace

const Slo& tightest_slo(const BatchPlan& p) {
  const auto excess = [&](const Slo& slo) { return p.run->value(slo) / slo.limit; };
  const auto& slos = p.input->service.slos;
  return *std::ranges::max_element(slos, [&](const Slo& a, const Slo& b) { return excess(a) < excess(b); });
}

double usd_per_month(const BatchPlan& p) {
  double sum = 0;
  for (const capacity::ReplicaGroup& group : p.run->configuration.groups)
    sum += p.input->offers[group.replica].usd_per_hour_of(group.count);
  return sum * in_hours(kMonth);
}

int gpu_count(const BatchInput& input, const Configuration& c) {
  int sum = 0;
  for (const capacity::ReplicaGroup& group : c.groups) sum += group.count * input.offers[group.replica].replica.gpus;
  return sum;
}

const BatchOffer& first_offer(const BatchInput& input, const Configuration& c) {
  return input.offers[c.groups.front().replica];
}

std::int64_t most_together(const BatchInput& input, const Configuration& c) {
  return input.continuous ? c.engine.max_sequences : c.batching.max_batch;
}

const Fields<BatchPlan> kBatchPlanFields = {
    {"gpu", "the GPU", [](const BatchPlan& p) { return first_offer(*p.input, setting(p)).replica.gpu; }},
    {"gpus", "GPUs", "GPUs of all replicas", [](const BatchPlan& p) { return gpu_count(*p.input, setting(p)); }},
    {"replicas", "replicas of the first type", [](const BatchPlan& p) { return setting(p).groups.front().count; }},
    {"tp", "GPUs per replica", [](const BatchPlan& p) { return first_offer(*p.input, setting(p)).replica.gpus; }},
    {"max_batch", "batch", "largest batch, or sequences at once",
     [](const BatchPlan& p) { return most_together(*p.input, setting(p)); }},
    {"max_delay_ms", "how long a batch waits for more requests",
     [](const BatchPlan& p) { return sim::from_sim_time(setting(p).batching.max_delay); }},
    {"instances", "instances", "model instances per GPU", [](const BatchPlan& p) { return setting(p).executors; }},
    {"beside?", "a second type of GPU behind the same router", kSecondFields, second_type},
    {"token_budget?", "tokens per step",
     [](const BatchPlan& p) { return when(p.input->continuous, setting(p).engine.token_budget); }},
    {"usd_per_month", "$/month", "monthly cost", [](const BatchPlan& p) { return known(usd_per_month(p)); },
     [](double usd_amount) { return format_usd(usd(usd_amount)); }},
    {"metric", "the SLO closest to its limit", [](const BatchPlan& p) { return metric_of(tightest_slo(p)); }},
    {"slo_percentile", "its statistic", [](const BatchPlan& p) { return capacity::name_of(tightest_slo(p).at); }},
    {"value_ms", "its simulated value", [](const BatchPlan& p) { return p.run->value(tightest_slo(p)); }},
    {"half_width_ms", "half the width of its 95 % confidence interval",
     [](const BatchPlan& p) { return p.run->half_width(tightest_slo(p)); }},
    {"slos", "every SLO", kSloFields, slo_views},
    {kLatencyFields, [](const BatchPlan& p) { return &p; }},
    {"load", "load", "arrival rate over capacity", [](const BatchPlan& p) { return p.run->load; },
     [](double load) { return format_percent(Ratio::fraction(load)); }},
    {"rejected_share", "share of rejected requests", [](const BatchPlan& p) { return p.run->rejected_share(); }},
    {"price_source", "source of the price",
     [](const BatchPlan& p) {
       const BatchOffer& offer = first_offer(*p.input, setting(p));
       const RentedMachine* machine = offer.machines_for(setting(p).groups.front().count).first;
       return machine != nullptr ? machine->source : offer.price_source;
     }},
    // Columns of the frontier.
    {"gpu_name", "GPU", "the GPU and GPUs per replica",
     [](const BatchPlan& p) {
       std::string names;
       for (const capacity::ReplicaGroup& group : setting(p).groups) {
         const BatchOffer& offer = p.input->offers[group.replica];
         if (!offer.replica.gpu.empty()) names += (names.empty() ? "" : " + ") + offer.name();
       }
       return names;
     },
     report::kTableOnly},
    {"delay", "delay", "how long a batch waits for more requests",
     [](const BatchPlan& p) { return sim::from_sim_time(setting(p).batching.max_delay); }, report::kTableOnly},
    {"value", "value", "value of the first SLO",
     [](const BatchPlan& p) { return p.run->value(p.input->service.slos.front()); }, report::kTableOnly},
    {"half_width", "±", "half the width of its 95 % confidence interval",
     [](const BatchPlan& p) {
       return when(std::isfinite(in_seconds(first_slo_half_width(p))), first_slo_half_width(p));
     },
     report::kTableOnly},
    {"keeps_slo", "SLO", "whether every SLO is met",
     [](const BatchPlan& p) { return p.run->keeps(p.input->service) ? "met" : "missed"; }, report::kTableOnly},
};

report::Json batch_document(const BatchDocument& document) { return kBatchDocument.of(document); }

}  // namespace rightsize::app
