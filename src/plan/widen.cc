#include "plan/widen.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "plan/explain.h"

namespace rightsize::plan {
namespace {

constexpr int kMost = 65'536;  // the largest --max-gpus
constexpr double kStep = 8;    // smallest increase factor, to reach slower and cheaper GPUs
constexpr double kCheaper = 0.9;

// The factor on GPUs that the closest rejected plan needs; 0: more GPUs would not help.
double times_more(const Recommendation& found) {
  using Kind = Shortfall::Kind;
  double least = 1e300;
  for (const Rejection& row : found.rejected) {
    const Shortfall& s = row.nearest;
    if (row.partly) continue;
    if (s.kind == Kind::kDeadline) least = std::min(least, s.need_time / s.have_time);
    if (s.kind == Kind::kGpus && s.have_gpus > 0) least = std::min(least, 1.0 * s.need_gpus / s.have_gpus);
    const bool too_few = s.kind == Kind::kSloUnderLoad && s.have_gpus > 0;
    if (s.kind == Kind::kMemory || s.kind == Kind::kReplicas || too_few) least = std::min(least, 1.0);
  }
  return least < 1e300 ? std::max(1.0, least) : 0;
}

int wider_limit(int limit, double times) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::min<double>(kMost, limit * times * kStep))));
}

// Whether the limit may have decided the outcome: the plan uses most of it, only doubtful prices are left, or a GPU
// misses the deadline with all that the limit allows.
bool may_decide(const Request& request, const Recommendation& found) {
  if (request.objective != Objective::kCost) return false;
  const bool used_up = 2 * found.best()->gpus > request.limits.max_gpus;
  return used_up || !found.best()->price.may_lead() ||
         std::any_of(found.rejected.begin(), found.rejected.end(),
                     [](const Rejection& row) { return !row.partly && row.stage == RejectionStage::kDeadline; });
}

std::string machines_in(const std::vector<market::OwnHardware>& own) {
  std::string text;
  for (const market::OwnHardware& kind : own)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", kind.machines, market::own_instance(kind));
  return text;
}

bool is_on_own(const Plan& plan) { return plan.offer.machine->provider == market::kOwn; }

// The result on the user's machines alone, if they are not among the best plans.
std::optional<UnusedOwn> unused_own(const Request& request, const Recommendation& found, const market::PriceBook& book,
                                    const perf::Constants& constants) {
  const std::vector<std::string>& providers = request.filter.providers;
  const bool considered =
      providers.empty() || std::find(providers.begin(), providers.end(), market::kOwn) != providers.end();
  if (request.own.empty() || !considered || found.plans.empty() || request.plans_only) return std::nullopt;
  if (std::any_of(found.plans.begin(), found.plans.end(), is_on_own)) return std::nullopt;
  Request mine = request;
  mine.filter.providers = {market::kOwn};
  mine.top = 1;
  Recommendation alone = recommend(mine, book, constants);
  UnusedOwn unused{machines_in(request.own), std::nullopt};
  if (!alone.plans.empty()) {
    unused.plan = std::move(alone.plans.front());
    return unused;
  }
  const auto why = std::find_if(alone.rejected.begin(), alone.rejected.end(), [](const Rejection& row) {
    return !row.partly && row.stage != RejectionStage::kPrice;
  });
  if (why != alone.rejected.end()) unused.lack = why->nearest;
  const bool too_few = unused.lack.kind == Shortfall::Kind::kGpus || unused.lack.kind == Shortfall::Kind::kReplicas;
  if (too_few && request.work.rate > RequestsPerSecond{} && !request.work.trace && request.own.size() == 1) {
    mine.limits.gpus = request.own.front().machines * request.own.front().gpus;
    mine.work.rate = {}, mine.work.rate_by_hour.clear(), mine.plans_only = true;
    const Recommendation most = recommend(mine, book, constants);
    if (most.best() != nullptr) unused.carries = most.best()->requests_per_second;
  }
  const auto cheapest = std::min_element(alone.changes.begin(), alone.changes.end(),
                                         [](const auto& a, const auto& b) { return a.plan.cost < b.plan.cost; });
  if (cheapest != alone.changes.end()) unused.change = std::move(*cheapest);
  return unused;
}

Recommendation within_own_limits(Request& request, const market::PriceBook& book, const perf::Constants& constants) {
  Recommendation found = recommend(request, book, constants);
  if (!request.limits.max_gpus_assumed || request.limits.gpus) return found;
  while (found.plans.empty() && request.limits.max_gpus < kMost) {
    // The cost of a service grows with its GPUs: if 1,024 of them do not help within the budget, more do not either.
    // Conversations on more of them take minutes to simulate.
    const bool tried = request.work.kind == WorkKind::kServing && !request.plans_only &&
                       (request.limits.budget || simulates_cache(request));
    if (simulates_cache(request) && request.limits.max_gpus >= kManyGpus) return found;
    const bool helps = std::any_of(found.changes.begin(), found.changes.end(), [](const RequestChange& change) {
      return change.kind == RequestChangeKind::kMoreGpus;
    });
    const double times = tried && !helps ? 0 : times_more(found);
    if (!(times > 0)) return found;
    request.limits.max_gpus = wider_limit(request.limits.max_gpus, times);
    found = recommend(request, book, constants);
  }
  if (found.plans.empty() || !may_decide(request, found)) return found;
  Request more = request;
  more.plans_only = true, more.top = 1;
  more.limits.more_than_gpus = request.limits.max_gpus;
  more.limits.max_gpus = wider_limit(request.limits.max_gpus, 1);
  const Recommendation with_more = recommend(more, book, constants);
  if (with_more.best() == nullptr) return found;
  const bool confirms = with_more.best()->price.may_lead() && !found.best()->price.may_lead();
  if (!confirms && with_more.best()->cost > found.best()->cost * kCheaper) return found;
  request.limits.max_gpus = more.limits.max_gpus;
  return recommend(request, book, constants);
}

}  // namespace

Recommendation recommend_widely(Request& request, const market::PriceBook& book, const perf::Constants& constants) {
  Recommendation found = within_own_limits(request, book, constants);
  found.unused_own = unused_own(request, found, book, constants);
  if (found.unused_own && found.unused_own->plan) {  // beyond request.top: users compare it with the others
    found.plans.push_back(*std::move(found.unused_own->plan));
    found.unused_own.reset();
  }
  return found;
}

}  // namespace rightsize::plan
