#include "rightsize/recommend/report.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/explain.h"
#include "plan/startup.h"
#include "rightsize/recommend/energy_fields.h"
#include "rightsize/recommend/own.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using plan::Plan;
using plan::Recommendation;
using plan::Request;
using plan::WorkKind;
using report::Paragraph;
using report::Report;
using report::Table;

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
  constexpr double kNegligible = 0.003;  // of the paid time
  std::string text = fmt::format("Paid time: {} of work", format_duration(plan.time.work));
  const auto add = [&](Seconds time, const char* what) {
    if (time > plan.time.total() * kNegligible) text += fmt::format(", {} {}", format_duration(time), what);
  };
  add(plan.time.startup, "start-up");
  add(plan.time.saving, "checkpoints");
  add(plan.time.redoing, "restarts and repeated work");
  return text + "." + startup_parts(request, plan);
}

bool gives_up_a_limit(plan::RequestChangeKind kind) {
  using Kind = plan::RequestChangeKind;
  return plan::relaxes(kind) || plan::gives_up_one(kind) || kind == Kind::kNoLimits || kind == Kind::kFewerHours ||
         kind == Kind::kSameLengths || kind == Kind::kLongerLimits || kind == Kind::kTwoChanges;
}

// The number format that rejects most GPUs with a price; empty if other reasons do.
std::string format_reason(const Recommendation& found) {
  std::map<std::string, int> rejected;  // by format; empty: another reason
  for (const plan::Rejection& r : found.rejected) {
    if (r.partly || r.stage == plan::RejectionStage::kPrice || r.stage == plan::RejectionStage::kSoftware) continue;
    ++rejected[r.nearest.kind == plan::Shortfall::Kind::kFormat ? r.nearest.reason : std::string()];
  }
  int all = 0;
  for (const auto& [reason, count] : rejected) all += count;
  for (const auto& [reason, count] : rejected) {
    if (2 * count > all) return reason;
  }
  return {};
}

// How far a change moves a limit: new over old. Changes that move none come after those.
double size_of(const Request& request, const plan::RequestChange& change) {
  using Kind = plan::RequestChangeKind;
  const plan::PlanLimits& limits = request.limits;
  const Plan& p = change.plan;
  switch (change.kind) {
    case Kind::kNoBudget:
      return p.cost / *limits.budget;
    case Kind::kNoDeadline:
    case Kind::kLaterDeadline:
      return p.elapsed() / *limits.deadline;
    case Kind::kLongerTtft:
      return p.ttft / *limits.ttft;
    case Kind::kLongerTpot:
      return p.tpot / *limits.tpot;
    case Kind::kLongerLatency:
      return p.answer / *limits.latency;
    case Kind::kLongerLimits:
      return std::max({limits.ttft ? p.ttft / *limits.ttft : 1.0, limits.tpot ? p.tpot / *limits.tpot : 1.0,
                       limits.latency ? p.answer / *limits.latency : 1.0});
    case Kind::kNoLimits:
    case Kind::kTwoChanges:
      return 1e300;
    default:
      return 1e9;
  }
}

// A change that keeps the work is closer than one that reduces it, then a confirmed price than an old one, then what
// meets the limits than what moves one.
const plan::RequestChange& closest(const Request& request, const Recommendation& found) {
  return *std::min_element(found.changes.begin(), found.changes.end(), [&](const auto& a, const auto& b) {
    const auto key = [&](const plan::RequestChange& c) {
      const bool moves = gives_up_a_limit(c.kind);
      return std::tuple(plan::reduces_work(c.kind), !doubt_of_price(c.plan).empty(), moves,
                        moves ? size_of(request, c) : 0.0);
    };
    return key(a) < key(b);
  });
}

