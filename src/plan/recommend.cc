// The planner, top to bottom: offers, classes, search, price, rank, verify, explain.
#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/threads.h"
#include "plan/explore.h"

namespace rightsize::plan {
namespace {

bool moves_budget(RequestChangeKind kind) {
  return kind == RequestChangeKind::kNoBudget || kind == RequestChangeKind::kTwoChanges;
}

RequestChangeKind extending(const capacity::Slo& slo, const Request& request) {
  if (slo.quantity == capacity::Quantity::kTpot) return RequestChangeKind::kLongerTpot;
  const bool whole = slo.quantity == capacity::Quantity::kLatency && request.limits.latency;
  return whole ? RequestChangeKind::kLongerLatency : RequestChangeKind::kLongerTtft;
}

// The change that relaxes the limit which rejected a GPU.
std::optional<RequestChangeKind> relaxing(const Shortfall& s, const Request& request) {
  using Kind = Shortfall::Kind;
  switch (s.kind) {
    case Kind::kDeadline:
      return RequestChangeKind::kNoDeadline;
    case Kind::kBudget:
      return RequestChangeKind::kNoBudget;
    case Kind::kPower:
      return RequestChangeKind::kMorePower;
    case Kind::kCarbon:
      return RequestChangeKind::kMoreCarbon;
    case Kind::kSloAlone:
      return extending(s.slos.front(), request);
    default:
      return std::nullopt;
  }
}

// What changes must cost less than to be of interest.
Usd cost_to_beat(const Recommendation& result) { return result.best() == nullptr ? kAnyCost : result.best()->cost; }

// Replaces limits that were doubled by the smallest ones with nearly the same saving or, without a plan, a doubled
// deadline by the one that is enough.
void use_smallest_limits(std::vector<Explored>& explored, const Recommendation& result, const PlanningFacts& facts) {
  const Plan* first = result.best();
  constexpr double kWorthIt = 0.9;   // smaller savings are not shown
  constexpr double kMostOfIt = 0.8;  // of the saving: a little more is not worth a much longer limit
  std::vector<PossibleChange> smaller;
  std::vector<std::size_t> replaced;
  for (std::size_t i = 0; i < explored.size(); ++i) {
    const std::vector<PricedOption>& kinds = explored[i].planning->kinds();
    const bool known = first == nullptr && explored[i].change->kind != RequestChangeKind::kLaterDeadline;
    if (known || kinds.empty() || (first != nullptr && kinds.front().cost > first->cost * kWorthIt)) continue;
    for (PossibleChange& change : smaller_changes(*explored[i].change, kinds.front()))
      smaller.push_back(std::move(change)), replaced.push_back(i);
  }
  std::vector<Explored> tried = explore(std::move(smaller), facts, cost_to_beat(result));
  std::set<std::size_t> done;  // the first of each is the smallest
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const std::vector<PricedOption>& kinds = tried[i].planning->kinds();
    if (done.contains(replaced[i]) || kinds.empty()) continue;
    const Usd doubled = explored[replaced[i]].planning->kinds().front().cost;
    if (first != nullptr && kinds.front().cost > first->cost + (doubled - first->cost) * kMostOfIt) continue;
    done.insert(replaced[i]);
    explored[replaced[i]] = std::move(tried[i]);
  }
}

// The flags that lead to this plan.
std::string flags_for(const PossibleChange& change, const PricedOption& plan) {
  const auto budget = [&] { return fmt::format("--budget {:.0f}", std::ceil(in_usd(plan.due() - kHalfACent))); };
  switch (change.kind) {
    case RequestChangeKind::kMoreGpus:
      return fmt::format("--max-gpus {}", plan.option->machines * plan.machines->gpus);
    case RequestChangeKind::kNoBudget:
      return budget();
    case RequestChangeKind::kTwoChanges:
      return fmt::format("{} {}", change.flags, budget());
    case RequestChangeKind::kNoDeadline: {
      // Hardly rounded: with a little more time, a cheaper plan may come first.
      const double needs = in_seconds(plan.time.total() / plan.day_share), unit = needs < 14'400 ? 1 : 60;
      return "--deadline " + duration_flag(seconds(std::ceil(needs / unit) * unit));
    }
    default:
      return change.flags;
  }
}

// How far a GPU is from a plan: need divided by have.
double distance_of(const Rejection& row) {
  using Kind = Shortfall::Kind;
  const Shortfall& s = row.nearest;
  switch (s.kind) {
    case Kind::kBudget:
      return s.need_cost / s.have_cost;
    case Kind::kDeadline:
    case Kind::kSloAlone:
      return s.need_time / s.have_time;
    case Kind::kPower:
      return s.need_power > Watts{} ? s.need_power / s.have_power : 1e9;
    case Kind::kCarbon:
      return s.need_kg > 0 ? s.need_kg / s.have_kg : 1e9;
    case Kind::kMemory:
      return s.need_bytes / s.have_bytes;
    case Kind::kGpus:
    case Kind::kReplicas:
      return s.have_gpus > 0 ? static_cast<double>(s.need_gpus) / s.have_gpus : 1e9;
    case Kind::kNoPrice:
      return 1e300;
    default:
      return 1e9;  // not a matter of degree
  }
}

// Near misses first, those with a simulated need before lower bounds, and GPUs that can hold the work before those that
// cannot: no limit of the request helps these. Then GPUs that are rejected in part, as found.
void sort_by_distance(std::vector<Rejection>& rejected) {
  std::stable_sort(rejected.begin(), rejected.end(), [](const Rejection& a, const Rejection& b) {
    const auto key = [](const Rejection& row) {
      const double distance = row.partly ? 0 : distance_of(row);
      const bool holds = row.partly || row.stage > RejectionStage::kMemory;
      return std::tuple(row.partly, !row.partly && !row.settled, !holds, distance);
    };
    return key(a) < key(b);
  });
}

// Conversations take long to simulate, so only what was simulated anyway is explained.
bool is_explained(const Planning& planning, const PricedOption& c) {
  return c.option->confirmed || !simulates_cache(planning.request());
}

// The first change that makes this GPU work, with its plan.
std::optional<Fix> nearest_fix(const std::string& gpu, std::vector<Explored>& explored) {
  for (Explored& one : explored) {
    // A price that may not lead is not a way out.
    const auto wanted = [&](const PricedOption& c) {
      return is_on(c, gpu) && c.price->may_lead() && is_explained(*one.planning, c);
    };
    const std::vector<PricedOption>& kinds = one.planning->kinds();
    if (std::none_of(kinds.begin(), kinds.end(), wanted)) continue;
    if (const PricedOption* best = one.planning->best_of(wanted))
      return Fix{flags_for(*one.change, *best), outline_of(*best)};
  }
  return std::nullopt;
}

// Rejections: GPUs without an offer on these terms, and every obstacle. GPUs without any plan come first.
std::vector<Rejection> rejections(const Planning& planning, const catalog::Catalog& catalog) {
  std::set<std::string> sold, feasible;
  for (const market::Offer& offer : planning.offers()) sold.insert(offer.gpu->name);
  for (const auto& [key, obstacle] : planning.obstacles()) sold.insert(key.first);
  for (const PricedOption& kind : planning.kinds()) feasible.insert(kind.machines->gpu->name);
  std::vector<Rejection> out, in_part;
  for (const auto& [key, obstacle] : planning.obstacles()) {
    const auto& [gpu, stage] = key;
    // For a GPU without any plan, the last stage that an option reached decides; earlier ones are partial.
    const auto next = planning.obstacles().upper_bound(key);
    const bool decides = next == planning.obstacles().end() || next->first.first != gpu;
    const bool partly = feasible.contains(gpu) || !decides;
    Rejection row{stage, gpu, partly, false, obstacle.nearest, obstacle.count, {}};
    (partly ? in_part : out).push_back(std::move(row));
  }
  std::vector<std::string> unsold;
  const std::vector<std::string>& wanted = planning.request().filter.gpus;
  for (const catalog::Gpu& gpu : catalog.gpus) {
    const bool is_wanted = wanted.empty() || std::find(wanted.begin(), wanted.end(), gpu.name) != wanted.end();
    if (is_wanted && !sold.contains(gpu.name)) unsold.push_back(gpu.name);
  }
  std::sort(unsold.begin(), unsold.end());
  for (const std::string& gpu : unsold) out.push_back({RejectionStage::kPrice, gpu, false, false, {}, 1, {}});
  out.insert(out.end(), in_part.begin(), in_part.end());
  sort_by_distance(out);
  return out;
}

// Too expensive under every change to be worth simulating.
bool is_far_off(const std::string& gpu, const std::vector<Explored>& explored, const Plan* first) {
  constexpr double kFarOff = 2;
  if (first == nullptr) return false;
  for (const Explored& one : explored) {
    for (const PricedOption& c : one.planning->kinds())
      if (is_on(c, gpu) && c.cost < first->cost * kFarOff) return false;
  }
  return true;
}

void add_fixes(const Planning& planning, std::vector<Rejection>& rejected, std::vector<Explored>& explored,
               const Plan* first) {
  constexpr std::size_t kSimulated = 3;
  const bool serving = planning.request().work.kind == WorkKind::kServing;
  std::map<std::string, std::optional<Fix>> known;
  std::set<std::string> feasible;
  for (const PricedOption& kind : planning.kinds()) feasible.insert(kind.machines->gpu->name);
  for (Rejection& row : rejected) {
    if (row.stage == RejectionStage::kPrice || feasible.contains(row.gpu)) continue;
    if (!known.contains(row.gpu)) {
      const bool skipped = serving && (known.size() >= kSimulated || is_far_off(row.gpu, explored, first));
      known[row.gpu] = skipped ? std::nullopt : nearest_fix(row.gpu, explored);
    }
    row.fix = known[row.gpu];
  }
}

// The limit that this plan meets.
void set_need(const PossibleChange& change, const PricedOption& plan, Shortfall& s) {
  const auto raise = [](auto& need, const auto& have, const auto& found) {
    if (found > have) need = found;
  };
  const Option& option = *plan.option;
  if (s.kind == Shortfall::Kind::kDeadline) raise(s.need_time, s.have_time, plan.time.total() / plan.day_share);
  if (s.kind == Shortfall::Kind::kBudget) raise(s.need_cost, s.have_cost, plan.due());
  if (s.kind == Shortfall::Kind::kPower) raise(s.need_power, s.have_power, plan.power);
  if (s.kind == Shortfall::Kind::kCarbon) raise(s.need_kg, s.have_kg, co2_kg(change.request, plan).value_or(0));
  if (s.kind != Shortfall::Kind::kSloAlone) return;
  raise(s.need_time, s.have_time, rounded_up(limited_time(change.kind, plan), false));
  s.need_gpus = option.gpus;
}

// Sets what a GPU needs to that of its cheapest plan with the limit relaxed. If there is none without a limit on cost
// or time, to what that plan lacks.
void settle_need(const Request& request, Rejection& row, std::vector<Explored>& explored) {
  Shortfall& s = row.nearest;
  const std::optional<RequestChangeKind> relaxed = relaxing(s, request);
  const auto one = std::find_if(explored.begin(), explored.end(),
                                [&](const Explored& e) { return relaxed && e.change->kind == *relaxed; });
  if (one == explored.end()) return;
  const auto wanted = [&](const PricedOption& c) { return is_on(c, row.gpu) && is_explained(*one->planning, c); };
  const bool budget = s.kind == Shortfall::Kind::kBudget;
  if (const PricedOption* best = budget ? one->planning->cheapest(wanted) : one->planning->best_of(wanted)) {
    row.settled = true, s.at_least = false;
    s.unconfirmed = !best->price->may_lead(), s.no_benchmark = best->is_extrapolated();
    return set_need(*one->change, *best, s);
  }
  const Obstacles& obstacles = one->planning->obstacles();
  const auto last = obstacles.upper_bound({row.gpu, RejectionStage::kCarbon});
  if (s.kind == Shortfall::Kind::kSloAlone || last == obstacles.begin() || std::prev(last)->first.first != row.gpu)
    return;
  row.stage = std::prev(last)->first.second;
  s = std::prev(last)->second.nearest;
}

// If no number of replicas meets the limits: the longer limit that this GPU meets.
void settle_slo(const Request& request, Rejection& row, std::vector<Explored>& explored) {
  Shortfall& s = row.nearest;
  if (s.kind != Shortfall::Kind::kSloUnderLoad || s.have_gpus > 0) return;
  for (const capacity::Slo& slo : std::vector(s.slos)) {
    for (Explored& one : explored) {
      if (one.change->kind != extending(slo, request)) continue;
      const auto wanted = [&](const PricedOption& c) { return is_on(c, row.gpu) && is_explained(*one.planning, c); };
      const PricedOption* best = one.planning->best_of(wanted);
      if (best == nullptr) continue;
      row.settled = true;
      s = {.kind = Shortfall::Kind::kSloAlone, .have_time = slo.limit, .slos = {slo}};
      return set_need(*one.change, *best, s);
    }
  }
}

// What screened services need is a rough figure, so GPUs are simulated: those that lead with a change, then those
// closest to the limits.
void settle_needs(const Request& request, std::vector<Rejection>& rejected, std::vector<Explored>& explored) {
  constexpr int kMost = 16;
  std::set<std::string> leading;
  for (Explored& one : explored) {
    const bool budget = moves_budget(one.change->kind);
    const PricedOption* first = budget           ? one.planning->cheapest(any_plan)
                                : one.has_plan() ? &one.planning->kinds().front()
                                                 : nullptr;
    if (first != nullptr) leading.insert(first->machines->gpu->name);
  }
  int settled = 0;
  for (const bool leads : {true, false}) {
    for (Rejection& row : rejected) {
      const bool counts = !row.partly && row.stage != RejectionStage::kPrice && leading.contains(row.gpu) == leads;
      if (!counts || settled++ >= kMost) continue;
      settle_need(request, row, explored);
      settle_slo(request, row, explored);
    }
  }
  sort_by_distance(rejected);
}

// Requested providers that no listed plan uses: without an offer on these terms, or with the age of its newest price.
void add_unlisted(const Planning& planning, Recommendation& result) {
  const Request& request = planning.request();
  for (const std::string& provider : request.filter.providers) {
    const auto is_its = [&](const auto& row) { return row.offer.machine->provider == provider; };
    const auto listed = result.plans.begin() + std::min<std::ptrdiff_t>(request.top, std::ssize(result.plans));
    if (provider == market::kOwn || std::any_of(result.plans.begin(), listed, is_its)) continue;
    std::optional<int> age;
    for (const market::Offer& offer : planning.offers()) {
      if (offer.machine->provider != provider) continue;
      const auto& date = offer.price->provenance.date;
      age = std::min(age.value_or(INT_MAX), date ? std::max(0, today() - *date) : 0);
    }
    const bool meets = std::any_of(planning.kinds().begin(), planning.kinds().end(),
                                   [&](const PricedOption& kind) { return kind.offer->machine->provider == provider; });
    if (age)
      result.unlisted.push_back({provider, *age, meets});
    else
      result.unpriced.push_back(provider);
  }
}

// Of several terms that were asked for: those without any price, and for each that does not lead the first plan that it
// would have alone, even above the budget or the default number of GPUs: a commitment must be compared with what it
// replaces. A cheaper guess follows its plan.
void add_asked_terms(const Request& request, Planning& planning, const PlanningFacts& facts, Recommendation& result) {
  constexpr double kClearly = 0.95;
  const auto add = [&](Planning& from, catalog::Purchase terms) {
    const PricedOption* first =
        from.first_of(request, [&](const PricedOption& c) { return c.offer->price->purchase == terms; });
    if (first == nullptr) return false;
    const Usd most = first->cost * kClearly;
    const bool guessed = first->is_extrapolated();
    result.other_terms.push_back(from.build(*first));
    const auto cheaper = [&](const PricedOption& c) {
      return c.offer->price->purchase == terms && c.is_extrapolated() && c.price->may_lead() && c.cost < most;
    };
    if (const PricedOption* guess = guessed ? nullptr : from.best_of(cheaper))
      result.other_terms.push_back(from.build(*guess));
    return true;
  };
  for (const catalog::Purchase terms : request.filter.purchases) {
    const std::vector<market::Offer>& offers = planning.offers();
    const bool sold = std::any_of(offers.begin(), offers.end(),
                                  [&](const market::Offer& offer) { return offer.price->purchase == terms; });
    if (!sold) result.missing_terms.emplace_back(catalog::name_of(terms));
    if (!sold || result.plans.empty() || result.plans.front().offer.price->purchase == terms) continue;
    const market::Offer& leads = result.plans.front().offer;
    const auto is_same = [&](const market::Offer& offer) {
      return offer.price->purchase == terms && offer.machine->provider == leads.machine->provider &&
             offer.machine->instance == leads.machine->instance;
    };
    const bool committed = terms == catalog::Purchase::kOneYear || terms == catalog::Purchase::kThreeYears;
    if (committed && !leads.is_own() && std::none_of(offers.begin(), offers.end(), is_same))
      result.unsold_terms.emplace_back(catalog::name_of(terms));
    if (add(planning, terms)) continue;
    Request wider = request;
    wider.limits.budget.reset();
    if (request.limits.max_gpus_assumed) wider.limits.max_gpus = std::max(request.limits.max_gpus, kManyGpus);
    wider.filter.purchases = {terms};
    Planning alone(wider, facts);
    if (add(alone, terms)) continue;
    const std::vector<Rejection> lacks = rejections(alone, facts.book.catalog());
    const auto nearest = std::find_if(lacks.begin(), lacks.end(), [](const Rejection& row) {
      return !row.partly && row.stage != RejectionStage::kPrice;
    });
    if (nearest != lacks.end())
      result.unmet_terms.push_back({std::string(catalog::name_of(terms)), nearest->gpu, nearest->nearest});
  }
}

// If a plan is too slow for its limits, a plan on the same terms that meets them even then is the alternative to more
// machines, so no one pays more than its cost.
void cap_high_ends(const Request& request, Recommendation& result) {
  if (request.work.kind != WorkKind::kServing) return;
  for (Plan& plan : result.plans) {
    const Plan* safe = result.safest(request, plan.offer.price->purchase);
    if (safe == nullptr) continue;
    const Usd most = safe->interval_known ? safe->cost_high : safe->cost;
    plan.cost_high = std::min(plan.cost_high, std::max(plan.cost, most));
  }
}

std::vector<Plan> build_all(Planning& planning, const std::vector<PricedOption>& candidates, std::size_t most) {
  std::vector<Plan> plans;
  for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i) plans.push_back(planning.build(candidates[i]));
  return plans;
}

