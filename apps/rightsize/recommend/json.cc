// The JSON document of a recommendation.
#include <fmt/format.h>

#include "base/date.h"
#include "plan/startup.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using plan::Plan;
using plan::Request;
using plan::WorkKind;
using report::Json;
using report::json_number;

void add_settings(const Request& request, const Plan& p, Json& j) {
  if (request.work.kind == WorkKind::kTraining) j["method"] = model::name_of(p.job.train.method);
  j["precision"] = model::name_of(p.job.precision);
  j["stack"] = model::name_of(p.job.stack);
  j["micro_batch"] = p.job.batch;
  if (request.work.kind == WorkKind::kTraining) {
    j["accumulation"] = p.job.train.accumulation;
    j["recompute"] = model::name_of(p.job.train.recompute);
  }
  j["tp"] = p.job.parallel.tensor;
  j["ep"] = p.job.parallel.expert;
  j["attention_dp"] = p.job.parallel.attention_data;
  if (const auto& d = p.job.serve.disaggregated)
    j["disaggregated"] = fmt::format("prefill={}x{},decode={}x{}", d->prefill_workers, d->prefill_tensor,
                                     d->decode_workers, d->decode_tensor);
  j["pp"] = p.job.parallel.pipeline;
  j["zero"] = p.job.parallel.zero;
}

void add_serving(const Request& request, const Plan& p, Json& j) {
  j["replicas"] = p.replicas;
  j["requests_at_once"] = json_number(p.running);
  if (p.requests_per_second > 0) j["requests_per_second"] = json_number(p.requests_per_second);
  if (request.work.kind != WorkKind::kServing) return;
  j["slo_percentile"] = percentile_of(request);
  if (p.ttft > Seconds{}) j["ttft_seconds"] = json_number(in_seconds(p.ttft));
  if (p.tpot > Seconds{}) j["tpot_seconds"] = json_number(in_seconds(p.tpot));
  j["mean_latency_seconds"] = json_number(in_seconds(p.latency));
  j["utilization"] = json_number(p.load);
  j["busy_share"] = json_number(p.busy);
  if (p.sequences > 0) j["max_sequences"] = p.sequences;
  if (p.token_budget > 0) j["token_budget"] = p.token_budget;
  if (!p.machines_by_hour.empty()) {
    j["machines_by_hour"] = Json::array();
    double sum = 0;
    for (std::size_t h = 0; h < p.machines_by_hour.size(); ++h) {
      const int machines = p.machines_by_hour[h];
      j["machines_by_hour"].push_back({{"hour", h},
                                       {"requests_per_second", json_number(request.work.rate_by_hour[h])},
                                       {"instances", machines},
                                       {"replicas", machines * p.replicas / p.machines}});
      sum += machines;
    }
    const double mean = sum / static_cast<double>(p.machines_by_hour.size());
    j["scaled_usd_total"] = json_number(in_usd(p.cost) * mean / p.machines);
  }
  if (p.delay > Seconds{}) j["max_delay_seconds"] = json_number(in_seconds(p.delay));
}

void add_costs(const Request& request, const Plan& p, Json& j) {
  const char* units = request.work.kind == WorkKind::kOffline   ? "requests_per_second"
                      : request.work.kind == WorkKind::kServing ? "output_tokens_per_second"
                      : request.model.image_size > 0            ? "samples_per_second"
                                                                : "tokens_per_second";
  j[units] = json_number(p.units_per_second);
  j["tokens_per_second"] = json_number(p.units_per_second);
  j["hours"] = json_number(in_hours(p.time.total()));
  j["work_seconds"] = json_number(in_seconds(p.time.work));
  j["startup_seconds"] = json_number(in_seconds(p.time.startup));
  if (request.work.kind != WorkKind::kServing && !request.startup) {
    const plan::Startup parts = plan::startup_on(request, perf::work_of(request.model), *p.offer.gpu);
    j["startup"] = {{"machine_seconds", json_number(in_seconds(parts.machine))},
                    {"image", parts.image},
                    {"image_bytes", parts.image_size ? json_number(in_bytes(*parts.image_size)) : Json()},
                    {"image_seconds", json_number(in_seconds(parts.image_pull))},
                    {"weights_bytes", json_number(in_bytes(parts.weights_size))},
                    {"weights_seconds", json_number(in_seconds(parts.weights))}};
  }
  j["checkpoint_seconds"] = json_number(in_seconds(p.time.saving));
  if (p.time.interval > Seconds{}) j["checkpoint_interval_seconds"] = json_number(in_seconds(p.time.interval));
  j["rework_seconds"] = json_number(in_seconds(p.time.redoing));
  j["usd_per_hour"] = json_number(in_usd_per_hour(p.rate()));
  j["usd_total"] = json_number(in_usd(p.cost));
  if (!p.draws.empty()) {
    j["new_money_usd"] = json_number(in_usd(p.cost - market::sum_of(p.draws)));
    j["committed_spend"] = Json::array();
    for (const market::Draw& draw : p.draws)
      j["committed_spend"].push_back({{"account", draw.from->account},
                                      {"provider", draw.from->provider},
                                      {"drawn_usd", json_number(in_usd(draw.amount))},
                                      {"left_usd", json_number(in_usd(draw.from->left))},
                                      {"until", format_date(draw.from->until)}});
  }
  if (p.side_cost > Usd{}) j["storage_and_egress_usd"] = json_number(in_usd(p.side_cost));
  j["usd_per_million_tokens"] = json_number(p.usd_per_million_units());
}

