#include "fleet/price.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::fleet {
namespace {

using catalog::Purchase;

std::string label(const telemetry::Device& device, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = device.labels.find(name);
    if (found != device.labels.end() && !found->second.empty()) return found->second;
  }
  return {};
}

std::string region_label(const telemetry::Device& device) {
  std::string region =
      label(device, {"region", "topology_kubernetes_io_region", "label_topology_kubernetes_io_region"});
  if (!region.empty()) return region;
  region = label(device, {"zone", "topology_kubernetes_io_zone", "AvailabilityZone", "availability_zone"});
  // "us-east-1a" is a zone of us-east-1, "us-central1-a" one of us-central1.
  if (region.size() > 2 && region[region.size() - 2] == '-') return region.substr(0, region.size() - 2);
  if (!region.empty() && std::isalpha(static_cast<unsigned char>(region.back())) != 0) region.pop_back();
  return region;
}

Purchase purchase_label(const telemetry::Device& device) {
  const std::string terms = to_lower(label(device, {"capacity_type", "karpenter_sh_capacity_type", "lifecycle",
                                                    "eks_amazonaws_com_capacityType", "purchase"}));
  if (terms == "spot" || terms == "preemptible") return Purchase::kSpot;
  return catalog::parse_purchase(terms).value_or(Purchase::kOnDemand);
}

// "5", "5USD/h", "$5".
Result<double> parse_rate(std::string_view text) {
  if (text.starts_with('$')) text.remove_prefix(1);
  if (Result<double> plain = parse_number(text)) {
    if (*plain < 0) return fail(bad_input("a price below zero"));
    return *plain;
  }
  RIGHTSIZE_TRY(const UsdPerSecond rate, parse_usd_per_hour(text));
  return in_usd_per_hour(rate);
}

std::vector<std::string> known_names(const catalog::Catalog& catalog) {
  std::vector<std::string> names = catalog.gpu_names();
  for (const catalog::Machine& machine : catalog.machines) names.push_back(machine.instance);
  return names;
}

Result<> add_price(GivenPrices& given, const std::string& flag, const catalog::Catalog& catalog) {
  const std::size_t equals = flag.rfind('=');
  if (equals == std::string::npos) {
    return fail(bad_input(fmt::format("--price '{}': a name, '=' and dollars an hour expected", flag))
                    .with_hint("for example --price h100-sxm=2.49 or --price p5.48xlarge=55.04"));
  }
  const std::string name(trim(std::string_view(flag).substr(0, equals)));
  Result<double> rate = parse_rate(trim(std::string_view(flag).substr(equals + 1)));
  if (!rate) return fail(bad_input(fmt::format("--price '{}': {}", flag, rate.error().message)));
  if (name == "*") {
    given.rest = *rate;
    return {};
  }
  for (const catalog::Machine& machine : catalog.machines) {
    if (to_lower(machine.instance) != to_lower(name)) continue;
    given.machines[to_lower(name)] = *rate;
    return {};
  }
  Result<std::vector<const catalog::Gpu*>> gpus = catalog.match_gpus(name);
  if (!gpus) {
    return fail(bad_input(fmt::format("--price '{}': no GPU or machine of that name", name))
                    .with_hint(did_you_mean(name, known_names(catalog))));
  }
  for (const catalog::Gpu* gpu : *gpus) given.gpus[gpu->name] = *rate;
  return {};
}

// Peer-hosted machines (RunPod's community cloud): no promise of uptime or privacy, so no place for a team's work.
bool is_peer_hosted(const market::Offer& offer) { return offer.machine->instance.ends_with("_COMMUNITY"); }

// GeForce cards: their driver's licence keeps them out of data centres, so a data-centre GPU is not exchanged for one.
bool is_consumer(const catalog::Gpu& gpu) {
  return gpu.name.starts_with("rtx-") && gpu.name.find_first_not_of("0123456789", 4) == std::string::npos;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string price_source(const catalog::Price& price) {
  std::string text = fmt::format("{} {} {} {}", price.provider, price.instance, price.region, name_of(price.purchase));
  if (price.provenance.date) text += ", " + format_date(*price.provenance.date);
  return text;
}

}  // namespace

std::string_view name_of(PriceBasis basis) {
  switch (basis) {
    case PriceBasis::kGiven:
      return "given";
    case PriceBasis::kMachine:
      return "machine";
    case PriceBasis::kAssumed:
      return "assumed";
    case PriceBasis::kUnknown:
      break;
  }
  return "unknown";
}

std::optional<Usd> GpuPrice::cost(double observed_seconds) const {
  if (!rate) return std::nullopt;
  return *rate * gpus(share) * seconds(observed_seconds);
}

Checked<GivenPrices> parse_prices(const std::vector<std::string>& flags, const catalog::Catalog& catalog) {
  GivenPrices given;
  Errors errors;
  for (const std::string& flag : flags) {
    if (Result<> added = add_price(given, flag, catalog); !added) errors.push_back(std::move(added).error());
  }
  if (!errors.empty()) return fail(std::move(errors));
  return given;
}

