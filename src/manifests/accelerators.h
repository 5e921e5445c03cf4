// GPUs in the resources of containers, and the names of keys that count what requests them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manifests/yaml_text.h"

namespace rightsize::manifests {

// Resources that are accelerators: nvidia.com/gpu, nvidia.com/mig-1g.10gb, amd.com/gpu, google.com/tpu ...
bool is_accelerator(std::string_view key);

inline constexpr std::string_view kMigResource = "nvidia.com/mig-";

// Letters only, in lower case: "num_gpus", "numGPUs" and "num-gpus" are the same name.
std::string plain(std::string_view key);

// What a key counts, by its words: "replicas", "nodeCount", "num_workers" are units, "minRunners" their least number.
enum class Counts { kNothing, kUnits, kLeast, kMost };
Counts counts_of(std::string_view key);
// The same for an entry of a mapping: nothing unless its value is a number or may become one.
Counts counts_of(const YamlValue& key, const YamlValue& value);

// {enabled: false}: nothing in it runs.
bool is_off(const YamlValue& value);

struct Amount {
  std::optional<double> count;
  int line = 0;
  std::vector<std::string> unresolved = {};
  std::set<int> lines = {};
};
using Amounts = std::map<std::string, Amount>;  // by resource

Amount amount_of(const YamlText& doc, const YamlValue& value, std::string_view name, const YamlValue& at);
// {limits: {...}, requests: {...}}; resources of zero are left out.
Amounts amounts_of(const YamlText& doc, const YamlValue& resources);
// Adds the amounts of another container that runs at the same time or in sequence.
void add_amounts(Amounts& sum, const Amounts& more, bool at_once);

// By its name: a shell script, a batch job, a Makefile.
bool is_script_name(std::string_view file);
// A program or settings that may start machines with GPUs: Modal, Pulumi, CDK, Nextflow, inventories.
bool is_code_name(std::string_view file);

}  // namespace rightsize::manifests
