#include "rightsize/typed/training_config.h"

#include <algorithm>
#include <cstdlib>
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
    {"parallelism.data_parallel_shard_degree", "zero"},
    {"parallelism.tensor_parallel_degree", "tp"},
    {"parallelism.pipeline_parallel_degree", "pp"},
    {"parallelism.context_parallel_degree", "cp"},
    {"parallelism.expert_parallel_degree", "ep"},
    {"activation_checkpoint.mode", "recompute"},
    {"compile.enable", "torch-compile"},
};
// Keys of a SkyPilot task.
constexpr std::pair<std::string_view, std::string_view> kTask[] = {
    {"resources.accelerators", "--gpus"},
    {"num_nodes", "--nodes"},
    {"resources.use_spot", "--spot"},
    {"resources.cloud", "--provider"},
    {"resources.region", "--region"},
    {"resources.infra", "--infra"},
    {"envs.MODEL", "--model"},
    {"envs.MODEL_NAME", "--model"},
};
constexpr std::string_view kReplicas = "parallelism.data_parallel_replicate_degree";
// Keys by which such a file is recognised.
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

// "vllm serve X --tensor-parallel-size 2 --enable-prefix-caching": the model and each flag with its value.
Entries read_engine(const std::vector<std::string>& words) {
  Entries entries;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool follows = i + 1 < words.size() && !words[i + 1].starts_with('-');
    if (word == "serve" && follows) entries.emplace_back("model", words[i + 1]);
    if (!word.starts_with("--")) continue;
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals == word.npos ? equals : equals - 2);
    if (lists_word("model-path model-id", name)) name = "model";
    entries.emplace_back(name, equals != word.npos ? word.substr(equals + 1) : follows ? words[i + 1] : "true");
  }
  return entries;
}

// The engine in the first container with a model: a Deployment's, a DynamoGraphDeployment's. Empty where there is none.
Entries engine_of(const YamlValue& value) {
  std::vector<std::string> words;
  for (const std::string_view list : {"command", "args"}) {
    const YamlValue* given = value.kind == YamlValue::Kind::kMapping ? value.find(list) : nullptr;
    if (given == nullptr) continue;
    // A shell takes a whole command line as one argument.
    for (const YamlValue& word : given->kind == YamlValue::Kind::kList ? given->list : std::vector{*given}) {
      for (const std::string_view part : split_list(word.scalar, ' ')) words.emplace_back(trim(part));
    }
  }
  Entries entries = read_engine(words);
  const bool serves = std::ranges::any_of(entries, [](const auto& entry) { return entry.first == "model"; });
  if (serves) {
    entries.emplace_back("job", "serve");
    return entries;
  }
  for (const auto& [key, inner] : value.mapping) {
    if (entries = engine_of(inner); !entries.empty()) return entries;
  }
  for (const YamlValue& inner : value.list) {
    if (entries = engine_of(inner); !entries.empty()) return entries;
  }
  return {};
}

// Tables of plain values, which is all that torchtitan's files have.
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

// The flags of a SkyPilot task, as typed on a command line; empty where the file is none.
std::vector<std::string> flags_of_task(const Entries& entries) {
  std::vector<std::string> flags;
  for (const auto& [key, value] : entries) {
    const auto row = std::ranges::find_if(kTask, [&](const auto& each) { return each.first == key; });
    const bool off = value.empty() || lists_word("false no none off", to_lower(value));
    if (row == std::end(kTask) || off) continue;
    flags.emplace_back(row->second);
    if (row->second != "--spot") flags.back() += "=" + value;
  }
  // `accelerators: {H100: 8}`.
  for (const auto& [key, value] : entries) {
    constexpr std::string_view kGpus = "resources.accelerators.";
    if (key.starts_with(kGpus)) flags.push_back(fmt::format("--gpus={}:{}", key.substr(kGpus.size()), value));
  }
  const bool names_gpu =
      std::ranges::any_of(flags, [](const std::string& flag) { return flag.starts_with("--gpus="); });
  return names_gpu ? flags : std::vector<std::string>{};
}

