#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"
#include "plan/startup.h"
#include "rightsize/estimate/report.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using plan::Plan;
using plan::Recommendation;
using plan::Request;
using plan::WorkKind;
using report::Heading;
using report::Paragraph;
using report::Report;

std::string short_name(const Plan& p) {
  return fmt::format("{} x {}, {} {}", p.gpus, p.offer.gpu->name, p.offer.machine->provider,
                     catalog::name_of(p.offer.price->purchase));
}

// Hours for a job, seconds for an answer.
double wait_of(const Request& request, const Plan& p) {
  if (request.work.kind != WorkKind::kServing) return in_hours(p.time.total());
  return in_seconds(p.ttft + p.tpot * static_cast<double>(p.job.serve.osl));
}

report::LineChart front_chart(const Request& request, const Recommendation& found) {
  report::LineChart chart;
  const bool serving = request.work.kind == WorkKind::kServing;
  chart.title = serving ? "Cost against answer time" : "Cost against time";
  chart.x_label = serving ? "seconds per answer" : "hours";
  chart.y_label = serving ? "$/month" : "$";
  chart.logarithmic = true;
  report::LineChart::Series front{"Pareto front", {}};
  for (const Plan& p : found.pareto) front.points.push_back({wait_of(request, p), in_usd(p.cost), short_name(p)});
  std::sort(front.points.begin(), front.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  report::LineChart::Series others{"best of each provider, GPU and terms", {}};
  others.joined = false;
  for (const Plan& p : found.plans) others.points.push_back({wait_of(request, p), in_usd(p.cost), short_name(p)});
  chart.series = {std::move(front), std::move(others)};
  return chart;
}

report::Bars work_per_dollar(const Request& request, const Recommendation& found) {
  report::Bars bars;
  const std::string& profiled = request.work.profiled_gpu;
  bars.unit = (profiled.empty() ? std::string(unit_of(request)) : profiled + " seconds") + " per dollar";
  bars.title = "Work per dollar";
  for (const Plan& p : found.plans) {
    const double each = request.work.kind == WorkKind::kServing ? 1e6 / p.usd_per_million_units()
                                                                : request.work.amount / in_usd(p.cost);
    bars.rows.push_back({short_name(p), format_magnitude(each), each, p.offer.machine->instance});
  }
  return bars;
}

report::StackedBar memory_bar(const Plan& first) {
  report::StackedBar bar;
  bar.title = fmt::format("Memory on each {}", first.offer.gpu->name);
  for (int i = 0; i < memory::kParts; ++i) {
    const auto part = static_cast<memory::Part>(i);
    const Bytes bytes = first.memory.parts[part];
    if (bytes > Bytes{})
      bar.segments.push_back({std::string(memory::name_of(part)), format_bytes(bytes), in_gib(bytes)});
  }
  bar.lines.push_back({fmt::format("high bound {}", format_bytes(first.memory.high)), in_gib(first.memory.high)});
  bar.lines.push_back({fmt::format("capacity {}", format_bytes(first.fit.capacity)), in_gib(first.fit.capacity)});
  return bar;
}

void add_roofline_of(Report& report, const Request& request, const Plan& first, const perf::Constants& constants) {
  SpeedInput input;
  input.model = request.model;
  input.job = first.job;
  input.gpu = first.offer.gpu;
  input.work = perf::work_of(request.model);
  input.speed = perf::gpu_speed(constants, *first.offer.gpu);
  input.cluster = perf::cluster_of(*first.offer.machine, *first.offer.gpu);
  Report scratch;
  add_roofline(scratch, input, roofline_of(input));
  std::move(scratch.blocks.begin(), scratch.blocks.end(), std::back_inserter(report.pictures));
}

std::string prices_of_catalogue(const catalog::Catalog& catalog) {
  std::optional<Date> oldest, newest;
  for (const catalog::Price& price : catalog.prices) {
    if (!price.provenance.date) continue;
    oldest = std::min(oldest.value_or(*price.provenance.date), *price.provenance.date);
    newest = std::max(newest.value_or(*price.provenance.date), *price.provenance.date);
  }
  const std::string when =
      newest ? fmt::format(" read between {} and {}", format_date(*oldest), format_date(*newest)) : "";
  return fmt::format("rightsize {}, {} machines and {} prices{}", RIGHTSIZE_VERSION,
                     format_count(static_cast<double>(catalog.machines.size())),
                     format_count(static_cast<double>(catalog.prices.size())), when);
}

std::vector<std::string> consequences(const Request& request, const Recommendation& found) {
  const Plan& first = found.plans.front();
  std::vector<std::string> lines{describe_margins(request, first)};
  if (first.offer.price->purchase == catalog::Purchase::kSpot)
    lines.push_back("The provider can reclaim the machines: the job must save checkpoints and restart automatically.");
  for (const std::string& sentence : terms_sentences(request, found)) lines.push_back(sentence);
  for (const std::string& caveat : caveats(request, found)) lines.push_back("Caveat: " + caveat + ".");
  for (const plan::Breakpoint& b : found.breakpoints) {
    const BreakpointWords words = describe_breakpoint(b, first);
    lines.push_back(fmt::format("If {}: {}.", words.when, words.recommended));
  }
  for (const plan::RequestChange& c : found.changes) {
    const ChangeWords& words = describe_change(c.kind);
    lines.push_back(fmt::format("Not chosen: {} ({}), {} for {}{}", words.what, c.flags, describe_machines(c.plan),
                                format_usd(c.plan.cost), words.effect.empty() ? "" : "; " + words.effect));
  }
  return lines;
}

std::vector<std::string> evidence(const Request& request, const Recommendation& found,
                                  const catalog::Catalog& catalog) {
  const Plan& first = found.plans.front();
  std::vector<std::string> lines;
  lines.push_back("Price: " + describe_price(first, catalog));
  lines.push_back(fmt::format("Speed: {}, basis {}; the GPU remains the cheapest in {} of cases within the error bars",
                              describe_speed(request, first), perf::name_of(first.basis),
                              format_percent(Ratio::fraction(found.confidence.value_or(1)))));
  lines.push_back(fmt::format("Search: {} configurations", format_count(found.effort.configurations)));
  const market::JobAssumptions a = plan::assumptions_on(request, perf::work_of(request.model), *first.offer.gpu);
  lines.push_back(fmt::format("Assumed: {} start-up, {} spot interruptions per machine-hour, {} samples per step",
                              format_duration(a.startup), format_number(a.spot_interruptions_per_hour),
                              format_count(static_cast<double>(request.global_batch))));
  lines.push_back("Catalogue: " + prices_of_catalogue(catalog));
  return lines;
}

}  // namespace

