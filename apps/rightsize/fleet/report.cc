// A fleet's analysis as a report.
#include "rightsize/fleet/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::app {
namespace {

using fleet::Action;
using fleet::FleetAnalysis;
using fleet::GpuRow;
using report::Align;
using report::Cell;
using report::number_cell;
using report::text_cell;

// Fractions of a cent are rounding of sums, not prices.
std::string dollars(Usd value) { return format_usd(std::abs(in_usd(value)) < 0.005 ? Usd{} : value); }
std::string monthly(UsdPerSecond rate) { return dollars(rate * kMonth); }
std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

Cell usd_cell(std::optional<Usd> value) {
  return value ? number_cell(dollars(*value), in_usd(*value)) : report::unknown_cell();
}
Cell hours_cell(std::optional<GpuTime> time) {
  return time ? number_cell(format_number(in_gpu_hours(*time)), in_gpu_hours(*time)) : report::unknown_cell();
}
Cell count_cell(std::size_t count) {
  return number_cell(format_count(static_cast<double>(count)), static_cast<double>(count));
}
Cell share_cell(double share) { return number_cell(percent(share), share); }
// A confidence is a judgement: no digits behind the point.
Cell confidence_cell(double share) { return number_cell(fmt::format("{:.0f} %", share * 100), share); }
// What no label names.
std::string owner_shown(const std::string& owner) { return owner == "(nobody)" ? "(unowned)" : owner; }

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 1) + "~";
}

report::StackedBar bar_of(const FleetAnalysis& a) {
  report::StackedBar bar;
  bar.title = "Where the dollars went";
  for (const fleet::LedgerLine& line : a.ledger) {
    if (line.spend <= Usd{}) continue;
    bar.segments.push_back({std::string(fleet::name_of(line.category)),
                            fmt::format("{} ({})", dollars(line.spend), percent(line.spend / a.totals.spend)),
                            in_usd(line.spend)});
  }
  bar.lines.push_back({"spent " + dollars(a.totals.spend), in_usd(a.totals.spend)});
  return bar;
}

report::Table ledger_table(const FleetAnalysis& a) {
  report::Table table;
  table.title = "Ledger";
  table.columns = {{"part", "category", Align::kLeft}, {"GPU-hours", "gpu_hours", Align::kRight},
                   {"dollars", "usd", Align::kRight},  {"share", "share", Align::kRight},
                   {"GPUs", "gpus", Align::kRight},    {"confidence", "confidence", Align::kRight}};
  for (const fleet::LedgerLine& line : a.ledger) {
    if (line.category == fleet::Category::kUnknown && line.gpus == 0) continue;
    const double share = a.totals.gpu_time > GpuTime{} ? line.gpu_time / a.totals.gpu_time : 0;
    table.rows.push_back({text_cell(fleet::name_of(line.category)), hours_cell(line.gpu_time), usd_cell(line.spend),
                          share_cell(share), count_cell(line.gpus),
                          line.gpus > 0 ? confidence_cell(line.confidence) : report::unknown_cell()});
  }
  return table;
}

report::Table owners_table(const std::string& title, const std::string& name,
                           const std::vector<fleet::OwnerLine>& lines, std::size_t top) {
  report::Table table;
  table.title = title;
  table.columns = {{name, name, Align::kLeft},
                   {"GPUs", "gpus", Align::kRight},
                   {"GPU-hours", "gpu_hours", Align::kRight},
                   {"idle GPU-h", "idle_gpu_hours", Align::kRight},
                   {"spent", "spend_usd", Align::kRight},
                   {"wasted", "waste_usd", Align::kRight},
                   {"share", "waste_share", Align::kRight}};
  table.most_shown = top;
  for (const fleet::OwnerLine& line : lines) {
    const double share = line.spend > Usd{} ? line.waste / line.spend : 0;
    table.rows.push_back({{cut(owner_shown(line.owner), 36), line.owner},
                          count_cell(line.gpus),
                          hours_cell(line.gpu_time),
                          hours_cell(line.idle),
                          usd_cell(line.spend),
                          usd_cell(line.waste),
                          share_cell(share)});
  }
  return table;
}

