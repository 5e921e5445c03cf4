// Vast's offers: dph_total is dollars per hour for the whole offer, min_bid the lowest bid for an interruptible one.
#include <algorithm>

#include <fmt/format.h>

#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

Result<> read_vast(const FeedInput& input, FeedSink& sink) {
  return read_entries(input, "offers", "Vast's answer", [&](const JsonValue& offer) {
    FeedRow row;
    row.provider = "vast";
    row.gpu = text_at(offer, "gpu_name");
    row.gpus = number_at(offer, "num_gpus");
    if (row.gpu.empty() || !row.gpus) return sink.pass();
    std::string spelled = row.gpu;
    std::ranges::replace(spelled, ' ', '-');
    row.instance = fmt::format("{:g}x_{}", *row.gpus, spelled);
    row.region = text_at(offer, "geolocation").empty() ? "any" : text_at(offer, "geolocation");
    row.vcpus = number_at(offer, "cpu_cores_effective");
    if (const std::optional<double> memory = number_at(offer, "cpu_ram")) row.memory_gib = *memory / 1024;
    if (const std::optional<double> memory = number_at(offer, "gpu_ram")) row.gpu_memory_gib = *memory / 1024;
    row.community = true;
    const std::optional<double> price = number_at(offer, "dph_total"), bid = number_at(offer, "min_bid");
    if (!price) return sink.refuse("no price", row.instance, 0);
    row.usd_per_hour = *price;
    sink.take(row);
    if (!bid || *bid == 0) return;
    row.purchase = catalog::Purchase::kSpot;
    row.usd_per_hour = *bid;
    sink.take(std::move(row));
  });
}

}  // namespace

std::vector<Feed> vast() {
  return {{{"vast", "Vast offers, JSON", true}, false, read_vast, "\"offers\"|\"dph_total\""}};
}

}  // namespace rightsize::feeds
