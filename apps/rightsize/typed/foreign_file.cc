#include "rightsize/typed/foreign_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/file.h"
#include "base/format.h"
#include "base/slurm_time.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/input/data_file.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/foreign_keys.h"
#include "rightsize/typed/foreign_text.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/work_writer.h"

namespace rightsize::app {
namespace {

// ---- files

// A file, and those it names: `deepspeed: ds_z3.json`. A setting of the first file wins.
Entries read_with_named(const std::string& path, int depth) {
  std::error_code ignored;
  constexpr std::uintmax_t kLargest = 4u << 20;
  if (!std::filesystem::is_regular_file(path, ignored) || std::filesystem::file_size(path, ignored) > kLargest)
    return {};
  const Result<std::string> text = read_file(path);
  if (!text || text->find('\0') != std::string::npos) return {};
  Entries entries = read_entries(path, *text);
  if (const std::size_t end = text->find('\n'); text->starts_with("# ") && !entries.empty())
    entries.emplace_back("file.comment", text->substr(2, std::min(end, text->size()) - 2));
  const Entries own = entries;
  for (const auto& [key, value] : own) {
    const std::string kind = to_lower(std::filesystem::path(value).extension().string());
    if (depth == 0 || value.find('\n') != std::string::npos || !lists_word(".json .yaml .yml .toml", kind)) continue;
    std::string named = (std::filesystem::path(path).parent_path() / value).string();
    if (!std::filesystem::is_regular_file(named, ignored)) named = value;
    for (auto& entry : read_with_named(named, depth - 1)) entries.push_back(std::move(entry));
  }
  return entries;
}

bool is_model_config(const Entries& entries) {
  return find(entries, "architectures") != nullptr ||
         (find(entries, "model-type") != nullptr && find(entries, "hidden-size n-embd d-model") != nullptr);
}

bool is_workload(const Entries& entries) {
  if (is_model_config(entries)) return false;
  const bool launched = find(entries, "stack model") != nullptr && find(entries, "file.program") != nullptr;
  const bool toml = text_of(entries, "file.format") == "toml" && find(entries, "model") != nullptr;
  return launched || toml || find(entries, listed("workload")) != nullptr;
}

bool is_rl(const Entries& entries) { return text_of(entries, "job") == "rl" || find(entries, listed("rl")) != nullptr; }

// ---- facts that several keys tell together

class Reader {
 public:
  // `typed_gpus`: the number on the command line, which replaces that of the file.
  Reader(const std::string& path, Entries entries, const std::deque<FlagInfo>& declared, double typed_gpus)
      : path_(path), entries_(std::move(entries)), declared_(declared), typed_gpus_(typed_gpus) {}

  void run() {
    name_llama_keys();
    add_defaults();
    put_model();
    put_job();
    put_machines();
    put_policy();
    // The format of quantized weights wins over the one of the others.
    for (const bool quantized : {true, false}) {
      for (const auto& [key, value] : entries_) {
        if ((key.find("quant") != std::string::npos) == quantized) take(key, value);
      }
    }
    std::erase_if(unused, [&](const std::string& key) { return holds(read_, key); });
    complete();
  }

  std::vector<std::string> flags, notes, unused, unclear;

  bool gives(std::string_view name) const {
    return std::ranges::any_of(flags, [&](const std::string& flag) { return flag.substr(0, flag.find('=')) == name; });
  }

 private:
  bool has(std::string_view name) const { return find_flag(declared_, name) != nullptr; }
  std::string value(std::string_view names) const { return text_of(entries_, names); }

  void put(const std::string& flag) {
    if (!gives(flag.substr(0, flag.find('=')))) flags.push_back(flag);
  }
  std::string given(std::string_view name) const { return value_of(flags, name); }
  void drop(std::string_view name) {
    std::erase_if(flags, [&](const std::string& flag) { return flag.substr(0, flag.find('=')) == name; });
  }