void add_pictures(Report& report, const RecommendAnswer& answer, const perf::Constants& constants) {
  const auto& [request, found] = std::tie(answer.request, answer.found);
  if (found.plans.empty()) return;
  report.pictures.emplace_back(front_chart(request, found));
  report.pictures.emplace_back(work_per_dollar(request, found));
  if (request.work.is_measured()) return;
  report.pictures.emplace_back(memory_bar(found.plans.front()));
  add_roofline_of(report, request, found.plans.front(), constants);
}

void add_record(Report& report, const RecommendAnswer& answer) {
  const auto& [request, found] = std::tie(answer.request, answer.found);
  std::vector<report::Block>& record = report.record;
  record.emplace_back(Paragraph{fmt::format("Date: {}. Status: proposed.", format_date(today()))});
  record.emplace_back(Heading{"Context"});
  record.emplace_back(Paragraph{fmt::format("{}. The best plan has the lowest {}.", describe_request(request),
                                            plan::name_of(request.objective))});
  record.emplace_back(Heading{"Decision"});
  if (found.plans.empty()) {
    record.emplace_back(Paragraph{"None yet: nothing meets the limits."});
  } else {
    const Plan& first = found.plans.front();
    record.emplace_back(
        Paragraph{fmt::format("{}: {}{}. Settings: {}.", describe_machines(first),
                              request.work.kind == WorkKind::kServing ? "" : format_duration(first.elapsed()) + " for ",
                              describe_cost(request, first), describe_settings(request, first))});
  }
  record.emplace_back(Heading{"Options"});
  for (const std::vector<report::Block>* list : {&report.blocks, &report.pictures}) {
    for (const report::Block& block : *list) {
      if (std::holds_alternative<report::Table>(block)) record.push_back(block);
    }
  }
  if (found.plans.empty()) return;
  record.emplace_back(Heading{"Consequences"});
  record.emplace_back(Paragraph{fmt::format("- {}", fmt::join(consequences(request, found), "\n- "))});
  record.emplace_back(Heading{"Evidence"});
  record.emplace_back(Paragraph{fmt::format("- {}", fmt::join(evidence(request, found, answer.catalog), "\n- "))});
}

std::string test_command(const RecommendAnswer& answer, const plan::Experiment& experiment) {
  std::string text = "rightsize recommend";
  for (const model::Setting& s : answer.settings)
    if (s.name != "gpu" && s.name != "provider" && s.name != "providers")
      text += fmt::format(" --{} {}", s.name, s.value);
  return text + fmt::format(" --gpu {} --provider {} --emit skypilot", experiment.plan.offer.gpu->name,
                            experiment.plan.offer.machine->provider);
}

}  // namespace rightsize::app
