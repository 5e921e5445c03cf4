#include "manifests/read.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"
#include "manifests/readers.h"

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

}  // namespace

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