void add_changes(const Request& request, Recommendation& result, std::vector<Explored>& explored) {
  const bool serving = request.work.kind == WorkKind::kServing;
  const std::size_t listed = std::max(static_cast<std::size_t>(request.top), kCompared);
  for (Explored& one : explored) {
    if (one.planning->kinds().empty()) continue;
    // The price of spot machines moves, so the offer needs its high end.
    if (one.change->kind == RequestChangeKind::kSpot && !result.plans.empty()) one.planning->verify(1, false, true);
    // A run with the change simulates more plans, and may find another first one.
    if (serving && !result.plans.empty() && one.planning->kinds().front().cost < cost_to_beat(result))
      one.planning->verify(listed, true, false);
    if (one.planning->kinds().empty()) continue;
    // A budget is the least that is enough or, for a plan with a doubtful price, the least with a confirmed one.
    const auto counts = [&](const PricedOption& c) {
      return result.plans.empty() || (c.price->may_lead() && !c.is_extrapolated());
    };
    const PricedOption* least = moves_budget(one.change->kind) ? one.planning->cheapest(counts) : nullptr;
    const PricedOption& best = least != nullptr ? *least : one.planning->kinds().front();
    if (serving && !best.option->confirmed) continue;  // costs as much as the first plan
    const bool has_bf16 = best.machines->gpu->peak(catalog::NumberFormat::kBf16).supported;
    if (one.change->kind == RequestChangeKind::kPureBf16 && !has_bf16) continue;
    // The first plan meets relaxed limits too: what does not cost less, or ranks lower, is not worth showing.
    const Plan* first = relaxes(one.change->kind) ? result.best() : nullptr;
    if (first != nullptr && (best.cost >= first->cost || best.score(one.change->request) > first->score)) continue;
    result.changes.push_back({one.change->kind, flags_for(*one.change, best), one.planning->build(best)});
  }
  // An offer with a price over a year old is the last resort.
  const auto is_outdated = [](const RequestChange& change) { return change.plan.price.outdated; };
  if (!result.plans.empty() || !std::all_of(result.changes.begin(), result.changes.end(), is_outdated))
    std::erase_if(result.changes, is_outdated);
  std::stable_sort(result.changes.begin(), result.changes.end(),
                   [](const RequestChange& a, const RequestChange& b) { return a.plan.cost < b.plan.cost; });
}

