#include "rightsize/recommend/report.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/startup.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using plan::Plan;
using plan::Recommendation;
using plan::Request;
using plan::WorkKind;
using report::Align;
using report::Cell;
using report::number_cell;
using report::Paragraph;
using report::Report;
using report::Table;
using report::text_cell;

Cell usd_cell(Usd v) { return number_cell(format_usd(v), in_usd(v)); }

// The answer in plain words.
std::string answer(const Request& request, const Plan& plan) {
  std::string text = fmt::format(
      "{} {}: ", plan.offer.machine->provider == market::kOwn || plan.offer.price->available ? "Use" : "Rent",
      describe_machines(plan));
  if (request.work.kind == WorkKind::kServing) {
    text += describe_cost(request, plan);
    if (request.model.image_size == 0 && plan.tpot > Seconds{})
      text += fmt::format(", {} per 1M output tokens", format_usd(usd(plan.usd_per_million_units())));
  } else {
    text += fmt::format("done in {} for {}", format_duration(plan.time.total()), describe_cost(request, plan));
  }
  return text + ".";
}

// How clear the choice of the GPU is; empty where there was none.
std::string confidence_sentence(const Request& request, const Recommendation& found) {
  constexpr double kClear = 0.8;
  const bool choice = std::any_of(found.plans.begin(), found.plans.end(),
                                  [&](const Plan& plan) { return plan.offer.gpu != found.plans.front().offer.gpu; });
  if (request.plans_only || !choice) return {};
  const std::string share = found.confidence > 0.99 ? "over 99 %" : fmt::format("{:.0f} %", 100 * found.confidence);
  return fmt::format(" {}: best in {} of what-ifs.", found.confidence >= kClear ? "Clear choice" : "Close call", share);
}

// " Start-up: 3 min for the machine, 1 min 38 s for its image (pytorch/pytorch:latest, 3.73 GiB), ...".
std::string startup_parts(const Request& request, const Plan& plan) {
  if (request.startup) return {};
  const plan::Startup parts = plan::startup_on(request, perf::work_of(request.model), *plan.offer.gpu);
  const std::string image = parts.image_size
                                ? fmt::format("{} for its image ({}, {})", format_duration(parts.image_pull),
                                              parts.image, format_bytes(*parts.image_size))
                                : fmt::format("its image ({}, size unknown) not counted", parts.image);
  return fmt::format(" Start-up: {} for the machine, {}, {} for the weights ({}).", format_duration(parts.machine),
                     image, format_duration(parts.weights), format_bytes(parts.weights_size));
}

std::string where_hours_go(const Request& request, const Plan& plan) {
  constexpr double kNegligible = 0.003;  // of the time that is paid for
  std::string text = fmt::format("Paid time: {} of work", format_duration(plan.time.work));
  const auto add = [&](Seconds time, const char* what) {
    if (time > plan.time.total() * kNegligible) text += fmt::format(", {} {}", format_duration(time), what);
  };
  add(plan.time.startup, "start-up");
  add(plan.time.saving, "checkpoints");
  add(plan.time.redoing, "restarts and repeated work");
  return text + "." + startup_parts(request, plan);
}

std::string no_answer(const Request& request, const Recommendation& found) {
  if (found.changes.empty()) return "Nothing meets your limits, and none of the usual changes helps.";
  const plan::Change& nearest = found.changes.front();
  const std::string done = request.work.kind == WorkKind::kServing
                               ? ""
                               : fmt::format(", done in {}", format_duration(nearest.plan.time.total()));
  return fmt::format("Nothing meets your limits. Closest, with {} ({}): {}{} for {}.",
                     describe_change(nearest.kind).what, nearest.flags, describe_machines(nearest.plan), done,
                     describe_cost(request, nearest.plan));
}

