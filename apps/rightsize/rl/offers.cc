#include "rightsize/rl/offers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"
#include "base/threads.h"
#include "plan/explain.h"
#include "plan/limit_risk.h"
#include "rightsize/input/availability.h"

namespace rightsize::app {

std::string doubt_of(const market::PriceOutlook& price) {
  if (price.may_lead()) return {};
  return fmt::format("price {}{}", price.age ? fmt::format("{:.0f} days old", in_days(*price.age)) : "undated",
                     price.is_old() ? " with one source" : " and unconfirmed");
}

std::vector<RlOffer> rl_offers(const rl::RlRequest& request, const rl::RlPlan* first, const market::PriceBook& book,
                               const perf::Constants& constants) {
  enum class Moves { kNothing, kBudget, kDeadline, kGpus };
  struct Change {
    const char *what, *flags;
    std::function<void(rl::RlRequest&)> apply;
    Moves moves = Moves::kNothing;
  };
  const market::OfferFilter& filter = request.request.filter;
  const plan::PlanLimits& limits = request.request.limits;
  const bool spot =
      std::find(filter.purchases.begin(), filter.purchases.end(), catalog::Purchase::kSpot) != filter.purchases.end();
  std::vector<Change> changes;
  if (!filter.regions.empty())
    changes.push_back({"any region", "no --regions", [](rl::RlRequest& r) { r.request.filter.regions.clear(); }});
  if (!filter.providers.empty())
    changes.push_back({"any provider", "no --providers", [](rl::RlRequest& r) { r.request.filter.providers.clear(); }});
  if (!filter.purchases.empty() && !spot && !request.has_other_machines())
    changes.push_back(
        {"spot", "--purchase spot", [](rl::RlRequest& r) { r.request.filter.purchases = {catalog::Purchase::kSpot}; }});
  if (request.job.reference)
    changes.push_back({"no reference model", "--reference no", [](rl::RlRequest& r) { r.job.reference = false; }});
  if (first == nullptr && limits.budget)
    changes.push_back(
        {"a larger budget", "", [](rl::RlRequest& r) { r.request.limits.budget.reset(); }, Moves::kBudget});
  if (first == nullptr && !limits.max_gpus_assumed && !limits.gpus)
    changes.push_back(
        {"more GPUs", "", [](rl::RlRequest& r) { r.request.limits.max_gpus = plan::kManyGpus; }, Moves::kGpus});
  const auto soonest = [](rl::RlRequest& r) {
    r.request.limits.deadline.reset();
    r.request.objective = plan::Objective::kTime;
  };
  const auto twice = [](rl::RlRequest& r) { *r.request.limits.deadline = *r.request.limits.deadline * 2.0; };
  if (limits.deadline && first == nullptr)
    changes.push_back({"a later deadline", "", soonest, Moves::kDeadline});
  else if (limits.deadline)
    changes.push_back({"a later deadline", "", twice, Moves::kDeadline});

  std::vector<std::optional<RlOffer>> found_offers(changes.size());
  for_each_index(changes.size(), std::thread::hardware_concurrency(), [&](std::size_t i) {
    rl::RlRequest changed = request;
    changed.request.top = 1, changed.request.plans_only = true;
    // Our own limit is raised as the run would raise it.
    if (limits.max_gpus_assumed) changed.request.limits.max_gpus = plan::PlanLimits{}.max_gpus;
    changes[i].apply(changed);
    const rl::RlRecommendation found = rl::recommend_rl(changed, book, constants);
    if (found.plans.empty()) return;
    // A budget is the least that is enough.
    const bool least = changes[i].moves == Moves::kBudget && found.cheapest;
    const rl::RlPlan& plan = least ? *found.cheapest : found.plans.front();
    const plan::PricedOption& priced = plan.priced;
    if (first != nullptr && !(priced.cost < first->priced.cost)) return;
    RlOffer offer{changes[i].what,
                  changes[i].flags,
                  priced.offer->machine->provider,
                  priced.offer->gpu->name,
                  std::string(plan::terms_name(*priced.offer)),
                  plan.job.layout.gpus(),
                  priced.time.total(),
                  priced.cost,
                  doubt_of(*priced.price)};
    offer.confirmed = offer.doubt.empty();
    const bool later = changes[i].moves == Moves::kDeadline;
    for (const std::string& more : {std::string(priced.is_extrapolated() ? "no benchmark" : ""),
                                    late_words(later ? 0 : plan::chance_of_missing(changed.request, priced))})
      if (!more.empty()) offer.doubt += (offer.doubt.empty() ? "" : ", ") + more;
    if (changes[i].moves == Moves::kBudget) {
      offer.flags = fmt::format("--budget {:.0f}", std::ceil(in_usd(priced.due() - plan::kHalfACent)));
      offer.moved = priced.cost / *limits.budget;
    } else if (changes[i].moves == Moves::kDeadline) {
      offer.flags = "--deadline " + plan::duration_flag(plan::rounded_up(priced.time.total(), true));
      offer.moved = priced.time.total() / *limits.deadline;
    } else if (changes[i].moves == Moves::kGpus) {
      const int engine = plan.rollout ? plan.job.layout.rollout : 0;
      const int gpus = priced.option->machines * priced.machines->gpus + engine;
      offer.flags = fmt::format("--max-gpus {}", gpus);
      offer.moved = 1.0 * gpus / limits.max_gpus;
    }
    found_offers[i] = std::move(offer);
  });
  std::vector<RlOffer> offers;
  for (std::optional<RlOffer>& one : found_offers)
    if (one) offers.push_back(*std::move(one));
  if (first == nullptr)
    std::stable_sort(offers.begin(), offers.end(), [](const RlOffer& a, const RlOffer& b) {
      return std::tuple(!a.confirmed, a.moved) < std::tuple(!b.confirmed, b.moved);
    });
  return offers;
}

std::string late_words(double chance) {
  return chance < plan::kRisky ? ""
                               : plan::percent_chance(std::round(100 * chance) / 100) + " that it misses the deadline";
}

std::string availability_line(const rl::RlRecommendation& found, const market::PriceBook& book) {
  const plan::PricedOption& first = found.plans.front().priced;
  std::string text = availability_words(*first.offer, market::availability(book, *first.offer));
  if (text.empty()) return text;
  // As for other jobs: a provider or a GPU that does not need the same capacity.
  const auto other = std::ranges::find_if(found.plans, [&](const rl::RlPlan& plan) {
    const plan::PricedOption& p = plan.priced;
    const bool elsewhere = p.offer->machine->provider != first.offer->machine->provider;
    const bool spot = first.offer->price->purchase == catalog::Purchase::kSpot;
    const bool terms = p.offer->price->purchase != first.offer->price->purchase;
    return (elsewhere || (spot ? terms : p.offer->gpu != first.offer->gpu)) && p.price->may_lead() &&
           !p.is_extrapolated();
  });
  if (other == found.plans.end()) return text;
  const plan::PricedOption& p = other->priced;
  return text + fmt::format(" Fallback: {} x {} from {}, {}, {} for {}.", other->job.layout.gpus(), p.offer->gpu->name,
                            p.offer->machine->provider, plan::terms_name(*p.offer), format_duration(p.time.total()),
                            format_usd(p.cost));
}

std::string held_back_lines(const rl::RlRecommendation& found) {
  std::string lines;
  for (const rl::RlPlan& plan : found.held_back)
    lines += fmt::format("\nCheaper if {} confirms the price: {} x {}, {}, {}, {:.0f} % less ({}).",
                         plan.priced.offer->machine->provider, plan.job.layout.gpus(), plan.priced.offer->gpu->name,
                         plan::terms_name(*plan.priced.offer), format_usd(plan.priced.cost),
                         100 * (1 - plan.priced.cost / found.plans.front().priced.cost), doubt_of(*plan.priced.price));
  return lines;
}

std::string lateness(const rl::RlJob& job) {
  return job.async == 1  ? ", one step off-policy"
         : job.async > 0 ? fmt::format(", {} steps off-policy", format_number(job.async))
                         : "";
}

std::string beside_lines(const rl::RlRecommendation& found) {
  const rl::RlPlan& first = found.plans.front();
  std::string lines;
  const auto add = [&](std::string_view what, Seconds time, Usd cost, std::string_view note) {
    lines +=
        fmt::format("\n{}, {} for {}, {:.0f} % {}{}.", what, format_duration(time), format_usd(cost),
                    100 * std::abs(cost / first.priced.cost - 1), cost < first.priced.cost ? "less" : "more", note);
  };
  for (const auto& [what, plan] :
       {std::pair("Safe even at the slow end of its speed", &found.safe), std::pair("Much sooner", &found.sooner)}) {
    if (!*plan) continue;
    const plan::PricedOption& p = (*plan)->priced;
    add(fmt::format("{}: {} x {} from {}", what, (*plan)->job.layout.gpus(), p.offer->gpu->name,
                    p.offer->machine->provider),
        p.time.total(), p.cost, (*plan)->job.async > first.job.async ? lateness((*plan)->job) : "");
  }
  for (const rl::RlChange& change : found.changes)
    if (change.kind == rl::RlChange::Kind::kColocated && first.job.async > 0)
      add("On-policy, with training and generation on the same GPUs (--layout colocated)", change.time, change.cost,
          "");
  return lines;
}

std::string phases_words(const rl::RlEstimate& step) {
  std::vector<std::string> parts;
  for (const rl::Phase& phase : step.phases)
    if (phase.exposed > step.step * 0.01)
      parts.push_back(fmt::format("{} {}", rl::name_of(phase.kind), format_duration(phase.exposed)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

const report::Fields<RlOffer>& rl_offer_fields() {
  static const report::Fields<RlOffer> kFields = {
      {"what", "change", "the change", &RlOffer::what},
      {"flags", "flags", "the flags for it", &RlOffer::flags},
      {"provider", "provider", "provider of the best plan then", &RlOffer::provider},
      {"gpu", "GPU", "its GPU", &RlOffer::gpu},
      {"gpus", "GPUs", "number of GPUs", &RlOffer::gpus},
      {"purchase", "terms", "terms of its price", &RlOffer::purchase},
      {"hours", "time", "time of all steps, start-up and checkpoints included", &RlOffer::time},
      {"usd_total", "cost", "cost of all steps", &RlOffer::cost},
      {"doubt?", "what to confirm or test first, and the limit that it may miss", &RlOffer::doubt},
  };
  return kFields;
}

}  // namespace rightsize::app