// Other terms for the same machines, and the quota they count against.
void add_terms(const Plan& p, Json& j) {
  j["list_usd_per_machine_hour"] = json_number(in_usd_per_machine_hour(p.price.listed));
  if (p.price.age) j["price_age_days"] = json_number(in_days(*p.price.age));
  if (!p.price.may_lead()) j["held_back"] = held_back(p.price);
  if (p.spot) {
    const market::PriceOutlook& price = p.spot->price;
    j["spot"] = {{"low", json_number(in_usd_per_machine_hour(price.low))},
                 {"likely", json_number(in_usd_per_machine_hour(price.likely))},
                 {"median", json_number(in_usd_per_machine_hour(price.median))},
                 {"high", json_number(in_usd_per_machine_hour(price.high))},
                 {"region", p.spot->offer.price->region},
                 {"zone", p.spot->offer.price->zone}};
    if (price.age) j["spot"]["age_days"] = json_number(in_days(*price.age));
  }
  const auto commitment = [](const plan::Commitment& c) {
    Json made = {{"term", catalog::name_of(c.offer.price->purchase)},
                 {"total_usd", json_number(in_usd(c.total))},
                 {"usd_per_machine_hour", json_number(in_usd_per_machine_hour(c.offer.rate()))},
                 {"region", c.offer.price->region}};
    if (c.break_even > 0) made["break_even_utilization"] = json_number(c.break_even);
    return made;
  };
  if (!p.commitments.empty()) {
    j["commitment"] = commitment(p.commitments.front());
    j["commitments"] = Json::array();
    for (const plan::Commitment& c : p.commitments) j["commitments"].push_back(commitment(c));
  }
  if (p.quota)
    j["quota"] = {{"name", p.quota->name},
                  {"code", p.quota->code},
                  {"amount", json_number(p.quota->amount)},
                  {"unit", p.quota->vcpus ? "vcpu" : "gpu"}};
}

Json plan_json(const Request& request, const Plan& p, const Plan& first, const catalog::Catalog& catalog, int rank) {
  Json j;
  j["rank"] = rank;
  j["gpu"] = p.offer.gpu->name;
  j["gpus"] = p.gpus;
  j["provider"] = p.offer.machine->provider;
  j["instance"] = p.offer.machine->instance;
  j["instances"] = p.machines;
  j["region"] = p.offer.price->region;
  j["purchase"] = catalog::name_of(p.offer.price->purchase);
  add_settings(request, p, j);
  if (request.work.kind != WorkKind::kTraining) add_serving(request, p, j);
  add_costs(request, p, j);
  if (!request.work.is_measured()) {
    j["memory_bytes"] = json_number(in_bytes(p.memory.device));
    j["memory_low_bytes"] = json_number(in_bytes(p.memory.low));
    j["memory_high_bytes"] = json_number(in_bytes(p.memory.high));
    j["capacity_bytes"] = json_number(in_bytes(p.fit.capacity));
    j["bound"] = perf::name_of(p.bound);
    if (p.mfu > 0) j["mfu"] = json_number(p.mfu);
    j["basis"] = perf::name_of(p.basis);
  }
  j["time_factor"] = {{"low", json_number(p.speed.low)}, {"high", json_number(p.speed.high)}};
  j["low"] = json_number(in_usd(p.cost_low));
  j["high"] = json_number(in_usd(p.cost_high));
  add_terms(p, j);
  j["why"] = reasons(request, p, first, catalog);
  j["price_source"] = price_source(p, catalog);
  j["price_date"] = price_date(p);
  return j;
}

Json plan_list(const Request& request, const std::vector<Plan>& plans, const Plan* first,
               const catalog::Catalog& catalog) {
  Json list = Json::array();
  int rank = 0;
  for (const Plan& p : plans) list.push_back(plan_json(request, p, first == nullptr ? p : *first, catalog, ++rank));
  return list;
}

