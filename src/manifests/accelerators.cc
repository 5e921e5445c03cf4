#include "manifests/accelerators.h"

#include <algorithm>

namespace rightsize::manifests {

bool is_accelerator(std::string_view key) {
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
