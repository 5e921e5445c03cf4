// The JSON document of `rightsize service`.
#include <cmath>

#include "base/format.h"
#include "rightsize/decisions/fields.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

using live_service::Description;
using live_service::GaugeUse;
using live_service::LearnedSpeed;
using live_service::Percentiles;
using live_service::Quantile;
using live_service::Signal;
using live_service::SloVerdict;
using report::Fields;
using report::when;

std::optional<double> value_of(const std::optional<Quantile>& q) { return q ? std::optional(q->value) : std::nullopt; }

// Above the last bound of a histogram, a value is an estimate from the histogram's sum, if there is one.
std::optional<double> known_value(const std::optional<Quantile>& q) {
  return q && (std::isfinite(q->high) || q->value > q->low) ? std::optional(q->value) : std::nullopt;
}
std::optional<double> over_value(const std::optional<Quantile>& q) {
  return q && !std::isfinite(q->high) ? std::optional(q->low) : std::nullopt;
}

const Fields<Quantile> kBucketFields = {
    {"low", "lower bound", &Quantile::low},
    {"high", "upper bound; null: unbounded", [](const Quantile& q) { return when(std::isfinite(q.high), q.high); }},
};
const Fields<Percentiles> kLengthFields = {
    {"mean", "mean", &Percentiles::mean},
    {"p50", "median; above the largest bound, an estimate; null: unknown",
     [](const Percentiles& s) { return known_value(s.p50); }},
    {"p50_over?", "the largest bound of the histogram, if the median is above it",
     [](const Percentiles& s) { return over_value(s.p50); }},
    {"p95", "95th percentile; above the largest bound, an estimate; null: unknown",
     [](const Percentiles& s) { return known_value(s.p95); }},
    {"p95_over?", "the largest bound of the histogram, if the 95th percentile is above it",
     [](const Percentiles& s) { return over_value(s.p95); }},
    {"p95_bucket?", "the histogram bucket of the 95th percentile", kBucketFields, &Percentiles::p95},
};
const Fields<Percentiles> kTimeFields = {
    {kLengthFields, [](const Percentiles& s) { return s; }},
    {"p99", "99th percentile; above the largest bound, an estimate; null: unknown",
     [](const Percentiles& s) { return known_value(s.p99); }},
    {"p99_over?", "the largest bound of the histogram, if the 99th percentile is above it",
     [](const Percentiles& s) { return over_value(s.p99); }},
};

const Fields<SloVerdict> kSloFields = {
    {"quantity", "TTFT or TPOT", [](const SloVerdict& v) { return v.slo.quantity; }},
    {"at", "the statistic that is limited", [](const SloVerdict& v) { return capacity::name_of(v.slo.at); }},
    {"limit_seconds", "the limit", [](const SloVerdict& v) { return v.slo.limit; }},
    {"over_share", "share of requests above the limit", [](const SloVerdict& v) { return value_of(v.over); }},
    {"over_share_low", "its lower bound, from the histogram buckets",
     [](const SloVerdict& v) { return v.over ? std::optional(v.over->low) : std::nullopt; }},
    {"over_share_high", "its upper bound",
     [](const SloVerdict& v) { return v.over ? std::optional(v.over->high) : std::nullopt; }},
    {"kept", "whether the SLO was met; null: unpublished", &SloVerdict::kept},
    {"sure", "whether that holds for both bounds", &SloVerdict::sure},
};

const Fields<capacity::Slo> kHeldFields = {
    {"quantity", "TTFT or TPOT", &capacity::Slo::quantity},
    {"at", "the statistic", [](const capacity::Slo& slo) { return capacity::name_of(slo.at); }},
    {"limit_seconds", "the limit", &capacity::Slo::limit},
};

const Fields<GaugeUse> kGaugeFields = {
    {"mean", "mean", &GaugeUse::mean},
    {"p95", "95th percentile", &GaugeUse::p95},
    {"max", "maximum", &GaugeUse::max},
};
template <Signal signal>
const GaugeUse* gauge(const SizedService& s) {
  return s.reading.gauge(signal);
}

// A figure of the electricity for a million output tokens.
template <auto kMember>
auto of_million(const SizedService& s) {
  const std::optional<Joules> energy = energy_per_million_output_tokens(s);
  return energy ? (s.electricity.*kMember)(*energy) : decltype((s.electricity.*kMember)(Joules{})){};
}

