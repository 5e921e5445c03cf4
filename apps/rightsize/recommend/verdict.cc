// How clear the answer is, and what would be cheaper: rivals, doubtful prices, experiments, changes.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/candidates.h"
#include "plan/explain.h"
#include "plan/layouts.h"
#include "rightsize/recommend/energy_fields.h"
#include "rightsize/recommend/risks.h"
#include "rightsize/recommend/terms.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using plan::Plan;
using plan::Recommendation;
using plan::RequestChangeKind;
using plan::WorkKind;

// The best listed plan with a measured speed, for users who do not trust data sheets.
std::string measured_instead(const Recommendation& found) {
  const Plan& first = found.plans.front();
  for (const Plan& p : found.plans) {
    if (p.extrapolated || p.cost < first.cost_high) continue;
    return fmt::format("; even its high end{} costs less than {} x {} from {} ({}, {})",
                       first.cost_high > first.cost ? fmt::format(" of {}", short_usd(first.cost_high)) : "", p.gpus,
                       p.offer.gpu->name, p.offer.machine->provider, short_usd(p.cost), compare(p.cost / first.cost));
  }
  return {};
}

// " (no benchmark)", " (price 88 days old and unconfirmed)": why a plan of the table could not lead.
std::string doubt_of(const Plan& plan) {
  std::vector<std::string> doubts;
  if (plan.extrapolated || plan.is_unproven()) doubts.emplace_back("no benchmark");
  if (std::string price = doubt_of_price(plan); !price.empty()) doubts.push_back(std::move(price));
  return doubts.empty() ? std::string() : fmt::format(" ({})", fmt::join(doubts, ", "));
}

// "8 x h100-sxm from lambda".
std::string in_short(const Plan& plan) {
  const std::string& provider = plan.offer.machine->provider;
  return fmt::format("{} x {}{}", plan.gpus, plan.offer.gpu->name,
                     provider == market::kOwn ? ", your own" : " from " + provider);
}

// " (--top 6 lists it)": how to see a plan that the table leaves out. Its row may be an earlier one there, because more
// plans are simulated.
std::string beyond_table(const Recommendation& found, const Plan& plan) {
  if (plan.rank <= static_cast<int>(found.plans.size())) return {};
  return fmt::format(" (--top {} lists it)", plan.rank);
}