  void take(const std::string& key, const std::string& value) {
    if (value.empty()) return;
    // The longest request of an engine; a command without this limit has its own way to read it.
    if (job_ == "serve" && (has("--isl") || has("--max-model-len")) && ends_with_name(key, listed("engine's context")))
      return put("--max-model-len=" + value);
    const Meaning meaning = meaning_of(key, value, declared_, job_ == "serve");
    if (meaning.kind == Meaning::Kind::kFlag) put(meaning.flag);
    if (meaning.kind == Meaning::Kind::kUnclear) unclear.push_back(fmt::format("{}: {}", key, value));
    // In a manifest, keys of other groups describe the cluster, not the job.
    const bool manifest = find(entries_, "api-version services resources.accelerators") != nullptr;
    const bool counts = ends_with_name(key, "replicas min-replicas max-replicas devices.count");
    if (meaning.kind == Meaning::Kind::kUnknown && !is_off(value) &&
        (!manifest || counts || key.find('.') == std::string::npos) && !holds(unused, key))
      unused.push_back(key);
  }

  // llama.cpp's short options: -m FILE.gguf -c 32768 -np 4, a context that all slots share.
  void name_llama_keys() {
    if (!value("file.program").starts_with("llama-")) return;
    const double slots = std::max(1.0, std::atof(value("np parallel").c_str()));
    for (auto& [key, text] : entries_) {
      if (key == "m") key = "model", text = std::filesystem::path(text).stem().string();
      if (lists_word("np parallel", key)) key = "concurrency";
      if (lists_word("ctk cache-type-k", key)) key = "kv-precision";
      if (lists_word("c ctx-size", key))
        key = "max-model-len", text = fmt::format("{:.0f}", std::atof(text.c_str()) / slots);
    }
    std::erase_if(entries_, [](const auto& entry) {
      return lists_word("ngl n-gpu-layers cache-type-v ctv fa t threads", entry.first);
    });
  }

  void add_defaults() {
    for (const NameRow& row : names_of("default")) {
      const bool disabled = !is_off(value(fmt::format("disable-{}", row.meant)));
      const std::size_t equals = row.names.find('=');
      const std::string* mark = find(entries_, row.names.substr(0, equals));
      const bool said =
          mark != nullptr && (equals == row.names.npos || to_lower(*mark) == row.names.substr(equals + 1));
      if (said && find(entries_, row.meant) == nullptr && !disabled) entries_.emplace_back(row.meant, row.more);
    }
    // A DeepSpeed file that is not here is often named by its stage: ds_z3_config.json.
    const std::string file = to_lower(value("deepspeed"));
    const std::size_t at = file.find_last_of("0123");
    if (file.empty() || find(entries_, "zero-optimization.stage") != nullptr) return;
    const bool named =
        at != std::string::npos && at > 0 && (file[at - 1] == 'z' || file[at - 1] == 'o' || file[at - 1] == 'e');
    if (named) entries_.emplace_back("zero-optimization.stage", file.substr(at, 1));
    notes.push_back(
        named ? fmt::format("{}: assumed: ZeRO stage {}, after the name of {}", path_, file.substr(at, 1), file)
              : fmt::format("{}: {} was not found: how the model is sharded is unknown (--zero)", path_, file));
  }

