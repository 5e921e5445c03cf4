#include "rightsize/window/report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "market/interruptions.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using capacity::WindowRun;
using capacity::WindowSchedule;
using report::Fields;

std::string clock(Seconds t) {
  const long minutes = std::lround(in_seconds(t) / 60) % (24L * 60);
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}
std::string rounded(double items) { return format_count(std::round(items)); }

const Fields<WindowOption> kOptionFields = {
    {"name", "option", "the way to do the work", &WindowOption::name},
    {"gpus", "GPUs", "GPUs it needs", &WindowOption::gpus},
    {"gpu_hours_per_month", "GPU-h/month", "GPU-hours that are paid for",
     [](const WindowOption& o) { return in_gpu_hours(o.a_month); }, rounded},
    {"usd_per_gpu_hour", "$/GPU-h", "price of a GPU",
     [](const WindowOption& o) { return o.price ? std::optional(o.price->rate) : std::nullopt; },
     [](UsdPerGpuSecond rate) { return format_usd_per_hour(rate); }},
    {"price_source", "where the price comes from",
     [](const WindowOption& o) { return o.price ? std::optional(o.price->source()) : std::nullopt; }},
    {"usd_per_month", "$/month", "cost per month", [](const WindowOption& o) { return o.monthly(); }, format_usd},
    {"latency_seconds", "item done within", "longest time until an item is done", &WindowOption::latency,
     format_duration},
    {"busy_share", "share of the paid time with work", &WindowOption::utilization},
    {"utilization", "busy", "the same as busy_share", &WindowOption::utilization,
     [](double share) { return format_percent(Ratio::fraction(share)); }},
    {"note", "note", "remark", &WindowOption::note, report::kTableOnly},
};

struct RunView {
  const WindowRun& run;
  int gpus;
};
const Fields<RunView> kRunFields = {
    {"closes", "collected until", "time of day the window closes",
     [](const RunView& v) { return clock(v.run.closes); }},
    {"items", "items", "items of the window", [](const RunView& v) { return v.run.items; }, rounded},
    {"gpus", "GPUs", "GPUs that work on them", &RunView::gpus},
    {"starts", "starts", "time of day", [](const RunView& v) { return clock(v.run.starts); }},
    {"ends", "done", "time of day", [](const RunView& v) { return clock(v.run.ends); }},
};

std::vector<RunView> runs_of(const WindowSchedule& plan) {
  return list_of(plan.day, [&](const WindowRun& run) { return RunView{run, plan.gpus}; });
}

const Fields<WindowSchedule> kScheduleFields = {
    {"items_per_window", "items of one window", &WindowSchedule::items_per_window},
    {"busy_seconds", "busy time of each GPU per window, with its start-up", &WindowSchedule::busy},
    {"schedule", "the windows of a day", kRunFields, runs_of},
};

struct WindowView {
  const WindowProblem& problem;
  const WindowSchedule* plan;
  const std::vector<WindowOption>& options;
};
const Fields<WindowEnergy> kEnergyFields = {
    {"energy_kwh_per_month", "energy of the runs, with hosts and cooling",
     [](const WindowEnergy& e) { return in_joules(e.energy) / 3.6e6; }},
    {"energy_usd_per_month?", "its price, with --kwh-price", [](const WindowEnergy& e) { return e.cost; }},
    {"energy_saved_usd_per_month?", "saved against runs that start when the window closes", &WindowEnergy::saved},
    {"co2_kg_per_month?", "its carbon dioxide, with --carbon", &WindowEnergy::co2_kg},
    {"co2_saved_kg_per_month?", "saved against runs that start when the window closes", &WindowEnergy::saved_co2_kg},
};
const Fields<WindowView> kWindowFields = {
    {"items_per_day", "items per day", [](const WindowView& v) { return v.problem.work.items_per_day; }},
    {"gpu", "GPU by its catalogue name", [](const WindowView& v) { return v.problem.gpu; }},
    {"batch", "items of one batch", [](const WindowView& v) { return v.problem.batch; }},
    {"item_seconds", "GPU time of one item in a full batch",
     [](const WindowView& v) { return v.problem.work.item_time; }},
    {"gpus", "GPUs of a window; null: not possible",
     [](const WindowView& v) { return v.plan == nullptr ? std::nullopt : std::optional(v.plan->gpus); }},
    {kScheduleFields, &WindowView::plan},
    {kEnergyFields,
     [](const WindowView& v) { return v.plan != nullptr ? window_energy(v.problem, *v.plan) : std::nullopt; }},
    {"options", "ways to do the work", kOptionFields, [](const WindowView& v) { return std::cref(v.options); }},
};