report::Table actions_table(const FleetAnalysis& a, std::size_t top) {
  report::Table table;
  table.title = "What saves most";
  table.columns = {{"#", "rank", Align::kRight},
                   {"kind", "kind", Align::kLeft},
                   {"what", "what", Align::kLeft},
                   {"$/month", "saving_usd_per_month", Align::kRight},
                   {"confidence", "confidence", Align::kRight}};
  table.most_shown = top;
  for (std::size_t i = 0; i < a.actions.size(); ++i) {
    const Action& action = a.actions[i];
    table.rows.push_back({number_cell(std::to_string(i + 1), static_cast<double>(i + 1)),
                          text_cell(fleet::name_of(action.kind)),
                          {cut(action.what, 62), action.what},
                          usd_cell(action.saving * kMonth),
                          confidence_cell(action.confidence)});
  }
  return table;
}

// Dollars, or GPU-hours where there is no price.
double waste_rank(const GpuRow& gpu) {
  const std::optional<Usd> waste = gpu.waste();
  return waste ? in_usd(*waste) : in_gpu_hours(gpu.gpu_time) * gpu.waste_share();
}

report::Table gpus_table(const FleetAnalysis& a, std::size_t top) {
  report::Table table;
  table.title = "GPUs with the most waste";
  table.columns = {{"GPU", "id", Align::kLeft},           {"kind", "name", Align::kLeft},
                   {"owner", "owner", Align::kLeft},      {"verdict", "verdict", Align::kLeft},
                   {"active", "activity", Align::kRight}, {"idle", "idle_share", Align::kRight},
                   {"spent", "spend_usd", Align::kRight}, {"wasted", "waste_usd", Align::kRight}};
  table.most_shown = top;
  std::vector<const GpuRow*> rows;
  for (const GpuRow& gpu : a.gpus) rows.push_back(&gpu);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const GpuRow* x, const GpuRow* y) { return waste_rank(*x) > waste_rank(*y); });
  for (const GpuRow* gpu : rows) {
    const std::string id = gpu->use.device.key();
    const auto activity = gpu->use.activity();
    const double level = activity ? gpu->use.metric(*activity)->mean : 0;
    table.rows.push_back({{cut(id, 18), id},
                          text_cell(cut(gpu->price.gpu != nullptr ? gpu->price.gpu->name : gpu->use.device.name, 14)),
                          {cut(owner_shown(gpu->owner().shown()), 22), gpu->owner().shown()},
                          text_cell(diagnose::name_of(gpu->verdict)),
                          activity ? share_cell(level) : report::unknown_cell(),
                          activity ? share_cell(gpu->use.idle_share) : report::unknown_cell(),
                          usd_cell(gpu->spend),
                          usd_cell(gpu->waste())});
  }
  return table;
}

// The first actions in full: who goes where, what to expect, how to do and undo it.
void add_details(report::Report& report, const FleetAnalysis& a, std::size_t top) {
  constexpr std::size_t kMoves = 4, kCommands = 3;
  for (std::size_t i = 0; i < std::min({top, a.actions.size(), std::size_t{3}}); ++i) {
    const Action& action = a.actions[i];
    std::string text =
        fmt::format("{}. {}. From {} to {}. Risk: {}.", i + 1, action.what, action.from, action.to, action.risk);
    if (action.forecast && !action.forecast->worst.empty()) {
      const fleet::WorstStep& worst = action.forecast->worst.front();
      text += fmt::format(" Worst: {} from {} on, for up to {}.", percent(worst.load), time_text(worst.begin),
                          format_duration(worst.width));
    }
    std::string moves;
    for (std::size_t m = 0; m < std::min(kMoves, action.moves.size()); ++m) {
      const fleet::Move& move = action.moves[m];
      const std::string who = move.owner.instance.empty() ? move.owner.shown() : move.owner.instance;
      moves += fmt::format("{}{} ({}) to {}", m == 0 ? "" : ", ", who, move.from, move.to);
    }
    if (action.moves.size() > kMoves) moves += fmt::format(" and {} more", action.moves.size() - kMoves);
    const bool moves_work = !action.moves.empty() && !action.moves.front().owner.empty();
    if (moves_work) text += " Moves: " + moves + ".";
    for (std::size_t c = 0; c < std::min(kCommands, action.commands.size()); ++c)
      text += " Run: " + action.commands[c] + ".";
    report.blocks.emplace_back(
        report::Paragraph{text + fmt::format(" Check: {}. To undo: {}.", action.check, action.rollback)});
  }
}