  // The model: a Hub id or a known name wins over a label.
  void put_model() {
    std::vector<std::string> named;
    for (const std::string_view name : split_list(listed("model"), ' ')) {
      for (const auto& [key, text] : entries_) {
        const bool label = lists_word("model model-name", name) && !is_setting_of_job(key);  // of a Kubernetes object
        if (text.empty() || label || !ends_with_name(key, name) || text.find('$') != std::string::npos) continue;
        std::string id = text;
        for (const std::string_view prefix : {"hf://", "https://huggingface.co/", "huggingface:"}) {
          if (id.starts_with(prefix)) id = id.substr(prefix.size());
        }
        if (!lists_word("true false", id)) named.push_back(id);
      }
    }
    if (const std::string flavor = value("model.flavor"); !flavor.empty() && find(entries_, "model.name") != nullptr)
      named = {value("model.name") + "-" + flavor};
    const auto known = std::ranges::find_if(named, [](const std::string& name) { return model::is_known_name(name); });
    const auto id = std::ranges::find_if(named, [](const std::string& name) { return name.find('/') != name.npos; });
    if (!named.empty())
      return put("--model=" + (known != named.end() ? *known : id != named.end() ? *id : named.front()));
    // A label or the name of a function has the model's: bert_large_qa, torchtune.models.llama3_1.lora_llama3_1_8b.
    for (const char* key : {"model._component_", "name"}) {
      if (lists_word("name", key) && find(entries_, "max-batch-size") == nullptr) continue;
      const std::string text = value(key), label = plain_key(text.substr(text.rfind('.') + 1));
      std::vector<std::string_view> words = split_list(label, '-');
      for (const std::string_view word : words) {
        if (lists_word("lora qlora", word)) put(fmt::format("--method={}", word));
      }
      std::erase_if(words, [](std::string_view word) { return lists_word("lora qlora", word); });
      for (std::size_t many = words.size(); many > 0 && !gives("--model"); --many) {
        for (std::size_t at = 0; at + many <= words.size() && !gives("--model"); ++at) {
          std::string name;
          for (const std::string_view word : std::span(words).subspan(at, many)) {
            // A digit after a digit is a minor version: llama3-1-8b.
            const bool minor =
                word.size() == 1 && !name.empty() && is_digits(word) && is_digits(name.substr(name.size() - 1));
            name += (name.empty() ? "" : minor ? "." : "-") + std::string(word);
          }
          if (model::is_known_name(name)) put("--model=" + name);
        }
      }
      if (gives("--model"))
        return notes.push_back(fmt::format("{}: assumed: '{}' is {} (--model)", path_, text, given("--model")));
    }
    put_size();
  }

  // Megatron's flags are a shape. Its size is kept, and its proportions are those of Llama.
  void put_size() {
    const auto number = [&](const char* key, double otherwise) {
      const double given = std::atof(value(key).c_str());
      return given > 0 ? given : otherwise;
    };
    const double layers = number("num-layers", 0), width = number("hidden-size", 0);
    if (!(layers * width > 0) || find(entries_, "num-experts") != nullptr) return;
    const bool gated = !is_off(value("swiglu")), tied = is_off(value("untie-embeddings-and-output-weights"));
    const double heads = number("num-attention-heads", 1),
                 keys = std::min(1.0, number("num-query-groups", heads) / heads);
    const double inner = number("ffn-hidden-size", (gated ? 8.0 / 3 : 4) * width),
                 vocabulary = number("vocab-size", 50257);
    const double all = layers * width * (2 * width * (1 + keys) + (gated ? 3 : 2) * inner);
    const double billions = (all + vocabulary * width * (tied ? 1 : 2)) / 1e9;
    if (!(billions > 1e-3 && billions < 1e5)) return;
    put(fmt::format("--model={:.3g}b like llama", billions));
    notes.push_back(
        fmt::format("{}: assumed: {:.3g} B parameters (num-layers, hidden-size, ...), {} tokens of vocabulary, Llama's "
                    "proportions; --model takes a config.json",
                    path_, billions, format_count(vocabulary)));
    std::erase_if(entries_, [](const auto& entry) {
      return lists_word(
          "num-layers hidden-size num-attention-heads num-query-groups ffn-hidden-size swiglu vocab-size "
          "untie-embeddings-and-output-weights",
          entry.first);
    });
  }

