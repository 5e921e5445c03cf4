// Google's Cloud Billing catalogue: prices of parts (a vCPU, a gigabyte, a GPU by region), summed into machines.
// https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus
#include <map>
#include <tuple>

#include "base/text.h"
#include "base/units.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;

enum class GcpPart { kCore, kRam, kGpu };

// Words of a description that name a GPU, and our name for it; the longer first.
constexpr std::pair<const char*, const char*> kGcpGpus[] = {{"A100 80GB", "a100-80gb-sxm"},
                                                            {"Tesla A100", "a100-40gb-sxm"},
                                                            {"H100 80GB Mega", "h100-mega"},
                                                            {"H100 80GB Plus", "h100-mega"},
                                                            {"H100 80GB", "h100-sxm"},
                                                            {"H200 141GB", "h200-sxm"},
                                                            {"B200", "b200-sxm"},
                                                            {"RTX 6000 96GB", "rtx-pro-6000"},
                                                            {"L4", "l4"},
                                                            {"Tesla T4", "t4"},
                                                            {"Tesla V100", "v100-16gb-sxm"},
                                                            {"Tesla P100", "p100-pcie"}};

class GcpParts {
 public:
  GcpParts(const FeedInput& input, FeedSink& sink) : input_(input), sink_(sink) {}

  Result<> read() {
    Result<> done = read_entries(input_, "skus", "a Cloud Billing catalogue", [&](const JsonValue& sku) { keep(sku); });
    if (!done) return done;
    for (const catalog::Machine& machine : input_.catalog.machines) {
      if (machine.provider == "gcp") sum(machine);
    }
    return {};
  }

 private:
  // The last tier: if there are two, the first is a free allowance. `units` is a string, `nanos` a number.
  static std::optional<double> price_of(const JsonValue& sku) {
    std::optional<double> usd;
    for (const JsonValue& pricing : items_at(sku, "pricingInfo")) {
      for (const JsonValue& tier : items_at(pricing, "pricingExpression.tieredRates")) {
        if (value_at(tier, "unitPrice") == nullptr) continue;
        usd = number_at(tier, "unitPrice.units").value_or(0) + number_at(tier, "unitPrice.nanos").value_or(0) / 1e9;
      }
    }
    return usd;
  }

  void keep(const JsonValue& sku) {
    const std::string& text = text_at(sku, "description");
    const std::string& usage = text_at(sku, "category.usageType");
    const auto says = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    const std::optional<double> usd = price_of(sku);
    // Other products: sole tenancy, custom shapes, reservations, calendar and flex-start capacity.
    bool other = !usd;
    for (const char* word : {"Sole Tenancy", "Custom", "Reserved", "Premium", "DWS", "suspended", "Suspended",
                             "Calendar", "Defined Duration", "Overcommit"})
      other = other || says(word);
    // Some B200 prices have the usage type OnDemand although the description says spot.
    const Purchase purchase = usage == "Preemptible" || says("Preemptible") ? Purchase::kSpot
                              : usage == "Commit1Yr" || says("for 1 Year")  ? Purchase::kOneYear
                              : usage == "Commit3Yr" || says("for 3 Year")  ? Purchase::kThreeYears
                                                                            : Purchase::kOnDemand;
    std::string what;
    GcpPart part = GcpPart::kGpu;
    if (text_at(sku, "category.resourceGroup") == "GPU" || says("GPU") || says("gpu slice")) {
      for (const auto& [words, gpu] : kGcpGpus) {
        if (what.empty() && says(words)) what = gpu;
      }
    } else {
      what = family(text);
      part = says("Ram") || says("RAM") ? GcpPart::kRam : GcpPart::kCore;
    }
    if (other || what.empty()) return sink_.pass();
    std::map<std::string, double>& regions = prices_[{what, part, purchase}];
    if (regions.size() >= kMostPrices / 100) return sink_.refuse(kTooMany, what, 0);
    for (const JsonValue& region : items_at(sku, "serviceRegions")) regions[region.text] = *usd;
  }

  // The machine family, as instance types begin: "A2 Instance Core running in Americas", "Commitment v1: G2 Ram in
  // ...".
  static std::string family(std::string_view text) {
    for (const std::string_view word : {"A2", "A3Plus", "A3 Ultra", "A3", "A4", "G2", "G4", "N1"}) {
      const std::size_t at = text.find(word), end = at + word.size();
      if (at == std::string_view::npos || (at > 0 && text[at - 1] != ' ')) continue;
      if (end >= text.size() || text[end] == ' ') return to_lower(word);
    }
    return {};
  }

  const std::map<std::string, double>* find(const std::string& what, GcpPart part, Purchase purchase) const {
    const auto found = prices_.find({what, part, purchase});
    return found == prices_.end() ? nullptr : &found->second;
  }

  void sum(const catalog::Machine& machine) {
    const bool mega = machine.instance.starts_with("a3-mega"), ultra = machine.instance.starts_with("a3-ultra");
    std::string host = machine.instance.substr(0, machine.instance.find('-'));
    for (const auto& [applies, name] : {std::pair{mega, "a3plus"}, std::pair{ultra, "a3 ultra"}}) {
      if (applies && find(name, GcpPart::kCore, Purchase::kOnDemand) != nullptr) host = name;
    }
    // A4 is sold by the GPU slice, machine included; everything else needs all three parts.
    const bool slice = machine.gpu == "b200-sxm";
    for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kOneYear, Purchase::kThreeYears}) {
      const auto* gpus = find(mega ? "h100-mega" : machine.gpu, GcpPart::kGpu, purchase);
      const auto *cores = find(host, GcpPart::kCore, purchase), *ram = find(host, GcpPart::kRam, purchase);
      if (gpus == nullptr || (!slice && (cores == nullptr || ram == nullptr || !machine.vcpus || !machine.memory)))
        continue;
      for (const auto& [region, per_gpu] : *gpus) {
        FeedRow row = row_of(machine, region, per_gpu * machine.gpus);
        if (!slice) {
          if (!cores->contains(region) || !ram->contains(region)) continue;
          row.usd_per_hour += cores->at(region) * *machine.vcpus + ram->at(region) * in_gib(*machine.memory);
        }
        row.purchase = purchase;
        row.gpus = machine.gpus;
        row.note = "sum of GPU, vCPU and memory prices, without local SSD";
        sink_.take(std::move(row));
      }
    }
  }

  const FeedInput& input_;
  FeedSink& sink_;
  std::map<std::tuple<std::string, GcpPart, Purchase>, std::map<std::string, double>> prices_;  // by region
};

}  // namespace

std::vector<Feed> gcp() {
  return {{{"gcp", "Google Cloud Billing SKUs, summed into machines", false},
           false,
           [](const FeedInput& input, FeedSink& sink) { return GcpParts(input, sink).read(); },
           "\"serviceRegions\"|\"skuId\" \"pricingInfo\""}};
}

}  // namespace rightsize::feeds
