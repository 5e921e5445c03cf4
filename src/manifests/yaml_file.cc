#include <fmt/format.h>

#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

// Most YAML and JSON of a repository has nothing to do with GPUs; a lock file of megabytes is not parsed.
bool may_have_gpus(const std::string& text) {
  for (const char* word :
       {"gpu", "nvidia", "accelerator", "instance", "machineType", "vmSize", "tpu", "neuron", "gaudi"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Found read_yaml(const std::string& file, const std::string& text) {
  Found found;
  if (!may_have_gpus(text)) return found;
  if (file.ends_with(".json") && text.find("apiVersion") == std::string::npos) return found;
  const Templated templated(text);
  const YamlDocument::Several parsed = YamlDocument::parse_all(file, templated.text());
  bool ours = false;
  for (const YamlDocument& document : parsed.documents) {
    const YamlText one(file, document.root(), templated);
    if (is_kubernetes(document.root())) {
      append(read_kubernetes(one), found);
      ours = true;
    } else if (is_sky_task(document.root())) {
      append(read_sky_task(one), found);
      ours = true;
    }
  }
  // Mistakes matter only in files that hold requests.
  const bool looks_ours =
      ours || text.find("nvidia.com/") != std::string::npos || text.find("accelerators:") != std::string::npos;
  if (parsed.mistake && looks_ours) {
    found.notes.push_back(fmt::format("{}:{}: {}; the rest of the file was not read", file, parsed.mistake->place.line,
                                      parsed.mistake->message));
  }
  return found;
}

}  // namespace rightsize::manifests