  void put_job() {
    const std::string method = job_of(value("rl stage"));  // axolotl, LLaMA-Factory
    job_ = is_rl(entries_) ? "rl" : lists_word("dpo rl", method) ? method : job_of(value("job task"));
    const bool engine = find(entries_, listed("engine")) != nullptr;
    const bool trains = find(entries_, listed("trainer")) != nullptr;
    if (job_.empty()) job_ = trains ? "train" : engine || find(entries_, "model-id") != nullptr ? "serve" : "";
    const bool pairs =
        find(entries_, "loss-type pref-loss pref-beta dpo-beta") && find(entries_, "beta pref-beta dpo-beta");
    if (job_ == "train") job_ = pairs ? "dpo" : method_in_names();
    if (job_ == "dpo" && has("--preference")) put("--preference=yes");
    if (lists_word("finetune dpo pretrain", job_)) job_ = "train";
    if (has("--job") && !job_.empty()) put("--job=" + job_);
    if (const std::string stack = value("stack"); !stack.empty() && has("--stack")) {
      const bool rl_stack = lists_word("verl trl openrlhf nemo-rl", stack);
      if (rl_stack == (job_ == "rl")) put("--stack=" + stack);
    } else if (const std::string program = value("file.program");
               job_ == "serve" && !program.empty() && has("--stack")) {
      notes.push_back(fmt::format("{}: {} is answered like vLLM (--stack)", path_, program));
    }
  }

  // TRL's files have no key for DPO: their names, the run's and the data set's say it, or a comment at the top.
  std::string method_in_names() {
    const std::string file = std::filesystem::path(path_).filename().string();
    for (const std::string& text : {value("loss._component_"), file, value("run-name"), value("output-dir"),
                                    value("file.comment"), value("dataset-name dataset")}) {
      std::string words = to_lower(text);
      const bool pairs = words.find("binarized") != words.npos || words.find("preference") != words.npos;
      std::ranges::replace_if(
          words, [](unsigned char c) { return std::isalnum(c) == 0; }, ' ');
      const auto names = split_list(words, ' ');
      if (!pairs && std::ranges::none_of(names, [](std::string_view word) { return job_of(word) == "dpo"; })) continue;
      notes.push_back(fmt::format("{}: read as training on preferences (DPO), as '{}' says; --preference no: without",
                                  path_, text));
      return "dpo";
    }
    return job_;
  }

  // GPUs: a name and a number for each machine, times the machines.
  void put_machines() {
    std::string gpu;
    double count = 0, nodes = 1, pods = 0;
    for (const auto& [key, text] : entries_) {
      constexpr std::string_view kSky = "resources.accelerators.";
      std::string said = key.starts_with(kSky) ? key.substr(kSky.size()) + ":" + text : text;
      const bool holds_gpus = key.starts_with(kSky) || ends_with_name(key, listed("gpus"));
      if (ends_with_name(key, "nnodes num-nodes sbatch.nodes actor-num-nodes"))
        nodes = std::max(nodes, std::atof(text.c_str()));
      if (ends_with_name(key, "worker.replicas master.replicas")) pods += std::atof(text.c_str());  // Kubeflow
      if (ends_with_name(key, "gpu.product gpu.product-name gke-accelerator accelerator-type") && gpu.empty())
        gpu = text;
      if (ends_with_name(key, "instance-type") && gpu.empty())
        gpu = catalog::split_gpu_count(gpus_of_instance(text)).name;
      if (!holds_gpus) continue;
      said = said.substr(0, said.find(','));
      if (to_lower(said).starts_with("gpu:")) said = said.substr(4);
      const std::size_t colon = said.find(':');
      const std::string number = colon == std::string::npos ? said : said.substr(colon + 1);
      const bool is_count = !number.empty() && number.find_first_not_of("0123456789.") == std::string::npos;
      // SkyPilot takes any of several accelerators. Those with another number are named.
      const bool differs = key.starts_with(kSky) && !gpu.empty() && std::atof(number.c_str()) != count;
      if (key.starts_with(kSky)) read_.push_back(key);
      if (differs) {
        notes.push_back(fmt::format("{}: planned on {:g} x {}; the other choice is --gpu {} --gpus {}", path_, count,
                                    gpu, said.substr(0, colon), number));
        continue;
      }
      const bool another = key.starts_with(kSky) && !gpu.empty() && has("--gpu") && find_flag(declared_, "--gpu")->list;
      if (is_count) count = std::max(count, std::atof(number.c_str()));
      if (!is_count || colon != std::string::npos) gpu = (another ? gpu + "," : "") + said.substr(0, colon);
      if (!is_count && count == 0 && key.find("accelerators") != std::string::npos) count = 1;
      if (ends_with_name(key, "num-processes sbatch.gpus")) total_ = true;
    }
    if (gpu.find_first_of("$ ") == std::string::npos && !gpu.empty() && has("--gpu")) put("--gpu=" + gpu);
    // The GPUs of a service follow from its tensor parallel size and its load.
    gpus_ = typed_gpus_ > 1 ? typed_gpus_ : std::max(1.0, count * (total_ ? 1 : std::max(nodes, pods)));
    if (count > 0 && job_ != "serve" && has("--gpus")) put(fmt::format("--gpus={:.0f}", gpus_));
    // TGI splits a model over all GPUs of its container.
    if (job_ == "serve" && value("stack").empty() && count > 1 && has("--tp") &&
        find(entries_, "tensor-parallel-size num-shard tp-size") == nullptr)
      put(fmt::format("--tp={:.0f}", count));
    // A service runs until it is stopped, whatever the limit of its Slurm job.
    const auto limit = parse_slurm_time(value("sbatch.time sbatch.t"));
    if (limit && (job_ == "serve" || !has("--deadline")))
      unused.emplace_back("sbatch.time");
    else if (limit)
      put(fmt::format("--deadline={:.4g}h", in_hours(*limit)));
  }

