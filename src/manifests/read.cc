#include "manifests/read.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

bool ends_with_any(std::string_view path, Words endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

bool is_terraform(std::string_view path) { return ends_with_any(path, {".tf", ".tofu", ".tfvars"}); }
bool is_yaml(std::string_view path) { return ends_with_any(path, {".yaml", ".yml", ".json", ".tpl"}); }
bool is_script(std::string_view path) {
  return ends_with_any(path, {".sh", ".sbatch", ".slurm", ".job", ".bash", ".j2", ".sub"});
}

}  // namespace

Found read_yaml(const std::string& file, const std::string& text) {
  Found found;
  // Most YAML and JSON of a repository has nothing to do with GPUs; a lock file of megabytes is not parsed.
  if (!contains_any(text,
                    {"gpu", "nvidia", "accelerator", "instance", "machineType", "vmSize", "tpu", "neuron", "gaudi"}))
    return found;
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

bool may_hold_requests(std::string_view path) { return is_terraform(path) || is_yaml(path) || is_script(path); }

Found read_files(const std::map<std::string, std::string>& texts) {
  Found found;
  std::map<std::string, std::vector<TerraformFile>> modules;
  for (const auto& [file, bytes] : texts) {
    const std::string text = to_utf8(bytes);
    if (text.find('\0') != std::string::npos) {
      found.notes.push_back(fmt::format("{}: not read: it is not text in UTF-8 or UTF-16", file));
    } else if (is_terraform(file)) {
      const std::size_t slash = file.rfind('/');
      modules[slash == std::string::npos ? "" : file.substr(0, slash)].push_back({file, text});
    } else if (is_batch_script(text)) {
      append(read_batch_script(file, text), found);
    } else if (!is_script(file)) {
      append(read_yaml(file, text), found);
    }
  }
  for (const auto& [folder, files] : modules) append(read_terraform(files), found);
  return found;
}

}  // namespace rightsize::manifests