// The GPUs without any plan, and what would make them work.
void add_rejections(Report& report, const Request& request, const Recommendation& found) {
  Table table;
  table.title = "Why not these";
  table.columns = {{"GPU", "gpu", Align::kLeft},
                   {"rejected", "stage", Align::kLeft},
                   {"needs", "need", Align::kLeft},
                   {"has", "have", Align::kLeft},
                   {"options", "count", Align::kRight}};
  constexpr std::size_t kMostFixes = 6;
  std::vector<std::string> fixed;
  std::string fixes, unsold;
  for (const plan::Rejection& r : found.rejected) {
    if (r.partly) continue;
    if (r.stage == plan::Stage::kPrice) {
      unsold += (unsold.empty() ? "" : ", ") + r.gpu;
      continue;
    }
    const NeedAndHave words = describe_shortfall(r.nearest);
    table.rows.push_back({text_cell(r.gpu), text_cell(plan::name_of(r.stage)), text_cell(words.need),
                          text_cell(words.have), number_cell(format_count(r.count), r.count)});
    const bool is_new = r.fix && std::find(fixed.begin(), fixed.end(), r.gpu) == fixed.end();
    if (!is_new || fixed.size() == kMostFixes) continue;
    fixed.push_back(r.gpu);
    fixes += fmt::format("  {} fits with {}.\n", r.gpu, describe_fix(request, r, found.best()));
  }
  table.most_shown = 8;
  if (!table.rows.empty()) report.blocks.emplace_back(std::move(table));
  if (!fixes.empty()) report.blocks.emplace_back(Paragraph{"What would make them work:\n" + fixes});
  if (!unsold.empty()) report.blocks.emplace_back(Paragraph{"No price on these terms: " + unsold + "."});
}

void add_changes(Report& report, const Recommendation& found) {
  if (found.changes.empty()) return;
  std::string slower;
  Table table;
  table.title = "What else could change";
  table.columns = {{"change", "change", Align::kLeft},
                   {"flags", "flags", Align::kLeft},
                   {"best plan", "gpus", Align::kLeft},
                   {"total", "usd_total", Align::kRight},
                   {"vs. first plan", "ratio", Align::kRight}};
  for (const plan::Change& c : found.changes) {
    const double ratio = found.plans.empty() ? 0 : c.plan.cost / found.plans.front().cost;
    table.rows.push_back({text_cell(describe_change(c.kind).what), text_cell(c.flags),
                          text_cell(fmt::format("{} x {}", c.plan.gpus, c.plan.offer.gpu->name)), usd_cell(c.plan.cost),
                          found.plans.empty() ? report::unknown_cell() : number_cell(compare(ratio), ratio)});
    constexpr double kClearlyMore = 1.02;
    if (const std::string& why = describe_change(c.kind).why_slower; ratio > kClearlyMore && !why.empty())
      slower += why + ". ";
  }
  report.blocks.emplace_back(std::move(table));
  if (!slower.empty()) report.blocks.emplace_back(Paragraph{slower});
}

void add_breakpoints(Report& report, const Recommendation& found) {
  if (found.breakpoints.empty() || found.plans.empty()) return;
  std::string text = "What would change this recommendation:\n";
  for (const plan::Breakpoint& b : found.breakpoints) {
    const BreakpointWords words = describe_breakpoint(b, found.plans.front());
    text += fmt::format("  If {}: {}.\n", words.when, words.recommended);
  }
  report.blocks.emplace_back(Paragraph{text});
}

void add_mix(Report& report, const Recommendation& found) {
  if (found.mix.empty()) return;
  std::string parts;
  Usd rate;
  for (const plan::MixPart& part : found.mix) {
    parts += fmt::format("  {} for {} of the requests\n", describe_machines(part.plan),
                         format_percent(Ratio::fraction(part.share)));
    rate += part.plan.rate() * kMonth;
  }
  report.blocks.emplace_back(
      Paragraph{fmt::format("Cheaper still, with two kinds of machines behind one router: {}/month, {}.\n{}",
                            format_usd(rate), compare(rate / found.plans.front().cost), parts)});
}

