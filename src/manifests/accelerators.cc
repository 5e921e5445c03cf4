#include "manifests/accelerators.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::manifests {

namespace {

// Memory or cores of a shared GPU, as HAMi and Volcano count them: nvidia.com/gpumem, volcano.sh/vgpu-memory.
bool is_part_of_gpu(std::string_view key) {
  return contains_any(key, {"/gpumem", "/gpucores", "/vgpu-memory", "/vgpu-cores", "/gpu-memory"});
}

}  // namespace

bool is_accelerator(std::string_view key) {
  if (is_part_of_gpu(key)) return false;
  // Some operators call it plainly "gpu".
  return key == "gpu" || key.ends_with("/gpu") ||
         starts_with_any(key, {"nvidia.com/gpu", kMigResource, "amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi",
                               "aws.amazon.com/neuron", "google.com/tpu"});
}

Amount amount_of(const YamlText& doc, const YamlValue& value, std::string_view name, const YamlValue& at) {
  GpuRequest probe;
  const std::optional<double> count = doc.number(&value, name, probe);
  return {count, doc.line_of(at), std::move(probe.unresolved)};
}

Amounts amounts_of(const YamlText& doc, const YamlValue& resources) {
  Amounts amounts;
  for (const char* list : {"limits", "requests"}) {
    const YamlValue* values = resources.find(list);
    if (!is_mapping(values)) continue;
    for (const auto& [key, value] : values->mapping) {
      if (!is_scalar(&key) || !is_accelerator(key.scalar) || amounts.contains(key.scalar)) continue;
      if (Amount amount = amount_of(doc, value, key.scalar, key); amount.count != 0)
        amounts[key.scalar] = std::move(amount);
    }
    for (const auto& [key, value] : values->mapping) {
      if (!is_scalar(&key) || !is_part_of_gpu(key.scalar) || amounts.empty()) continue;
      const std::string part = fmt::format("{}: {}: a part of each GPU", key.scalar, doc.text(&value));
      std::vector<std::string>& unresolved = amounts.begin()->second.unresolved;
      if (doc.text(&value) != "100" && std::ranges::find(unresolved, part) == unresolved.end())
        unresolved.push_back(part);
    }
  }
  return amounts;
}

void add_amounts(Amounts& sum, const Amounts& more, bool at_once) {
  for (const auto& [key, amount] : more) {
    auto [at, fresh] = sum.try_emplace(key, amount);
    if (fresh) continue;
    std::optional<double>& count = at->second.count;
    if (!count || !amount.count)
      count = std::nullopt;
    else
      count = at_once ? *count + *amount.count : std::max(*count, *amount.count);
    at->second.unresolved.insert(at->second.unresolved.end(), amount.unresolved.begin(), amount.unresolved.end());
  }
}

}  // namespace rightsize::manifests
