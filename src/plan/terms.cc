#include <algorithm>

#include "base/csv.h"
#include "base/embedded.h"
#include "plan/candidates.h"
#include "plan/explain.h"

namespace rightsize::plan {
namespace {

using catalog::Purchase;

// The offers of one machine on some terms, within the request's regions.
std::vector<market::Offer> same_machine(const market::PriceBook& book, const Request& request, const Plan& plan,
                                        Purchase purchase) {
  market::OfferFilter filter = request.filter;
  filter.providers = {plan.offer.machine->provider};
  filter.gpus = {plan.offer.gpu->name};
  filter.purchases = {purchase};
  std::vector<market::Offer> offers = book.offers(filter);
  std::erase_if(offers, [&](const market::Offer& offer) { return offer.machine != plan.offer.machine; });
  return offers;
}

void add_spot(const market::PriceBook& book, const Request& request, Plan& plan) {
  for (const market::Offer& offer : same_machine(book, request, plan, Purchase::kSpot)) {
    const market::PriceOutlook price = book.outlook(offer, price_horizon(request));
    if (!price.may_lead() || (plan.spot && plan.spot->price.likely <= price.likely)) continue;
    plan.spot = SpotPrice{offer, price};
  }
}

// Compares with the on-demand price in the region of the commitment, if known.
void add_commitment(const market::PriceBook& book, const Request& request, Plan& plan, Purchase purchase) {
  std::optional<market::Offer> best;
  for (const market::Offer& offer : same_machine(book, request, plan, purchase)) {
    const bool here = offer.price->region == plan.offer.price->region;
    if (!best || here || (best->price->region != plan.offer.price->region && offer.rate() < best->rate())) best = offer;
  }
  if (!best) return;
  const auto list = book.list_price(*plan.offer.machine, Purchase::kOnDemand, best->price->region);
  const Seconds term = term_of(purchase);
  plan.commitments.push_back(
      {*best, term, best->rate() * rightsize::machines(plan.machines) * term, list ? best->rate() / list->rate : 0});
}

bool is_of(std::string_view part, const catalog::Machine& machine) {
  if (machine.provider == "azure") return machine.instance.ends_with(part);
  return machine.instance.starts_with(part) || (machine.provider == "gcp" && machine.gpu.starts_with(part));
}

}  // namespace

std::optional<Quota> quota_of(const Plan& plan) {
  static const Csv kQuotas = *Csv::parse("data/quotas.csv", std::string(embedded_file("quotas.csv")));
  const catalog::Machine& machine = *plan.offer.machine;
  const bool vcpus = machine.provider != "gcp";
  if (vcpus && !machine.vcpus) return std::nullopt;
  const std::string_view purchase = plan.offer.price->purchase == Purchase::kSpot ? "spot" : "on-demand";
  for (const CsvRow& row : kQuotas.rows()) {
    const auto cell = [&](std::string_view column) { return kQuotas.cell(row, column); };
    if (cell("provider") != machine.provider || cell("purchase") != purchase || !is_of(cell("part"), machine)) continue;
    const double each = vcpus ? *machine.vcpus : machine.gpus;
    return Quota{std::string(cell("name")), std::string(cell("code")), each * plan.machines, vcpus};
  }
  return std::nullopt;
}

void add_terms(const market::PriceBook& book, const Request& request, Plan& plan) {
  plan.quota = quota_of(plan);
  if (plan.offer.is_own()) return;
  const Purchase terms = plan.offer.price->purchase;
  if (terms == Purchase::kOnDemand) add_spot(book, request, plan);
  for (Purchase purchase : {Purchase::kOneYear, Purchase::kThreeYears}) {
    if (terms == Purchase::kOnDemand || terms == purchase) add_commitment(book, request, plan, purchase);
  }
}

}  // namespace rightsize::plan
