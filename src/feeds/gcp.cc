// Google's Cloud Billing catalogue: prices of parts (a vCPU, a gigabyte, a GPU by region), summed into machines.
// https://cloudbilling.googleapis.com/v1/services/6F81-5844-456A/skus
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "feeds/readers.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;
using telemetry::JsonStream;

enum class Part { kCore, kRam, kGpu };

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Words of a description that name a GPU, by ours; the longer first.
struct GpuWords {
  const char *words, *gpu;
};
constexpr GpuWords kGpuWords[] = {{"A100 80GB", "a100-80gb-sxm"},
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

struct Sku {
  std::string description, resource_group, usage, unit;
  std::vector<std::string> regions;
  std::optional<double> usd;
};

class Reader {
 public:
  Reader(const Source& source, FeedSink& sink) : json_(source.bytes, source.file), source_(source), sink_(sink) {}

  Result<> read() {
    do {
      if (json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) page();
      } else {
        page();
      }
    } while (!json_.failed() && json_.next_document());
    if (json_.failed()) return fail(json_.error());
    if (!seen_) return fail(bad_input(source_.file + ": not a Cloud Billing catalogue: no member skus"));
    for (const catalog::Machine& machine : source_.options.catalog->machines) {
      if (machine.provider == "gcp") sum(machine);
    }
    return {};
  }

 private:
  void page() {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "skus" && json_.peek() == '[') {
        seen_ = true;
        for (json_.enter_array(); json_.next_item();) keep(sku());
      } else {
        json_.skip();
      }
    }
  }

  Sku sku() {
    Sku sku;
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "description" && json_.peek() == '"') {
        json_.read_string(sku.description);
      } else if (name == "category" && json_.peek() == '{') {
        for (json_.enter_object(); json_.next_member(name);) {
          if (name == "resourceGroup" && json_.peek() == '"') {
            json_.read_string(sku.resource_group);
          } else if (name == "usageType" && json_.peek() == '"') {
            json_.read_string(sku.usage);
          } else {
            json_.skip();
          }
        }
      } else if (name == "serviceRegions" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) json_.read_string(sku.regions.emplace_back());
      } else if (name == "pricingInfo" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) pricing(sku);
      } else {
        json_.skip();
      }
    }
    return sku;
  }

  void pricing(Sku& sku) {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name != "pricingExpression" || json_.peek() != '{') {
        json_.skip();
        continue;
      }
      for (json_.enter_object(); json_.next_member(name);) {
        if (name == "usageUnit" && json_.peek() == '"') {
          json_.read_string(sku.unit);
        } else if (name == "tieredRates" && json_.peek() == '[') {
          for (json_.enter_array(); json_.next_item();) rate(sku);
        } else {
          json_.skip();
        }
      }
    }
  }

  // The last tier: the first is a free allowance where there are two. units is a string, nanos a number.
  void rate(Sku& sku) {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name != "unitPrice" || json_.peek() != '{') {
        json_.skip();
        continue;
      }
      double units = 0, nanos = 0;
      for (json_.enter_object(); json_.next_member(name);) {
        if (name == "units") {
          units = json_.read_number().value_or(0);
        } else if (name == "nanos") {
          nanos = json_.read_number().value_or(0);
        } else {
          json_.skip();
        }
      }
      sku.usd = units + nanos / 1e9;
    }
  }

  void keep(const Sku& sku) {
    const std::string_view text = sku.description;
    // Other products: sole tenancy, custom shapes, reservations, calendar and flex-start capacity.
    for (const char* other : {"Sole Tenancy", "Custom", "Reserved", "Premium", "DWS", "suspended", "Suspended",
                              "Calendar", "Defined Duration", "Overcommit"}) {
      if (contains(text, other)) return sink_.pass();
    }
    if (!sku.usd) return sink_.pass();
    Purchase purchase = Purchase::kOnDemand;
    // Some B200 prices say OnDemand where the description says spot.
    if (sku.usage == "Preemptible" || contains(text, "Spot Preemptible") || contains(text, "Preemptible")) {
      purchase = Purchase::kSpot;
    } else if (sku.usage == "Commit1Yr" || contains(text, "for 1 Year")) {
      purchase = Purchase::kOneYear;
    } else if (sku.usage == "Commit3Yr" || contains(text, "for 3 Years") || contains(text, "for 3 Year")) {
      purchase = Purchase::kThreeYears;
    }
    std::string what;
    Part part = Part::kGpu;
    if (sku.resource_group == "GPU" || contains(text, "GPU") || contains(text, "gpu slice")) {
      for (const GpuWords& words : kGpuWords) {
        if (!contains(text, words.words)) continue;
        what = words.gpu;
        break;
      }
    } else {
      what = family(text);
      part = contains(text, "Ram") || contains(text, "RAM") ? Part::kRam : Part::kCore;
    }
    if (what.empty()) return sink_.pass();
    for (const std::string& region : sku.regions) prices_[{what, part, purchase}][region] = *sku.usd;
  }

  // "A2 Instance Core running in Americas", "Commitment v1: G2 Ram in ...": the family in front, as machines write it.
  static std::string family(std::string_view text) {
    for (const char* name : {"A2", "A3Plus", "A3 Ultra", "A3", "A4", "G2", "G4", "N1"}) {
      const std::string_view word(name);
      const std::size_t at = text.find(word);
      if (at == std::string_view::npos || (at > 0 && text[at - 1] != ' ')) continue;
      const std::size_t end = at + word.size();
      if (end < text.size() && text[end] != ' ') continue;
      return to_lower(word);
    }
    return {};
  }

  const std::map<std::string, double>* find(const std::string& what, Part part, Purchase purchase) const {
    const auto found = prices_.find({what, part, purchase});
    return found == prices_.end() ? nullptr : &found->second;
  }

  void sum(const catalog::Machine& machine) {
    const bool mega = machine.instance.starts_with("a3-mega"), ultra = machine.instance.starts_with("a3-ultra");
    const std::string gpu = mega ? "h100-mega" : machine.gpu;
    std::string host = machine.instance.substr(0, machine.instance.find('-'));
    if (mega && find("a3plus", Part::kCore, Purchase::kOnDemand) != nullptr) host = "a3plus";
    if (ultra && find("a3 ultra", Part::kCore, Purchase::kOnDemand) != nullptr) host = "a3 ultra";
    for (const Purchase purchase : {Purchase::kOnDemand, Purchase::kSpot, Purchase::kOneYear, Purchase::kThreeYears}) {
      const auto* gpus = find(gpu, Part::kGpu, purchase);
      if (gpus == nullptr) continue;
      const auto *cores = find(host, Part::kCore, purchase), *ram = find(host, Part::kRam, purchase);
      // A4 is sold by the GPU slice, machine included; everything else needs all three parts.
      const bool slice = machine.gpu == "b200-sxm";
      for (const auto& [region, per_gpu] : *gpus) {
        double total = per_gpu * machine.gpus;
        if (!slice) {
          if (cores == nullptr || ram == nullptr || !cores->contains(region) || !ram->contains(region) ||
              !machine.vcpus || !machine.memory) {
            continue;
          }
          total += cores->at(region) * *machine.vcpus + ram->at(region) * in_gib(*machine.memory);
        }
        FeedRow row;
        row.provider = "gcp";
        row.instance = machine.instance;
        row.region = region;
        row.purchase = purchase;
        row.usd_per_hour = total;
        row.gpus = machine.gpus;
        row.note = "sum of GPU, vCPU and memory prices, without local SSD";
        sink_.take(std::move(row));
      }
    }
  }

  JsonStream json_;
  const Source& source_;
  FeedSink& sink_;
  std::map<std::tuple<std::string, Part, Purchase>, std::map<std::string, double>> prices_;  // by region
  bool seen_ = false;
};

}  // namespace

Result<> read_gcp(const Source& source, FeedSink& sink) { return Reader(source, sink).read(); }

}  // namespace rightsize::feeds
