#include "recommend_report.h"

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"

namespace rightsize::app {
namespace {

using report::Json;

std::string source_of(const plan::Plan& plan, const catalog::Catalog& catalog) {
  const auto& keys = plan.offer.price->provenance.sources;
  if (keys.empty()) return "unknown";
  const catalog::Source* source = catalog.find_source(keys.front());
  return source == nullptr ? keys.front() : source->title;
}

Json plan_json(const plan::Request& request, const plan::Plan& p, const catalog::Catalog& catalog, int rank) {
  Json j;
  j["rank"] = rank;
  j["gpu"] = p.offer.gpu->name;
  j["gpus"] = p.gpus;
  j["provider"] = p.offer.machine->provider;
  j["instance"] = p.offer.machine->instance;
  j["instances"] = p.machines;
  j["region"] = p.offer.price->region;
  j["purchase"] = catalog::name_of(p.offer.price->purchase);
  j["method"] = workload::name_of(p.job.train.method);
  j["precision"] = workload::name_of(p.job.precision);
  j["micro_batch"] = p.job.batch;
  j["recompute"] = workload::name_of(p.job.train.recompute);
  j["tp"] = p.job.parallel.tensor;
  j["pp"] = p.job.parallel.pipeline;
  j["zero"] = p.job.parallel.zero;
  j["accumulation"] = p.job.train.accumulation;
  j["tokens_per_second"] = report::json_number(p.units_per_second);
  j["hours"] = report::json_number(in_hours(p.time.total()));
  j["usd_per_hour"] = report::json_number(in_usd_per_hour(p.rate()));
  j["usd_total"] = report::json_number(in_usd(p.cost));
  j["usd_per_million_tokens"] = report::json_number(p.usd_per_million_units());
  j["memory_bytes"] = report::json_number(in_bytes(p.memory.device));
  j["bound"] = perf::name_of(p.bound);
  j["low"] = report::json_number(in_usd(p.cost) * p.cost_interval.low);
  j["high"] = report::json_number(in_usd(p.cost) * p.cost_interval.high);
  j["why"] = Json::array({"x"});
  j["price_source"] = source_of(p, catalog);
  j["price_date"] = format_date(p.offer.price->provenance.date.value_or(Date{}));
  (void)request;
  return j;
}

}  // namespace

report::Report report_of(const plan::Request& request, const plan::Recommendation& found,
                         const catalog::Catalog& catalog, const RecommendOptions&) {
  report::Report report;
  report.document["schema"] = "rightsize/recommend/1";
  Json plans = Json::array();
  int rank = 0;
  for (const plan::Plan& p : found.plans) plans.push_back(plan_json(request, p, catalog, ++rank));
  report.document["plans"] = plans;
  Json rej = Json::array();
  for (const auto& r : found.rejected) rej.push_back({{"what", r.what}, {"stage", plan::name_of(r.stage)}, {"need", r.need}, {"have", r.have}, {"count", r.count}, {"nearest_fix", r.nearest_fix}});
  report.document["rejected"] = rej;
  report.document["considered"] = found.effort.configurations;
  report.document["seconds"] = found.effort.search_seconds;
  report.document["effort"] = {{"priced", found.effort.priced}, {"bounded", found.effort.bounded}, {"unfit", found.effort.unfit}, {"estimates", found.effort.estimates}, {"curves", found.effort.curves}, {"verify", found.effort.verify_seconds}, {"explain", found.effort.explain_seconds}};
  report.document["confidence"] = found.confidence;
  for (auto& c : found.changes) report.document["changes"].push_back({c.flags, in_usd(c.plan.cost), c.plan.offer.gpu->name});
  for (auto& c : found.breakpoints) report.document["breakpoints"].push_back({c.when, c.then});
  for (auto& c : found.mix) report.document["mix"].push_back({c.plan.offer.machine->instance, c.plan.machines, c.share});
  return report;
}

}  // namespace rightsize::app
