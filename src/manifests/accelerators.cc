#include "manifests/accelerators.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::manifests {

namespace {

// Memory or cores of a shared GPU, as HAMi and Volcano count them: nvidia.com/gpumem, volcano.sh/vgpu-memory.
bool is_part_of_gpu(std::string_view key) {
  return contains_any(key, {"/gpumem", "/gpucores", "/vgpu-memory", "/vgpu-cores", "/gpu-memory"});
}

}  // namespace

bool is_accelerator(std::string_view key) {
  // Some operators call it plainly "gpu".
  if (is_part_of_gpu(key) || key.find('/') == std::string_view::npos) return key == "gpu";
  return key.starts_with(kMigResource) ||
         contains_any(to_lower(key), {"gpu", "npu", "tpu", "neuron", "gaudi", "ascend", "/mlu", "/dcu", "/gcu", "xpu"});
}

std::string plain(std::string_view key) {
  std::string letters;
  for (const char c : key) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

Counts counts_of(std::string_view key) {
  const std::string letters = plain(key);
  std::string_view rest = letters;
  // "parallelism" is that of Kubernetes' jobs.
  if (rest == "parallelism") return Counts::kUnits;
  Counts what = Counts::kUnits;
  bool counted = false;
  const auto drop = [&](std::string_view word, bool begin, Counts meaning) {
    const bool has = begin ? rest.starts_with(word) : rest.ends_with(word);
    if (!has || rest.size() == word.size()) return;
    rest = begin ? rest.substr(word.size()) : rest.substr(0, rest.size() - word.size());
    if (meaning != Counts::kUnits) what = meaning;
    counted = true;
  };
  for (const char* word : {"numberof", "num", "desired", "initial", "target", "total", "static", "fixed"})
    drop(word, true, Counts::kUnits);
  for (const char* word : {"minimum", "min", "least"}) drop(word, true, Counts::kLeast);
  for (const char* word : {"maximum", "max", "most"}) drop(word, true, Counts::kMost);
  drop("num", true, Counts::kUnits);
  for (const char* word : {"static", "count", "num", "number"}) drop(word, false, Counts::kUnits);
  if (rest.starts_with("of")) rest.remove_prefix(2);                                      // "numOfHosts"
  if (rest.starts_with("nn") || rest.starts_with("nw")) drop("n", true, Counts::kUnits);  // "nnodes", "nworkers"
  const bool plural = rest.ends_with('s');
  if (plural) rest.remove_suffix(1);
  const bool unit = is_any(rest, {"agent", "executor", "host", "instance", "machine", "node", "pod", "replica",
                                  "runner", "server", "slice", "vm", "worker"});
  return unit && (plural || counted) ? what : Counts::kNothing;
}

Counts counts_of(const YamlValue& key, const YamlValue& value) {
  if (!is_scalar(&key) || !is_scalar(&value)) return Counts::kNothing;
  const bool number = Templated::is_open(value.scalar) || has_variable(value.scalar) || least_number(value.scalar);
  return number ? counts_of(key.scalar) : Counts::kNothing;
}

bool is_off(const YamlValue& value) {
  const YamlValue* enabled = value.find("enabled");
  return is_scalar(enabled) && is_any(to_lower(enabled->scalar), {"false", "no"});
}

Amount amount_of(const YamlText& doc, const YamlValue& value, std::string_view name, const YamlValue& at) {
  GpuRequest probe;
  const std::optional<double> count = doc.number(&value, name, probe);
  return {count, doc.line_of(at), std::move(probe.unresolved), std::move(probe.lines)};
}

Amounts amounts_of(const YamlText& doc, const YamlValue& resources) {
  Amounts amounts;
  for (const char* list : {"limits", "requests"}) {
    const YamlValue* values = resources.find(list);
    if (!is_mapping(values)) continue;
    for (const auto& [key, value] : values->mapping) {
      if (!is_scalar(&key) || !is_accelerator(key.scalar)) continue;
      Amount amount = amount_of(doc, value, key.scalar, key);
      if (const auto known = amounts.find(key.scalar); known != amounts.end())
        known->second.lines.merge(amount.lines);
      else if (amount.count != 0)
        amounts.emplace(key.scalar, std::move(amount));
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
    at->second.lines.insert(amount.lines.begin(), amount.lines.end());
  }
}

bool is_script_name(std::string_view file) {
  const Words endings = {".sh",   ".sbatch", ".slurm",  ".slrm", ".pbs",     ".lsf",    ".job",
                         ".bash", ".sub",    ".submit", ".cmd",  ".jdl",     ".condor", ".qsub",
                         ".sge",  ".ps1",    ".bat",    ".mk",   "Makefile", "justfile"};
  return std::ranges::any_of(endings, [&](std::string_view end) { return file.ends_with(end); });
}

bool is_code_name(std::string_view file) {
  const Words endings = {".py",     ".ts",   ".js",         ".go",    ".cs",  ".java",       ".kt",  ".groovy",
                         ".nf",     ".smk",  "Snakefile",   ".wdl",   ".ini", "Jenkinsfile", ".env", ".conf",
                         ".config", ".star", ".properties", ".dhall", ".ncl", ".nix",        ".pkl"};
  return std::ranges::any_of(endings, [&](std::string_view end) { return file.ends_with(end); });
}

}  // namespace rightsize::manifests
