#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/join_names.h"
#include "rightsize/typed/names.h"
#include "rightsize/typed/things.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

bool has(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string tidy(std::string_view word) {
  std::string name = to_lower(word);
  for (char& c : name) c = c == '_' ? '-' : c;
  return name;
}

const OtherName* find_other(std::string_view typed) {
  const std::string name = tidy(typed);
  for (const OtherName& other : other_names()) {
    if (other.typed == name) return &other;
  }
  return nullptr;
}

// A command by any of its names; empty where there is none.
std::string find_command(std::string_view typed, std::span<const std::string> commands) {
  std::string name = tidy(typed);
  if (has(commands, name)) return name;
  if (has(commands, name + "s")) return name + "s";
  if (name.ends_with('s') && has(commands, name.substr(0, name.size() - 1))) return name.substr(0, name.size() - 1);
  const OtherName* other = find_other(name);
  return other == nullptr ? std::string() : std::string(other->meant);
}

std::optional<Error> refuse(std::string_view word) {
  for (const NotOurs& other : not_ours()) {
    if (other.typed == tidy(word))
      return bad_input(fmt::format("there is no command '{}'", word)).with_hint(std::string(other.instead));
  }
  return std::nullopt;
}

// `kubectl top`, `gcloud compute machine-types list`: what stands in front of the last tool's name is not needed.
void drop_tools(std::vector<std::string>& words) {
  const auto is_tool = [](const std::string& word) {
    return std::find(tools().begin(), tools().end(), tidy(word)) != tools().end();
  };
  while (words.size() > 1 && !words[1].starts_with('-') && is_tool(words.front()) &&
         (words.front() != "pricing" || words[1].starts_with("get-") || words[1].starts_with("describe-")))
    words.erase(words.begin());
}

bool is_verb(std::string_view word) {
  constexpr std::string_view kVerbs[] = {"get", "list", "ls", "show", "describe", "info", "search", "find"};
  return std::find(std::begin(kVerbs), std::end(kVerbs), to_lower(word)) != std::end(kVerbs);
}

// nvidia-smi and its kin are asked by flags alone: -L, -l 1, -q, --query-gpu=name.
bool asks_this_machine(std::string_view word) {
  constexpr std::string_view kFlags[] = {"-L", "-l", "-q", "-i", "-1", "-m", "--list-gpus", "--loop"};
  return word.starts_with("--query-") || std::find(std::begin(kFlags), std::end(kFlags), word) != std::end(kFlags);
}

// Flags in front of the command stand behind it.
void put_command_first(std::vector<std::string>& words) {
  std::size_t first = 0;
  while (first < words.size() && words[first].starts_with('-')) {
    const bool valued = words[first] == "-o" || words[first] == "--output" || words[first] == "--format";
    first += valued ? 2 : 1;
  }
  if (first >= words.size()) return;
  std::rotate(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(first),
              words.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

Result<> take_verb(std::vector<std::string>& words, std::span<const std::string> commands) {
  const bool named = words.size() > 1 && !words[1].starts_with('-');
  if (!named) {
    return fail(bad_input(fmt::format("{} what?", words.front()))
                    .with_hint("'rightsize gpus', 'rightsize models' and 'rightsize prices' list what is known"));
  }
  if (!find_command(words[1], commands).empty()) {
    words.erase(words.begin());
    return {};
  }
  if (auto refused = refuse(words[1])) return fail(*std::move(refused));
  const bool searches = to_lower(words.front()) == "search" || to_lower(words.front()) == "find";
  const Thing thing = thing_named(words[1]);
  // `show h100`, `describe llama-3.1-8b`; what neither is, models are searched for.
  words.front() = thing == Thing::kModel || (searches && thing == Thing::kNothing) ? "models" : "gpus";
  return {};
}

// Words between names: `prices h100 vs a100`.
bool is_filler(std::string_view word) { return word == "vs" || word == "versus" || word == "and" || word == "or"; }

// `gpus list`, `models ls`, `prices cheapest h100`, `prices help`.
void drop_empty_words(std::vector<std::string>& words) {
  const std::string& name = words.front();
  const bool lists = name == "gpus" || name == "models" || name == "prices";
  const auto is_empty = [&](const std::string& word) {
    return is_verb(word) || word == "all" || word == "cheapest" || word == "cheap" || word == "lowest";
  };
  if (lists && words.size() > 1 && is_empty(words[1])) words.erase(words.begin() + 1);
  if (lists) std::erase_if(words, [](const std::string& word) { return is_filler(word); });
  constexpr std::string_view kFresh[] = {"refresh", "sync", "fetch", "pull", "upgrade"};
  if (name == "prices" && words.size() > 1 &&
      std::find(std::begin(kFresh), std::end(kFresh), words[1]) != std::end(kFresh))
    words[1] = "update";
  if (name == "completion")
    std::erase_if(words, [](const std::string& word) { return word == "--shell" || word == "-s"; });
  if (name == "mig" && words.size() > 1 && (words[1] == "list-profiles" || words[1] == "profiles"))
    words[1] = "--list-layouts";
  if (words.size() == 2 && to_lower(words[1]) == "help") words[1] = "--help";
  if (name == "help" && words.size() == 2 && (words[1] == "all" || words[1] == "commands")) words.pop_back();
}

std::string job_named(std::string_view word) {
  constexpr std::string_view kTrain[] = {"train", "training", "finetune", "fine-tune", "finetuning", "pretrain"};
  constexpr std::string_view kServe[] = {"serve", "serving", "inference", "infer"};
  const std::string lower = tidy(word);
  const auto is_in = [&](const auto& list) {
    return std::find(std::begin(list), std::end(list), lower) != std::end(list);
  };
  return is_in(kTrain) ? "train" : is_in(kServe) ? "serve" : "";
}

// What other tools have between their name and their flags: `cli default --model`, `genai-perf profile -m`.
void drop_tools_words(std::string_view written, std::vector<std::string>& words) {
  constexpr std::string_view kEmpty[] = {"default", "exp", "eval", "generate", "support", "profile", "simple", "run"};
  const bool tool = written == "cli" || written == "aiconfigurator" || written == "genai-perf" || written == "krr";
  if (!tool) return;
  std::erase_if(words, [&](const std::string& word) {
    return std::find(std::begin(kEmpty), std::end(kEmpty), word) != std::end(kEmpty) && word != words.front();
  });
  if (written == "krr") std::replace(words.begin(), words.end(), std::string("-f"), std::string("--format"));
}

// `recommend serve llama-3.1-8b`, `memory train llama-3.1-8b`: the word is --job.
void take_job_word(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  const std::string& name = words.front();
  if (name != "recommend" && name != "memory" && name != "estimate" && name != "checklist") return;
  const std::string job = words.size() > 1 ? job_named(words[1]) : "";
  if (job.empty()) return;
  typed.notes.push_back(fmt::format("'{}' is --job {} here", words[1], job));
  words.erase(words.begin() + 1);
  words.push_back("--job=" + job);
}

// What `top` is asked about, and what `serve` is asked to serve.
Result<> check_arguments(Typed& typed) {
  std::vector<std::string>& words = typed.words;
  if (words.size() < 2 || words[1].starts_with('-')) return {};
  const std::string word = tidy(words[1]);
  if (words.front() == "top" && (word == "gpu" || word == "gpus")) {
    words.erase(words.begin() + 1);
  } else if (words.front() == "top" && word == "mig") {
    words.erase(words.begin());  // nvidia-smi mig
  } else if (words.front() == "top") {
    return fail(
        bad_input(fmt::format("'top' shows the GPUs of this machine, not '{}'", words[1]))
            .with_hint("'fleet --prometheus URL' (or --from FILE) shows a cluster's GPUs by node, pod and team"));
  } else if (words.front() == "mig" && (word == "apply" || word == "export" || word == "assert")) {
    return fail(bad_input("rightsize changes no GPU")
                    .with_hint("'mig WORKLOADS.yaml --gpu h100-sxm --out DIR' writes mig-parted's file; 'mig --current "
                               "nvml' shows how this machine's GPUs are cut"));
  } else if (words.front() == "init") {
    return fail(bad_input(fmt::format("'init' writes to standard output, not to '{}'", words[1]))
                    .with_hint(fmt::format("rightsize init --model llama-3.1-8b --tokens 1B > {}", words[1])));
  } else if (words.front() == "serve") {
    const bool model = thing_named(words[1]) == Thing::kModel;
    return fail(
        bad_input("'rightsize serve' opens the page in a browser; it serves no models")
            .with_hint(fmt::format("'rightsize recommend {} --job serve --rate 5/s' plans a service, 'rightsize "
                                   "service' judges a running one",
                                   model ? words[1] : "MODEL")));
  }
  return {};
}

// `gpus --cloud aws`, `accelerator-types list --zones us-central1-a`: who sells what is in the prices.
bool asks_the_market(std::span<const std::string> words) {
  constexpr std::string_view kMarket[] = {"--cloud",  "--clouds",   "--infra",     "--provider", "--providers",
                                          "--region", "--zone",     "--location",  "--regions",  "--zones",
                                          "--spot",   "--use-spot", "--on-demand", "--price",    "--purchase"};
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    const std::string name = tidy(word.substr(0, word.find('=')));
    return std::find(std::begin(kMarket), std::end(kMarket), name) != std::end(kMarket);
  });
}

// SkyPilot's show-gpus prices what it is asked for: `show-gpus H100:8`, `show-gpus --cloud aws`.
std::string show_gpus(std::span<const std::string> words) {
  const bool asked = std::any_of(words.begin() + 1, words.end(), [](const std::string& word) {
    return word != "-a" && word != "--all" && word != "-h" && word != "--help" && !word.starts_with("-o");
  });
  return asked ? "prices" : "gpus";
}

}  // namespace

