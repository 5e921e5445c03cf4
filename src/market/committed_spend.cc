#include "market/committed_spend.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"

namespace rightsize::market {
namespace {

bool counts_towards(const Offer& offer, const catalog::CommittedSpend& pool) {
  const auto fits = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  return !offer.is_own() && fits(pool.provider, offer.machine->provider) &&
         fits(pool.instance, offer.machine->instance) && fits(pool.gpu, offer.machine->gpu) &&
         fits(pool.region, offer.price->region) && (!pool.purchase || *pool.purchase == offer.price->purchase);
}

}  // namespace

CommittedSpends::CommittedSpends(const catalog::Catalog& catalog, Date day) : day_(day) {
  for (const catalog::CommittedSpend& pool : catalog.committed)
    if (pool.until >= day) pools_.push_back(&pool);
  std::stable_sort(pools_.begin(), pools_.end(), [](const auto* a, const auto* b) { return a->until < b->until; });
}

std::vector<const catalog::CommittedSpend*> CommittedSpends::of(const Offer& offer) const {
  std::vector<const catalog::CommittedSpend*> found;
  for (const catalog::CommittedSpend* pool : pools_)
    if (counts_towards(offer, *pool)) found.push_back(pool);
  return found;
}

std::vector<Draw> CommittedSpends::draws(const Offer& offer, Usd bill, Seconds time, bool goes_on) const {
  std::vector<Draw> draws;
  if (pools_.empty() || !(bill > Usd{}) || !(time > Seconds{})) return draws;
  Usd drawn;
  for (const catalog::CommittedSpend* pool : of(offer)) {
    const Seconds left = days(1 + (pool->until - day_));  // includes the last day
    const Usd before = bill * std::min(1.0, left / time), share = pool->left * (time / std::max(time, left));
    const Usd amount = std::min(goes_on ? share : pool->left, before - drawn);
    if (!(amount > Usd{})) continue;
    draws.push_back({pool, amount});
    drawn += amount;
  }
  return draws;
}

Usd sum_of(const std::vector<Draw>& draws) {
  Usd sum;
  for (const Draw& draw : draws) sum += draw.amount;
  return sum;
}

std::string describe(const catalog::CommittedSpend& pool) {
  return fmt::format("{}commitment with {}, {} left until {}", pool.account.empty() ? "the " : pool.account + "'s ",
                     pool.provider, format_usd(pool.left), format_date(pool.until));
}

}  // namespace rightsize::market