  // The rules of a HorizontalPodAutoscaler or of KServe.
  void put_policy() {
    const std::string target = value("scale-target average-value");
    if (!has("--scaling-policy") || target.empty() || target.find_first_not_of("0123456789.") != std::string::npos)
      return;
    const bool concurrency = find(entries_, "scale-target") != nullptr;
    std::string policy = fmt::format("--policy={}:target={}", concurrency ? "knative" : "hpa", target);
    const std::string least = value("min-replicas"), most = value("max-replicas"),
                      down = value("stabilization-window-seconds");
    if (!least.empty()) policy += ",min=" + least;
    if (!most.empty()) policy += ",max=" + most;
    if (!down.empty() && !concurrency) policy += fmt::format(",down={}s", down);
    if (!concurrency && to_lower(value("metric.name")).find("waiting") != std::string::npos)
      policy += ",metric=waiting";
    put(policy);
    std::erase_if(entries_, [](const auto& entry) { return ends_with_name(entry.first, "min-replicas max-replicas"); });
  }

  void complete() {
    if (const int copies = std::atoi(value("parallelism.data-parallel-replicate-degree").c_str()); copies > 1)
      notes.push_back(
          fmt::format("{}: {} copies of the shards are not modelled: memory is that of sharding over all "
                      "data-parallel GPUs",
                      path_, copies));
    if (const std::string bits = value("quantization-bit"); !bits.empty() && job_ != "serve") {
      drop("--method");
      if (bits == "4") put("--method=qlora");
      if (bits != "4") unclear.push_back("quantization-bit: " + bits);
    }
    // Samples per optimizer step, for commands that only take the number of passes.
    const auto degree = [&](const char* flag) { return std::max(1.0, std::atof(given(flag).c_str())); };
    const double replicas = gpus_ / degree("--tp") / degree("--pp") / degree("--cp");
    if (const double samples = std::atof(value("global-batch-size").c_str());
        job_ == "train" && !has("--global-batch") && has("--accumulate") && replicas >= 1 && samples > 0) {
      put(fmt::format("--accumulate={:.0f}", std::max(1.0, samples / degree("--batch") / replicas)));
      std::erase(unused, "global-batch-size");
    }
    // axolotl and LLaMA-Factory ignore the rank of adapters that are not trained.
    const bool full = given("--method") == "full" || (find(entries_, "base-model") != nullptr && !gives("--method"));
    if (full) drop("--lora-rank"), drop("--lora-targets");
    // Adapters are trained on a base that was loaded in 16 bits.
    for (std::string& flag : flags) {
      if (given("--method").ends_with("lora") && flag.starts_with("--precision=amp-"))
        flag = "--precision=" + flag.substr(16);
    }
    // LLaMA-Factory: at most this many samples of each data set.
    if (const double most = std::atof(value("max-samples").c_str()); most > 0 && gives("--dataset-samples")) {
      drop("--dataset-samples");
      const std::string sets = value("dataset");
      put(fmt::format("--dataset-samples={:.0f}", most * static_cast<double>(split_list(sets, ',').size())));
    }
    if (job_ != "rl") return;
    // TRL counts answers, not prompts: batch x passes x GPUs answers in each step.
    const double answers = std::max(1.0, std::atof(given("--batch").c_str())) *
                           std::max(1.0, std::atof(given("--accumulate").c_str())) * gpus_;
    const double samples = std::atof(value("num-generations").c_str());
    drop("--batch"), drop("--accumulate"), drop("--global-batch"), drop("--epochs");
    if (samples <= 0 || gives("--prompts") || !has("--prompts")) return;
    put(fmt::format("--prompts={:.0f}", std::max(1.0, answers / samples)));
    notes.push_back(
        fmt::format("{}: a step has {} answers, {:g} for each prompt", path_, format_count(answers), samples));
  }