struct PredictedTpot {
  Seconds tpot;
  perf::Interval interval;
};
const Fields<PredictedTpot> kPredictedFields = {
    {"tpot_seconds", "predicted TPOT", &PredictedTpot::tpot},
    {"low", "lower end of its 80 % interval", [](const PredictedTpot& p) { return p.tpot * p.interval.low; }},
    {"high", "upper end of its 80 % interval", [](const PredictedTpot& p) { return p.tpot * p.interval.high; }},
};
const Fields<LearnedSpeed> kCalibrationFields = {
    {"prior", "before the calibration", kPredictedFields,
     [](const LearnedSpeed& s) {
       return PredictedTpot{s.prior_tpot, s.prior_interval};
     }},
    {"corrected", "after the calibration", kPredictedFields,
     [](const LearnedSpeed& s) {
       return PredictedTpot{s.corrected_tpot, s.corrected_interval};
     }},
    {"prior_tpot_seconds", "TPOT predicted before the calibration", &LearnedSpeed::prior_tpot},
    {"measured_tpot_seconds", "measured mean TPOT", &LearnedSpeed::measured_tpot},
    {"corrected_tpot_seconds", "TPOT predicted after the calibration", &LearnedSpeed::corrected_tpot},
    {"factor", "ratio of the two predictions", &LearnedSpeed::factor},
    {"device", "factor on the GPU's time", [](const LearnedSpeed& s) { return s.factors.device; }},
    {"host", "factor on the host's time", [](const LearnedSpeed& s) { return s.factors.host; }},
    {"prefill", "factor on the prefill time", [](const LearnedSpeed& s) { return s.factors.prefill; }},
    {"rows", "measurements used", &LearnedSpeed::rows},
};

const Fields<Description> kRateFields = {
    {"mean", "over the window", &Description::requests_per_second},
    {"peak_hour", "in the busiest clock hour", &Description::peak_hour},
    {"peak_hour_begin", "its begin, seconds since 1970", &Description::peak_hour_begin},
    {"burst", "rate of the busiest five minutes over that of the busiest hour", &Description::burst},
    {"by_hour_utc", "mean of each hour of the day", &Description::by_hour},
};

struct SavingView {
  Usd now, month;
  perf::Interval interval;
};
const Fields<SavingView> kSavingFields = {
    {"low", "lower end", [](const SavingView& v) { return v.now - v.month * v.interval.high; }},
    {"likely", "expected", [](const SavingView& v) { return v.now - v.month; }},
    {"high", "upper end", [](const SavingView& v) { return v.now - v.month * v.interval.low; }},
};
const Fields<plan::Plan> kMoveFields = {
    {"provider", "provider of the machines", [](const plan::Plan& p) { return p.offer.machine->provider; }},
    {"instance", "instance type", [](const plan::Plan& p) { return p.offer.machine->instance; }},
    {"instances", "number of machines", &plan::Plan::machines},
    {"region", "region of the price", [](const plan::Plan& p) { return p.offer.price->region; }},
    {"purchase", "terms of the price", [](const plan::Plan& p) { return p.offer.price->purchase; }},
};

const Fields<ConfidenceStep> kStepFields = {
    {"what", "window, histograms, buckets, speed or price", &ConfidenceStep::what},
    {"text", "what to do", &ConfidenceStep::text},
};

const Fields<live_service::LargerCache> kLargerCacheFields = {
    {"prefix_hit", "share of prompt tokens, if half of those computed today were found",
     &live_service::LargerCache::prefix_hit},
    {"gpus_saved", "GPUs saved by that", &live_service::LargerCache::gpus_saved},
};

const Fields<Promise> kPromiseFields = {
    {"id", "number of the decision", [](const Promise& p) { return decisions::label(p.decision.id); }},
    {"workload", "name of the workload in the ledger", [](const Promise& p) { return p.decision.workload; }},
    {"metrics", "what the window measures of its predictions", kJudgedFields, &Promise::metrics},
};

