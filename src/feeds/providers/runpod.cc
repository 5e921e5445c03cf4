// RunPod's gpuTypes: {id, displayName, memoryInGb, maxGpuCount, securePrice, communityPrice, secureSpotPrice,
// communitySpotPrice}. Prices are per GPU.
#include <algorithm>

#include <fmt/format.h>

#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

struct RunpodTier {
  const char *field, *cloud;
  catalog::Purchase purchase;
};
constexpr RunpodTier kRunpodTiers[] = {{"securePrice", "SECURE", catalog::Purchase::kOnDemand},
                                       {"secureSpotPrice", "SECURE", catalog::Purchase::kSpot},
                                       {"communityPrice", "COMMUNITY", catalog::Purchase::kOnDemand},
                                       {"communitySpotPrice", "COMMUNITY", catalog::Purchase::kSpot}};

Result<> read_runpod(const FeedInput& input, FeedSink& sink) {
  return read_entries(input, "gpuTypes", "RunPod's answer", [&](const JsonValue& type) {
    const std::string& gpu =
        value_at(type, "displayName") != nullptr ? text_at(type, "displayName") : text_at(type, "id");
    if (gpu.empty()) return sink.pass();
    std::string spelled = gpu;  // "H100 SXM" is 1x_H100-SXM_SECURE
    std::ranges::replace(spelled, ' ', '-');
    const double most = std::min(number_at(type, "maxGpuCount").value_or(1), 8.0);
    for (const RunpodTier& tier : kRunpodTiers) {
      const double price = number_at(type, tier.field).value_or(0);
      if (price == 0) continue;  // not offered
      for (int count = 1; count <= most; count *= 2) {
        FeedRow row;
        row.provider = "runpod";
        row.instance = fmt::format("{}x_{}_{}", count, spelled, tier.cloud);
        row.region = "any";
        row.purchase = tier.purchase;
        row.usd_per_hour = price * count;
        row.gpu = gpu;
        row.gpus = count;
        row.gpu_memory_gib = number_at(type, "memoryInGb");
        row.community = std::string_view(tier.cloud) == "COMMUNITY";
        if (count > 1) row.note = "one-GPU rate times the count";
        sink.take(std::move(row));
      }
    }
  });
}

}  // namespace

std::vector<Feed> runpod() {
  return {{{"runpod", "RunPod's gpuTypes, JSON", true}, false, read_runpod, "\"gpuTypes\"|\"securePrice\""}};
}

}  // namespace rightsize::feeds