  std::string path_;
  Entries entries_;
  const std::deque<FlagInfo>& declared_;
  std::string job_;
  double typed_gpus_, gpus_ = 1;
  std::vector<std::string> read_;  // keys that are not flags
  bool total_ = false;
};

// ---- the command line

// The flags that were typed, by our names.
std::vector<std::string> typed_flags(const Typed& typed, const std::deque<FlagInfo>& declared) {
  std::vector<std::string> given;
  for (std::size_t i = 1; i < typed.words.size(); ++i) {
    const std::string& word = typed.words[i];
    const std::string name = word.starts_with("--") ? "--" + plain_key(word.substr(2, word.find('=') - 2)) : word;
    const std::string meant = find_flag(declared, name) != nullptr ? name : meant_flag(name, declared, false);
    if (is_flag_word(word)) given.push_back(meant.empty() ? name : meant.substr(0, meant.find('=')));
    if (is_flag_word(word) || is_flag_word(typed.words[i - 1])) continue;
    const WordKind kind = kind_of_word(word);
    if (kind == WordKind::kModel) given.emplace_back("--model");
    if (kind == WordKind::kGpu) given.emplace_back("--gpu");
  }
  if (holds(given, "--rate") || holds(given, "--arrivals")) given.insert(given.end(), {"--rate", "--arrivals"});
  return given;
}

std::string as_words(std::string flag) {
  if (const std::size_t equals = flag.find('='); equals != std::string::npos) flag[equals] = ' ';
  return flag;
}

// Training data, conversations or requests as amounts and lengths.
std::vector<std::string> flags_of_data(const DataFile& data, const std::vector<std::string>& given, Typed& typed,
                                       const std::deque<FlagInfo>& declared) {
  const auto has = [&](const char* name) { return find_flag(declared, name) != nullptr; };
  const bool serves = data.requests || lists_word("batch autoscale", typed.words.front()) || holds(given, "--rate") ||
                      holds(given, "--concurrency") || holds(given, "--isl");
  std::vector<std::string> flags;
  const auto add = [&](const char* name, double amount) {
    if (amount > 0 && has(name)) flags.push_back(fmt::format("{}={:.0f}", name, std::max(1.0, amount)));
  };
  if (!serves && has("--dataset-tokens") && holds(given, "--epochs")) {
    add("--dataset-tokens", data.tokens);
  } else if (!serves) {
    // Commands without a setting for passes take all of them as one amount.
    double passes = 1;
    if (const std::string epochs = value_of(typed.words, "--epochs"); !epochs.empty() && !has("--epochs")) {
      passes = std::max(1.0, std::atof(epochs.c_str()));
      const auto flag =
          std::ranges::find_if(typed.words, [](const auto& word) { return word.starts_with("--epochs"); });
      typed.words.erase(flag, flag + (*flag == "--epochs" ? 2 : 1));
    }
    if (has("--job")) flags.emplace_back("--job=train");
    flags.push_back(fmt::format("--tokens={:.0f}", passes * data.tokens));
  } else {
    if (!data.model.empty()) flags.push_back("--model=" + data.model);
    if (has("--job")) flags.emplace_back("--job=serve");
    if (data.requests) add("--items", data.samples);
    add("--isl", data.prompt);
    add("--osl", data.answer);
  }
  return flags;
}

// What the keys of a file mean; notes name those without effect.
std::vector<std::string> flags_of_workload(const std::string& name, const Entries& entries, Typed& typed,
                                           const std::deque<FlagInfo>& declared) {
  Reader reader(name, entries, declared, gpus_of(typed));
  reader.run();
  typed.notes.insert(typed.notes.end(), reader.notes.begin(), reader.notes.end());
  if (!reader.unclear.empty())
    typed.notes.push_back(
        fmt::format("{}: not understood, although it may change the answer: {}", name, shown_keys(reader.unclear)));
  if (!reader.unused.empty()) typed.notes.push_back(fmt::format("{}: not used: {}", name, shown_keys(reader.unused)));
  return reader.flags;
}

// Adds the flags of a file, except those that were typed.
void put_flags(const std::string& name, const std::vector<std::string>& flags, const std::vector<std::string>& given,
               Typed& typed) {
  std::vector<std::string> taken, replaced;
  // An amount that was typed replaces the one of the file.
  const bool amount = holds(given, "--tokens") || holds(given, "--samples") || holds(given, "--dataset-tokens");
  const bool rl = holds(flags, "--job=rl");
  for (const std::string& flag : flags) {
    const std::string setting = flag.substr(0, flag.find('='));
    const bool other_amount =
        amount && !rl &&
        lists_word("--tokens --samples --epochs --steps --dataset-tokens --dataset-samples", setting) &&
        !(setting == "--epochs" && holds(given, "--dataset-tokens"));
    if ((holds(given, setting) && setting != "--policy") || other_amount) {
      if (setting != "--job" && !holds(typed.words, flag)) replaced.push_back(as_words(flag));
      continue;
    }
    typed.words.push_back(flag);
    taken.push_back(as_words(flag));
  }
  if (!taken.empty()) typed.renamed.push_back(fmt::format("{} is {}", name, fmt::join(taken, " ")));
  if (!replaced.empty())
    typed.notes.push_back(
        fmt::format("{}: the command line decides, not {} of the file", name, fmt::join(replaced, ", ")));
}

// Keys on the command line, as hydra takes them: data.train_batch_size=1024.
void put_keys(Typed& typed, const std::deque<FlagInfo>& declared) {
  std::vector<std::string>& words = typed.words;
  Entries keys;
  std::string first;
  for (std::size_t i = 1; i < words.size();) {
    const std::size_t equals = words[i].find('=');
    const bool value = is_flag_word(words[i - 1]) && words[i - 1].find('=') == std::string::npos;
    if (is_flag_word(words[i]) || value || equals == std::string::npos || words[i].find('.') > equals) {
      ++i;
      continue;
    }
    if (keys.empty()) first = words[i].substr(0, equals);
    keys.emplace_back(plain_key(words[i].substr(0, equals)), words[i].substr(equals + 1));
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (keys.empty()) return;
  const std::vector<std::string> given = typed_flags(typed, declared);
  put_flags(first, flags_of_workload(first, keys, typed, declared), given, typed);
}

}  // namespace

std::string command_for_work(const std::vector<std::string>& words) {
  if (words.empty() || !lists_word("estimate batch window", words.front())) return {};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto data = read_data_file(words[i]); data && data->requests) return "recommend";
    if (const Entries entries = read_with_named(words[i], 1); is_workload(entries) && is_rl(entries))
      return "recommend";
  }
  return {};
}

