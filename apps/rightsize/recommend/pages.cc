#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"
#include "plan/startup.h"
#include "rightsize/estimate/report.h"
#include "rightsize/recommend/own.h"
#include "rightsize/recommend/report.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"
#include "settings/setting.h"

namespace rightsize::app {
namespace {

using plan::Plan;
using plan::Recommendation;
using plan::WorkKind;
using report::Heading;
using report::Paragraph;
using report::Report;

std::string short_name(const Plan& p) {
  return fmt::format("{} x {}, {} {}", p.gpus, p.offer.gpu->name, p.offer.machine->provider,
                     catalog::name_of(p.offer.price->purchase));
}

// Hours for a job, seconds for an answer.
double wait_of(const plan::Request& request, const Plan& p) {
  if (request.work.kind != WorkKind::kServing) return in_hours(p.time.total());
  return in_seconds(p.ttft + p.tpot * static_cast<double>(p.job.serve.osl));
}

report::LineChart front_chart(const plan::Request& request, const Recommendation& found) {
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

report::Bars work_per_dollar(const plan::Request& request, const Recommendation& found) {
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

void add_roofline_of(Report& report, const plan::Request& request, const Plan& first,
                     const perf::Constants& constants) {
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

std::vector<std::string> consequences(const RecommendAnswer& answer) {
  const auto& [request, found] = std::tie(answer.request, answer.found);
  const Plan& first = found.plans[named_first(found)];
  std::vector<std::string> lines{describe_margins(request, first)};
  if (first.offer.price->purchase == catalog::Purchase::kSpot)
    lines.push_back("The provider can reclaim the machines: the job must save checkpoints and restart automatically.");
  for (const std::string& sentence : terms_sentences(request, found)) lines.push_back(sentence);
  for (const std::string& caveat : caveats(request, found)) lines.push_back("Caveat: " + caveat + ".");
  for (const plan::Breakpoint& b : found.breakpoints) {
    const BreakpointWords words = describe_breakpoint(b, found.plans.front());
    lines.push_back(fmt::format("If {}: {}.", words.when, words.recommended));
  }
  if (const std::string own = own_sentence(request, found); !own.empty() && named_first(found) == 0)
    lines.push_back(own);
  if (found.experiment)
    lines.push_back(
        fmt::format("{} To run it: {}", experiment_sentence(request, found), test_command(answer, *found.experiment)));
  for (const plan::RequestChange& c : found.changes) {
    const ChangeWords& words = describe_change(c.kind);
    lines.push_back(fmt::format("Not chosen: {} ({}), {} for {}{}", words.what, c.flags, describe_machines(c.plan),
                                format_usd(c.plan.cost), words.effect.empty() ? "" : "; " + words.effect));
  }
  return lines;
}

std::vector<std::string> evidence(const plan::Request& request, const Recommendation& found,
                                  const catalog::Catalog& catalog) {
  const Plan& first = found.plans[named_first(found)];
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
    const auto decided = [&](const Plan& p) {
      return Paragraph{
          fmt::format("{}: {}{}. Settings: {}.", describe_machines(p),
                      request.work.kind == WorkKind::kServing ? "" : format_duration(p.elapsed()) + " for ",
                      describe_cost(request, p), describe_settings(request, p))};
    };
    const std::size_t first = named_first(found);
    record.emplace_back(decided(found.plans[first]));
    if (first > 0) {
      record.emplace_back(Paragraph{own_sentence(request, found)});
      record.emplace_back(decided(found.plans.front()));
    }
  }
  record.emplace_back(Heading{"Options"});
  for (const std::vector<report::Block>* list : {&report.blocks, &report.pictures}) {
    for (const report::Block& block : *list) {
      if (std::holds_alternative<report::Table>(block)) record.push_back(block);
    }
  }
  if (found.plans.empty()) return;
  record.emplace_back(Heading{"Consequences"});
  record.emplace_back(Paragraph{fmt::format("- {}", fmt::join(consequences(answer), "\n- "))});
  record.emplace_back(Heading{"Evidence"});
  record.emplace_back(Paragraph{fmt::format("- {}", fmt::join(evidence(request, found, answer.catalog), "\n- "))});
}

namespace {

// "users=2000,turns=6" with a share of the users.
std::string with_users(std::string text, const sim::Sessions& all, double share) {
  constexpr std::string_view kUsers = "users=";
  const std::size_t from = text.find(kUsers);
  if (from == std::string::npos) return text;
  const double some = std::max(1.0, std::round(static_cast<double>(all.users) * share));
  return text.replace(from, text.find(',', from) - from, fmt::format("{}{:.0f}", kUsers, some));
}

// A value as one word of a shell.
std::string shell_word(const std::string& value) {
  constexpr std::string_view kPlain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,:=/+%@_-";
  return value.find_first_not_of(kPlain) == std::string::npos ? value : "'" + value + "'";
}

}  // namespace

std::vector<model::Setting> test_settings(const RecommendAnswer& answer, const plan::Experiment& test) {
  // What the whole work asks for: its amount, its limits and the machines it may use.
  constexpr std::string_view kOfWhole =
      " gpu gpus max-gpus provider providers instance on-prem on-prem-machines deadline budget objective max-power "
      "max-carbon tokens samples epochs dataset-tokens dataset-samples items audio-hours rate rate-profile "
      "hours-per-day allow-single global-batch from-scratch checkpoint-every top ";
  const auto& [request, plan] = std::tie(answer.request, test.plan);
  std::vector<model::Setting> settings;
  const auto add = [&](const char* name, const std::string& value) { settings.push_back({name, value, {}}); };
  for (const model::Setting& s : answer.settings) {
    if (kOfWhole.find(" " + s.name + " ") != kOfWhole.npos) continue;
    settings.push_back(s);
    if (s.name == "sessions") settings.back().value = with_users(s.value, *request.work.sessions, test.share());
  }
  add("gpu", plan.offer.gpu->name);
  add("gpus", fmt::format("{:.0f}", std::round(plan.gpus * test.share())));
  add("providers", plan.offer.machine->provider);
  add("instance", plan.offer.machine->instance);
  const double amount = std::max(1.0, std::floor(plan.units_per_second * test.share() * in_seconds(test.test_time)));
  const auto count = [](double n) { return fmt::format("{:.0f}", n); };
  switch (request.work.kind) {
    case WorkKind::kServing:
      add("allow-single", "true");
      if (!request.work.sessions && request.work.rate > RequestsPerSecond{})
        add("rate", fmt::format("{:.3g}/s", in_requests_per_s(request.work.rate) * test.share()));
      break;
    case WorkKind::kOffline:
      if (const Seconds each = seconds(perf::work_of(request.model).audio_seconds); each > Seconds{})
        add("audio-hours", fmt::format("{:.4g}", amount * in_hours(each)));
      else
        add("items", count(amount));
      break;
    case WorkKind::kTraining:
      add(request.model.image_size > 0 ? "samples" : "tokens", count(amount));
      add("global-batch", count(static_cast<double>(request.global_batch)));
      if (request.from_scratch) add("from-scratch", *request.from_scratch ? "yes" : "no");
      break;
  }
  return settings;
}

std::string test_command(const RecommendAnswer& answer, const plan::Experiment& experiment) {
  std::string text = "rightsize recommend";
  for (const model::Setting& s : test_settings(answer, experiment)) {
    const bool is_switch = settings::get(s.name).kind == settings::Kind::kSwitch;
    if (is_switch && s.value != "true") continue;
    text += " --" + s.name + (is_switch ? "" : " " + shell_word(s.value));
  }
  return text + " --emit skypilot";
}

}  // namespace rightsize::app
