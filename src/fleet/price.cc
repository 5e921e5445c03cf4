#include "fleet/price.h"

#include <algorithm>
#include <charconv>

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

void take(GpuPrice& price, const market::GpuQuote& quote, PriceBasis basis) {
  price.rate = quote.rate;
  price.basis = quote.is_own() ? PriceBasis::kGiven : basis;
  price.source = quote.source();
}

const catalog::Machine* find_machine(const telemetry::Device& device, const catalog::Catalog& catalog) {
  const std::string type = to_lower(machine_label(device));
  const auto found = std::find_if(catalog.machines.begin(), catalog.machines.end(), [&](const catalog::Machine& m) {
    return !type.empty() && to_lower(m.instance) == type;
  });
  return found == catalog.machines.end() ? nullptr : &*found;
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

GpuPrice PriceBook::price(const telemetry::Device& device) const {
  GpuPrice price;
  price.machine = find_machine(device, catalog());
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
  const auto quote = price.gpu != nullptr ? book_.gpu(*price.gpu, Purchase::kOnDemand) : book_.own_gpu(device.name);
  if (!quote) return price;
  take(price, *quote, PriceBasis::kAssumed);
  if (!quote->is_own()) price.purchase = Purchase::kOnDemand;
  return price;
}

}  // namespace rightsize::fleet
