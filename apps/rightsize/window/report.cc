#include "rightsize/window/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using report::Align;
using report::Json;

report::Table table_of(const std::vector<WindowOption>& options) {
  report::Table table;
  table.columns = {{"option", "option", Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},
                   {"GPU-h/month", "gpu_hours_per_month", Align::kRight, 0, true},
                   {"$/GPU-h", "usd_per_gpu_hour", Align::kRight},
                   {"$/month", "usd_per_month", Align::kRight},
                   {"item done within", "latency_seconds", Align::kRight},
                   {"busy", "utilization", Align::kRight},
                   {"note", "note", Align::kLeft, 0, true}};
  for (const WindowOption& o : options) {
    table.rows.push_back(
        {report::text_cell(o.name), report::number_cell(std::to_string(o.gpus), o.gpus),
         report::number_cell(format_count(std::round(in_gpu_hours(o.a_month))), in_gpu_hours(o.a_month)),
         o.price ? report::number_cell(format_usd_per_hour(o.price->rate), in_usd_per_gpu_hour(o.price->rate))
                 : report::unknown_cell(),
         o.price ? report::number_cell(format_usd(*o.monthly()), in_usd(*o.monthly())) : report::unknown_cell(),
         report::number_cell(format_duration(o.latency), in_seconds(o.latency)),
         report::number_cell(format_percent(Ratio::fraction(o.utilization)), o.utilization),
         report::text_cell(o.note)});
  }
  return table;
}

std::string clock(Seconds t) {
  const long minutes = std::lround(in_seconds(t) / 60) % (24L * 60);
  return fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
}

report::Table schedule_of(const capacity::WindowSchedule& plan) {
  report::Table table;
  table.title = "The day";
  table.columns = {{"window closes", "closes", Align::kLeft},
                   {"items", "items", Align::kRight},
                   {"GPUs", "gpus", Align::kRight},
                   {"starts", "starts", Align::kLeft},
                   {"done", "ends", Align::kLeft}};
  table.most_shown = 24;
  for (const capacity::WindowRun& run : plan.day) {
    table.rows.push_back({report::text_cell(clock(run.closes)),
                          report::number_cell(format_count(std::round(run.items)), run.items),
                          report::number_cell(std::to_string(plan.gpus), plan.gpus),
                          report::text_cell(clock(run.starts)), report::text_cell(clock(run.ends))});
  }
  return table;
}

Json json_of(const WindowProblem& problem, const capacity::WindowSchedule& plan,
             const std::vector<WindowOption>& options) {
  Json out{{"schema", "rightsize/window/1"},
           {"items_per_day", problem.work.items_per_day},
           {"gpu", problem.gpu},
           {"batch", problem.batch},
           {"item_seconds", in_seconds(problem.work.item_time)},
           {"gpus", plan.gpus},
           {"items_per_window", plan.items_per_window},
           {"busy_seconds", in_seconds(plan.busy)},
           {"options", Json::array()},
           {"schedule", Json::array()}};
  for (const WindowOption& o : options) {
    out["options"].push_back(
        {{"name", o.name},
         {"gpus", o.gpus},
         {"gpu_hours_per_month", in_gpu_hours(o.a_month)},
         {"usd_per_gpu_hour", o.price ? report::json_number(in_usd_per_gpu_hour(o.price->rate)) : Json(nullptr)},
         {"price_source", o.price ? Json(o.price->source()) : Json(nullptr)},
         {"usd_per_month", report::json_number(o.monthly(), in_usd)},
         {"latency_seconds", in_seconds(o.latency)},
         {"utilization", o.utilization}});
  }
  for (const capacity::WindowRun& run : plan.day) {
    out["schedule"].push_back({{"closes", clock(run.closes)},
                               {"starts", clock(run.starts)},
                               {"ends", clock(run.ends)},
                               {"items", run.items},
                               {"gpus", plan.gpus}});
  }
  return out;
}

