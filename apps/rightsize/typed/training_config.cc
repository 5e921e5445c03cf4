#include "rightsize/typed/training_config.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/yaml.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// Nested keys and their flags. Any other key means the flag of the same name.
constexpr std::pair<std::string_view, std::string_view> kNested[] = {
    {"zero_optimization.stage", "zero"},
    {"zero_optimization.offload_optimizer.device", "offload-optimizer"},
    {"zero_optimization.offload_param.device", "offload-params"},
    {"bf16.enabled", "bf16"},
    {"fp16.enabled", "fp16"},
    {"optimizer.type", "optimizer"},
    {"optimizer.name", "optimizer"},
    {"train_micro_batch_size_per_gpu", "batch"},
    {"training.local_batch_size", "batch"},
    {"training.global_batch_size", "global-batch"},
    {"training.seq_len", "seq"},
    {"parallelism.tensor_parallel_degree", "tp"},
    {"parallelism.pipeline_parallel_degree", "pp"},
    {"parallelism.context_parallel_degree", "cp"},
    {"parallelism.expert_parallel_degree", "ep"},
    {"activation_checkpoint.mode", "recompute"},
    {"compile.enable", "torch-compile"},
};
// Keys that identify such a file.
constexpr std::string_view kMarks[] = {"base_model",       "model_name_or_path", "zero_optimization.stage",
                                       "micro_batch_size", "model.flavor",       "per_device_train_batch_size"};

void flatten(const YamlValue& value, const std::string& name, Entries& entries) {
  if (value.kind == YamlValue::Kind::kMapping) {
    for (const auto& [key, inner] : value.mapping)
      flatten(inner, name.empty() ? key.scalar : name + "." + key.scalar, entries);
  } else {
    entries.emplace_back(name, value.scalar);  // a list has no scalar, and no flag takes a list
  }
}

// Reads tables of plain values; torchtitan's files have nothing else.
Entries read_toml(std::string_view text) {
  Entries entries;
  std::string table;
  for (std::string_view line : split_list(text, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    const std::size_t equals = line.find('=');
    if (line.starts_with('[') && line.ends_with(']')) table = std::string(line.substr(1, line.size() - 2)) + ".";
    if (line.starts_with('[') || equals == line.npos) continue;
    std::string value(trim(line.substr(equals + 1)));
    if (value.size() > 1 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    entries.emplace_back(table + std::string(trim(line.substr(0, equals))), value);
  }
  return entries;
}

std::string value_of(const Entries& entries, std::string_view key) {
  for (const auto& [name, value] : entries) {
    if (name == key) return value;
  }
  return {};
}

// "--batch=2" for a key and its value; empty if the command has no such flag or the flag does not accept the value.
std::string flag_for(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared) {
  const auto nested = std::ranges::find_if(kNested, [&](const auto& row) { return row.first == key; });
  if (nested == std::end(kNested) && key.find('.') != std::string::npos) return {};
  std::string name = "--" + (nested == std::end(kNested) ? key : std::string(nested->second));
  std::replace(name.begin(), name.end(), '_', '-');
  const FlagInfo* own = find_flag(declared, name);
  const std::string meant = own != nullptr ? own->name : meant_flag(name, declared, false);
  const std::size_t fixed = meant.find('=');
  const FlagInfo* flag = find_flag(declared, meant.substr(0, fixed));
  if (flag == nullptr || flag->setting == nullptr) return {};
  const std::string said = to_lower(value);
  if (fixed != std::string::npos) {
    const bool off = said.empty() || lists_word("false no none off 0", said);
    return off || meant.find('*') != std::string::npos ? std::string() : meant;
  }
  const std::string text = meant_value(flag->name, value);
  if (!settings::read_list(*flag->setting, text)) return {};
  return flag->name + "=" + text;
}

}  // namespace

std::optional<Entries> read_training_config(const std::string& path) {
  std::error_code ignored;
  const std::string kind = to_lower(std::filesystem::path(path).extension().string());
  if (!lists_word(".json .yaml .yml .toml", kind) || !std::filesystem::is_regular_file(path, ignored))
    return std::nullopt;
  const Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  Entries entries;
  if (kind == ".toml") {
    entries = read_toml(*text);
    const std::string model = value_of(entries, "model.name"), flavor = value_of(entries, "model.flavor");
    if (!model.empty() && !flavor.empty()) entries.emplace_back("model", model + "-" + flavor);
  } else {
    for (const YamlDocument& document : YamlDocument::parse_all(path, *text).documents)
      flatten(document.root(), "", entries);
  }
  const bool is_config = std::ranges::any_of(
      entries, [](const auto& entry) { return std::ranges::find(kMarks, entry.first) != std::end(kMarks); });
  return is_config ? std::optional(std::move(entries)) : std::nullopt;
}

void put_training_config(Typed& typed, const std::deque<FlagInfo>& declared) {
  for (std::size_t i = 1; i < typed.words.size(); ++i) {
    const std::string path = typed.words[i];
    const std::optional<Entries> entries = read_training_config(path);
    if (!entries) continue;
    const bool named = lists_word("--deepspeed --config --config-file --from -f", typed.words[i - 1]);
    typed.words.erase(typed.words.begin() + static_cast<std::ptrdiff_t>(named ? i - 1 : i),
                      typed.words.begin() + static_cast<std::ptrdiff_t>(i + 1));
    std::vector<std::string> given;
    for (const std::string& word : typed.words) {
      const std::string name = word.substr(0, word.find('='));
      const std::string meant = find_flag(declared, name) != nullptr ? name : meant_flag(name, declared, false);
      if (is_flag_word(word)) given.push_back(meant.substr(0, meant.find('=')));
      if (!is_flag_word(word) && kind_of_word(word) == WordKind::kModel) given.emplace_back("--model");
    }
    std::vector<std::string> taken, unused;
    const bool searches = typed.words.front() == "recommend";  // `recommend` chooses these itself
    for (const auto& [key, value] : *entries) {
      std::string flag = flag_for(key, value, declared);
      if (searches && (flag.starts_with("--batch=") || flag.starts_with("--accumulate="))) flag.clear();
      const std::string name = flag.substr(0, flag.find('='));
      const bool off = lists_word("false no none 0 off", to_lower(value));
      if (flag.empty() && !off && !(key.starts_with("model.") && !value.empty())) unused.push_back(key);
      if (flag.empty() || holds(given, name)) continue;
      given.push_back(name);
      typed.words.push_back(flag);
      std::string said = flag;
      std::replace(said.begin(), said.begin() + static_cast<std::ptrdiff_t>(name.size() + 1), '=', ' ');
      taken.push_back(said);
    }
    typed.renamed.push_back(fmt::format("{} is {}", path, fmt::join(taken, " ")));
    if (!unused.empty()) typed.notes.push_back(fmt::format("{}: not used: {}", path, fmt::join(unused, ", ")));
    return;
  }
}

}  // namespace rightsize::app
