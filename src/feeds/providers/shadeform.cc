// Shadeform's GET /v1/instances/types: machines of many clouds, with prices in cents per hour for the whole machine
// (docs.shadeform.ai, 2026-11-17). Regions without capacity are omitted.
#include <algorithm>

#include <fmt/format.h>

#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

// "A100_80Gx8" as the catalogue writes it: "A100-80GBx8".
std::string spelled(std::string name) {
  std::ranges::replace(name, '_', '-');
  const std::size_t size = std::min(name.find("Gx"), name.ends_with('G') ? name.size() - 1 : name.size());
  if (size < name.size()) name.insert(size + 1, "B");
  return name;
}

// The name with its form factor if the catalogue distinguishes it: "H100" on "sxm5" is "H100-sxm".
std::string gpu_of(const JsonValue& machine, const catalog::Catalog& catalog) {
  const std::string gpu = spelled(text_at(machine, "gpu_type")), &form = text_at(machine, "interconnect");
  const std::string full = gpu + "-" + (form.starts_with("sxm") ? "sxm" : form);
  return catalog.find_gpu(full) ? full : gpu;
}

Result<> read_shadeform(const FeedInput& input, FeedSink& sink) {
  return read_entries(input, "instance_types", "Shadeform's instance types", [&](const JsonValue& type) {
    const JsonValue* machine = value_at(type, "configuration");
    if (machine == nullptr || number_at(*machine, "num_gpus").value_or(0) <= 0) return sink.pass();
    FeedRow row;
    row.provider = "shadeform";
    row.instance = fmt::format("{}_{}", text_at(type, "cloud"), spelled(text_at(type, "shade_instance_type")));
    row.gpu = gpu_of(*machine, input.catalog);
    row.gpus = number_at(*machine, "num_gpus");
    row.gpu_memory_gib = number_at(*machine, "vram_per_gpu_in_gb");
    row.vcpus = number_at(*machine, "vcpus");
    row.memory_gib = number_at(*machine, "memory_in_gb");
    row.community = true;
    const std::optional<double> cents = number_at(type, "hourly_price");
    if (!cents) return sink.refuse("no price", row.instance, 0);
    row.usd_per_hour = *cents / 100;
    for (const JsonValue& place : items_at(type, "availability")) {
      const JsonValue* available = value_at(place, "available");
      if (available == nullptr || !available->boolean) continue;
      row.region = text_at(place, "region");
      sink.take(row);
    }
  });
}

}  // namespace

std::vector<Feed> shadeform() {
  return {{{"shadeform", "Shadeform's instance types, JSON", true}, false, read_shadeform, "\"shade_instance_type\""}};
}

}  // namespace rightsize::feeds
