#include "manifests/read.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "manifests/kubernetes.h"
#include "manifests/skypilot.h"
#include "manifests/slurm.h"
#include "manifests/terraform.h"

namespace rightsize::manifests {
namespace {

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

bool is_terraform(std::string_view path) { return ends_with_any(path, {".tf", ".tofu", ".tfvars"}); }
bool is_yaml(std::string_view path) { return ends_with_any(path, {".yaml", ".yml", ".json", ".tpl"}); }
bool is_script(std::string_view path) {
  return ends_with_any(path, {".sh", ".sbatch", ".slurm", ".job", ".bash", ".j2", ".sub"});
}

void add(Found more, Found& all) {
  std::move(more.requests.begin(), more.requests.end(), std::back_inserter(all.requests));
  std::move(more.notes.begin(), more.notes.end(), std::back_inserter(all.notes));
}

Found read_yaml(const std::string& file, const std::string& text) {
  Found found;
  const Templated templated(text);
  const YamlDocument::Several parsed = YamlDocument::parse_all(file, templated.text());
  bool ours = false;
  for (const YamlDocument& document : parsed.documents) {
    const YamlText one(file, document, templated);
    if (is_kubernetes(document.root())) {
      add(read_kubernetes(one), found);
      ours = true;
    } else if (is_sky_task(document.root())) {
      add(read_sky_task(one), found);
      ours = true;
    }
  }
  // YAML of other kinds is nobody's business; one that stops in the middle of ours is.
  const bool looks_ours =
      ours || text.find("nvidia.com/") != std::string::npos || text.find("accelerators:") != std::string::npos;
  if (parsed.mistake && looks_ours) {
    found.notes.push_back(fmt::format("{}:{}: {}; what stands after it was not read", file, parsed.mistake->place.line,
                                      parsed.mistake->message));
  }
  return found;
}

}  // namespace

bool may_hold_requests(std::string_view path) { return is_terraform(path) || is_yaml(path) || is_script(path); }

Found read_files(const std::map<std::string, std::string>& texts) {
  Found found;
  std::map<std::string, std::vector<TerraformFile>> modules;
  for (const auto& [file, text] : texts) {
    if (is_terraform(file)) {
      const std::size_t slash = file.rfind('/');
      modules[slash == std::string::npos ? "" : file.substr(0, slash)].push_back({file, text});
    } else if (is_batch_script(text)) {
      add(read_batch_script(file, text), found);
    } else if (!is_script(file)) {
      add(read_yaml(file, text), found);
    }
  }
  for (const auto& [folder, files] : modules) add(read_terraform(files), found);
  return found;
}

}  // namespace rightsize::manifests