Result<Typed> meant_command(std::vector<std::string> words, std::span<const std::string> commands) {
  if (!words.empty() && asks_this_machine(words.front())) {
    words.insert(words.begin(), "top");
  } else {
    put_command_first(words);
  }
  drop_tools(words);
  Typed typed{std::move(words), {}};
  if (typed.words.empty()) return typed;
  if (typed.words.front() == "-v" || typed.words.front() == "version") typed.words = {"--version"};
  if (typed.words.front() == "--install-completion" || typed.words.front() == "--show-completion") {
    return fail(
        bad_input(fmt::format("there is no flag '{}'", typed.words.front()))
            .with_hint("'rightsize completion bash' (or zsh, fish) prints the script: eval \"$(rightsize completion "
                       "bash)\" in your shell's start-up file"));
  }
  if (typed.words.front().starts_with('-')) return typed;
  if (is_verb(typed.words.front()) && !has(commands, typed.words.front())) {
    if (Result<> taken = take_verb(typed.words, commands); !taken) return fail(taken.error());
  }
  // `cost allocation`, `spot launch`, `jobs queue`: the second word says what is meant.
  if (typed.words.size() > 1) {
    const std::string first = tidy(typed.words.front());
    if ((first == "cost" || first == "costs") && find_command(typed.words[1], commands) == "fleet")
      typed.words.erase(typed.words.begin());
    if (first == "spot" || first == "jobs" || first == "job") {
      if (auto refused = refuse(typed.words[1])) return fail(*std::move(refused));
    }
  }
  const std::string written = typed.words.front();
  std::string name = find_command(written, commands);
  if (name == "gpus" && written == "show-gpus") name = show_gpus(typed.words);
  if (name == "gpus" && has(commands, "prices") && asks_the_market(typed.words)) name = "prices";
  if (name.empty()) {
    if (auto refused = refuse(written)) return fail(*std::move(refused));
    return typed;
  }
  const OtherName* other = has(commands, tidy(written)) ? nullptr : find_other(written);
  const std::string with(other == nullptr ? "" : other->with);
  if (fold_name(name) != fold_name(written) && fold_name(name) != fold_name(written + "s"))
    typed.notes.push_back(fmt::format("'{}' is 'rightsize {}{}'", written, name, with.empty() ? "" : " " + with));
  typed.words.front() = name;
  if (!with.empty()) typed.words.insert(typed.words.begin() + 1, with);
  drop_tools_words(written, typed.words);
  drop_empty_words(typed.words);
  join_names(typed.words);
  take_job_word(typed);
  if (Result<> checked = check_arguments(typed); !checked) return fail(checked.error());
  return typed;
}

}  // namespace rightsize::app