std::string no_answer(const Request& request, const Recommendation& found) {
  std::string reason = format_reason(found);
  if (reason.empty()) reason = nearest_miss(found);
  // A provider without a price is the reason only where nothing else is.
  if (reason.empty()) reason = unpriced_words(request, found);
  std::string cut = cut_work(request).empty() ? "" : fmt::format("\nCaveat: {}.", cut_work(request));
  for (const std::string& note : {unpriced_words(request, found), unlisted_words(found)})
    if (!note.empty() && note != reason) cut += fmt::format("\nNote: {}.", note);
  const std::string nothing = reason.empty() ? "Nothing meets your limits" : "Nothing meets your limits: " + reason;
  if (found.changes.empty()) return nothing + (reason.empty() ? ", and none of the usual changes helps." : ".") + cut;
  const plan::RequestChange& nearest = closest(request, found);
  const std::string done = request.work.kind == WorkKind::kServing
                               ? ""
                               : fmt::format(", done in {}", format_duration(nearest.plan.elapsed()));
  const std::string doubt = doubt_of_price(nearest.plan);
  return fmt::format("{}. Closest, with {} ({}): {}{} for {}{}.{}", nothing, change_words(request, nearest.kind),
                     nearest.flags, describe_machines(nearest.plan), done, describe_cost(request, nearest.plan),
                     doubt.empty() ? "" : fmt::format(" ({})", doubt), cut);
}

// Adds the GPUs without a plan, and what would make them work.
void add_rejections(Report& report, const RecommendAnswer& answer) {
  constexpr std::size_t kMostFixes = 6;
  std::set<std::string> fixed;
  std::string fixes;
  std::vector<std::string> unsold;
  for (const plan::Rejection& r : answer.found.rejected) {
    if (r.partly) continue;
    if (r.stage == plan::RejectionStage::kPrice) unsold.push_back(r.gpu);
    if (!r.fix || fixed.size() == kMostFixes || !fixed.insert(r.gpu).second) continue;
    const std::string fix = describe_fix(answer.request, r, answer.found.best());
    const bool without = fix.starts_with("no --");
    fixes += fmt::format("  {} fits {} {}.\n", r.gpu, without ? "without" : "with", without ? fix.substr(3) : fix);
  }
  if (Table table = rejections_table(answer); !table.rows.empty()) report.blocks.emplace_back(std::move(table));
  if (!fixes.empty()) report.blocks.emplace_back(Paragraph{"What would make them work:\n" + fixes});
  if (!unsold.empty())
    report.blocks.emplace_back(
        Paragraph{"No offer within your providers, regions and terms: " +
                  (answer.shown.explain ? fmt::format("{}.", fmt::join(unsold, ", "))
                                        : fmt::format("{} GPUs (--explain names them).", unsold.size()))});
}

void add_changes(Report& report, const RecommendAnswer& answer) {
  constexpr double kClearlyMore = 1.02;
  if (answer.found.changes.empty()) return;
  report.blocks.emplace_back(changes_table(answer));
  const Plan* first = answer.found.best();
  std::string slower;
  for (const plan::RequestChange& c : answer.found.changes) {
    const std::string& why = describe_change(c.kind).why_slower;
    if (first != nullptr && c.plan.cost / first->cost > kClearlyMore && !why.empty()) slower += why + ". ";
  }
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
    const std::string does = part.share < 0.005
                                 ? "as a spare"
                                 : fmt::format("for {} of the requests", format_percent(Ratio::fraction(part.share)));
    parts += fmt::format("  {} {}\n", describe_machines(part.plan), does);
    rate += part.plan.rate() * kMonth;
  }
  report.blocks.emplace_back(
      Paragraph{fmt::format("Cheaper still, with two kinds of machines behind one router: {}/month, {}.\n{}",
                            format_usd(rate), compare(rate / found.plans.front().cost), parts)});
}

