#include "rightsize/rl/offers.h"

#include <algorithm>

namespace rightsize::app {

std::vector<RlOffer> rl_offers(const rl::RlRequest& request, const rl::RlPlan& first, const market::PriceBook& book,
                               const perf::Constants& constants) {
  std::vector<RlOffer> offers;
  const auto add = [&](const char* what, const char* flags, auto change) {
    rl::RlRequest changed = request;
    changed.request.top = 1, changed.request.plans_only = true;
    change(changed);
    const rl::RlRecommendation found = rl::recommend_rl(changed, book, constants);
    if (found.plans.empty()) return;
    const rl::RlPlan& plan = found.plans.front();
    const market::Offer& offer = *plan.priced.offer;
    if (!plan.priced.price->may_lead() || !(plan.priced.cost < first.priced.cost)) return;
    offers.push_back({what, flags, offer.machine->provider, offer.gpu->name, plan.job.layout.gpus(),
                      plan.priced.time.total(), plan.priced.cost});
  };
  const market::OfferFilter& filter = request.request.filter;
  const auto asked = [&](catalog::Purchase terms) {
    return std::find(filter.purchases.begin(), filter.purchases.end(), terms) != filter.purchases.end();
  };
  if (!filter.regions.empty())
    add("any region", "no --regions", [](rl::RlRequest& r) { r.request.filter.regions.clear(); });
  if (!filter.providers.empty())
    add("any provider", "no --providers", [](rl::RlRequest& r) { r.request.filter.providers.clear(); });
  if (!filter.purchases.empty() && !asked(catalog::Purchase::kSpot) && !request.has_other_machines())
    add("spot", "--purchase spot", [](rl::RlRequest& r) { r.request.filter.purchases = {catalog::Purchase::kSpot}; });
  if (request.job.reference)
    add("no reference model", "--reference no", [](rl::RlRequest& r) { r.job.reference = false; });
  return offers;
}

const report::Fields<RlOffer>& rl_offer_fields() {
  static const report::Fields<RlOffer> kFields = {
      {"what", "change", "the change", &RlOffer::what},
      {"flags", "flags", "the flags for it", &RlOffer::flags},
      {"provider", "provider", "provider of the best plan then", &RlOffer::provider},
      {"gpu", "GPU", "its GPU", &RlOffer::gpu},
      {"gpus", "GPUs", "number of GPUs", &RlOffer::gpus},
      {"hours", "time", "time of all steps, start-up and checkpoints included", &RlOffer::time},
      {"usd_total", "cost", "cost of all steps", &RlOffer::cost},
  };
  return kFields;
}

}  // namespace rightsize::app