void add_stats(Report& report, const Request& request, const Recommendation& found) {
  const plan::Effort& e = found.effort;
  report.blocks.emplace_back(Paragraph{fmt::format(
      "{} configurations in {} ({} per second): {} computed, {} excluded by a bound, the rest too large or not "
      "divisible. {} "
      "speed estimates, {} memory surfaces. Then {} to {} the plans shown, {} to explain.",
      format_count(e.configurations), format_duration(seconds(e.search_seconds)),
      format_magnitude(e.configurations / e.search_seconds), format_count(e.priced), format_count(e.bounded),
      format_count(e.estimates), format_count(e.curves), format_duration(seconds(e.verify_seconds)),
      request.work.kind == WorkKind::kServing ? "simulate" : "check the memory of",
      format_duration(seconds(e.explain_seconds)))});
}

// The answer and what to know before acting on it. With the table it fits a terminal of 80 x 24.
void add_answer(Report& report, const Request& request, const Recommendation& found) {
  const Plan& first = found.plans.front();
  std::string text = answer(request, first) + confidence_sentence(request, found);
  for (const std::string& sentence :
       {hours_sentence(first), spend_sentence(request, first), spot_sentence(request, found)})
    if (!sentence.empty()) text += "\n" + sentence;
  const std::string commitment = commitment_sentence(first), quota = quota_sentence(first);
  const bool one_line = first.commitments.empty() && !commitment.empty() && !quota.empty();
  if (!commitment.empty()) text += "\n" + commitment;
  if (!quota.empty()) text += (one_line ? " " : "\n") + quota;
  report.blocks.emplace_back(Paragraph{text});
  std::string beside;
  if (const std::vector<std::string> notes = caveats(request, found); !notes.empty())
    beside = fmt::format("Caveats: {}.\n", fmt::join(notes, "; "));
  beside += fmt::format("Settings: {}.", describe_settings(request, first));
  if (const std::string assumed = assumptions_sentence(request, first); !assumed.empty()) beside += "\n" + assumed;
  report.blocks.emplace_back(Paragraph{beside});
}

// What --explain adds.
void add_details(Report& report, const Answer& answer) {
  const auto& [request, found] = std::tie(answer.request, answer.found);
  if (!found.plans.empty()) {
    const Plan& first = found.plans.front();
    report.blocks.emplace_back(
        Paragraph{fmt::format("{}. {}", describe_speed(request, first), describe_margins(request, first))});
    if (request.work.kind != WorkKind::kServing) report.blocks.emplace_back(Paragraph{where_hours_go(request, first)});
    report.blocks.emplace_back(Paragraph{next_best_sentence(request, found)});
    if (found.pareto.size() > 1) {
      const bool serving = request.work.kind == WorkKind::kServing;
      Table front =
          plans_table(answer, serving ? "Faster answers for more money" : "Sooner for more money", found.pareto);
      front.most_shown = 8;
      report.blocks.emplace_back(std::move(front));
    }
  }
  add_breakpoints(report, found);
  add_changes(report, found);
  add_rejections(report, request, found);
}

}  // namespace

Report report_of(const Answer& a) {
  Report report, details;
  report.title = describe_request(a.request);
  report.document = document_of(a);
  if (a.found.plans.empty()) {
    report.blocks.emplace_back(Paragraph{no_answer(a.request, a.found)});
  } else {
    add_answer(report, a.request, a.found);
    const bool serving = a.request.work.kind == WorkKind::kServing;
    report.blocks.emplace_back(plans_table(a,
                                           fmt::format("Best of each provider, GPU and terms ({} option{} {})",
                                                       format_count(a.found.feasible), a.found.feasible == 1 ? "" : "s",
                                                       serving                 ? "screened, these simulated"
                                                       : a.found.feasible == 1 ? "meets your limits"
                                                                               : "meet your limits"),
                                           a.found.plans));
    if (const std::string held = held_back_sentence(a.found); !held.empty())
      report.blocks.emplace_back(Paragraph{held});
    add_mix(report, a.found);
  }
  if (!a.request.plans_only) add_details(details, a);
  // Without a plan, the explanation is the answer.
  const bool all = a.shown.explain || a.found.plans.empty();
  std::vector<report::Block>& rest = all ? report.blocks : report.pictures;
  std::move(details.blocks.begin(), details.blocks.end(), std::back_inserter(rest));
  if (a.shown.stats) add_stats(report, a.request, a.found);
  return report;
}

}  // namespace rightsize::app
