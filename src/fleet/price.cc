#include "fleet/price.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/place.h"
#include "catalog/words.h"
#include "gpu_use/use.h"

namespace rightsize::fleet {
namespace {

using catalog::Purchase;
using gpu_use::first_label;

// The instance type, from any of the labels that exporters and clouds use; empty if there is none.
std::string machine_label(const telemetry::Device& device) {
  return first_label(device,
                     {"instance_type", "InstanceType", "node_kubernetes_io_instance_type",
                      "label_node_kubernetes_io_instance_type", "beta_kubernetes_io_instance_type", "machine_type"});
}

std::string region_label(const telemetry::Device& device) {
  return catalog::region_of_place(first_label(
      device,
      {"region", "topology_kubernetes_io_region", "label_topology_kubernetes_io_region", "zone",
       "topology_kubernetes_io_zone", "label_topology_kubernetes_io_zone", "AvailabilityZone", "availability_zone"}));
}

Purchase purchase_label(const telemetry::Device& device) {
  const std::string terms = to_lower(first_label(device, {"capacity_type", "karpenter_sh_capacity_type", "lifecycle",
                                                          "eks_amazonaws_com_capacityType", "purchase"}));
  if (terms == "spot" || terms == "preemptible") return Purchase::kSpot;
  return catalog::parse_purchase(terms).value_or(Purchase::kOnDemand);
}

// The provider in the labels: by its name, by labels that only its nodes have, or by the name of the node.
std::string provider_label(const telemetry::Device& device, const std::set<std::string>& known) {
  const auto named = catalog::match_providers(first_label(device, {"provider", "cloud_provider", "cloud"}), known);
  if (named && !named->empty()) return named->front();
  for (const auto& [label, value] : device.labels) {
    const std::string_view provider = catalog::provider_of_label(label);
    if (!provider.empty() && !value.empty()) return std::string(provider);
  }
  return std::string(catalog::provider_of_node(device.host));
}

// Schedulers often name the family only ("gres/gpu:h100"): its usual member. Null for a vendor or an architecture,
// which say too little about the price.
const catalog::Gpu* usual_of_family(const catalog::Catalog& catalog, const std::string& name) {
  const Result<catalog::UsualGpu> found = catalog::usual_gpu(catalog, name);
  if (!found) return nullptr;
  const auto family = [](std::string_view gpu) { return gpu.substr(0, gpu.find('-')); };
  const bool alike = std::ranges::all_of(
      found->others, [&](const std::string& other) { return family(other) == family(found->gpu->name); });
  return alike ? found->gpu : nullptr;
}

void take(GpuPrice& price, const market::GpuQuote& quote, PriceBasis basis) {
  price.rate = quote.rate;
  price.basis = quote.is_own() ? PriceBasis::kGiven : basis;
  price.source = quote.source();
  if (!quote.offer) return;
  price.provider = quote.offer->price->provider;
  price.region = quote.offer->price->region;
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
    providers_.insert(offer.price->provider);
    // Peer-hosted machines guarantee neither uptime nor privacy.
    if (offer.machine->retired || offer.machine->community) continue;
    if (offer.price->purchase == Purchase::kOnDemand) on_demand_.push_back(offer);
    if (offer.price->purchase == Purchase::kOneYear) committed_.push_back(offer);
  }
  for (const market::Offer& offer : on_demand_) in_doubt_.push_back(!book_.outlook(offer, Seconds{}).may_lead());
  for (const catalog::Machine& machine : catalog.machines) machines_.try_emplace(to_lower(machine.instance), &machine);
}

GpuPrice DevicePrices::price(const telemetry::Device& device) const {
  const std::string machine = to_lower(machine_label(device)), region = region_label(device);
  const Purchase purchase = purchase_label(device);
  const std::string home = provider_label(device, providers_);
  // Thousands of GPUs have the same name and labels, and a search by name takes long.
  const std::lock_guard lock(known_->mutex);
  const auto [known, is_new] = known_->prices.try_emplace(
      {device.name, device.mig_profile, machine, region, home, std::string(catalog::name_of(purchase))});
  if (is_new) known->second = find_price(device, machine, region, purchase, home);
  return known->second;
}

GpuPrice DevicePrices::find_price(const telemetry::Device& device, const std::string& machine,
                                  const std::string& region, Purchase wanted, const std::string& home) const {
  GpuPrice price;
  if (const auto found = machines_.find(machine); found != machines_.end()) price.machine = found->second;
  if (Result<const catalog::Gpu*> gpu = catalog().find_gpu(device.name)) price.gpu = *gpu;
  if (price.gpu == nullptr && price.machine != nullptr) {
    if (Result<const catalog::Gpu*> gpu = catalog().find_gpu(price.machine->gpu)) price.gpu = *gpu;
  }
  price.home = price.machine != nullptr ? price.machine->provider : home;
  price.purchase = wanted;
  // Only its price is assumed: no advice depends on a GPU that may be another one.
  const catalog::Gpu* usual = price.gpu == nullptr ? usual_of_family(catalog(), device.name) : price.gpu;
  price.share = mig_share(device, usual, catalog());
  if (price.machine != nullptr) {
    // Prefer the GPU's own region: spot prices of other regions say little, and list prices are only an assumption.
    for (const auto& [purchase, elsewhere] :
         {std::pair(price.purchase, false), {Purchase::kOnDemand, false}, {Purchase::kOnDemand, true}}) {
      const auto quote = book_.machine(*price.machine, purchase, region);
      const bool here = quote && (!quote->offer || catalog::holds_in(quote->offer->price->region, region));
      if (!quote || (!here && !elsewhere)) continue;
      const bool exact = here && purchase == price.purchase;
      const UsdPerGpuSecond each = quote->rate / gpus_per_machine(price.machine->gpus);
      take(price, {each, quote->offer, quote->own}, exact ? PriceBasis::kMachine : PriceBasis::kAssumed);
      return price;
    }
  }
  market::OfferFilter on_demand = filter_;
  on_demand.purchases = {Purchase::kOnDemand};
  if (!price.home.empty()) on_demand.providers = {price.home};
  auto quote = price.gpu != nullptr ? book_.gpu(*price.gpu, on_demand) : book_.own_gpu(device.name);
  const bool as_usual = price.gpu == nullptr && usual != nullptr && !quote;
  if (as_usual) quote = book_.gpu(*usual, on_demand);
  if (!quote && usual != nullptr) quote = book_.gpu(*usual, Purchase::kOnDemand);
  if (!quote) return price;
  take(price, *quote, PriceBasis::kAssumed);
  if (as_usual) {
    price.basis = PriceBasis::kAssumed;
    price.source = fmt::format("'{}' as {}: {}", device.name, usual->name, price.source);
  }
  if (!quote->is_own()) price.purchase = Purchase::kOnDemand;
  return price;
}

std::optional<Replacement> KindOffers::cheapest(double speed) const {
  const auto saves = [&](const Offer& offer) { return !offer.ratio || *offer.ratio < speed; };
  const auto found = std::ranges::find_if(offers, saves);
  return found != offers.end() ? std::optional(found->what) : std::nullopt;
}

std::vector<KindOffers> DevicePrices::offers_instead_of(const GpuPrice& now, std::size_t together) const {
  if (now.gpu == nullptr) return {};
  // An assumed price does not show the provider of the GPU.
  const bool assumed = now.basis == PriceBasis::kAssumed;
  const std::string home = !now.home.empty() ? now.home : assumed ? "" : now.provider;
  std::map<std::string, UsdPerGpuSecond> here;  // the lowest price of today's GPU by provider
  for (const market::Offer& offer : on_demand_) {
    if (offer.gpu != now.gpu) continue;
    const auto [at, is_new] = here.try_emplace(offer.price->provider, offer.rate_per_gpu());
    if (!is_new) at->second = std::min(at->second, offer.rate_per_gpu());
  }
  // A price of the user's is compared at providers that rent out both GPUs, if there are any.
  const bool compared = filter_.providers.empty() && home.empty() && !assumed && now.rate && !here.empty();
  const int most = std::max(1, static_cast<int>(together));
  std::map<const catalog::Gpu*, std::map<std::string, KindOffers::Offer>> found;  // the cheapest by GPU and provider
  for (std::size_t i = 0; i < on_demand_.size(); ++i) {
    const market::Offer& offer = on_demand_[i];
    if (offer.gpu == now.gpu || offer.machine->gpus > most || !filter_.lets_through(offer) || offer.price->available)
      continue;
    const std::string& provider = offer.price->provider;
    if (filter_.providers.empty() && !home.empty() && provider != home) continue;
    if (compared && !here.contains(provider)) continue;
    const UsdPerGpuSecond rate = offer.rate_per_gpu();
    const auto [at, is_new] = found[offer.gpu].try_emplace(provider);
    // As in every command, an unconfirmed price comes after the others.
    if (!is_new && std::pair(at->second.in_doubt, at->second.what.rate) <= std::pair(in_doubt_[i], rate)) continue;
    at->second = {
        {offer.gpu, rate, market::describe(offer), offer.machine, filter_.providers.empty() && provider != home},
        compared ? std::optional(rate / here[provider]) : std::nullopt,
        in_doubt_[i]};
  }
  std::vector<KindOffers> kinds;
  for (const catalog::Gpu& gpu : catalog().gpus) {
    KindOffers kind{&gpu, {}};
    // A price for all GPUs (--price 2.50) applies to the GPUs that the user has, not to others.
    if (const auto own = book_.gpu(gpu, Purchase::kOnDemand); own && own->is_own() && own_.gpus.contains(gpu.name)) {
      kind.offers.push_back({Replacement{&gpu, own->rate, own->source(), nullptr, false}, std::nullopt});
    } else if (const auto at = found.find(&gpu); at != found.end()) {
      for (auto& [provider, offer] : at->second) kind.offers.push_back(std::move(offer));
      std::ranges::stable_sort(
          kind.offers, {}, [](const KindOffers::Offer& offer) { return std::pair(offer.in_doubt, offer.what.rate); });
    }
    if (&gpu != now.gpu && !kind.offers.empty()) kinds.push_back(std::move(kind));
  }
  return kinds;
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