const Fields<SizedService> kServiceFields = {
    {"name", "namespace/workload", [](const SizedService& s) { return s.reading.name(); }},
    {"namespace", "Kubernetes namespace", [](const SizedService& s) { return s.reading.space; }},
    {"workload", "common name of the pods, or the job", [](const SizedService& s) { return s.reading.workload; }},
    {"engine", "serving engine", [](const SizedService& s) { return s.reading.engine; }},
    {"model", "served model",
     [](const SizedService& s) { return s.reading.model.empty() && s.model ? s.model->name : s.reading.model; }},
    {"replicas", "at the end of the window", [](const SizedService& s) { return s.description.replicas; }},
    {"replicas_range", "fewest and most in the window",
     [](const SizedService& s) {
       return std::vector{s.reading.least_replicas, s.reading.most_replicas};
     }},
    {"gpus", "at the end of the window", [](const SizedService& s) { return s.description.gpus; }},
    {"gpu", "the GPU",
     [](const SizedService& s) {
       return s.description.gpu != nullptr ? std::optional(s.description.gpu->name) : std::nullopt;
     }},
    {"gpus_per_replica", "GPUs per replica", [](const SizedService& s) { return s.description.gpus_per_replica; }},
    {"gpu_hours", "GPU-hours in the window", [](const SizedService& s) { return s.description.gpu_hours; }},
    {"restarts", "restarts of replicas", [](const SizedService& s) { return s.reading.restarts; }},
    {"requests_per_second", "request rate; null: one scrape, without the start of its engine", kRateFields,
     [](const SizedService& s) { return when(s.reading.timed, s.description); }},
    {"isl", "prompt tokens", kLengthFields, [](const SizedService& s) { return s.description.isl; }},
    {"osl", "output tokens", kLengthFields, [](const SizedService& s) { return s.description.osl; }},
    {"prefix_hit", "share of prompt tokens in the prefix cache",
     [](const SizedService& s) { return s.description.prefix_hit; }},
    {"prefix_hit_gpu?", "of prompt tokens, found in GPU memory",
     [](const SizedService& s) { return s.description.gpu_hit; }},
    {"prefix_hit_external?", "of prompt tokens, loaded from host memory, disks or other machines",
     [](const SizedService& s) { return s.description.external_hit; }},
    {"ttft_seconds", "time to first token", kTimeFields, [](const SizedService& s) { return s.description.ttft; }},
    {"tpot_seconds", "time per output token", kTimeFields, [](const SizedService& s) { return s.description.tpot; }},
    {"latency_seconds", "end-to-end latency", kTimeFields, [](const SizedService& s) { return s.description.latency; }},
    {"preemptions", "preempted requests", [](const SizedService& s) { return s.description.preemptions; }},
    {"running", "running requests", kGaugeFields, gauge<Signal::kRunning>},
    {"waiting", "waiting requests", kGaugeFields, gauge<Signal::kWaiting>},
    {"kv_use", "share of the KV cache in use", kGaugeFields, gauge<Signal::kKvUse>},
    {"slo_kept", "whether every SLO was met", [](const SizedService& s) { return s.description.slo_kept; }},
    {"slo", "every SLO", kSloFields, [](const SizedService& s) { return s.description.slos; }},
    {"latency_kept?", "without SLOs: today's latency, which every plan keeps", kHeldFields,
     [](const SizedService& s) { return s.sized ? s.sized->held : std::vector<capacity::Slo>{}; }},
    {"unexplained", "why the plans cannot be trusted",
     [](const SizedService& s) {
       return when(s.sized && !s.sized->unexplained.empty(), s.sized ? s.sized->unexplained : std::string());
     }},
    {"usd_per_month", "current monthly cost", [](const SizedService& s) { return s.description.month; }},
    {"usd_per_million_output_tokens", "current cost per 1M output tokens", usd_per_million_output_tokens},
    {"gpu_power_watts?", "mean power of a GPU, measured",
     [](const SizedService& s) { return s.description.gpu_power; }},
    {"energy_kwh?", "energy of its GPUs in the window, measured",
     [](const SizedService& s) { return s.description.energy(); }},
    {"joules_per_output_token?", "the same per output token",
     [](const SizedService& s) { return s.description.energy_per_token(); }},
    {"predicted_gpu_power_watts?", "estimated power of a GPU while requests run",
     [](const SizedService& s) { return s.learned ? s.learned->gpu_power : std::nullopt; }},
    {"predicted_joules_per_output_token?", "estimated energy per output token while requests run",
     [](const SizedService& s) { return s.learned ? s.learned->energy_per_token : std::nullopt; }},
    {"energy_usd_per_million_output_tokens?", "price of that energy, with --kwh-price", of_million<&Electricity::cost>},
    {"co2_kg_per_million_output_tokens?", "its carbon dioxide, with --carbon", of_million<&Electricity::co2_kg>},
    {"price_source", "source of the price",
     [](const SizedService& s) {
       return s.description.price ? std::optional(s.description.price->source()) : std::nullopt;
     }},
    {"headroom", "unused share of the capacity in the busiest hour",
     [](const SizedService& s) { return s.sized ? s.sized->headroom : std::nullopt; }},
    {"predicted?", "a decision about its autoscaling, predicted and measured (--ledger)", kPromiseFields,
     &SizedService::promise},
    {"larger_cache?", "what a larger prefix cache would save on the current GPUs", kLargerCacheFields,
     [](const SizedService& s) { return s.sized ? s.sized->larger_cache : std::nullopt; }},
    {"calibration", "speed calibrated with the service's own times", kCalibrationFields, &SizedService::learned},
    {"first_change?", "rank of the cheapest plan on the current GPUs that saves money",
     [](const SizedService& s) { return s.sized ? rank(s.sized->first_change) : std::nullopt; }},
    {"best?", "rank of the cheapest plan that saves money",
     [](const SizedService& s) { return s.sized ? rank(s.sized->best) : std::nullopt; }},
    {"plans", "plans that meet every SLO, cheapest first", kServicePlanFields, ranked_plans},
    {"surer", "what would raise the confidence", kStepFields, confidence_steps},
    {"notes", "missing information", &SizedService::notes},
};