// If no single change keeps the budget: the two cheapest changes with the budgets that they then need.
void add_pairs(const Request& request, std::vector<Explored>& explored, const PlanningFacts& facts) {
  constexpr std::size_t kPairs = 2;
  if (!request.limits.budget) return;
  Usd alone = kAnyCost;  // with a larger budget and no other change
  for (Explored& one : explored) {
    if (one.planning->kinds().empty()) continue;
    if (one.change->kind == RequestChangeKind::kNoBudget) alone = one.planning->cheapest(any_plan)->due();
    const bool keeps = one.change->request.limits.budget && one.change->kind != RequestChangeKind::kFewerHours;
    if (keeps) return;
  }
  std::vector<PossibleChange> others = changes_without_budget(request);
  for (PossibleChange& change : others)
    if (alone < kAnyCost) change.request.limits.budget = alone;  // what costs more is not needed
  std::vector<Explored> pairs = explore(std::move(others), facts);
  std::erase_if(pairs, [&](const Explored& one) {
    return one.planning->kinds().empty() || !(one.planning->kinds().front().due() < alone);
  });
  std::stable_sort(pairs.begin(), pairs.end(), [](const Explored& a, const Explored& b) {
    return a.planning->kinds().front().due() < b.planning->kinds().front().due();
  });
  for (std::size_t i = 0; i < std::min(kPairs, pairs.size()); ++i) {
    pairs[i].change->kind = RequestChangeKind::kTwoChanges;
    explored.push_back(std::move(pairs[i]));
  }
}

