#include "rightsize/fleet/report.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/date.h"
#include "base/format.h"
#include "fleet/jobs.h"

namespace rightsize::app {
namespace {

using fleet::FleetAction;
using fleet::FleetAnalysis;
using fleet::GpuRow;
using report::cut;
using report::renamed;

std::string monthly(UsdPerSecond rate) { return dollars(rate * kMonth) + "/month"; }

report::Table titled(std::string title, report::Table table, std::size_t top) {
  table.title = std::move(title);
  table.most_shown = top;
  return table;
}

report::StackedBar bar_of(const FleetAnalysis& a) {
  report::StackedBar bar;
  bar.title = "Where the dollars went";
  for (const fleet::LedgerLine& line : a.ledger) {
    if (line.spend <= Usd{}) continue;
    bar.segments.push_back({std::string(fleet::name_of(line.category)),
                            fmt::format("{} ({})", dollars(line.spend), percent(*line.share)), in_usd(line.spend)});
  }
  bar.lines.push_back({"spent " + dollars(a.totals.spend), in_usd(a.totals.spend)});
  return bar;
}

report::Table ledger_table(const FleetAnalysis& a) {
  std::vector<const fleet::LedgerLine*> lines;
  for (const fleet::LedgerLine& line : a.ledger) {
    // Without measurements, all time is unknown.
    const bool known = line.category != fleet::Category::kUnknown && a.totals.measured;
    if (known || line.gpus > 0) lines.push_back(&line);
  }
  return titled("Ledger",
                table_of(kLedgerFields, lines, {"category", "gpu_hours", "usd", "share", "gpus", "confidence"}), 0);
}

// Without measurements the waste is unknown.
report::Table spending_table(const std::vector<fleet::GroupLine>& lines, std::size_t top) {
  return titled(
      "Who spends it",
      table_of(kGroupFields, lines, {cut(renamed("name", "owner", "owner"), 36), "gpus", "gpu_hours", "spend_usd"}),
      top);
}

report::Table owners_table(std::string title, const std::string& name, const std::vector<fleet::GroupLine>& lines,
                           std::size_t top) {
  return titled(std::move(title),
                table_of(kGroupFields, lines,
                         {cut(renamed("name", name, name), 36), "gpus", "gpu_hours", "idle_gpu_hours", "spend_usd",
                          "waste_usd", "waste_share"}),
                top);
}

// Sorted by dollars, or by GPU-hours if there is no price.
report::Table gpus_table(const FleetAnalysis& a, std::size_t top) {
  auto waste_of = [](const GpuRow& gpu) {
    const std::optional<Usd> waste = gpu.waste();
    return waste ? in_usd(*waste) : in_gpu_hours(gpu.gpu_time) * gpu.waste_share();
  };
  std::vector<const GpuRow*> rows;
  for (const GpuRow& gpu : a.gpus) rows.push_back(&gpu);
  std::ranges::stable_sort(rows, [&](const GpuRow* x, const GpuRow* y) { return waste_of(*x) > waste_of(*y); });
  return titled("GPUs with the most waste",
                table_of(kGpuRowFields, rows,
                         {cut("id", 18), cut("name", 14), cut("owner", 22), "verdict", "activity", "idle_share",
                          "spend_usd", "waste_usd"}),
                top);
}

void add_jobs(report::Report& report, const fleet::JobLedger& jobs, std::size_t top) {
  auto add = [&](const char* title, const char* name, const std::vector<fleet::GroupLine>& lines) {
    const std::vector<report::ColumnOf> without = {cut(renamed("name", name, name), 30),
                                                   "jobs",
                                                   "gpu_hours",
                                                   "idle_gpu_hours",
                                                   "unsuccessful_gpu_hours",
                                                   "spend_usd"};
    std::vector<report::ColumnOf> columns = without;
    columns.emplace_back("waste_usd");
    const bool wasted = std::ranges::any_of(lines, &fleet::GroupLine::waste_known);
    report.blocks.emplace_back(titled(title, table_of(kGroupFields, lines, wasted ? columns : without), top));
  };
  if (fleet::any_named(jobs.users)) add("By user", "user", jobs.users);
  if (fleet::any_named(jobs.accounts)) add("By account", "account", jobs.accounts);
  if (jobs.partitions.size() > 1) add("By partition", "partition", jobs.partitions);
  add("By state", "state", jobs.states);
  if (!jobs.waits.empty()) {
    report.blocks.emplace_back(
        titled("Waiting for GPUs",
               table_of(kWaitFields, jobs.waits, {"partition", "jobs", "median_seconds", "p95_seconds"}), top));
  }
  if (jobs.issues.empty()) return;
  report.blocks.emplace_back(
      titled("GPU-hours without a result",
             table_of(kJobIssueFields, jobs.issues, {"issue", "jobs", "gpu_hours", "spend_usd", "example"}), 0));
}

// Kubernetes' requests: the cost of the nodes, who uses them, and the GPUs that no pod requests.
std::string cluster_headline(const fleet::ClusterLedger& c) {
  const auto priced = [&](UsdPerSecond rate) {
    return c.rate > UsdPerSecond{} ? fmt::format(" ({})", monthly(rate)) : std::string();
  };
  const auto nodes = [](std::size_t count) { return fmt::format("{} node{}", count, count == 1 ? "" : "s"); };
  std::string text =
      fmt::format("{:g} GPUs on {}{}: pods request {:g} of them, {:g} are free{}.", c.gpus, nodes(c.nodes.size()),
                  priced(c.rate), c.requested, c.gpus - c.requested, priced(c.free_rate));
  if (c.idle_nodes > 0) {
    text += fmt::format(" No pod requests GPUs on {}{}.", nodes(c.idle_nodes), priced(c.idle_rate));
  }
  if (c.waiting > 0)
    text += fmt::format(" Pending pods request {:g} more GPU{}.", c.waiting, c.waiting == 1 ? "" : "s");
  return text + " Requests do not show how busy GPUs are; DCGM metrics do.";
}

void add_cluster(report::Report& report, const fleet::ClusterLedger& c, std::size_t top) {
  report.blocks.emplace_back(
      titled("Requested GPUs",
             table_of(kRequestFields, c.requests,
                      {cut("namespace", 24), cut("workload", 30), "pods", "gpus", "gpu_hours", "usd_per_month"}),
             top));
  std::vector<const fleet::NodeLine*> free;
  for (const fleet::NodeLine& node : c.nodes) {
    if (node.requested < node.gpus) free.push_back(&node);
  }
  if (free.empty()) return;
  report.blocks.emplace_back(titled(
      "Nodes with free GPUs",
      table_of(kNodeFields, free,
               {cut("name", 36), cut("machine", 24), cut("gpu", 24), "gpus", "requested_gpus", "free_usd_per_month"}),
      top));
}

// Which workload goes where, what to expect, how to do it and how to undo it.
std::string details_of(const FleetAction& action) {
  constexpr std::size_t kMoves = 4, kCommands = 3;
  std::string text =
      fmt::format("{}. {}. From {} to {}. Risk: {}.", action.rank, action.what, action.from, action.to, action.risk);
  if (action.forecast && !action.forecast->worst.empty()) {
    const fleet::WorstStep& worst = action.forecast->worst.front();
    text += fmt::format(" Highest load: {}, in the {} from {}.", percent(worst.load), format_duration(worst.width),
                        time_text(worst.begin));
  }
  if (!action.moves.empty() && !action.moves.front().owner.empty()) {
    std::vector<std::string> moves;
    for (std::size_t m = 0; m < std::min(kMoves, action.moves.size()); ++m) {
      const fleet::Move& move = action.moves[m];
      const std::string who = move.owner.instance.empty() ? move.owner.shown() : move.owner.instance;
      moves.push_back(fmt::format("{} ({}) to {}", who, move.from, move.to));
    }
    text += fmt::format(" Moves: {}", fmt::join(moves, ", "));
    text += action.moves.size() > kMoves ? fmt::format(" and {} more.", action.moves.size() - kMoves) : ".";
  }
  for (std::size_t c = 0; c < std::min(kCommands, action.commands.size()); ++c)
    text += " Run: " + action.commands[c] + ".";
  return text + fmt::format(" Check: {}. To undo: {}.", action.check, action.rollback);
}

// For a job log alone: the cost of its jobs, and the share spent on jobs without a result.
std::string jobs_headline(const FleetAnalysis& a) {
  const fleet::JobLedger& jobs = *a.jobs;
  const bool priced = jobs.priced > 0;
  std::string text = fmt::format("{} GPU jobs, {} GPU-hours in {}", format_count(static_cast<double>(jobs.jobs)),
                                 format_number(in_gpu_hours(jobs.gpu_time)), format_duration(a.totals.window));
  if (priced) text += fmt::format(": {} spent", dollars(jobs.spend));
  const double share = priced && jobs.spend > Usd{} ? jobs.unsuccessful_spend / jobs.spend
                       : jobs.gpu_time > GpuTime{}  ? jobs.unsuccessful / jobs.gpu_time
                                                    : 0;
  text += ". ";
  if (share > 0) {
    std::vector<std::string> parts;
    for (const fleet::JobIssueLine& line : jobs.issues) {
      if (line.issue > fleet::JobIssue::kPreempted || line.lost <= GpuTime{}) continue;
      const std::string one = line.jobs == 1 ? fmt::format(" (job {})", line.examples.front().id) : "";
      parts.push_back(
          fmt::format("{} {}{}", fleet::name_of(line.issue),
                      line.spend ? dollars(*line.spend) : format_number(in_gpu_hours(line.lost)) + " GPU-hours", one));
    }
    text += fmt::format(
        "{} ({} of the {}) went to jobs without a result: {}. ",
        priced ? dollars(jobs.unsuccessful_spend) : format_number(in_gpu_hours(jobs.unsuccessful)) + " GPU-hours",
        percent(share), priced ? "cost" : "GPU-hours", fmt::join(parts, ", "));
  } else {
    text += "No job ended without a result. ";
  }
  if (jobs.measured == 0) return text + "How busy the GPUs were is unknown: the log has no GPU utilization.";
  return text + fmt::format(
                    "{} of the cost was wasted on idle, oversized or inefficient GPUs ({} of {} jobs were "
                    "measured){}.",
                    percent(a.totals.waste_share()), format_count(static_cast<double>(jobs.measured)),
                    format_count(static_cast<double>(jobs.jobs)),
                    share > 0 ? "; 'useful' below includes busy GPUs of jobs without a result" : "");
}

// Why savings are not counted, for the actions to which it applies.
std::string reservations_about(const std::vector<FleetAction>& actions) {
  std::set<std::string> reasons;
  for (const FleetAction& action : actions) {
    if (action.counted) continue;
    reasons.insert(action.kind == fleet::ActionKind::kWatch ? "only a longer recording or its owner would show it"
                   : action.kind == fleet::ActionKind::kStop
                       ? "the hours of work are irregular, nothing can scale it or its machine stays in use"
                   : action.kind == fleet::ActionKind::kCommit ? "a year needs whole machines that were busy for a week"
                   : action.kind == fleet::ActionKind::kQuantize ? "the owner of a model must quantize it"
                                                                 : "work would slow down or move to another provider");
  }
  return fmt::format("{}", fmt::join(reasons, ", or "));
}

std::string headline(const FleetAnalysis& a) {
  const fleet::FleetTotals& t = a.totals;
  const std::string waste = t.measured ? fmt::format("{} of it wasted ({})", dollars(t.waste), percent(t.waste_share()))
                                       : std::string("waste unknown: the source has no GPU utilization");
  std::string text = fmt::format("{}, {} GPU-hours in {}: ", fleet::count_of(t.gpus, "GPU"),
                                 format_number(in_gpu_hours(t.gpu_time)), format_duration(t.window));
  if (t.priced == 0 && t.gpus > 0) return text + "no price is known for these GPUs, so only hours are counted.";
  text += fmt::format("{} spent, {}. At this rate the GPUs cost {}", dollars(t.spend), waste, monthly(t.spend_rate));
  double least = 1, most = 0;
  for (const FleetAction& action : a.actions) {
    if (!action.counted) continue;
    least = std::min(least, action.confidence);
    most = std::max(most, action.confidence);
  }
  if (least <= most) {
    const std::string low = fmt::format("{:.0f}", least * 100), high = fmt::format("{:.0f}", most * 100);
    text += fmt::format("; the actions below save {} (confidence {} %)", monthly(t.saving),
                        low == high ? low : low + " to " + high);
  }
  text += ".";
  if (t.not_counted > UsdPerSecond{}) {
    text += fmt::format(" {} {} could be saved, but {}.", t.saving > UsdPerSecond{} ? "Another" : "Up to",
                        monthly(t.not_counted), reservations_about(a.actions));
  }
  return text;
}

// Measured energy, and the effect of power caps on it.
void add_energy(report::Report& report, const FleetResult& result) {
  const fleet::FleetTotals& t = result.analysis.totals;
  if (!t.energy || !(t.powered > GpuTime{})) return;
  const double kwh = in_joules(*t.energy) / 3.6e6;
  std::string text = fmt::format("The GPUs used {} kWh, {} each on average", format_number(kwh),
                                 format_power(*t.energy / (t.powered / gpus(1))));
  report.say(text + result.electricity.words(*t.energy) + ".");
  if (result.analysis.caps.empty()) return;
  report.blocks.emplace_back(
      titled("Power caps",
             table_of(kCapFields, result.analysis.caps,
                      {"verdict", "gpu", "gpus", "gpu_power_watts", "cap_watts", "time_factor", "saved_kwh_per_month"}),
             0));
}

// How good the plan is, in dollars.
std::string savings_note(const fleet::FleetTotals& t) {
  if (t.remedies == 0) return "";
  const bool proved = t.saving_bound <= t.saving * (1 + 1e-6) + usd_per_month(0.01);
  return "Savings add up: each GPU appears in one action." +
         (proved ? std::string() : fmt::format(" The best possible choice saves at most {}.", monthly(t.saving_bound)));
}

}  // namespace

std::string dollars(Usd value) { return format_usd(std::abs(in_usd(value)) < 0.005 ? Usd{} : value); }
std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

std::string next_step(const fleet::UnplannedWaste& waste) {
  using diagnose::Verdict;
  switch (waste.verdict) {
    case Verdict::kInputBound:
      return "its GPUs wait for requests or data; 'rightsize service' sizes a serving engine; 'rightsize profile' "
             "shows the bottleneck of a job";
    case Verdict::kLaunchBound:
    case Verdict::kTransferBound:
    case Verdict::kMemoryBound:
    case Verdict::kComputeBound:
      return "'rightsize profile' on one of its GPUs shows which setting to change";
    case Verdict::kUnderused:
    case Verdict::kBursty:
      return waste.memory_known ? "no cheaper GPU, slice or shared GPU on offer would hold its peaks"
                                : "a smaller GPU must hold its memory, which is not in the readings: add "
                                  "DCGM_FI_DEV_FB_USED or memory.used";
    case Verdict::kIdleHeld:
    case Verdict::kIdle:
      return "it was idle, but never long enough to be stopped safely";
    case Verdict::kUnknown:
      break;
  }
  return "its readings show no activity";
}

report::Report fleet_report(const FleetResult& result, std::size_t top) {
  const FleetAnalysis& a = result.analysis;
  report::Report report;
  report.title = "Fleet";
  auto say = [&](std::string text) { report.blocks.emplace_back(report::Paragraph{std::move(text)}); };
  for (const std::string& why : result.misleading) {
    say("CAREFUL: " + why + ". These figures do not cover the whole fleet.");
  }
  // The first screen: cost, actions and caveats.
  const bool from_jobs =
      a.jobs && !a.gpus.empty() && std::ranges::all_of(a.gpus, [](const GpuRow& g) { return g.use.from_job_log; });
  const bool only_cluster =
      result.cluster && !a.jobs && std::ranges::all_of(a.gpus, [](const GpuRow& g) { return g.use.from_job_log; });
  say(only_cluster ? cluster_headline(*result.cluster) : from_jobs ? jobs_headline(a) : headline(a));
  if (const auto& rate = result.currency; rate && rate->currency != catalog::kDollars) {
    constexpr double kWhole = 100;  // from here on without decimals
    const auto whole = [&](double usd) {
      const double amount = usd / rate->usd;
      return amount < kWhole ? format_number(amount) : format_count(std::round(amount));
    };
    const std::string wasted = a.totals.measured ? fmt::format(", {} of it wasted", whole(in_usd(a.totals.waste))) : "";
    const double saving = in_usd_per_month(a.totals.saving);
    say(fmt::format("In {}: {} spent{}{}; 1 {} is {:.5g} USD ({}, {}).", rate->currency, whole(in_usd(a.totals.spend)),
                    wasted, saving > 0 ? fmt::format(", {}/month could be saved", whole(saving)) : "", rate->currency,
                    rate->usd, rate->source, format_date(rate->date)));
  }
  const bool only_jobs = std::ranges::all_of(a.gpus, [](const GpuRow& g) { return g.use.from_job_log; });
  if (!a.notes.empty()) say("Caveat: " + a.notes.front() + ".");
  if (!a.actions.empty() || !only_jobs) {
    report.blocks.emplace_back(titled(
        "What saves most",
        table_of(kActionFields, a.actions, {"rank", "kind", cut("what", 62), "saving_usd_per_month", "confidence"}),
        top));
  }
  for (const fleet::UnplannedWaste& waste : a.unplanned) {
    say(fmt::format("No action found for {}, which wastes {} on {} ({}): {}.", waste.owner, monthly(waste.rate),
                    fleet::count_of(waste.gpus, "GPU"), diagnose::name_of(waste.verdict), next_step(waste)));
  }
  add_billing(result.billing, report);
  if (result.cluster) add_cluster(report, *result.cluster, top);
  if (!only_cluster && a.totals.spend > Usd{}) report.blocks.emplace_back(bar_of(a));
  if (!only_cluster) report.blocks.emplace_back(ledger_table(a));
  if (!only_cluster)
    report.blocks.emplace_back(a.totals.measured ? owners_table("Who wastes it", "owner", a.owners, top)
                                                 : spending_table(a.owners, top));
  add_energy(report, result);
  for (const auto& [label, lines] : result.labels_asked) {
    report.blocks.emplace_back(owners_table("By " + label, label, lines, top));
  }
  if (a.jobs) add_jobs(report, *a.jobs, top);
  for (std::size_t i = 0; i < std::min({top, a.actions.size(), std::size_t{3}}); ++i) say(details_of(a.actions[i]));
  // A job log identifies GPUs only by number on a host.
  if (!only_jobs) report.blocks.emplace_back(gpus_table(a, top));
  for (const std::string& failure : result.failures) say("Not read: " + failure);
  for (std::size_t i = 1; i < a.notes.size(); ++i) say("Note: " + a.notes[i] + ".");
  say(fmt::format("Read: {}. {}", fmt::join(result.read, ". "), savings_note(a.totals)));
  return report;
}

}  // namespace rightsize::app
