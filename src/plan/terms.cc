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
    const market::PriceOutlook price = book.outlook(offer, price_horizon(request));
    if (!price.may_lead() || (plan.spot && plan.spot->price.likely <= price.likely)) continue;
    plan.spot = SpotPrice{offer, price};
  }
}

// Compared with on demand in the region of the commitment, where that price is known.
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

// AWS and Azure count vCPUs by machine family (Azure's spot machines share one quota), Google counts GPUs by model. Codes
// are from the SkyPilot catalogue (catalogs/v8 aws/instance_quota_mapping.csv, gcp/accelerator_quota_mapping.csv) and
// from the documentation of Azure's sizes and of Google's GPU quotas, read 2026-11-15; names are those of the providers'
// consoles.
struct QuotaRow {
  std::string_view provider;
  std::string_view part;  // AWS: prefix of the instance type; Azure: its suffix; Google: prefix of it or of the GPU
  Purchase purchase;
  std::string_view code, name;
};
constexpr QuotaRow kQuotas[] = {
    {"aws", "g", Purchase::kOnDemand, "L-DB2E81BA", "Running On-Demand G and VT instances"},
    {"aws", "g", Purchase::kSpot, "L-3819A6DF", "All G and VT Spot Instance Requests"},
    {"aws", "p", Purchase::kOnDemand, "L-417A185B", "Running On-Demand P instances"},
    {"aws", "p3", Purchase::kSpot, "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"},
    {"aws", "p4", Purchase::kSpot, "L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests"},
    {"azure", "_T4_v3", Purchase::kOnDemand, "Standard NCASv3_T4 Family", "Standard NCASv3_T4 Family vCPUs"},
    {"azure", "_A10_v5", Purchase::kOnDemand, "StandardNVADSA10v5Family", "Standard NVADSA10v5 Family vCPUs"},
    {"azure", "ads_A100_v4", Purchase::kOnDemand, "StandardNCADSA100v4Family", "Standard NCADS_A100_v4 Family vCPUs"},
    {"azure", "asr_v4", Purchase::kOnDemand, "Standard NDASv4_A100 Family", "Standard NDASv4_A100 Family vCPUs"},
    {"azure", "amsr_A100_v4", Purchase::kOnDemand, "Standard NDAMSv4_A100Family", "Standard NDAMSv4_A100 Family vCPUs"},
    {"azure", "ads_H100_v5", Purchase::kOnDemand, "StandardNCadsH100v5Family", "Standard NCadsH100v5 Family vCPUs"},
    {"azure", "adis_H100_v5", Purchase::kOnDemand, "StandardNCadsH100v5Family", "Standard NCadsH100v5 Family vCPUs"},
    {"azure", "isr_H100_v5", Purchase::kOnDemand, "standardNDSH100v5Family", "Standard NDSH100v5 Family vCPUs"},
    {"azure", "isr_H200_v5", Purchase::kOnDemand, "standardNDISRH200V5Family", "Standard NDISRH200V5 Family vCPUs"},
    {"azure", "rs_v2", Purchase::kOnDemand, "standardNDSv2Family", "Standard NDSv2 Family vCPUs"},
    {"azure", "", Purchase::kSpot, "lowPriorityCores", "Total Regional Low-priority vCPUs"},
    {"gcp", "a100-40gb", Purchase::kOnDemand, "NVIDIA_A100_GPUS", "NVIDIA A100 GPUs"},
    {"gcp", "a100-40gb", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_A100_GPUS", "Preemptible NVIDIA A100 GPUs"},
    {"gcp", "a100-80gb", Purchase::kOnDemand, "NVIDIA_A100_80GB_GPUS", "NVIDIA A100 80GB GPUs"},
    {"gcp", "a100-80gb", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_A100_80GB_GPUS", "Preemptible NVIDIA A100 80GB GPUs"},
    {"gcp", "l4", Purchase::kOnDemand, "NVIDIA_L4_GPUS", "NVIDIA L4 GPUs"},
    {"gcp", "l4", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_L4_GPUS", "Preemptible NVIDIA L4 GPUs"},
    {"gcp", "a3-mega", Purchase::kOnDemand, "gpu_family NVIDIA_H100_MEGA", "GPUs per GPU family"},
    {"gcp", "h100", Purchase::kOnDemand, "gpu_family NVIDIA_H100", "GPUs per GPU family"},
    {"gcp", "h200", Purchase::kOnDemand, "gpu_family NVIDIA_H200", "GPUs per GPU family"},
    {"gcp", "b200", Purchase::kOnDemand, "gpu_family NVIDIA_B200", "GPUs per GPU family"},
    {"gcp", "rtx-pro-6000", Purchase::kOnDemand, "gpu_family NVIDIA_RTX_PRO_6000", "GPUs per GPU family"},
    {"gcp", "p100", Purchase::kOnDemand, "NVIDIA_P100_GPUS", "NVIDIA P100 GPUs"},
    {"gcp", "p100", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_P100_GPUS", "Preemptible NVIDIA P100 GPUs"},
    {"gcp", "t4", Purchase::kOnDemand, "NVIDIA_T4_GPUS", "NVIDIA T4 GPUs"},
    {"gcp", "t4", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_T4_GPUS", "Preemptible NVIDIA T4 GPUs"},
    {"gcp", "v100", Purchase::kOnDemand, "NVIDIA_V100_GPUS", "NVIDIA V100 GPUs"},
    {"gcp", "v100", Purchase::kSpot, "PREEMPTIBLE_NVIDIA_V100_GPUS", "Preemptible NVIDIA V100 GPUs"},
};

bool is_of(const QuotaRow& row, const catalog::Machine& machine) {
  if (row.provider != machine.provider) return false;
  if (row.provider == "azure") return machine.instance.ends_with(row.part);
  return machine.instance.starts_with(row.part) || (row.provider == "gcp" && machine.gpu.starts_with(row.part));
}

}  // namespace

std::optional<Quota> quota_of(const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  const bool vcpus = machine.provider != "gcp";
  // Commitments count against the on-demand quota.
  const bool spot = plan.offer.price->purchase == Purchase::kSpot;
  for (const QuotaRow& row : kQuotas) {
    if (!is_of(row, machine) || (row.purchase == Purchase::kSpot) != spot || (vcpus && !machine.vcpus)) continue;
    const double each = vcpus ? *machine.vcpus : machine.gpus;
    return Quota{std::string(row.name), std::string(row.code), each * plan.machines, vcpus};
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