std::string machine_label(const telemetry::Device& device) {
  return label(device, {"instance_type", "InstanceType", "node_kubernetes_io_instance_type",
                        "label_node_kubernetes_io_instance_type", "beta_kubernetes_io_instance_type", "machine_type"});
}

double mig_share(const telemetry::Device& device, const catalog::Gpu* gpu, const catalog::Catalog& catalog) {
  if (device.mig_profile.empty()) return 1;
  if (gpu != nullptr && gpu->mig_instances > 0) {
    // Memory comes in eighths on GPUs of seven instances, in quarters on those of four.
    const double memory_slices = gpu->mig_instances == 7 ? 8 : gpu->mig_instances;
    for (const catalog::MigProfile& profile : catalog.mig) {
      if (profile.gpu != gpu->name || profile.profile != device.mig_profile) continue;
      return std::max(static_cast<double>(profile.compute_slices) / gpu->mig_instances,
                      profile.memory_slices / memory_slices);
    }
  }
  int slices = 0;
  const std::string& name = device.mig_profile;
  const auto [stop, problem] = std::from_chars(name.data(), name.data() + name.size(), slices);
  if (problem != std::errc() || slices < 1) return 1;
  return std::min(1.0, slices / 7.0);
}

PriceBook::PriceBook(const catalog::Catalog& catalog, GivenPrices given, Market market)
    : catalog_(&catalog), given_(std::move(given)), market_(std::move(market)) {
  on_demand_ = market::offers(catalog, {.purchases = {Purchase::kOnDemand}});
  std::erase_if(on_demand_, is_peer_hosted);
  committed_ = market::offers(catalog, {.purchases = {Purchase::kOneYear}});
}

std::optional<double> PriceBook::own_price(const catalog::Gpu& gpu) const {
  const auto found = given_.gpus.find(gpu.name);
  return found == given_.gpus.end() ? std::nullopt : std::optional(found->second);
}

// Slurm's types are families ("a100"): priced where all members the user priced cost the same.
std::optional<double> PriceBook::family_price(const std::string& name) const {
  const Result<std::vector<const catalog::Gpu*>> members = catalog_->match_gpus(name);
  if (name.empty() || !members) return std::nullopt;
  std::optional<double> price;
  for (const catalog::Gpu* member : *members) {
    const std::optional<double> own = own_price(*member);
    if (!own || (price && *price != *own)) return std::nullopt;
    price = own;
  }
  return price;
}

bool PriceBook::price_given(GpuPrice& price, const telemetry::Device& device) const {
  const std::string machine = to_lower(machine_label(device));
  if (const auto found = given_.machines.find(machine); found != given_.machines.end()) {
    const int count = price.machine != nullptr ? price.machine->gpus : 1;
    price.rate = usd_per_gpu_hour(found->second / count);
    price.source = "--price " + machine;
  } else if (price.gpu != nullptr && given_.gpus.contains(price.gpu->name)) {
    price.rate = usd_per_gpu_hour(given_.gpus.at(price.gpu->name));
    price.source = "--price " + price.gpu->name;
  } else if (const std::optional<double> family = price.gpu == nullptr ? family_price(device.name) : std::nullopt) {
    price.rate = usd_per_gpu_hour(*family);
    price.source = "--price " + device.name;
  } else if (given_.rest) {
    price.rate = usd_per_gpu_hour(*given_.rest);
    price.source = "--price *";
  }
  if (!price.rate) return false;
  price.basis = PriceBasis::kGiven;
  return true;
}

bool PriceBook::price_machine(GpuPrice& price, const telemetry::Device& device) const {
  if (price.machine == nullptr) return false;
  const std::string region = region_label(device);
  const catalog::Price* best = nullptr;
  for (const catalog::Price& row : catalog_->prices) {
    if (row.provider != price.machine->provider || row.instance != price.machine->instance) continue;
    if (row.purchase != price.purchase) continue;
    const bool here = row.region == region;
    const bool better = best == nullptr || (here && best->region != region) ||
                        (best->region != region && row.machine_price < best->machine_price);
    if (better) best = &row;
  }
  if (best == nullptr) return false;
  price.rate = best->machine_price / gpus(price.machine->gpus);
  price.provider = best->provider;
  price.region = best->region;
  price.basis = PriceBasis::kMachine;
  price.source = price_source(*best);
  return true;
}

bool PriceBook::price_assumed(GpuPrice& price) const {
  if (price.gpu == nullptr) return false;
  std::vector<market::Offer> wanted = on_demand_;
  std::erase_if(wanted, [&](const market::Offer& o) { return !in_market(o); });
  std::optional<market::Offer> offer = market::cheapest_gpu(wanted, price.gpu->name);
  if (!offer) offer = market::cheapest_gpu(on_demand_, price.gpu->name);
  if (!offer) return false;
  price.rate = offer->rate_per_gpu();
  price.basis = PriceBasis::kAssumed;
  price.purchase = Purchase::kOnDemand;
  price.source = price_source(*offer->price);
  price.provider = offer->price->provider;
  price.region = offer->price->region;
  return true;
}