// Whether the 80 % range of a plan crosses the deadline or the budget.
bool may_break_limits(const Request& request, const Plan& plan) {
  const bool late = request.work.kind != WorkKind::kServing && !keeps_limits_if_slow(request, plan);
  const Usd high = plan.interval_known ? plan.cost_high - market::sum_of(plan.draws) : Usd{};
  return late || (request.limits.budget && high > *request.limits.budget);
}

}  // namespace

Recommendation recommend(const Request& request, const market::PriceBook& book, const perf::Constants& constants) {
  Recommendation result;
  auto last = std::chrono::steady_clock::now();
  const auto seconds_since_last = [&last] {
    const auto before = std::exchange(last, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last - before).count();
  };
  const perf::ModelWork work = perf::work_of(request.model);
  const auto run_cache = capacity::RunCache::of_process();
  const PlanningFacts facts{book, constants, work, run_cache};
  Planning planning(request, facts);
  result.effort = planning.effort();
  result.effort.search_seconds = seconds_since_last();

  constexpr std::size_t kLeading = 8;
  std::vector<model::Job> leading;
  for (std::size_t i = 0; i < std::min(kLeading, planning.kinds().size()); ++i)
    leading.push_back(planning.kinds()[i].option->job);
  const std::size_t top = static_cast<std::size_t>(request.top);
  const bool quick = request.plans_only && top == 1;
  const std::size_t listed = quick ? top : std::max(top, kCompared);
  // More simulations may find better plans, so a list of plans alone needs the same ones. A single plan is for a quick
  // look.
  planning.verify(listed, !quick, !request.plans_only);
  result.plans = build_all(planning, planning.kinds(), listed);
  for (std::size_t i = 0; i < result.plans.size(); ++i) result.plans[i].rank = static_cast<int>(i) + 1;
  for (const PricedOption* next : {planning.rival(), planning.next_gpu()}) {
    const bool is_listed = next == nullptr || next - planning.kinds().data() < static_cast<std::ptrdiff_t>(listed);
    if (is_listed || request.plans_only) continue;
    result.beyond.push_back(planning.build(*next));
    result.beyond.back().rank = static_cast<int>(next - planning.kinds().data()) + 1;
  }
  if (!request.plans_only) {
    result.pareto = build_all(planning, planning.front(), 100);
    result.held_back = planning.held_back();
    const auto is_confirmed = [](const PricedOption& c) { return !c.price->in_doubt() && !c.is_extrapolated(); };
    if (const Plan* first = result.best(); first != nullptr && !first->offer.is_own() && first->price.in_doubt())
      if (const PricedOption* sound = planning.best_of(is_confirmed)) result.confirmed = planning.build(*sound);
    result.trade_off = build_all(planning, planning.trade_off_front(), 100);
  }
  result.effort.verify_seconds = seconds_since_last();
  cap_high_ends(request, result);
  result.feasible = planning.feasible();
  add_unlisted(planning, result);

  const Plan* first = result.plans.empty() ? nullptr : &result.plans.front();
  result.rejected = rejections(planning, book.catalog());
  if (first != nullptr) {
    result.may_break_limits = may_break_limits(request, *first);
    result.warnings = price_warnings(first->offer, book.catalog(), today());
    if (!first->offer.is_own()) result.availability = market::availability(book, first->offer);
  }
  if (request.plans_only) {
    result.plans.resize(std::min(top, result.plans.size()));
    return result;
  }
  const Usd most = request.objective == Objective::kCost ? cost_to_beat(result) : kAnyCost;
  std::vector<Explored> explored = explore(possible_changes(request, leading), facts, most);
  std::vector<PossibleChange> more =
      first == nullptr ? relaxed_limits(request, result.rejected) : further_changes(request, *first);
  if (first != nullptr && !first->price.may_lead())
    for (PossibleChange& change : confirmed_prices(request)) more.push_back(std::move(change));
  // Giving up several limits is tried only if giving up one of them is not enough.
  std::vector<PossibleChange> without_any;
  if (!more.empty() && more.back().kind == RequestChangeKind::kNoLimits)
    without_any.push_back(std::move(more.back())), more.pop_back();
  std::vector<Explored> relaxed = explore(std::move(more), facts, most);
  const bool enough = std::any_of(relaxed.begin(), relaxed.end(), [](const Explored& one) {
    const RequestChangeKind kind = one.change->kind;
    return (kind == RequestChangeKind::kMoreGpus || gives_up_one(kind)) && !one.planning->kinds().empty();
  });
  if (!enough)
    for (Explored& one : explore(std::move(without_any), facts)) relaxed.push_back(std::move(one));
  // Without a plan: after the changes that keep the result, before those that do not.
  const auto place =
      first != nullptr ? explored.end() : std::find_if(explored.begin(), explored.end(), [](const Explored& one) {
        return !keeps_result(one.change->kind);
      });
  explored.insert(place, std::make_move_iterator(relaxed.begin()), std::make_move_iterator(relaxed.end()));
  if (first == nullptr) find_least_limits(request, explored, facts);
  use_smallest_limits(explored, result, facts);
  if (first == nullptr) add_pairs(request, explored, facts);
  add_asked_terms(request, planning, facts, result);
  add_fixes(planning, result.rejected, explored, first);
  if (first == nullptr || result.rival() == nullptr) {
    // The nearest GPU is named if nothing else meets the limits.
    std::vector<Explored> open;
    if (first != nullptr) open = explore(confirmed_prices(request), facts);
    settle_needs(request, result.rejected, first == nullptr ? explored : open);
  }
  add_changes(request, result, explored);
  const std::vector<PricedOption> kinds = planning.compared();
  if (const PricedOption* tested = planning.worth_testing()) {
    const PricedOption& leads = planning.kinds().front();
    const bool first_is_tested = tested == &leads;
    Experiment experiment = experiment_of(request, *tested, leads, first_is_tested ? planning.rival() : tested);
    experiment.plan = planning.build(*tested);
    if (first_is_tested || experiment.pays()) result.experiment = std::move(experiment);
  }
  result.confidence = confidence_of(request, kinds);
  // A mix is planned for one rate.
  if (request.work.kind == WorkKind::kServing && request.work.rate_by_hour.empty()) {
    for (const MixChoice& part : planning.mix())
      result.mix.push_back({planning.build(*part.kind, part.machines), part.share});
  }
  // Comes last: a search for less time may replace the options that the others point to.
  result.breakpoints = breakpoints_of(request, kinds, [&](Seconds deadline) {
    Request sooner = request;
    sooner.limits.deadline = deadline;
    const PricedOption* leads =
        planning.first_of(sooner, [&](const PricedOption& c) { return c.time.total() / c.day_share <= deadline; });
    return leads == nullptr ? std::nullopt : std::optional(*leads);
  });
  if (result.plans.size() > top) {
    const auto cut = result.plans.begin() + static_cast<std::ptrdiff_t>(top);
    result.beyond.insert(result.beyond.begin(), std::make_move_iterator(cut),
                         std::make_move_iterator(result.plans.end()));
    result.plans.erase(cut, result.plans.end());
  }
  result.effort.explain_seconds = seconds_since_last();
  return result;
}

}  // namespace rightsize::plan