report::Table job_table(const char* title, const char* name, const std::vector<fleet::JobLine>& lines,
                        const fleet::JobLedger& jobs, std::size_t top) {
  report::Table table;
  table.title = title;
  table.columns = {{name, name, Align::kLeft},
                   {"jobs", "jobs", Align::kRight},
                   {"GPU-hours", "gpu_hours", Align::kRight},
                   {"not used", "idle_gpu_hours", Align::kRight},
                   {"unsuccessful", "unsuccessful_gpu_hours", Align::kRight},
                   {"spent", "spend_usd", Align::kRight}};
  table.most_shown = top;
  for (const fleet::JobLine& line : lines) {
    table.rows.push_back({{cut(line.name, 30), line.name},
                          count_cell(line.jobs),
                          hours_cell(line.gpu_time),
                          hours_cell(line.idle),
                          hours_cell(line.unsuccessful),
                          jobs.priced > 0 ? usd_cell(line.spend) : report::unknown_cell()});
  }
  return table;
}

report::Table issue_table(const fleet::JobLedger& jobs) {
  report::Table table;
  table.title = "What jobs paid for and did not get";
  table.columns = {{"issue", "issue", Align::kLeft},
                   {"jobs", "jobs", Align::kRight},
                   {"GPU-hours", "gpu_hours", Align::kRight},
                   {"spent", "spend_usd", Align::kRight},
                   {"largest (GPU-hours)", "example", Align::kLeft}};
  for (const fleet::JobIssueLine& line : jobs.issues) {
    std::string largest;
    if (!line.examples.empty()) {
      const fleet::JobExample& job = line.examples.front();
      largest = fmt::format("job {} of {} ({})", job.id, job.user, format_number(in_gpu_hours(job.gpu_time)));
    }
    table.rows.push_back({text_cell(fleet::name_of(line.issue)), count_cell(line.jobs), hours_cell(line.lost),
                          jobs.priced > 0 ? usd_cell(line.spend) : report::unknown_cell(), text_cell(largest)});
  }
  return table;
}

std::string headline(const FleetAnalysis& a) {
  const fleet::Totals& t = a.totals;
  std::string text = fmt::format("{} GPU{}, {} GPU-hours in {}: {} spent, {} of it wasted ({}). At this rate {}/month",
                                 format_count(static_cast<double>(t.gpus)), t.gpus == 1 ? "" : "s",
                                 format_number(in_gpu_hours(t.gpu_time)), format_duration(t.window), dollars(t.spend),
                                 dollars(t.waste), percent(t.waste_share()), monthly(t.spend_rate));
  if (a.actions.empty()) return text + ".";
  const auto [least, most] = std::minmax_element(
      a.actions.begin(), a.actions.end(), [](const Action& x, const Action& y) { return x.confidence < y.confidence; });
  const long low = std::lround(least->confidence * 100), high = std::lround(most->confidence * 100);
  return text + fmt::format("; the actions below save {} of it (confidence {} %).", monthly(t.saving),
                            low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high));
}

// How good the plan is, in dollars.
std::string savings_note(const fleet::Totals& t) {
  if (t.remedies == 0) return "";
  const bool proved = t.saving_bound <= t.saving * (1 + 1e-6) + usd_per_month(0.01);
  return fmt::format("Each GPU has one action at most, so savings add up; {} of the {} remedies that were found.",
                     proved ? "no other choice saves more"
                            : fmt::format("no other choice saves more than {}/month", monthly(t.saving_bound)),
                     format_count(static_cast<double>(t.remedies)));
}