std::string value_of(const Entries& entries, std::string_view key) {
  for (const auto& [name, value] : entries) {
    if (name == key) return value;
  }
  return {};
}

// Facts of torchtitan's files that our flags have in other words: the model's name and the degree of sharding. -1, the
// default, shards over all ranks that tensor, context and pipeline parallelism leave.
void complete_torchtitan(Entries& entries) {
  const std::string model = value_of(entries, "model.name"), flavor = value_of(entries, "model.flavor");
  if (model.empty() || flavor.empty()) return;
  constexpr std::string_view kShards = "parallelism.data_parallel_shard_degree";
  const bool shards = value_of(entries, kShards) != "1";
  std::erase_if(entries, [&](const auto& entry) { return entry.first == kShards; });
  entries.emplace_back("model", model + "-" + flavor);
  entries.emplace_back("stack", "torchtitan");
  if (shards) entries.emplace_back(kShards, "3");
}

// "--batch=2" for a key and its value; empty where the command has no such flag or the flag does not accept the value.
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
    complete_torchtitan(entries);
  } else {
    for (const YamlDocument& document : YamlDocument::parse_all(path, *text).documents) {
      const bool object = document.root().kind == YamlValue::Kind::kMapping && document.root().find("apiVersion");
      if (Entries engine = object ? engine_of(document.root()) : Entries(); !engine.empty()) return engine;
      flatten(document.root(), "", entries);
    }
  }
  const bool is_config = !flags_of_task(entries).empty() || std::ranges::any_of(entries, [](const auto& entry) {
    return std::ranges::find(kMarks, entry.first) != std::end(kMarks);
  });
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
    if (const std::vector<std::string> task = flags_of_task(*entries); !task.empty()) {
      for (const std::string& flag : task) {
        const std::string name = flag.substr(0, flag.find('='));
        const bool given = std::ranges::any_of(typed.words, [&](const std::string& word) {
          return word == name || word.starts_with(name + "=") || (name == "--gpus" && word.starts_with("--gpu"));
        });
        if (!given) typed.words.push_back(flag);
      }
      typed.renamed.push_back(fmt::format("{} is {}", path, fmt::join(task, " ")));
      return;
    }
    std::vector<std::string> given;
    for (const std::string& word : typed.words) {
      const std::string name = word.substr(0, word.find('='));
      const std::string meant = find_flag(declared, name) != nullptr ? name : meant_flag(name, declared, false);
      if (is_flag_word(word)) given.push_back(meant.substr(0, meant.find('=')));
      if (!is_flag_word(word) && kind_of_word(word) == WordKind::kModel) given.emplace_back("--model");
    }
    std::vector<std::string> taken, unused;
    // recommend chooses the batch of a pass and their number itself: the file has the samples of a step on each GPU.
    const bool searches = typed.words.front() == "recommend";
    std::int64_t samples = 1;
    for (const auto& [key, value] : *entries) {
      std::string flag = flag_for(key, value, declared);
      if (searches && (flag.starts_with("--batch=") || flag.starts_with("--accumulate="))) {
        samples *= std::max(1, std::atoi(flag.c_str() + flag.find('=') + 1));
        continue;
      }
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
    if (samples > 1 && !holds(given, "--global-batch")) {
      typed.words.push_back(fmt::format("--global-batch={}", samples));
      typed.notes.push_back(fmt::format("{}: a step has {} samples, as on one GPU (--global-batch)", path, samples));
    }
    if (const int copies = std::atoi(value_of(*entries, kReplicas).c_str()); copies > 1) {
      std::erase(unused, kReplicas);
      typed.notes.push_back(
          fmt::format("{}: {} copies of the shards are not modelled: memory is that of sharding over "
                      "all data-parallel GPUs",
                      path, copies));
    }
    typed.renamed.push_back(fmt::format("{} is {}", path, fmt::join(taken, " ")));
    if (!unused.empty()) typed.notes.push_back(fmt::format("{}: not used: {}", path, fmt::join(unused, ", ")));
    return;
  }
}

}  // namespace rightsize::app