std::string list_of_names(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? std::string() : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

Usd new_money(const Plan& plan) { return plan.cost - market::sum_of(plan.draws); }

// What makes a cheaper plan less certain to deliver than the first; empty: nothing. Only with the same limits do these
// count.
std::string weakness(const plan::Request& request, const Plan& first, const Plan& cheaper, bool same_limits) {
  const bool service = request.work.kind == WorkKind::kServing;
  if (cheaper.extrapolated)
    return fmt::format("no benchmark, up to {}", short_usd(std::max(cheaper.cost, cheaper.cost_high)));
  if (cheaper.job.serve.disaggregated && !first.job.serve.disaggregated)
    return "needs separate prefill and decode workers, with a router";
  if (service && same_limits && cheaper.misses_if_slow && !first.misses_if_slow)
    return "misses your limits at the slow end of its speed range";
  if (service && cheaper.interval_known && cheaper.cost_high > first.cost_high * 1.02)
    return fmt::format("would cost {} if its GPUs are slow", short_usd(cheaper.cost_high));
  const double used = plan::limit_used(request, cheaper);
  if (same_limits && service && used > 0.9 && plan::limit_used(request, first) < used)
    return fmt::format("its latency is at {:.0f} % of its limit", 100 * used);
  if (service && cheaper.resizing > first.resizing + 0.1)
    return fmt::format("{:.0f} % chance that it needs more machines to meet your limits", 100 * cheaper.resizing);
  if (same_limits && !service && cheaper.resizing >= plan::kRisky)
    return percent_chance(std::round(100 * cheaper.resizing) / 100) + " that it misses the deadline";
  return first.benchmarked && !cheaper.benchmarked ? "no benchmark" : "";
}

// More than a day, and more than twice as long.
bool takes_far_longer(const Plan& first, const Plan& other) {
  return other.elapsed() > std::max(first.elapsed() * 2, days(1));
}

// Why a cheaper plan of the table is not first.
std::string why_lower(const plan::Request& request, const Plan& first, const Plan& cheaper) {
  const bool service = request.work.kind == WorkKind::kServing;
  const double sooner = cheaper.time.total() / first.time.total();
  const auto old = [](const Plan& p) {
    return p.price.age && *p.price.age > days(market::kAgedDays) ? in_days(*p.price.age) : 0;
  };
  if (!cheaper.price.may_lead()) return held_back(cheaper.price);
  if (cheaper.is_unproven() && !first.is_unproven()) return "no benchmark, unconfirmed price";
  if (new_money(cheaper) > new_money(first))
    return fmt::format("{} of new money instead of {}", short_usd(new_money(cheaper)), short_usd(new_money(first)));
  const double energy = first.power > Watts{} ? cheaper.energy_kwh() / first.energy_kwh() : 0;
  if (request.objective == plan::Objective::kEnergy && energy > 1.005)
    return fmt::format("uses {} energy", compare(energy));
  if (std::string weak = weakness(request, first, cheaper, true); !weak.empty()) return weak;
  if (first.basis < cheaper.basis) return "its speed was not measured with this framework";
  if (first.offer.price->purchase == Purchase::kOnDemand && cheaper.offer.price->purchase != Purchase::kOnDemand)
    return fmt::format("{} for at most 3 % less", catalog::name_of(cheaper.offer.price->purchase));
  if (old(cheaper) > old(first)) return fmt::format("its price is {:.0f} days old", old(cheaper));
  if (cheaper.price.sources < 2 && first.price.sources > 1) return "its price has one source";
  if (first.machines != cheaper.machines && service == (first.machines > cheaper.machines))
    return fmt::format("{} {} machine{} instead of {}", service ? "runs on" : "takes", cheaper.machines,
                       cheaper.machines == 1 ? "" : "s", first.machines);
  if (!service && sooner > 1.05) return fmt::format("takes {}x as long", format_number(sooner, 2));
  if (plan::has_arm_host(cheaper.offer)) return "has an Arm host";
  if (service && first.latency < cheaper.latency) return "answers later";
  if (request.work.kind == WorkKind::kTraining && cheaper.memory.high > cheaper.fit.capacity * 0.95)
    return "memory is tight";
  return request.objective == plan::Objective::kCost ? "within 3 %" : "less suited to the objective";
}

constexpr double kLess = 0.999;  // of the cost: less than the same

// "gh200 costs 6.1 % less, but ranks lower (latency at 96 % of its limit)": the cheapest other GPU, unless another
// sentence asks to test it or to confirm its price.
std::string cheaper_gpu(const plan::Request& request, const Recommendation& found) {
  const Plan &first = found.plans.front(), *next = found.next_gpu();
  if (next == nullptr || next->cost > first.cost * kLess || found.decision() == plan::Decision::kExtrapolation)
    return {};
  const auto is_its = [&](const Plan& p) { return p.offer.gpu == next->offer.gpu; };
  if (!next->price.may_lead() || std::any_of(found.held_back.begin(), found.held_back.end(), is_its)) return {};
  if (found.experiment && is_its(found.experiment->plan)) return {};
  return fmt::format("{} costs {}, but ranks lower ({}){}", next->offer.gpu->name, compare(next->cost / first.cost),
                     why_lower(request, first, *next), beyond_table(found, *next));
}

// The change in words, without its flags.
std::string lever_words(const plan::Request& request, RequestChangeKind kind) {
  if (kind == RequestChangeKind::kSpot) return "spot";
  const std::string words = change_words(request, kind);
  return words.substr(0, words.find(" ("));
}

// Whether a user can rely on a change: engines run the format on the GPU, and checkpoints exist (4-bit checkpoints are
// published for models that generate text).
bool can_be_used(const plan::Request& request, const plan::RequestChange& change) {
  switch (change.kind) {
    case RequestChangeKind::kFp4Weights:
      return change.plan.offer.gpu->peak(catalog::NumberFormat::kFp4).supported && request.job.serve.osl > 1;
    case RequestChangeKind::kInt4Weights:
      return request.job.serve.osl > 1;
    default:
      return true;
  }
}

// An offer carries the caveat that its replicas fail together.
std::string failing_together(const plan::Request& request, const Plan& plan) {
  const bool spare = request.work.kind == WorkKind::kServing && request.work.rate > RequestsPerSecond{};
  return spare && !request.limits.allow_single && plan.replicas > 1 && plan.machines == 1 ? "all on one machine" : "";
}

std::string terms_words(Purchase purchase) {
  return purchase == Purchase::kOneYear      ? "1-year"
         : purchase == Purchase::kThreeYears ? "3-year"
                                             : std::string(catalog::name_of(purchase));
}

// "; there is a 34 % chance that this one stays the cheapest".
std::string chance_of_staying(const Recommendation& found) {
  const Plan* rival = found.rival();
  const bool leads = rival == nullptr || rival->cost >= found.plans.front().cost;
  return fmt::format("; there is {} that this one {} the cheapest{}",
                     percent_chance(std::round(100 * found.confidence.value_or(1)) / 100),
                     leads ? "stays" : "turns out", among_whom(found));
}

std::string verdict_on(const plan::Request& request, const Recommendation& found) {
  const Plan& first = found.plans.front();
  if (request.objective == plan::Objective::kEnergy) return energy_verdict(found);
  switch (found.decision()) {
    case plan::Decision::kExtrapolation:
      return fmt::format("Extrapolation: no benchmark for {} with {}{}{}.", first.offer.gpu->name,
                         model::name_of(first.job.stack), measured_instead(found),
                         found.confidence.value_or(1) < 0.5 ? chance_of_staying(found) : "");
    case plan::Decision::kClose: {
      std::vector<std::string> names;
      for (const Plan* plan : found.close_calls())
        names.push_back(plan->offer.gpu->name + (plan->extrapolated ? " (no benchmark)" : "") +
                        beyond_table(found, *plan));
      const std::string cheaper = cheaper_gpu(request, found);
      return fmt::format("Close call: {} {} within 5 %; choose by availability or {}.{}", list_of_names(names),
                         names.size() == 1 ? "is" : "are",
                         request.work.kind == WorkKind::kServing ? "latency" : "speed",
                         cheaper.empty() ? "" : fmt::format(" {}.", cheaper));
    }
    default:
      break;
  }
  const std::string cheaper = cheaper_gpu(request, found);
  const Plan *next = found.next_gpu(), *rival = found.rival();
  if (next != nullptr && next->cost < first.cost && cheaper.empty()) {
    next = nullptr;  // another sentence names it; here, the next that costs more
    for (const Plan* p : found.compared())
      if (p->offer.gpu != first.offer.gpu && p->cost >= first.cost && (!next || p->cost < next->cost)) next = p;
    if (next == nullptr) return {};
  }
  if (next == nullptr) {
    const bool all_listed = found.plans.size() < static_cast<std::size_t>(request.top) && !request.plans_only;
    return all_listed && request.filter.gpus.size() != 1 ? no_other_gpu(found) : std::string();
  }
  const plan::Decision decision = found.decision();
  const double confidence = found.confidence.value_or(1);
  const char* verdict = decision == plan::Decision::kUncertain  ? "Uncertain"
                        : !cheaper.empty()                      ? "Ahead"
                        : !found.confidence || rival == nullptr ? "Cheapest"
                        : decision == plan::Decision::kClear    ? "Clear winner"
                                                                : "Ahead";
  std::string text = fmt::format("{}: ", verdict);
  text += !cheaper.empty() ? cheaper
                           : fmt::format("the next GPU, {}, costs {}{}{}", next->offer.gpu->name,
                                         compare(next->cost / first.cost), doubt_of(*next), beyond_table(found, *next));
  if (rival != nullptr && rival->offer.gpu != next->offer.gpu)
    text +=
        fmt::format(", and the next with a {}, {}, costs {}", next->price.may_lead() ? "benchmark" : "confirmed price",
                    rival->offer.gpu->name, compare(rival->cost / first.cost)) +
        beyond_table(found, *rival);
  if (rival != nullptr && confidence < 0.8) text += chance_of_staying(found);
  return text + ".";
}

}  // namespace