bool PriceBook::in_market(const market::Offer& offer) const {
  const bool here =
      market_.regions.empty() || offer.price->region == "any" || contains(market_.regions, offer.price->region);
  return here && (market_.providers.empty() || contains(market_.providers, offer.price->provider));
}

std::optional<Alternative> PriceBook::cheapest(const catalog::Gpu& gpu, const GpuPrice& now) const {
  if (const std::optional<double> own = own_price(gpu)) {
    return Alternative{&gpu, usd_per_gpu_hour(*own), "--price " + gpu.name, nullptr, false};
  }
  const std::string& home = now.machine != nullptr ? now.machine->provider : now.provider;
  std::optional<Alternative> best;
  for (const market::Offer& offer : on_demand_) {
    if (offer.gpu != &gpu || !in_market(offer)) continue;
    const std::string& provider = offer.price->provider;
    if (market_.providers.empty() && !home.empty() && provider != home) continue;
    if (market_.providers.empty() && home.empty() && !is_cheaper_kind(gpu, *now.gpu, provider)) continue;
    if (best && best->rate <= offer.rate_per_gpu()) continue;
    best = Alternative{&gpu, offer.rate_per_gpu(), price_source(*offer.price), offer.machine, provider != home};
  }
  return best;
}

// Whether this provider itself asks less for `other` than for `now`.
bool PriceBook::is_cheaper_kind(const catalog::Gpu& other, const catalog::Gpu& now, const std::string& provider) const {
  std::vector<market::Offer> theirs = on_demand_;
  std::erase_if(theirs, [&](const market::Offer& o) { return o.price->provider != provider; });
  const std::optional<market::Offer> a = market::cheapest_gpu(theirs, other.name);
  const std::optional<market::Offer> b = market::cheapest_gpu(theirs, now.name);
  return a && b && a->rate_per_gpu() < b->rate_per_gpu();
}

std::vector<Alternative> PriceBook::cheaper_than(const GpuPrice& now) const {
  std::vector<Alternative> found;
  if (now.gpu == nullptr || !now.rate) return found;
  for (const catalog::Gpu& gpu : catalog_->gpus) {
    if (gpu.name == now.gpu->name || gpu.vendor != now.gpu->vendor) continue;
    if (is_consumer(gpu) && !is_consumer(*now.gpu)) continue;
    const std::optional<Alternative> offer = cheapest(gpu, now);
    // Less than a twentieth is not worth a migration.
    if (offer && offer->rate < *now.rate * 0.95) found.push_back(*offer);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Alternative& a, const Alternative& b) { return a.rate < b.rate; });
  return found;
}

std::optional<Alternative> PriceBook::commitment_for(const GpuPrice& now) const {
  if (now.gpu == nullptr || !now.rate || now.purchase != Purchase::kOnDemand) return std::nullopt;
  std::optional<Alternative> best;
  for (const market::Offer& offer : committed_) {
    if (offer.gpu != now.gpu || is_peer_hosted(offer) || offer.rate_per_gpu() >= *now.rate) continue;
    const bool same_machine = now.machine != nullptr && offer.machine == now.machine;
    const bool same_place = !now.provider.empty() && offer.price->provider == now.provider &&
                            (now.region.empty() || offer.price->region == now.region || offer.price->region == "any");
    const bool named = now.provider.empty() && now.machine == nullptr && !market_.providers.empty() && in_market(offer);
    if (now.machine != nullptr ? !same_machine || !(same_place || now.provider.empty()) : !same_place && !named)
      continue;
    if (best && best->rate <= offer.rate_per_gpu()) continue;
    best = Alternative{now.gpu, offer.rate_per_gpu(), price_source(*offer.price), offer.machine, false};
  }
  return best;
}

GpuPrice PriceBook::price(const telemetry::Device& device) const {
  GpuPrice price;
  if (Result<const catalog::Gpu*> gpu = catalog_->find_gpu(device.name)) price.gpu = *gpu;
  if (const std::string type = to_lower(machine_label(device)); !type.empty()) {
    for (const catalog::Machine& machine : catalog_->machines) {
      if (to_lower(machine.instance) == type) price.machine = &machine;
    }
    if (price.gpu == nullptr && price.machine != nullptr) {
      if (Result<const catalog::Gpu*> gpu = catalog_->find_gpu(price.machine->gpu)) price.gpu = *gpu;
    }
  }
  price.purchase = purchase_label(device);
  price.share = mig_share(device, price.gpu, *catalog_);
  if (price_given(price, device) || price_machine(price, device) || price_assumed(price)) return price;
  return price;
}

}  // namespace rightsize::fleet
