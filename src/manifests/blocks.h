// Machines in configuration blocks: Terraform's, and those of other tools converted to the same form (snake_case names,
// references as expressions).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifests/hcl.h"
#include "manifests/request.h"
#include "manifests/yaml_text.h"

namespace rightsize::manifests {

struct ConfigBlock {
  HclValue block;  // with expressions replaced by their values, if known
  std::string file;
  std::string kind, name;                 // "aws_instance", "train"
  std::vector<std::string> sources = {};  // other files its values come from
  std::string region = {};                // of its provider, where the block itself names none
};

// "InstanceTypes" -> "instance_types", "machineSpec" -> "machine_spec"
std::string snake_case(std::string_view name);
HclValue snake_keys(HclValue value);

// A file of Azure's Bicep as one of Terraform: variables, locals, resources and modules, whose folders are files.
Result<HclValue> parse_bicep(const std::string& file, std::string_view text);

// Whether an attribute of this name may hold a machine type.
bool is_machine_key(std::string_view name);

// One request for each block or object inside that names a machine type with GPUs or an accelerator.
Found read_blocks(const std::vector<ConfigBlock>& blocks);

// The blocks of a template of CloudFormation or Azure, of `terraform show -json`, or of a cluster file that names
// machine types (ray up, ParallelCluster, Vertex AI, Databricks, Google Batch). None if the document names no machine
// type.
std::vector<ConfigBlock> blocks_of(const YamlText& document);

}  // namespace rightsize::manifests