void add_stats(Report& report, const Request& request, const Recommendation& found) {
  const plan::SearchEffort& e = found.effort;
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

// Adds the details of --explain.
void add_details(Report& report, const RecommendAnswer& answer) {
  const auto& [request, found] = std::tie(answer.request, answer.found);
  if (!found.plans.empty()) {
    const Plan& first = found.plans[named_first(found)];
    if (const std::vector<std::string> terms = terms_sentences(request, found); !terms.empty())
      report.blocks.emplace_back(Paragraph{fmt::format("{}", fmt::join(terms, "\n"))});
    report.blocks.emplace_back(Paragraph{fmt::format("Settings: {}.", describe_settings(request, first))});
    report.blocks.emplace_back(
        Paragraph{fmt::format("{}. {}", describe_speed(request, first), describe_margins(request, first))});
    if (request.work.kind != WorkKind::kServing) report.blocks.emplace_back(Paragraph{where_hours_go(request, first)});
    if (!shows_energy(request, first)) report.say(energy_sentence(request, first));
    if (found.experiment)
      report.blocks.emplace_back(
          Paragraph{fmt::format("To test it: {}. Then pass your measurements to 'rightsize calibrate'.",
                                test_command(answer, *found.experiment))});
    report.blocks.emplace_back(Paragraph{next_best_sentence(request, found)});
    // Cheaper plans on the Pareto front have prices that keep them from first place.
    std::vector<plan::Plan> sooner;
    for (const plan::Plan& plan : found.pareto)
      if (!(plan.cost < found.plans.front().cost)) sooner.push_back(plan);
    if (sooner.size() > 1) {
      const bool serving = request.work.kind == WorkKind::kServing;
      Table front = plans_table(answer, serving ? "Faster answers for more money" : "Sooner for more money", sooner);
      front.most_shown = 8;
      report.blocks.emplace_back(std::move(front));
    }
    if (found.trade_off.size() > 1)
      report.show("Cost, time and energy",
                  table_of(trade_off_fields(), found.trade_off,
                           {report::renamed("gpus_shown", "gpus"), "instance", "provider", "purchase",
                            report::spare("cap_watts"), "wait_seconds", "usd_total", "energy_kwh"}));
  }
  add_breakpoints(report, found);
  add_changes(report, answer);
  add_rejections(report, answer);
}

}  // namespace

std::optional<ApiCost> api_cost(const RecommendAnswer& a) {
  if (!a.shown.api || a.found.plans.empty()) return std::nullopt;
  return api_cost(*a.shown.api, a.request, a.found.plans.front());
}

Report report_of(const RecommendAnswer& a) {
  Report report, details;
  report.title = describe_request(a.request);
  report.document = document_of(a);
  if (a.found.plans.empty()) {
    std::string text = no_answer(a.request, a.found);
    if (const std::vector<std::string> assumed = assumptions(a.request, nullptr); !assumed.empty())
      text += fmt::format("\nAssumed: {}.", fmt::join(assumed, "; "));
    report.blocks.emplace_back(Paragraph{std::move(text)});
  } else {
    for (std::string& text : answer_paragraphs(a.request, a.found))
      report.blocks.emplace_back(Paragraph{std::move(text)});
    if (const auto api = api_cost(a)) report.say(api_sentence(*api));
    if (shows_energy(a.request, a.found.plans.front())) report.say(energy_sentence(a.request, a.found.plans.front()));
    const bool serving = a.request.work.kind == WorkKind::kServing;
    report.blocks.emplace_back(plans_table(a,
                                           fmt::format("Best of each provider, GPU and terms ({} option{} {})",
                                                       format_count(a.found.feasible), a.found.feasible == 1 ? "" : "s",
                                                       serving && a.found.feasible == 1 ? "screened and simulated"
                                                       : serving                        ? "screened, these simulated"
                                                       : a.found.feasible == 1          ? "meets your limits"
                                                                                        : "meet your limits"),
                                           a.found.plans));
    std::string below = evidence_sentence(a.found);
    if (const std::string held = ranked_lower_sentence(a.request, a.found); !held.empty()) below += "\n" + held;
    report.blocks.emplace_back(Paragraph{std::move(below)});
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