const report::Document<WindowView> kWindowDocument("window", "Work that can wait, done in windows", kWindowFields);

std::string summary(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                    const std::vector<WindowOption>& options, bool live) {
  const std::string each = fmt::format("{} items every {}, ", format_count(std::round(plan.items_per_window)),
                                       format_duration(problem.work.window));
  std::string text = fmt::format("{} items per day, {} each on {} in batches of {}: {}{} GPU{} busy for {}; ",
                                 format_count(problem.work.items_per_day), format_duration(problem.work.item_time),
                                 problem.gpu.empty() ? "the GPU" : problem.gpu, problem.batch,
                                 problem.work.window == days(1) ? "" : each, plan.gpus,
                                 plan.gpus == 1 ? " is" : "s are", format_duration(plan.busy));
  text += problem.given.opens
              ? fmt::format("they run between {} and {}.", clock(plan.day.front().starts), clock(plan.day.front().ends))
              : fmt::format("the last item is done {} after the window closes.", format_duration(plan.latest));
  const auto cheapest = std::ranges::min_element(options, {}, [](const WindowOption& option) {
    return option.price ? in_usd(*option.monthly()) : std::numeric_limits<double>::infinity();
  });
  if (cheapest->price) {
    text += fmt::format("\nCheapest: {}, {}/month", cheapest->name, format_usd(*cheapest->monthly()));
    const std::optional<Usd> at_once = live ? options.front().monthly() : std::nullopt;
    if (at_once && cheapest != options.begin()) text += fmt::format("; real time costs {}/month", format_usd(*at_once));
    text += ".";
  }
  return live ? text : text + "\nReal time is not possible: no number of GPUs meets its SLO.";
}

// Empty if neither a price nor carbon was given.
std::string energy_sentence(const WindowProblem& problem, const WindowSchedule& plan) {
  const std::optional<WindowEnergy> energy = window_energy(problem, plan);
  if (!energy || (!energy->cost && !energy->co2_kg)) return {};
  const WindowPower& power = *problem.power;
  std::string text = fmt::format("The runs use {} kWh/month ({} per GPU{}, {} of host, PUE {})",
                                 format_number(in_joules(energy->energy) / 3.6e6), format_power(power.gpu),
                                 power.measured ? "" : ", its TDP", format_power(power.host), format_number(power.pue));
  if (energy->cost) text += fmt::format(": {}/month", format_usd(*energy->cost));
  if (energy->co2_kg) text += fmt::format("{} {} kg of CO2", energy->cost ? "," : ":", format_number(*energy->co2_kg));
  text += ".";
  if (problem.work.by_hour.empty()) return text;
  std::vector<std::string> saved;
  if (energy->saved) saved.push_back(fmt::format("{}/month", format_usd(*energy->saved)));
  if (energy->saved_co2_kg) saved.push_back(fmt::format("{} kg of CO2/month", format_number(*energy->saved_co2_kg)));
  return text + fmt::format(" Waiting for {} hours saves {}.",
                            energy->saved && problem.work.by_hour == power.usd_per_kwh ? "cheap" : "clean",
                            fmt::join(saved, " and "));
}

}  // namespace

