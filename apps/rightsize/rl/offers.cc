#include "rightsize/rl/offers.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include "base/threads.h"

namespace rightsize::app {

std::vector<RlOffer> rl_offers(const rl::RlRequest& request, const rl::RlPlan& first, const market::PriceBook& book,
                               const perf::Constants& constants) {
  struct Change {
    const char *what, *flags;
    std::function<void(rl::RlRequest&)> apply;
  };
  const market::OfferFilter& filter = request.request.filter;
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

  std::vector<std::optional<RlOffer>> cheaper(changes.size());
  for_each_index(changes.size(), std::thread::hardware_concurrency(), [&](std::size_t i) {
    rl::RlRequest changed = request;
    changed.request.top = 1, changed.request.plans_only = true;
    changes[i].apply(changed);
    const rl::RlRecommendation found = rl::recommend_rl(changed, book, constants);
    if (found.plans.empty()) return;
    const rl::RlPlan& plan = found.plans.front();
    const market::Offer& offer = *plan.priced.offer;
    if (!plan.priced.price->may_lead() || !(plan.priced.cost < first.priced.cost)) return;
    cheaper[i] = {changes[i].what,        changes[i].flags,         offer.machine->provider, offer.gpu->name,
                  plan.job.layout.gpus(), plan.priced.time.total(), plan.priced.cost};
  });
  std::vector<RlOffer> offers;
  for (std::optional<RlOffer>& one : cheaper)
    if (one) offers.push_back(*std::move(one));
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