void add_jobs(report::Report& report, const fleet::JobLedger& jobs, std::size_t top) {
  report.blocks.emplace_back(job_table("By user", "user", jobs.users, jobs, top));
  report.blocks.emplace_back(job_table("By account", "account", jobs.accounts, jobs, top));
  if (jobs.partitions.size() > 1) {
    report.blocks.emplace_back(job_table("By partition", "partition", jobs.partitions, jobs, top));
  }
  report.blocks.emplace_back(job_table("By state", "state", jobs.states, jobs, top));
  if (!jobs.issues.empty()) report.blocks.emplace_back(issue_table(jobs));
}

}  // namespace

std::string next_step(diagnose::Verdict verdict) {
  using diagnose::Verdict;
  switch (verdict) {
    case Verdict::kInputBound:
      return "its GPUs wait for requests or data; 'rightsize service' sizes a serving engine, "
             "'rightsize profile' finds what a job waits for";
    case Verdict::kLaunchBound:
    case Verdict::kTransferBound:
    case Verdict::kMemoryBound:
    case Verdict::kComputeBound:
      return "'rightsize profile' on one of its GPUs says which setting to change";
    case Verdict::kUnderused:
    case Verdict::kBursty:
      return "no smaller GPU, slice or shared GPU on offer would hold its peaks";
    case Verdict::kIdleHeld:
    case Verdict::kIdle:
      return "it was idle, but never long enough to be stopped safely";
    case Verdict::kUnknown:
      break;
  }
  return "its readings do not say what it did";
}

report::Report fleet_report(const FleetResult& result, std::size_t top) {
  const FleetAnalysis& a = result.analysis;
  const fleet::Totals& t = a.totals;
  report::Report report;
  report.title = "Fleet";
  report.document = fleet_document(result);
  auto say = [&](std::string text) { report.blocks.emplace_back(report::Paragraph{std::move(text)}); };
  for (const std::string& why : result.misleading)
    say("CAREFUL: " + why + ". These numbers are not the whole fleet's.");
  say(headline(a));
  // The first screen: what it costs, what to do about it, what to doubt.
  const bool only_jobs = std::all_of(a.gpus.begin(), a.gpus.end(), [](const GpuRow& g) { return g.use.from_job_log; });
  if (!a.notes.empty()) say("Caveat: " + a.notes.front() + ".");
  if (!a.actions.empty() || !only_jobs) report.blocks.emplace_back(actions_table(a, top));
  for (const fleet::UnplannedWaste& waste : a.unplanned) {
    say(fmt::format("No action found for {}, which wastes {}/month on {} ({}): {}.", owner_shown(waste.owner),
                    monthly(waste.rate), waste.gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", waste.gpus),
                    diagnose::name_of(waste.verdict), next_step(waste.verdict)));
  }
  if (t.spend > Usd{}) report.blocks.emplace_back(bar_of(a));
  report.blocks.emplace_back(ledger_table(a));
  report.blocks.emplace_back(owners_table("Who wastes it", "owner", a.owners, top));
  for (const auto& [title, lines] : result.groups) {
    const bool asked = title != "namespaces" && title != "workloads" && title != "users";
    if (asked) report.blocks.emplace_back(owners_table("By " + title, title, lines, top));
  }
  if (a.jobs) add_jobs(report, *a.jobs, top);
  add_details(report, a, top);
  // What a job log calls a GPU is only a number on a host.
  if (!only_jobs) report.blocks.emplace_back(gpus_table(a, top));
  for (const std::string& failure : result.failures) say("Not read: " + failure);
  for (std::size_t i = 1; i < a.notes.size(); ++i) say("Note: " + a.notes[i] + ".");
  std::string read = "Read: ";
  for (const std::string& item : result.read) read += item + ". ";
  say(read + savings_note(t));
  return report;
}

}  // namespace rightsize::app
