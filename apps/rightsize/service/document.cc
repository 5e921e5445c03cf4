// The JSON document of `rightsize service`.
#include "base/usage_units.h"
#include "rightsize/service/report.h"

namespace rightsize::app {
namespace {

using live_service::Quantile;
using live_service::SizedPlan;
using report::Json;
using report::json_number;

Json value_of(const std::optional<Quantile>& q) { return q ? json_number(q->value) : Json(nullptr); }

// A percentile and the bucket it lies in: what a histogram leaves open.
void add_percentiles(const live_service::Spread& spread, bool tail, Json& into) {
  into["mean"] = json_number(spread.mean);
  into["p50"] = value_of(spread.p50);
  into["p95"] = value_of(spread.p95);
  if (tail) into["p99"] = value_of(spread.p99);
  if (!spread.p95) return;
  into["p95_bucket"] = {{"low", json_number(spread.p95->low)}, {"high", json_number(spread.p95->high)}};
}

Json spread(const live_service::Spread& values, bool tail) {
  Json json = Json::object();
  add_percentiles(values, tail, json);
  return json;
}

Json slos(const live_service::Description& d) {
  Json list = Json::array();
  for (const live_service::SloVerdict& v : d.slos) {
    list.push_back({{"quantity", capacity::name_of(v.slo.quantity)},
                    {"at", capacity::name_of(v.slo.at)},
                    {"limit_seconds", in_seconds(v.slo.limit)},
                    {"over_share", v.over ? json_number(v.over->value) : Json(nullptr)},
                    {"over_share_low", v.over ? json_number(v.over->low) : Json(nullptr)},
                    {"over_share_high", v.over ? json_number(v.over->high) : Json(nullptr)},
                    {"kept", v.kept ? Json(*v.kept) : Json(nullptr)},
                    {"sure", v.sure}});
  }
  return list;
}

Json gauge(const live_service::GaugeUse* use) {
  if (use == nullptr) return nullptr;
  return {{"mean", json_number(use->mean)}, {"p95", json_number(use->p95)}, {"max", json_number(use->max)}};
}

Json calibration(const live_service::LearnedSpeed& learned) {
  const auto side = [](Seconds tpot, const perf::Interval& interval) {
    return Json{{"tpot_seconds", in_seconds(tpot)},
                {"low", in_seconds(tpot) * interval.low},
                {"high", in_seconds(tpot) * interval.high}};
  };
  return {{"prior", side(learned.prior_tpot, learned.prior_interval)},
          {"corrected", side(learned.corrected_tpot, learned.corrected_interval)},
          {"prior_tpot_seconds", in_seconds(learned.prior_tpot)},
          {"measured_tpot_seconds", in_seconds(learned.measured_tpot)},
          {"corrected_tpot_seconds", in_seconds(learned.corrected_tpot)},
          {"factor", json_number(learned.factor())},
          {"device", json_number(learned.factors.device)},
          {"host", json_number(learned.factors.host)},
          {"prefill", json_number(learned.factors.prefill)},
          {"rows", learned.rows}};
}

Json plan(const SizedService& one, const SizedPlan& p, std::size_t rank) {
  const std::optional<Usd>& now = one.description.month;
  const double month = in_usd(p.month);
  Json json{{"rank", rank},
            {"change", live_service::name_of(p.kind)},
            {"gpu", p.gpu->name},
            {"gpus", p.gpus},
            {"replicas", p.replicas},
            {"tp", p.tensor},
            {"precision", model::name_of(p.precision)},
            {"ttft_seconds", in_seconds(p.ttft)},
            {"tpot_seconds", in_seconds(p.tpot)},
            {"utilization", json_number(p.load)},
            {"max_sequences", p.sequences},
            {"max_batched_tokens", p.token_budget},
            {"usd_per_month", json_number(month)},
            {"low", json_number(month * p.interval.low)},
            {"high", json_number(month * p.interval.high)},
            {"price_source", p.price_source}};
  if (now) {
    json["saving_usd_per_month"] = {{"low", json_number(in_usd(*now) - month * p.interval.high)},
                                    {"likely", json_number(in_usd(*now) - month)},
                                    {"high", json_number(in_usd(*now) - month * p.interval.low)}};
  }
  if (p.kind == live_service::ChangeKind::kSchedule) {
    json["replicas_by_hour_utc"] = std::vector<int>(p.schedule.begin(), p.schedule.end());
  }
  if (p.move) {
    json["provider"] = p.move->offer.machine->provider;
    json["instance"] = p.move->offer.machine->instance;
    json["instances"] = p.move->machines;
    json["region"] = p.move->offer.price->region;
    json["purchase"] = catalog::name_of(p.move->offer.price->purchase);
  }
  return json;
}

Json one_service(const SizedService& one) {
  const live_service::ServiceReading& r = one.reading;
  const live_service::Description& d = one.description;
  Json json{{"name", r.name()},
            {"namespace", r.space},
            {"workload", r.workload},
            {"engine", live_service::name_of(r.engine)},
            {"model", r.model.empty() && one.model ? one.model->name : r.model},
            {"replicas", d.replicas},
            {"replicas_range", {r.least_replicas, r.most_replicas}},
            {"gpus", d.gpus},
            {"gpu", d.gpu != nullptr ? Json(d.gpu->name) : Json(nullptr)},
            {"gpus_per_replica", d.gpus_per_replica},
            {"gpu_hours", json_number(d.gpu_hours)},
            {"restarts", json_number(r.restarts)}};
  json["requests_per_second"] = {{"mean", json_number(d.requests_per_second)},
                                 {"peak_hour", json_number(d.peak_hour)},
                                 {"peak_hour_begin", d.peak_hour_begin},
                                 {"burst", json_number(d.burst)},
                                 {"by_hour_utc", d.by_hour}};
  json["isl"] = spread(d.isl, false);
  json["osl"] = spread(d.osl, false);
  json["prefix_hit"] = json_number(d.prefix_hit);
  json["ttft_seconds"] = spread(d.ttft, true);
  json["tpot_seconds"] = spread(d.tpot, true);
  json["latency_seconds"] = spread(d.latency, true);
  json["preemptions"] = json_number(d.preemptions);
  json["running"] = gauge(r.gauge(live_service::Signal::kRunning));
  json["waiting"] = gauge(r.gauge(live_service::Signal::kWaiting));
  json["kv_use"] = gauge(r.gauge(live_service::Signal::kKvUse));
  json["slo_kept"] = d.slo_kept ? Json(*d.slo_kept) : Json(nullptr);
  json["slo"] = slos(d);
  json["unexplained"] = one.sized && !one.sized->unexplained.empty() ? Json(one.sized->unexplained) : Json(nullptr);
  json["usd_per_month"] = json_number(d.month, in_usd);
  json["usd_per_million_output_tokens"] =
      d.spend && d.output_tokens > 0 ? json_number(1e6 * in_usd(*d.spend) / d.output_tokens) : Json(nullptr);
  json["price_source"] = d.price ? Json(d.price->source()) : Json(nullptr);
  json["headroom"] = one.sized ? json_number(one.sized->headroom) : Json(nullptr);
  json["calibration"] = one.learned ? calibration(*one.learned) : Json(nullptr);
  Json plans = Json::array();
  if (one.sized) {
    for (std::size_t i = 0; i < one.sized->plans.size(); ++i) plans.push_back(plan(one, one.sized->plans[i], i + 1));
    json["first_change"] = one.sized->first_change ? Json(*one.sized->first_change + 1) : Json(nullptr);
    json["best"] = one.sized->best ? Json(*one.sized->best + 1) : Json(nullptr);
  }
  json["plans"] = std::move(plans);
  json["surer"] = Json::array();
  for (const Surer& step : surer(one)) json["surer"].push_back({{"what", step.what}, {"text", step.text}});
  json["notes"] = one.notes;
  return json;
}

}  // namespace

report::Json service_document(const ServiceInput& input, const ServiceFacts& facts) {
  Json document{{"schema", "rightsize/service/1"}, {"from", facts.from}, {"until", facts.until}};
  document["slo_percentile"] = capacity::name_of(input.size.percentile);
  Json what_if{{"traffic", input.size.what_if.traffic},
               {"longer_prompts", input.size.what_if.isl},
               {"longer_answers", input.size.what_if.osl}};
  document["what_if"] = std::move(what_if);
  Json services = Json::array();
  for (const SizedService& one : facts.services) services.push_back(one_service(one));
  document["services"] = std::move(services);
  document["notes"] = facts.notes;
  return document;
}

}  // namespace rightsize::app