const Fields<live_service::WhatIf> kWhatIfFields = {
    {"traffic", "factor on the request rate", &live_service::WhatIf::traffic},
    {"longer_prompts", "factor on the prompt length", &live_service::WhatIf::isl},
    {"longer_answers", "factor on the output length", &live_service::WhatIf::osl},
};

struct DocumentView {
  const ServiceInput* input;
  const ServiceFacts* facts;
};
const Fields<DocumentView> kDocumentFields = {
    {"from", "begin of the window, seconds since 1970", [](const DocumentView& v) { return v.facts->from; }},
    {"until", "end of the window, seconds since 1970", [](const DocumentView& v) { return v.facts->until; }},
    {"slo_percentile", "percentile of the SLOs",
     [](const DocumentView& v) { return capacity::name_of(v.input->size.percentile); }},
    {"what_if", "changed traffic", kWhatIfFields, [](const DocumentView& v) { return v.input->size.what_if; }},
    {"services", "running services", kServiceFields,
     [](const DocumentView& v) { return std::cref(v.facts->services); }},
    {"notes", "problems of the source", [](const DocumentView& v) { return v.facts->notes; }},
    {"emitted?", "the files of --emit", [](const DocumentView& v) { return v.facts->emitted; }},
};
const report::Document<DocumentView> kServiceDocument("service", "Running services and cheaper ways to run them",
                                                      kDocumentFields);

}  // namespace

const Fields<RankedPlan> kServicePlanFields = {
    {"rank", "#", "rank by cost", &RankedPlan::rank},
    {"change", "change", "replicas, schedule, layout or move", [](const RankedPlan& p) { return p.plan->kind; }},
    {"gpu", "the GPU", [](const RankedPlan& p) { return p.plan->gpu->name; }},
    {"gpus", "GPUs of all replicas", [](const RankedPlan& p) { return p.plan->gpus; }},
    {"replicas", "replicas", "replicas, at the peak of a schedule",
     [](const RankedPlan& p) { return p.plan->replicas; }},
    {"tp", "GPUs per replica", [](const RankedPlan& p) { return p.plan->tensor; }},
    {"precision", "format", "precision of the weights", [](const RankedPlan& p) { return p.plan->precision; }},
    {"ttft_seconds", "TTFT", "simulated TTFT at the percentile", [](const RankedPlan& p) { return p.plan->ttft; }},
    {"tpot_seconds", "TPOT", "simulated TPOT at the percentile", [](const RankedPlan& p) { return p.plan->tpot; }},
    {"utilization", "load",
     "share of capacity in use at the peak: the arrival rate over the rate that the replicas serve within their SLOs",
     [](const RankedPlan& p) { return p.plan->load; },
     [](double load) { return format_percent(Ratio::fraction(load)); }},
    {"max_sequences", "limit on running sequences", [](const RankedPlan& p) { return p.plan->sequences; }},
    {"max_batched_tokens", "limit on tokens per step", [](const RankedPlan& p) { return p.plan->token_budget; }},
    {"usd_per_month", "$/month", "monthly cost", [](const RankedPlan& p) { return p.plan->month; }},
    {"low", "lower end of the monthly cost", [](const RankedPlan& p) { return p.plan->month * p.plan->interval.low; }},
    {"high", "upper end of the monthly cost",
     [](const RankedPlan& p) { return p.plan->month * p.plan->interval.high; }},
    {"price_source", "source of the price", [](const RankedPlan& p) { return p.plan->price_source; }},
    {"saving_usd_per_month?", "saving against the current cost", kSavingFields,
     [](const RankedPlan& p) {
       return when(p.now.has_value(), SavingView{p.now.value_or(Usd{}), p.plan->month, p.plan->interval});
     }},
    {"replicas_by_hour_utc?", "replicas in each hour of the day",
     [](const RankedPlan& p) {
       return when(p.plan->kind == live_service::SizeChange::kSchedule,
                   std::vector<int>(p.plan->schedule.begin(), p.plan->schedule.end()));
     }},
    {kMoveFields, [](const RankedPlan& p) { return p.plan->move; }},
    // Columns of the table.
    {"gpus_shown", "GPUs", "number and type of the GPUs",
     [](const RankedPlan& p) { return fmt::format("{} x {}", p.plan->gpus, p.plan->gpu->name); }, report::kTableOnly},
    {"machines", "machines", "machines to rent", [](const RankedPlan& p) { return machines_shown(*p.plan); },
     report::kTableOnly},
};

report::Json service_document(const ServiceInput& input, const ServiceFacts& facts) {
  return kServiceDocument.of({&input, &facts});
}

}  // namespace rightsize::app