std::string summary(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                    const std::vector<WindowOption>& options, bool live) {
  std::string text = fmt::format(
      "{} items a day, {} each on {} in batches of {}: {} items every {}, {} GPU{} busy for {} of it, the last item "
      "done {} "
      "after the window closes.",
      format_count(problem.work.items_per_day), format_duration(problem.work.item_time),
      problem.gpu.empty() ? "the GPU" : problem.gpu, problem.batch, format_count(std::round(plan.items_per_window)),
      format_duration(problem.work.window), plan.gpus, plan.gpus == 1 ? "" : "s", format_duration(plan.busy),
      format_duration(plan.latest));
  if (!live) return text + "\nThe real-time option was not found: no number of GPUs keeps its SLO.";
  const WindowOption &at_once = options.front(), &kept = options[1];
  if (!at_once.price || !kept.price) return text;
  const Usd saved = *at_once.monthly() - *kept.monthly();
  if (saved <= Usd{}) return text + "\nWaiting saves no GPU here: real time needs no more of them.";
  text += fmt::format("\nWaiting saves {}/month against real time ({} of {} GPUs)", format_usd(saved),
                      at_once.gpus - kept.gpus, at_once.gpus);
  Usd least = *kept.monthly();
  for (const WindowOption& o : options) least = std::min(least, o.monthly().value_or(least));
  if (least < *kept.monthly()) {
    text += fmt::format("; up to {} when GPUs are only there for the runs", format_usd(*at_once.monthly() - least));
  }
  return text + ".";
}

}  // namespace

std::vector<WindowOption> window_options(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                                         const std::optional<capacity::Assessment>& live) {
  std::vector<WindowOption> options;
  const auto all_month = [](int gpus) { return rightsize::gpus(gpus) * kMonth; };
  if (live) {
    const int gpus = live->configuration.replicas();
    // Busy over the day, not at its peak.
    options.push_back({"real time", gpus, all_month(gpus), problem.on_demand, live->value(problem.slo),
                       live->busy / problem.peak,
                       fmt::format("{} {}", capacity::describe(problem.slo), format_duration(problem.slo.limit))});
  }
  const Seconds worst = problem.work.window + plan.latest;
  const GpuTime runs = gpu_hours(plan.gpu_hours_per_day * in_days(kMonth));
  options.push_back(
      {"windows, GPUs kept", plan.gpus, all_month(plan.gpus), problem.on_demand, worst, plan.utilization, ""});
  options.push_back({"windows, rented for the runs", plan.gpus, runs, problem.on_demand, worst, 1, ""});
  const double redo = capacity::spot_overhead(problem.interruptions, problem.work.startup, problem.chunk);
  options.push_back({"windows, spot for the runs", plan.gpus, runs * redo, problem.spot, worst, 1 / redo,
                     fmt::format("{} interruptions/h redo {}", format_number(problem.interruptions),
                                 format_percent(Ratio::fraction(redo - 1)))});
  return options;
}

report::Report window_report(const WindowProblem& problem, const capacity::WindowSchedule& plan,
                             const std::vector<WindowOption>& options, bool real_time_found) {
  report::Report shown;
  shown.title = "Work in windows";
  shown.document = json_of(problem, plan, options);
  shown.blocks.emplace_back(report::Paragraph{summary(problem, plan, options, real_time_found)});
  shown.blocks.emplace_back(table_of(options));
  shown.blocks.emplace_back(schedule_of(plan));
  return shown;
}

Outcome no_schedule(const WindowProblem& problem) {
  Outcome outcome;
  outcome.report.title = "Work in windows";
  outcome.exit_code = kNoFeasibleAnswer;
  outcome.report.document = {{"schema", "rightsize/window/1"}, {"gpus", nullptr}};
  outcome.report.blocks.emplace_back(report::Paragraph{fmt::format(
      "Not possible: starting a GPU takes {} and the work must be done {} after the window closes.",
      format_duration(problem.work.startup), format_duration(std::min(problem.work.deadline, problem.work.window)))});
  return outcome;
}

}  // namespace rightsize::app