std::string among_whom(const Recommendation& found) {
  const auto is_left_out = [&](const Plan& p) { return !found.is_sound(p) && p.cost < found.plans.front().cost; };
  const bool left_out = std::ranges::any_of(found.compared(), [&](const Plan* p) { return is_left_out(*p); }) ||
                        std::ranges::any_of(found.held_back, is_left_out);
  return left_out ? " of those with a benchmark and a confirmed price" : "";
}

std::string decision_sentence(const plan::Request& request, const Recommendation& found) {
  const std::string text = verdict_on(request, found);
  if (!found.plans.front().misses_if_slow) return text;  // the caveats have the chances that more machines prevent
  const std::string risk = plan::risk_in_short(request, found.plans.front());
  return text.empty() && !risk.empty() ? risk.substr(1) : text + risk;
}

std::string doubt_sentence(const Recommendation& found) {
  const Plan& first = found.plans.front();
  if (first.offer.is_own() || !first.price.in_doubt()) return {};
  if (found.confirmed)
    return fmt::format("Cheapest with a confirmed price: {}, {}, {}.", describe_machines(*found.confirmed),
                       short_usd(found.confirmed->cost), compare(found.confirmed->cost / first.cost));
  std::string confirmed;
  for (const RequestChangeKind limit : {RequestChangeKind::kNoBudget, RequestChangeKind::kNoDeadline})
    for (const plan::RequestChange& c : found.changes)
      if (c.kind == limit && c.plan.price.may_lead() && confirmed.empty())
        confirmed = fmt::format(" ({}: {} for {})", c.flags, describe_machines(c.plan), short_usd(c.plan.cost));
  return fmt::format("Confirm the price with {} first: it is {}. No plan with a confirmed price meets your limits{}.",
                     first.offer.machine->provider, price_doubt(first.price), confirmed);
}