// Start-up is that of the first plan's GPU; without a plan that of NVIDIA's.
Json assumptions_json(const Request& request, const Plan* first) {
  const catalog::Gpu gpu = first != nullptr ? *first->offer.gpu : catalog::Gpu{};
  const market::JobAssumptions a = plan::assumptions_on(request, perf::work_of(request.model), gpu);
  Json j = {{"global_batch", request.global_batch},
            {"startup_seconds", json_number(in_seconds(a.startup))},
            {"restart_seconds", json_number(in_seconds(a.restart))},
            {"spot_interruptions_per_machine_hour", a.spot_interruptions_per_hour},
            {"failures_per_gpu_hour", a.failures_per_gpu_hour},
            {"checkpoint_bytes_per_second", json_number(in_bytes_per_s(a.checkpoint_rate))},
            {"checkpoint_every_seconds", json_number(in_seconds(a.checkpoint_every))},
            {"max_gpus", request.limits.max_gpus}};
  if (request.work.kind == WorkKind::kServing) {
    j["slo_percentile"] = percentile_of(request);
    j["max_load"] = request.limits.max_load;
    j["allow_single"] = request.limits.allow_single;
    if (request.lengths_assumed) {
      j["isl"] = request.job.serve.isl;
      j["osl"] = request.job.serve.osl;
    }
    if (request.work.mix.empty() && !request.work.trace && !answers_at_once(request)) {
      const sim::RequestShape lengths = plan::request_lengths(request);
      j["isl_p95"] = json_number(lengths.size_at(sim::Statistic::kP95));
      j["osl_p95"] = json_number(lengths.output_at(sim::Statistic::kP95));
    }
  }
  return j;
}

}  // namespace

Json document_of(const Request& request, const plan::Recommendation& found, const catalog::Catalog& catalog) {
  Json j;
  j["schema"] = "rightsize/recommend/1";
  j["name"] = request.name;
  j["what"] = describe_request(request);
  j["objective"] = plan::name_of(request.objective);
  const Plan* first = found.best();
  j["plans"] = plan_list(request, found.plans, first, catalog);
  j["pareto"] = plan_list(request, found.pareto, first, catalog);
  j["next_best"] = first == nullptr || request.plans_only ? Json(nullptr) : Json(next_best_sentence(request, found));
  j["rejected"] = Json::array();
  for (const plan::Rejection& r : found.rejected) {
    const std::string fix = describe_fix(request, r, first);
    j["rejected"].push_back({{"what", r.partly ? r.gpu + ", some settings" : r.gpu},
                             {"gpu", r.gpu},
                             {"stage", plan::name_of(r.stage)},
                             {"need", describe_need(r.nearest)},
                             {"have", describe_have(r.nearest)},
                             {"count", json_number(r.count)},
                             {"nearest_fix", fix.empty() ? Json(nullptr) : Json(fix)}});
  }
  j["changes"] = Json::array();
  for (const plan::Change& c : found.changes) {
    const ChangeWords words = describe_change(request, c.kind);
    j["changes"].push_back({{"what", words.what},
                            {"flags", c.flags},
                            {"effect", words.effect},
                            {"plan", plan_json(request, c.plan, first == nullptr ? c.plan : *first, catalog, 1)}});
  }
  j["breakpoints"] = Json::array();
  for (const plan::Breakpoint& b : found.breakpoints) {
    const BreakpointWords words = describe_breakpoint(b, *first);
    j["breakpoints"].push_back({{"when", words.when}, {"then", words.then}});
  }
  if (!found.mix.empty()) {
    for (const plan::MixPart& part : found.mix) {
      Json row = plan_json(request, part.plan, part.plan, catalog, 1);
      row["share"] = json_number(part.share);
      j["mix"].push_back(std::move(row));
    }
  }
  j["confidence"] = found.plans.empty() || request.plans_only ? Json(nullptr) : json_number(found.confidence);
  j["warnings"] = Json::array();
  for (const plan::PriceWarning& w : found.warnings) j["warnings"].push_back(describe_warning(w));
  j["terms"] = first == nullptr ? std::vector<std::string>{} : terms_sentences(request, found);
  j["caveats"] = first == nullptr ? std::vector<std::string>{} : caveats(request, found);
  j["feasible"] = json_number(found.feasible);
  j["assumptions"] = assumptions_json(request, first);
  j["considered"] = json_number(found.effort.configurations);
  j["seconds"] = json_number(found.effort.search_seconds);
  return j;
}

}  // namespace rightsize::app
