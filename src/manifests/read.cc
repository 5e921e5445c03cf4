#include "manifests/read.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/utf8.h"
#include "manifests/accelerators.h"
#include "manifests/blocks.h"
#include "manifests/device_claims.h"
#include "manifests/mentions.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

bool ends_with_any(std::string_view path, Words endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

// Files of tools that are not read; they are searched for mentions of GPUs.
bool is_other_configuration(std::string_view path) {
  return !path.ends_with("terragrunt.hcl") && ends_with_any(path, {".hcl", ".nomad", ".toml", ".jsonnet", ".libsonnet",
                                                                   ".cue", ".gotmpl", ".tftpl", ".jinja", ".cfg"});
}
bool is_terraform(std::string_view path) {
  return ends_with_any(path, {".tf", ".tofu", ".tfvars", ".bicep", "terragrunt.hcl"});
}
bool is_yaml(std::string_view path) { return ends_with_any(path, {".yaml", ".yml", ".json", ".tpl"}); }
// The resource of an operator that describes work.
bool is_custom(const YamlText& object) {
  const std::string version = object.text(object.root().find("apiVersion"));
  const std::string group = version.substr(0, version.find('/'));
  return group.find('.') != std::string::npos && !group.ends_with(".k8s.io") && object.root().find("spec") != nullptr &&
         !contains_any(group, {"kyverno", "karpenter", "gatekeeper", "monitoring"});
}
bool is_script(std::string_view path) { return is_script_name(path) || path.ends_with(".j2"); }

}  // namespace

Found read_yaml(const std::string& file, const std::string& text) {
  Found found;
  // Most YAML and JSON of a repository has nothing to do with GPUs; a lock file of megabytes is not parsed. Autoscalers
  // do not name the resources of what they scale.
  if (!contains_any(text, {"gpu", "GPU", "nvidia", "accelerator", "nstance", "achineType", "machine_type", "mSize",
                           "vm_size", "tpu", "neuron", "gaudi", "scaleTargetRef", "slots_per_trial",
                           "deploymentTemplate.json", "node_type_id"}))
    return found;
  const bool json = file.ends_with(".json");
  if (json && !contains_any(text, {"apiVersion", "root_module", "\"Resources\"", "deploymentTemplate.json"}) &&
      gpu_mentions(file, text).empty())
    return found;
  const Templated templated(text);
  const YamlDocument::Several parsed = YamlDocument::parse_all(file, templated.text());
  bool ours = false;
  for (const YamlDocument& document : parsed.documents) {
    const YamlText one(file, document.root(), templated);
    const std::size_t before = found.requests.size();
    if (is_kubernetes(document.root())) {
      append(read_kubernetes(one), found);
      // Custom resources without pods have values: workloads of Run:ai, models of an operator.
      const std::string kind = one.text(document.root().find("kind"));
      if (found.requests.size() == before && found.claim_uses.empty()) {
        const std::string name = one.text(find_path(document.root(), {"metadata", "name"}));
        // Machines of a cloud as objects: eksctl, Cluster API, Crossplane, Google's Config Connector.
        const YamlValue* provided = find_path(document.root(), {"spec", "forProvider"});
        std::vector<ConfigBlock> blocks = blocks_of(is_mapping(provided) ? one.within(*provided) : one);
        for (ConfigBlock& block : blocks) block.kind = kind, block.name = name;
        append(read_blocks(blocks), found);
        if (blocks.empty() && is_custom(one)) append(read_values(one, kind, name), found);
        for (std::size_t i = before; i < found.requests.size() && kind == "DistributedWorkload"; ++i)
          found.requests[i].assumptions.emplace_back("only the workers are counted, not a master");
      }
      ours = true;
    } else if (is_sky_task(document.root())) {
      append(read_sky_task(one), found);
      ours = true;
    } else if (is_compose(document.root())) {
      append(read_compose(one), found);
    } else if (const std::vector<ConfigBlock> blocks = blocks_of(one); !blocks.empty()) {
      append(read_blocks(blocks), found);
    } else if (!json && !file.ends_with(".tpl")) {
      const std::string name = file.substr(file.rfind('/') + 1);
      append(read_values(one, name.find("values") != std::string::npos ? "Helm values" : "configuration", name), found);
    }
    ours = ours || found.requests.size() > before;
  }
  // Mistakes matter only in files with requests.
  const bool looks_ours =
      ours || text.find("nvidia.com/") != std::string::npos || text.find("accelerators:") != std::string::npos;
  if (parsed.mistake && looks_ours) {
    found.notes.push_back(fmt::format("{}:{}: {}; the rest of the file was not read", file, parsed.mistake->place.line,
                                      parsed.mistake->message));
  }
  return found;
}

bool may_hold_requests(std::string_view path) {
  return is_terraform(path) || is_yaml(path) || is_script(path) || is_other_configuration(path) || is_code_name(path);
}

namespace {

// Files within a chart: values.yaml has the numbers for templates/.
std::string chart_of(const std::string& file, const std::map<std::string, std::string>& texts) {
  for (std::size_t slash = file.rfind('/'); slash != std::string::npos && slash > 0;
       slash = file.rfind('/', slash - 1)) {
    const std::string folder = file.substr(0, slash);
    if (texts.contains(folder + "/Chart.yaml")) return folder;
  }
  return texts.contains("Chart.yaml") ? "." : "";
}

// Without helm, a chart is read from its values, or from its templates if the values have no GPUs.
void settle_charts(const std::map<std::string, std::string>& texts, Found& found) {
  std::set<std::string> by_values;
  const auto is_template = [](const GpuRequest& request) {
    return request.file.find("templates/") != std::string::npos;
  };
  for (const GpuRequest& request : found.requests) {
    if (request.kind == "Helm values") by_values.insert(chart_of(request.file, texts));
  }
  by_values.erase("");
  std::erase_if(found.requests, [&](const GpuRequest& request) {
    return is_template(request) && by_values.contains(chart_of(request.file, texts));
  });
}

}  // namespace

Found read_files(const std::map<std::string, std::string>& texts) {
  Found found;
  std::vector<TerraformFile> terraform;
  for (const auto& [file, bytes] : texts) {
    const std::string text = to_utf8(bytes);
    if (text.find('\0') != std::string::npos) {
      found.notes.push_back(fmt::format("{}: not read: it is not text in UTF-8 or UTF-16", file));
    } else if (is_terraform(file)) {
      terraform.push_back({file, text});
    } else if (is_nomad(file, text)) {
      append(read_nomad(file, text), found);
    } else if (is_batch_script(text)) {
      append(read_batch_script(file, text), found);
    } else if (!is_yaml(file) && !is_other_configuration(file) && is_queue_script(text)) {
      append(read_queue_script(file, text), found);
    } else if (!is_script(file) && !is_other_configuration(file) && !is_code_name(file)) {
      append(read_yaml(file, text), found);
    }
  }
  append(read_terraform(terraform), found);
  settle_charts(texts, found);
  join_documents(found);
  return found;
}

}  // namespace rightsize::manifests
