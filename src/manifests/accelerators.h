// GPUs in the resources of containers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifests/yaml_text.h"

namespace rightsize::manifests {

// Resources that are accelerators: nvidia.com/gpu, nvidia.com/mig-1g.10gb, amd.com/gpu, google.com/tpu ...
bool is_accelerator(std::string_view key);

inline constexpr std::string_view kMigResource = "nvidia.com/mig-";

struct Amount {
  std::optional<double> count;
  int line = 0;
  std::vector<std::string> unresolved = {};
};
using Amounts = std::map<std::string, Amount>;  // by resource

Amount amount_of(const YamlText& doc, const YamlValue& value, std::string_view name, const YamlValue& at);
// {limits: {...}, requests: {...}}; resources of zero are left out.
Amounts amounts_of(const YamlText& doc, const YamlValue& resources);
// Adds the amounts of another container that runs at the same time or in sequence.
void add_amounts(Amounts& sum, const Amounts& more, bool at_once);

}  // namespace rightsize::manifests
