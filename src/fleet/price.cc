#include "fleet/price.h"

#include <algorithm>

#include "base/text.h"
#include "diagnose/project.h"
#include "fleet/use.h"

namespace rightsize::fleet {
namespace {

using catalog::Purchase;

// The instance type, under any of the names exporters and clouds use; empty if there is none.
std::string machine_label(const telemetry::Device& device) {
  return first_label(device,
                     {"instance_type", "InstanceType", "node_kubernetes_io_instance_type",
                      "label_node_kubernetes_io_instance_type", "beta_kubernetes_io_instance_type", "machine_type"});
}

std::string region_label(const telemetry::Device& device) {
  std::string region =
      first_label(device, {"region", "topology_kubernetes_io_region", "label_topology_kubernetes_io_region"});
  if (!region.empty()) return region;
  region = first_label(device, {"zone", "topology_kubernetes_io_zone", "AvailabilityZone", "availability_zone"});
  // "us-east-1a" is a zone of us-east-1, "us-central1-a" one of us-central1.
  if (region.size() > 2 && region[region.size() - 2] == '-') return region.substr(0, region.size() - 2);
  if (!region.empty() && std::isalpha(static_cast<unsigned char>(region.back())) != 0) region.pop_back();
  return region;
}

Purchase purchase_label(const telemetry::Device& device) {
  const std::string terms = to_lower(first_label(device, {"capacity_type", "karpenter_sh_capacity_type", "lifecycle",
                                                          "eks_amazonaws_com_capacityType", "purchase"}));
  if (terms == "spot" || terms == "preemptible") return Purchase::kSpot;
  return catalog::parse_purchase(terms).value_or(Purchase::kOnDemand);
}

void take(GpuPrice& price, const market::GpuQuote& quote, PriceBasis basis) {
  price.rate = quote.rate;
  price.basis = quote.is_own() ? PriceBasis::kGiven : basis;
  price.source = quote.source();
  if (!quote.offer) return;
  price.provider = quote.offer->price->provider;
  price.region = quote.offer->price->region;
}

std::optional<UsdPerGpuSecond> cheapest_rate(const std::vector<market::Offer>& offers, const catalog::Gpu& gpu,
                                             const std::string& provider) {
  std::optional<UsdPerGpuSecond> best;
  for (const market::Offer& offer : offers) {
    if (offer.gpu != &gpu || offer.price->provider != provider) continue;
    if (!best || offer.rate_per_gpu() < *best) best = offer.rate_per_gpu();
  }
  return best;
}

}  // namespace

std::string_view name_of(PriceBasis basis) {
  static constexpr std::string_view kNames[] = {"given", "machine", "assumed", "unknown"};
  return kNames[static_cast<std::size_t>(basis)];
}

std::optional<Usd> GpuPrice::cost(Seconds time) const {
  if (!rate) return std::nullopt;
  return *rate * gpu_time(time);
}

DevicePrices::DevicePrices(const catalog::Catalog& catalog, market::OwnPrices own, market::OfferFilter filter)
    : own_(own), book_(catalog, std::move(own)), filter_(std::move(filter)) {
  for (const market::Offer& offer : market::list_offers(catalog)) {
    // Peer-hosted machines guarantee neither uptime nor privacy.
    if (offer.machine->retired || offer.machine->community) continue;
    if (offer.price->purchase == Purchase::kOnDemand) on_demand_.push_back(offer);
    if (offer.price->purchase == Purchase::kOneYear) committed_.push_back(offer);
  }
  for (const catalog::Machine& machine : catalog.machines) machines_.try_emplace(to_lower(machine.instance), &machine);
}

GpuPrice DevicePrices::price(const telemetry::Device& device) const {
  GpuPrice price;
  if (const auto found = machines_.find(to_lower(machine_label(device))); found != machines_.end()) {
    price.machine = found->second;
  }
  if (Result<const catalog::Gpu*> gpu = catalog().find_gpu(device.name)) price.gpu = *gpu;
  if (price.gpu == nullptr && price.machine != nullptr) {
    if (Result<const catalog::Gpu*> gpu = catalog().find_gpu(price.machine->gpu)) price.gpu = *gpu;
  }
  price.purchase = purchase_label(device);
  price.share = mig_share(device, price.gpu, catalog());
  if (price.machine != nullptr) {
    if (const auto quote = book_.machine(*price.machine, price.purchase, region_label(device))) {
      const UsdPerGpuSecond each = quote->rate / gpus_per_machine(price.machine->gpus);
      take(price, {each, quote->offer, quote->own}, PriceBasis::kMachine);
      return price;
    }
  }
  market::OfferFilter on_demand = filter_;
  on_demand.purchases = {Purchase::kOnDemand};
  auto quote = price.gpu != nullptr ? book_.gpu(*price.gpu, on_demand) : book_.own_gpu(device.name);
  if (!quote && price.gpu != nullptr) quote = book_.gpu(*price.gpu, Purchase::kOnDemand);
  if (!quote) return price;
  take(price, *quote, PriceBasis::kAssumed);
  if (!quote->is_own()) price.purchase = Purchase::kOnDemand;
  return price;
}

// Whether this provider charges less for `other` than for `now`.
bool DevicePrices::is_cheaper_kind(const catalog::Gpu& other, const catalog::Gpu& now,
                                   const std::string& provider) const {
  const std::optional<UsdPerGpuSecond> a = cheapest_rate(on_demand_, other, provider);
  const std::optional<UsdPerGpuSecond> b = cheapest_rate(on_demand_, now, provider);
  return a && b && *a < *b;
}

std::optional<Replacement> DevicePrices::cheapest(const catalog::Gpu& gpu, const GpuPrice& now) const {
  // A price for all GPUs (--price 2.50) is that of the GPUs the user has, not of others.
  if (const auto own = book_.gpu(gpu, Purchase::kOnDemand); own && own->is_own() && own_.gpus.contains(gpu.name)) {
    return Replacement{&gpu, own->rate, own->source(), nullptr, false};
  }
  // The provider of an assumed price is not where the GPU is.
  const std::string home = now.machine != nullptr              ? now.machine->provider
                           : now.basis == PriceBasis::kAssumed ? ""
                                                               : now.provider;
  std::optional<Replacement> best;
  for (const market::Offer& offer : on_demand_) {
    if (offer.gpu != &gpu || !filter_.lets_through(offer)) continue;
    const std::string& provider = offer.price->provider;
    if (filter_.providers.empty() && !home.empty() && provider != home) continue;
    if (best && best->rate <= offer.rate_per_gpu()) continue;
    if (filter_.providers.empty() && home.empty() && !is_cheaper_kind(gpu, *now.gpu, provider)) continue;
    best = Replacement{&gpu, offer.rate_per_gpu(), market::describe(offer), offer.machine, provider != home};
  }
  return best;
}

std::vector<Replacement> DevicePrices::cheaper_than(const GpuPrice& now) const {
  std::vector<Replacement> found;
  if (now.gpu == nullptr || !now.rate) return found;
  for (const catalog::Gpu& gpu : catalog().gpus) {
    if (gpu.name == now.gpu->name || !diagnose::may_replace(gpu, *now.gpu)) continue;
    const std::optional<Replacement> offer = cheapest(gpu, now);
    // A saving below 5 % is not worth a migration.
    if (offer && offer->rate < *now.rate * 0.95) found.push_back(*offer);
  }
  std::ranges::stable_sort(found, {}, &Replacement::rate);
  return found;
}

std::optional<Replacement> DevicePrices::commitment_for(const GpuPrice& now) const {
  if (now.gpu == nullptr || !now.rate || now.purchase != Purchase::kOnDemand) return std::nullopt;
  std::optional<Replacement> best;
  for (const market::Offer& offer : committed_) {
    if (offer.gpu != now.gpu || offer.rate_per_gpu() >= *now.rate) continue;
    const bool same_place = !now.provider.empty() && offer.price->provider == now.provider &&
                            (now.region.empty() || offer.price->region == now.region || offer.price->region == "any");
    const bool named = now.provider.empty() && !filter_.providers.empty() && filter_.lets_through(offer);
    const bool fits = now.machine != nullptr ? offer.machine == now.machine && (same_place || now.provider.empty())
                                             : same_place || named;
    if (!fits || (best && best->rate <= offer.rate_per_gpu())) continue;
    best = Replacement{now.gpu, offer.rate_per_gpu(), market::describe(offer), offer.machine, false};
  }
  return best;
}

}  // namespace rightsize::fleet