std::vector<std::string> flags_in_file(const std::string& path, const std::deque<FlagInfo>& declared) {
  std::vector<std::string> flags;
  constexpr std::size_t kMostKeys = 100;  // more are data, such as the JSON of a plan
  auto entries = read_with_named(path, 0);
  if (entries.empty()) {  // damaged: the lines that can be read
    const Result<std::string> text = read_file(path);
    for (const std::string_view line : split_list(text ? *text : std::string_view(), '\n')) {
      const std::size_t colon = line.find(": ");
      if (colon != line.npos) entries.emplace_back(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
    }
  }
  if (entries.size() > kMostKeys) return flags;
  for (const auto& [key, value] : entries) {
    const std::string name = flag_of_key(key, value, declared);
    const Meaning meaning = value.empty() ? Meaning{} : flag_for(name.substr(2), value, declared, true);
    if (meaning.kind == Meaning::Kind::kFlag)
      flags.push_back(meaning.flag);
    else if (!value.empty() && (read_work_flag(name) || read_limit_name(name.substr(2))))
      flags.push_back(name + "=" + value);
  }
  return flags;
}

void put_foreign_files(Typed& typed, const std::deque<FlagInfo>& declared) {
  const std::string command = typed.words.front();
  if (!lists_word("recommend checklist estimate memory batch autoscale init", command)) return;
  put_keys(typed, declared);
  const bool reads_workloads = find_flag(declared, "WORKLOAD") != nullptr;
  for (std::size_t i = 1; i < typed.words.size(); ++i) {
    const std::string word = typed.words[i];
    const bool joined = is_flag_word(word);
    const std::size_t equals = word.find('=');
    if (joined && equals == std::string::npos) continue;
    const std::string name = joined ? word.substr(equals + 1) : word, path = name == "-" ? standard_input() : name;
    const std::string before = joined                             ? word.substr(0, equals)
                               : is_flag_word(typed.words[i - 1]) ? typed.words[i - 1]
                                                                  : "";
    const FlagInfo* owner = find_flag(declared, before);  // a flag that takes a file itself
    if (owner != nullptr && !lists_word("--from --zero --dataset-tokens", owner->name)) continue;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    const std::string label = name == "-" ? "standard input" : name;
    const std::optional<DataFile> data = read_data_file(path);
    const Entries entries = data ? Entries() : read_with_named(path, 1);
    const bool config = !data && is_model_config(entries);
    const bool workload =
        !data && (is_workload(entries) || (!reads_workloads && !config && find(entries, "model job") != nullptr));
    if ((config && (!before.empty() || !reads_workloads)) || (!data && !config && !workload)) continue;
    const bool drops_flag = !joined && !before.empty();
    typed.words.erase(typed.words.begin() + static_cast<std::ptrdiff_t>(drops_flag ? i - 1 : i),
                      typed.words.begin() + static_cast<std::ptrdiff_t>(i + 1));
    i = 0;  // the words before it may change too
    const std::vector<std::string> given = typed_flags(typed, declared);
    std::vector<std::string> flags;
    if (config) {
      flags.push_back("--model=" + path);
    } else if (data) {
      flags = flags_of_data(*data, given, typed, declared);
      typed.notes.push_back(fmt::format("{}: {} samples, about {} tokens (assumed: 4 characters per token{})", label,
                                        format_count(data->samples), format_count(data->tokens),
                                        data->answer_is_limit ? "; answers as long as max_tokens" : ""));
    } else {
      flags = flags_of_workload(label, entries, typed, declared);
    }
    put_flags(label, flags, given, typed);
  }
}

}  // namespace rightsize::app