std::optional<WindowEnergy> window_energy(const WindowProblem& problem, const capacity::WindowSchedule& plan) {
  if (!problem.power) return std::nullopt;
  const WindowPower& power = *problem.power;
  const double runs = days(1) / problem.work.window * in_days(kMonth);
  const Joules each = power.each() * plan.busy * plan.gpus;
  WindowEnergy found{each * runs, {}, {}, {}, {}};
  // The mean over the runs of a day: as planned, and if each started when its window closes.
  const auto cost_of = [&](const std::vector<double>& by_hour, auto start) {
    double sum = 0;
    for (const WindowRun& run : plan.day) sum += capacity::mean_between(by_hour, start(run), start(run) + plan.busy);
    return sum / static_cast<double>(plan.day.size()) * in_joules(found.energy) / 3.6e6;
  };
  const auto planned = [](const WindowRun& run) { return run.starts; };
  const auto at_once = [](const WindowRun& run) { return run.closes; };
  if (!power.usd_per_kwh.empty()) {
    found.cost = usd(cost_of(power.usd_per_kwh, planned));
    found.saved = usd(cost_of(power.usd_per_kwh, at_once)) - *found.cost;
  }
  if (!power.grams_per_kwh.empty()) {
    found.co2_kg = cost_of(power.grams_per_kwh, planned) / 1e3;
    found.saved_co2_kg = cost_of(power.grams_per_kwh, at_once) / 1e3 - *found.co2_kg;
  }
  return found;
}

std::vector<WindowOption> window_options(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                                         const std::optional<capacity::Assessment>& live) {
  std::vector<WindowOption> options;
  const auto all_month = [](int gpus) { return rightsize::gpus(gpus) * kMonth; };
  if (live) {
    const int gpus = live->configuration.replicas();
    // Utilization over the day, not at its peak.
    options.push_back({"real time", gpus, all_month(gpus), problem.on_demand,
                       live->tested(problem.slo.quantity, problem.slo.at), live->busy / problem.given.peak,
                       fmt::format("{} {}", capacity::describe(problem.slo), format_duration(problem.slo.limit))});
  }
  const Seconds worst = problem.work.window + plan.latest;
  const GpuTime runs = gpu_hours(plan.gpu_hours_per_day * in_days(kMonth));
  options.push_back(
      {"windows, GPUs kept", plan.gpus, all_month(plan.gpus), problem.on_demand, worst, plan.utilization, ""});
  options.push_back({"windows, rented for the runs", plan.gpus, runs, problem.on_demand, worst, 1, ""});
  const Seconds between = hours(problem.given.interruptions > 0 ? 1 / problem.given.interruptions : INFINITY);
  const double redo = market::time_per_work(problem.given.chunk, {}, problem.work.startup, between);
  options.push_back({"windows, spot for the runs", plan.gpus, runs * redo, problem.spot, worst, 1 / redo,
                     fmt::format("{} interruptions/h repeat {}", format_number(problem.given.interruptions),
                                 format_percent(Ratio::fraction(redo - 1)))});
  if (!problem.given.purchase.empty() && problem.given.purchase.find("spot") == std::string::npos) options.pop_back();
  return options;
}

report::Report window_report(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                             const std::vector<WindowOption>& options, bool real_time_found) {
  report::Report shown{.title = "Work in windows", .document = kWindowDocument.of({problem, &plan, options})};
  shown.say(summary(problem, plan, options, real_time_found));
  shown.say(energy_sentence(problem, plan));
  shown.blocks.emplace_back(
      table_of(kOptionFields, options,
               {report::renamed("name", "option"), "gpus", report::spare("gpu_hours_per_month"), "usd_per_gpu_hour",
                "usd_per_month", "latency_seconds", "utilization", report::spare("note")}));
  constexpr std::size_t kMostShown = 24;
  shown.show("The day", table_of(kRunFields, runs_of(plan), {"closes", "items", "gpus", "starts", "ends"}), kMostShown);
  return shown;
}

Outcome no_schedule(const WindowProblem& problem) {
  Outcome outcome{{.title = "Work in windows", .document = kWindowDocument.of({problem, nullptr, {}})},
                  kNoFeasibleAnswer};
  const double gpus = capacity::window_gpus(problem.work);
  outcome.report.say(
      std::isfinite(gpus) && gpus > capacity::kMostWindowGpus
          ? fmt::format("Not possible: this work needs more than {} GPUs.", format_count(capacity::kMostWindowGpus))
          : fmt::format("Not possible: a GPU takes {} to start, and the work must be done {} after the window closes.",
                        format_duration(problem.work.startup),
                        format_duration(std::min(problem.work.deadline, problem.work.window))));
  return outcome;
}

}  // namespace rightsize::app
