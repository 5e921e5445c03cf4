#include "plan/terms.h"

#include <algorithm>

#include "plan/candidates.h"

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
    const market::PriceOutlook price = book.outlook(offer, plan.time.total());
    if (!price.may_lead() || (plan.spot && plan.spot->price.likely <= price.likely)) continue;
    plan.spot = SpotPrice{offer, price};
  }
}

// Against on demand in the commitment's own region, where that is known.
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

// AWS counts vCPUs of running instances by family, Google GPUs by model. Codes as the SkyPilot catalogue lists them
// (catalogs/v8 aws/instance_quota_mapping.csv, gcp/accelerator_quota_mapping.csv, read 2026-11-15); names as the
// providers' consoles show them.
struct QuotaRow {
  std::string_view provider;
  std::string_view prefix;  // AWS: of the instance type; Google: of the GPU's name
  Purchase purchase;
  std::string_view code, name;
};
constexpr QuotaRow kQuotas[] = {
    {"aws", "g", Purchase::kOnDemand, "L-DB2E81BA", "Running On-Demand G and VT instances"},
    {"aws", "g", Purchase::kSpot, "L-3819A6DF", "All G and VT Spot Instance Requests"},
    {"aws", "p", Purchase::kOnDemand, "L-417A185B", "Running On-Demand P instances"},
    {"aws", "p3", Purchase::kSpot, "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"},
    {"aws", "p4", Purchase::kSpot, "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"},
    {"gcp", "a100-40gb", Purchase::kOnDemand, "NVIDIA_A100_GPUS", "NVIDIA A100 GPUs"},
    {"gcp", "a100-40gb", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_A100_GPUS", "Preemptible NVIDIA A100 GPUs"},
    {"gcp", "a100-80gb", Purchase::kOnDemand, "NVIDIA_A100_80GB_GPUS", "NVIDIA A100 80GB GPUs"},
    {"gcp", "a100-80gb", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_A100_80GB_GPUS", "Preemptible NVIDIA A100 80GB GPUs"},
    {"gcp", "p100", Purchase::kOnDemand, "NVIDIA_P100_GPUS", "NVIDIA P100 GPUs"},
    {"gcp", "p100", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_P100_GPUS", "Preemptible NVIDIA P100 GPUs"},
    {"gcp", "t4", Purchase::kOnDemand, "NVIDIA_T4_GPUS", "NVIDIA T4 GPUs"},
    {"gcp", "t4", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_T4_GPUS", "Preemptible NVIDIA T4 GPUs"},
    {"gcp", "v100", Purchase::kOnDemand, "NVIDIA_V100_GPUS", "NVIDIA V100 GPUs"},
    {"gcp", "v100", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_V100_GPUS", "Preemptible NVIDIA V100 GPUs"},
};

}  // namespace

std::optional<Quota> quota_of(const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  const bool aws = machine.provider == "aws";
  // Commitments run under the on-demand quota.
  const bool spot = plan.offer.price->purchase == Purchase::kSpot;
  for (const QuotaRow& row : kQuotas) {
    const std::string_view named = aws ? machine.instance : machine.gpu;
    if (row.provider != machine.provider || !named.starts_with(row.prefix)) continue;
    if ((row.purchase == Purchase::kSpot) != spot || (aws && !machine.vcpus)) continue;
    const double each = aws ? *machine.vcpus : machine.gpus;
    return Quota{std::string(row.name), std::string(row.code), each * plan.machines, aws};
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