std::string held_back_sentence(const Recommendation& found) {
  std::vector<std::string> lines;
  const Plan& first = found.plans.front();
  std::vector<Plan> held = found.held_back;
  const Plan* next = found.next_gpu();
  const auto is_its = [&](const Plan& p) { return p.offer.gpu == next->offer.gpu; };
  if (next != nullptr && next->cost < first.cost && !next->price.may_lead() && std::ranges::none_of(held, is_its))
    held.push_back(*next);
  for (const Plan& plan : held) {
    const bool stated = std::ranges::any_of(found.other_terms, [&](const Plan& other) {
      return other.offer.price->purchase == plan.offer.price->purchase && other.cost <= plan.cost * 1.001;
    });
    const bool backed = plan.benchmarked && !first.benchmarked;
    if (stated || (plan.cost >= first.cost && !backed)) continue;
    const char* why = plan.cost < first.cost ? "Cheaper" : "Cheapest with a benchmark,";
    lines.push_back(fmt::format("{} if {} confirms the price: {}, {}, {} ({}{}).", why, plan.offer.machine->provider,
                                describe_machines(plan), short_usd(plan.cost), compare(plan.cost / first.cost),
                                price_doubt(plan.price), plan.benchmarked ? "" : "; no benchmark for the GPU"));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string ranked_lower_sentence(const plan::Request& request, const Recommendation& found) {
  std::vector<std::string> parts;
  const Plan& first = found.plans.front();
  const Plan* named = cheaper_gpu(request, found).empty() ? nullptr : found.next_gpu();  // in the verdict
  Usd above = first.cost;  // the most that a plan above it costs
  for (std::size_t i = 1; i < found.plans.size(); above = std::max(above, found.plans[i++].cost))
    if (found.plans[i].cost < above * kLess && &found.plans[i] != named)
      parts.push_back(fmt::format("plan {} ({})", i + 1, why_lower(request, first, found.plans[i])));
  return parts.empty() ? std::string() : fmt::format("Cheaper, but ranked lower: {}.", fmt::join(parts, ", "));
}

std::string evidence_sentence(const Recommendation& found) {
  std::vector<std::pair<std::string, std::vector<std::string>>> bases;  // with the plans' numbers, in order
  std::vector<std::string> ages;
  for (const Plan& plan : found.plans) {
    const std::string basis = plan.benchmarked && !plan.extrapolated ? describe_basis(plan) : "no benchmark";
    const bool scaled = !plan.benchmarked && !plan.extrapolated && !plan.relative.empty();
    auto same = std::find_if(bases.begin(), bases.end(), [&](const auto& known) { return known.first == basis; });
    if (same == bases.end()) same = bases.insert(bases.end(), {basis, {}});
    const bool listed = !plan.offer.is_own() && plan.price.age;
    ages.push_back(listed ? fmt::format("{:.0f}", in_days(*plan.price.age)) : "-");
    same->second.push_back(fmt::format("{}{}", ages.size(), scaled ? " (scaled from " + plan.relative + ")" : ""));
  }
  std::vector<std::string> parts;
  for (const auto& [basis, plans] : bases)
    parts.push_back(fmt::format("{} for plan{} {}", basis, plans.size() == 1 ? "" : "s", fmt::join(plans, ", ")));
  if (bases.size() == 1 && bases.front().first != "no benchmark") parts = {bases.front().first + " for all plans"};
  const bool priced = std::any_of(ages.begin(), ages.end(), [](const std::string& age) { return age != "-"; });
  if (std::count(ages.begin(), ages.end(), ages.front()) == static_cast<std::ptrdiff_t>(ages.size())) ages.resize(1);
  return fmt::format("Speed: {}.{}", fmt::join(parts, "; "),
                     !priced            ? std::string()
                     : ages.size() == 1 ? fmt::format(" All prices are {} days old.", ages.front())
                                        : fmt::format(" Price ages: {} days.", fmt::join(ages, ", ")));
}

std::string sooner_sentence(const plan::Request& request, const Recommendation& found) {
  constexpr double kLittleMore = 1.05, kMuchSooner = 0.75;
  constexpr int kUsual = 64;  // GPUs that a provider may have at once
  const Plan& first = found.plans.front();
  const int most = std::max({kUsual, first.gpus, request.limits.max_gpus_assumed ? 0 : request.limits.max_gpus});
  if (request.work.kind == WorkKind::kServing || request.objective != plan::Objective::kCost) return {};
  // A guess counts as slow.
  const auto time_of = [](const Plan& p) { return p.elapsed() * (p.extrapolated ? p.speed.high : 1); };
  const Plan *little = nullptr, *traded = nullptr;  // the soonest for little more, and the best trade of money for time
  Seconds least = first.elapsed() * kMuchSooner;
  double best = plan::kGoodTrade;
  for (const std::vector<Plan>* list : {&found.plans, &found.pareto}) {
    for (const Plan& p : *list) {
      if (!p.price.may_lead() || p.gpus > most) continue;
      if (p.cost <= first.cost * kLittleMore && time_of(p) < least) little = &p, least = time_of(p);
      const Seconds waited = std::max(time_of(p), plan::kLongWait);  // less is not worth more money
      const double trade = plan::trade_of(p.cost / first.cost, waited / first.elapsed());
      if (trade < best) traded = &p, best = trade;
    }
  }
  const bool worth = traded != nullptr && first.elapsed() > plan::kLongWait &&
                     (little == nullptr || time_of(*traded) < least * kMuchSooner);
  std::vector<std::string> lines;
  for (const auto& [what, p] : {std::pair("Sooner", little), std::pair("Much sooner", worth ? traded : nullptr)}) {
    if (p == nullptr) continue;
    const double more = p->cost / first.cost;
    const std::string why = more < kLess ? fmt::format(" (ranks lower: {})", why_lower(request, first, *p)) : "";
    lines.push_back(fmt::format("{}: {}, {} for {}{}{}.", what, in_short(*p), format_duration(p->elapsed()),
                                short_usd(p->cost), std::abs(more - 1) < 0.005 ? "" : ", " + compare(more),
                                why.empty() ? doubt_of(*p) : why));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::string safer_sentence(const plan::Request& request, const Recommendation& found) {
  constexpr double kMostMore = 2, kLikely = 0.35;
  const Plan& first = found.plans.front();
  const bool service = request.work.kind == WorkKind::kServing;
  if (plan::keeps_limits_if_slow(request, first) || request.objective != plan::Objective::kCost) return {};
  const Plan* safest = found.safest(request);
  if (safest == nullptr || safest->cost < first.cost) return {};
  // What the first plan costs if it is slow is the other way to meet the limits.
  const bool pays = first.misses_if_slow || safest->cost <= first.cost_high;
  if (service ? first.resizing < kLikely || !pays : safest->cost > first.cost * kMostMore) return {};
  return fmt::format("Safe even at the slow end of its speed: {}, {}{}{}, {}.", in_short(*safest),
                     service ? "" : format_duration(safest->elapsed()) + " for ", short_usd(safest->cost),
                     service ? "/month" : "", compare(safest->cost / first.cost));
}

std::string asked_terms_sentence(const plan::Request& request, const Recommendation& found) {
  const char* each = request.work.kind == WorkKind::kServing ? "/month" : "";
  std::vector<std::string> parts, missing, unused;
  std::optional<Usd> least;  // of commitments longer than the job
  for (const std::string& terms : found.missing_terms)
    missing.push_back(terms_words(catalog::parse_purchase(terms).value_or(Purchase::kOnDemand)));
  for (const Plan& p : found.other_terms) {
    if (p.price.outdated) {
      parts.push_back(fmt::format("{}: only prices over a year old ({})", terms_words(p.offer.price->purchase),
                                  p.offer.machine->provider));
      continue;
    }
    // A commitment is paid to its end.
    if (is_short_for(request, p, plan::term_of(p.offer.price->purchase))) {
      unused.push_back(terms_words(p.offer.price->purchase));
      least = std::min(least.value_or(p.cost), p.cost);
      continue;
    }
    const bool above = request.limits.budget && p.cost > *request.limits.budget;
    const bool more = p.machines * p.offer.machine->gpus > request.limits.max_gpus;
    parts.push_back(fmt::format("{}: {} x {} from {}, {}{}, {}{}{}{}", terms_words(p.offer.price->purchase), p.gpus,
                                p.offer.gpu->name, p.offer.machine->provider, short_usd(p.cost), each,
                                compare(p.cost / found.plans.front().cost), above ? ", above your budget" : "",
                                more ? fmt::format(", more than {} GPUs (--max-gpus)", request.limits.max_gpus) : "",
                                doubt_of(p)));
  }
  for (const plan::TermNeed& term : found.unmet_terms) {
    const NeedAndHave lack = describe_shortfall(term.lack);
    parts.push_back(fmt::format("{}: nothing meets your limits; {} needs {}{}",
                                terms_words(catalog::parse_purchase(term.terms).value_or(Purchase::kOnDemand)),
                                term.gpu, lack.need, lack.have.empty() ? "" : fmt::format(" ({})", lack.have)));
  }
  std::string text;
  if (!missing.empty())
    text = fmt::format("No {} price on file for your choices (--catalog DIR adds yours).", fmt::join(missing, " or "));
  if (!parts.empty())
    text += fmt::format("{}On the other terms you asked for: {}.", text.empty() ? "" : " ", fmt::join(parts, "; "));
  const Plan& first = found.plans.front();
  if (!unused.empty())
    text += fmt::format("{}{} terms do not pay: all of the term is billed, from {}, and the job takes {}.",
                        text.empty() ? "" : " ", fmt::join(unused, " and "), short_usd(*least),
                        format_duration(first.time.total()));
  std::vector<std::string> unsold;
  for (const std::string& terms : found.unsold_terms) {
    const Purchase purchase = catalog::parse_purchase(terms).value_or(Purchase::kOnDemand);
    if (!is_short_for(request, first, plan::term_of(purchase))) unsold.push_back(terms_words(purchase));
  }
  if (!unsold.empty())
    text += fmt::format(" No {} price of {} on file: ask {} for one below {}{}.", fmt::join(unsold, " or "),
                        first.offer.machine->instance, first.offer.machine->provider, short_usd(first.cost), each);
  return text;
}

std::string scale_sentence(const plan::Request& request, const Recommendation& found) {
  constexpr int kManyGpus = 64;
  constexpr double kLittleLoad = 0.05;
  constexpr Usd kMuch = usd(100'000);
  const Plan& first = found.plans.front();
  const bool rented = first.offer.machine->provider != market::kOwn && !first.offer.price->available;
  if (rented && (first.gpus > kManyGpus || first.cost > kMuch))
    return fmt::format("Ask {} for a quote first: {}a reserved price is negotiable at this size.",
                       first.offer.machine->provider,
                       first.gpus > kManyGpus
                           ? fmt::format("{} GPUs at once are rarely free on demand, and ", format_count(first.gpus))
                           : "");
  const bool serves = request.work.kind == WorkKind::kServing && request.work.rate > RequestsPerSecond{};
  const bool little = serves && first.load > 0 && first.load < kLittleLoad;
  // More than a spare replica: the bursts of the traffic need them all.
  if (little && first.replicas > 2)
    return fmt::format(
        "The bursts need {} replicas, whose mean load is {}: 'rightsize autoscale' with this trace tells whether "
        "replicas can follow the traffic.",
        first.replicas, format_percent(Ratio::fraction(first.load)));
  if (little)
    return fmt::format(
        "The GPUs work at {} of their capacity: {}a shared GPU ('rightsize mig'), scaling to zero "
        "('rightsize autoscale') or an API costs less.",
        format_percent(Ratio::fraction(first.load)),
        first.machines_by_hour.empty() && plan::follows_hours(first.offer)
            ? fmt::format("{} hours a day ({}/month, --hours-per-day {}), ", plan::kWorkingHours,
                          short_usd(first.cost * (plan::kWorkingHours / 24.0)), plan::kWorkingHours)
            : "");
  return {};
}

std::string unpriced_words(const plan::Request& request, const Recommendation& found) {
  std::vector<std::string> terms;
  for (const Purchase purchase : request.filter.purchases) terms.push_back(terms_words(purchase));
  const bool nothing = !terms.empty() && found.missing_terms.size() == terms.size();
  if (found.unpriced.empty() && nothing)
    return fmt::format("no {} price on file for your choices", fmt::join(terms, " or "));
  if (found.unpriced.empty()) return {};
  const std::vector<std::string>& regions = request.filter.regions;
  return fmt::format("no {}price on file for {}{}", terms.empty() ? "" : fmt::format("{} ", fmt::join(terms, " or ")),
                     list_of_names(found.unpriced),
                     regions.empty()      ? ""
                     : regions.size() > 3 ? std::string(" in your regions")
                                          : fmt::format(" in {}", fmt::join(regions, ", ")));
}

std::string unlisted_words(const Recommendation& found) {
  std::vector<std::string> parts;
  for (const plan::UnlistedProvider& p : found.unlisted) {
    const bool old = p.age_days > in_days(kYear);
    // A refusal has its reasons; only prices that no one would use are worth a note.
    if (found.plans.empty() && !old) continue;
    parts.push_back(fmt::format("{} ({})", p.name,
                                old       ? fmt::format("its newest price is {} days old", format_count(p.age_days))
                                : p.meets ? "ranks lower"
                                          : "nothing meets your limits"));
  }
  return parts.empty() ? std::string() : fmt::format("not in the table: {}", list_of_names(parts));
}

std::string change_words(const plan::Request& request, RequestChangeKind kind) {
  if (kind == RequestChangeKind::kLongerTtft && plan::is_one_pass(request))
    return describe_change(RequestChangeKind::kLongerLatency).what;
  return describe_change(kind).what;
}

std::string experiment_sentence(const plan::Request& request, const Recommendation& found) {
  if (!found.experiment) return {};
  const plan::Experiment& e = *found.experiment;
  const std::string on = e.machines < e.plan.machines
                             ? fmt::format("{} of its {} machines", e.machines, e.plan.machines)
                             : std::string("it");
  if (found.plans.front().extrapolated)
    return fmt::format("Test it first: {} has no benchmark, and a test of {} on {} costs about {}.",
                       e.plan.offer.gpu->name, format_duration(e.test_time), on, short_usd(e.test_cost));
  const Plan& first = found.plans.front();
  const Usd now = first.cost;
  return fmt::format(
      "Worth a test: {} x {} could save {:.0f} % ({}{}){} but has no benchmark{}. A test of {} on {} costs about {}.",
      e.plan.gpus, e.plan.offer.gpu->name, 100 * (1 - e.plan.cost / now), short_usd(now - e.plan.cost),
      request.work.kind == WorkKind::kServing ? "/month" : "",
      takes_far_longer(first, e.plan) ? ", takes " + format_duration(e.plan.elapsed()) + "," : std::string(),
      e.plan.is_unproven() ? " and an unconfirmed price" : "", format_duration(e.test_time), on,
      short_usd(e.test_cost));
}

std::string levers_sentence(const plan::Request& request, const Recommendation& found) {
  constexpr double kWorthALine = 0.9, kAnySaving = 0.99;
  constexpr double kWorthAStack = 0.95;  // of software that we assumed
  constexpr std::size_t kMost = 3;
  const Plan& first = found.plans.front();
  const bool energy = request.objective == plan::Objective::kEnergy;
  const auto amount = [&](const Plan& p) { return energy ? p.energy_kwh() : in_usd(new_money(p)); };
  if (!(amount(first) > 0)) return {};  // drawn from a commitment
  // A commitment or spot machines that cost more than on-demand ones are a mistake, even by a small amount.
  const auto frees = [&](const Plan& p) {
    return first.offer.price->purchase != Purchase::kOnDemand && p.offer.price->purchase == Purchase::kOnDemand;
  };
  std::vector<const plan::RequestChange*> levers;
  for (const plan::RequestChange& c : found.changes) {
    const double worth = frees(c.plan) ? kAnySaving : plan::changes_stack(c.kind) ? kWorthAStack : kWorthALine;
    const bool known = amount(c.plan) > 0 || !energy;
    if (known && amount(c.plan) <= amount(first) * worth && can_be_used(request, c)) levers.push_back(&c);
  }
  std::sort(levers.begin(), levers.end(), [&](const auto* a, const auto* b) {
    return std::tuple(!frees(a->plan), amount(a->plan), a->flags) <
           std::tuple(!frees(b->plan), amount(b->plan), b->flags);
  });
  // The two 4-bit formats have similar quality, so only the cheaper one is listed.
  const auto is_4_bit = [](const plan::RequestChange* c) {
    return c->kind == RequestChangeKind::kInt4Weights || c->kind == RequestChangeKind::kFp4Weights;
  };
  const auto best = std::find_if(levers.begin(), levers.end(), is_4_bit);
  if (best != levers.end()) levers.erase(std::remove_if(best + 1, levers.end(), is_4_bit), levers.end());
  // 8 bits lose less, so 4 bits must cost less.
  const auto fp8 = std::find_if(levers.begin(), levers.end(),
                                [](const auto* c) { return c->kind == RequestChangeKind::kFp8Weights; });
  if (fp8 != levers.end()) {
    const double cost = amount((*fp8)->plan);
    std::erase_if(levers, [&](const auto* c) { return is_4_bit(c) && amount(c->plan) > cost * kAnySaving; });
  }
  const auto is_stack = [](const plan::RequestChange* c) { return plan::changes_stack(c->kind); };
  if (const auto best_stack = std::find_if(levers.begin(), levers.end(), is_stack); best_stack != levers.end())
    levers.erase(std::remove_if(best_stack + 1, levers.end(), is_stack), levers.end());
  // A slightly longer limit changes the answers least, so it is always listed, as is other software.
  const auto longer = std::find_if(levers.begin(), levers.end(), [](const auto* c) {
    return plan::extends(c->kind) && c->kind != RequestChangeKind::kLaterDeadline;
  });
  const bool longer_saves = longer != levers.end();
  std::vector<const plan::RequestChange*> crowded_out;
  for (std::size_t i = kMost; i < levers.size(); ++i)
    if (is_stack(levers[i]) || (longer_saves && levers[i] == *longer)) crowded_out.push_back(levers[i]);
  if (levers.size() > kMost) levers.resize(kMost);
  levers.insert(levers.end(), crowded_out.begin(), crowded_out.end());
  std::vector<std::string> parts;
  for (const plan::RequestChange* c : levers) {
    const Plan& p = c->plan;
    // The price of spot machines moves.
    const bool moves = c->kind == RequestChangeKind::kSpot && p.interval_known && p.cost_high > first.cost;
    const bool other_terms = c->kind != RequestChangeKind::kSpot && c->kind != RequestChangeKind::kOnDemand &&
                             p.offer.price->purchase != first.offer.price->purchase;
    const std::string saved = energy ? format_number(p.energy_kwh()) + " kWh"
                                     : short_usd(p.cost) + (request.work.kind == WorkKind::kServing ? "/month" : "");
    std::vector<std::string> notes{c->flags};
    std::string weak = weakness(request, first, p, !plan::extends(c->kind));
    if (weak.empty() && moves) weak = "up to " + short_usd(p.cost_high);
    if (!weak.empty()) notes.push_back(std::move(weak));
    const bool to_spot = p.offer.price->purchase == Purchase::kSpot && first.offer.price->purchase != Purchase::kSpot;
    if (to_spot ? p.elapsed() > first.elapsed() * 1.1 : takes_far_longer(first, p))
      notes.push_back("takes " + format_duration(p.elapsed()));
    if (to_spot) {
      const double expected = p.expected_interruptions(request.assumptions);
      if (expected >= 1)
        notes.push_back(interruptions_in_words(expected) + (request.work.kind == WorkKind::kServing ? " a month" : ""));
    }
    // The answer above states the age of the first plan's price; a run with the change states its own.
    const bool stated = p.offer.machine->provider == first.offer.machine->provider && p.price.age == first.price.age;
    for (const std::string& note : {stated ? std::string() : doubt_of_price(p), failing_together(request, p)})
      if (!note.empty()) notes.push_back(note);
    parts.push_back(fmt::format("{}{}{} {}, {:.0f} % less ({})", lever_words(request, c->kind),
                                p.offer.gpu == first.offer.gpu ? "" : " on " + p.offer.gpu->name,
                                other_terms ? ", " + terms_words(p.offer.price->purchase) : "", saved,
                                100 * (1 - amount(p) / amount(first)), fmt::join(notes, "; ")));
  }
  // Where a limit makes the plan expensive, the answer names it, and what a longer one saves.
  std::string text = energy ? std::string() : binding_limit(request, first);
  if (!text.empty() && !longer_saves) text += " Twice the limit saves less than 10 %.";
  if (parts.empty()) return text;
  if (!text.empty()) text += "\n";
  return text + fmt::format("To {}: {}.", energy ? "use less energy" : "pay less", fmt::join(parts, "; "));
}

}  // namespace rightsize::app
