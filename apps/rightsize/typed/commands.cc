#include <algorithm>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

struct OtherName {
  std::string_view typed, meant;
};

// What other tools call it: SkyPilot, accelerate, nvitop, nvidia-smi, infracost, kubectl, cloud consoles.
constexpr OtherName kOtherNames[] = {{"show-gpus", "gpus"},
                                     {"list-gpus", "gpus"},
                                     {"accelerators", "gpus"},
                                     {"list-accelerators", "gpus"},
                                     {"hardware", "gpus"},
                                     {"specs", "gpus"},
                                     {"price", "prices"},
                                     {"pricing", "prices"},
                                     {"cost", "prices"},
                                     {"costs", "prices"},
                                     {"offers", "prices"},
                                     {"offer", "prices"},
                                     {"catalog", "prices"},
                                     {"instances", "prices"},
                                     {"instance-types", "prices"},
                                     {"machines", "prices"},
                                     {"mem", "memory"},
                                     {"vram", "memory"},
                                     {"fit", "memory"},
                                     {"fits", "memory"},
                                     {"can-i-run", "memory"},
                                     {"estimate-memory", "memory"},
                                     {"memory-estimate", "memory"},
                                     {"speed", "estimate"},
                                     {"throughput", "estimate"},
                                     {"perf", "estimate"},
                                     {"latency", "estimate"},
                                     {"bench", "estimate"},
                                     {"benchmark", "estimate"},
                                     {"optimize", "recommend"},
                                     {"optimise", "recommend"},
                                     {"optimizer", "recommend"},
                                     {"advise", "recommend"},
                                     {"suggest", "recommend"},
                                     {"plan", "recommend"},
                                     {"choose", "recommend"},
                                     {"size", "recommend"},
                                     {"rightsize", "recommend"},
                                     {"nvtop", "top"},
                                     {"nvitop", "top"},
                                     {"nvidia-smi", "top"},
                                     {"smi", "top"},
                                     {"gpustat", "top"},
                                     {"monitor", "top"},
                                     {"watch", "top"},
                                     {"dmon", "top"},
                                     {"slices", "mig"},
                                     {"partition", "mig"},
                                     {"services", "service"},
                                     {"svc", "service"},
                                     {"cluster", "fleet"},
                                     {"waste", "fleet"},
                                     {"usage", "fleet"},
                                     {"reserve", "commit"},
                                     {"reservation", "commit"},
                                     {"commitment", "commit"},
                                     {"export", "exporter"},
                                     {"new", "init"},
                                     {"wizard", "init"},
                                     {"man", "manual"},
                                     {"completions", "completion"},
                                     {"batching", "batch"},
                                     {"simulate", "batch"},
                                     {"schedule", "window"},
                                     {"trace", "profile"},
                                     {"llms", "models"}};

struct NotOurs {
  std::string_view typed, instead;
};

// What other tools do and this one does not.
constexpr std::string_view kStartsNothing =
    "rightsize starts and stops nothing: 'recommend --emit skypilot' (or kubernetes, terraform, slurm) writes the file "
    "for "
    "the tool that does";
constexpr std::string_view kCosts =
    "'recommend WORKLOAD.yaml' says what a workload costs, 'diff BEFORE AFTER' what a change of GPU requests costs, "
    "'prices' "
    "what machines cost";
constexpr NotOurs kNotOurs[] = {
    {"launch", kStartsNothing},
    {"up", kStartsNothing},
    {"down", kStartsNothing},
    {"run", kStartsNothing},
    {"exec", kStartsNothing},
    {"start", kStartsNothing},
    {"stop", kStartsNothing},
    {"apply", kStartsNothing},
    {"create", kStartsNothing},
    {"delete", kStartsNothing},
    {"deploy", kStartsNothing},
    {"scale", kStartsNothing},
    {"breakdown", kCosts},
    {"diff", kCosts},
    {"comment", kCosts},
    {"cost-report", kCosts},
    {"login", "no account is needed"},
    {"configure", "nothing is to be configured; --catalog names a folder with facts of your own"},
    {"config", "nothing is to be configured; --catalog names a folder with facts of your own"},
    {"status", "'top' shows this machine's GPUs, 'service' a running service, 'fleet' a fleet"},
    {"queue", "'fleet --from' reads the log of a scheduler (sacct)"}};

bool has(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A command by any of its names; empty where there is none.
std::string find_command(std::string_view typed, std::span<const std::string> commands) {
  std::string name = to_lower(typed);
  for (char& c : name) c = c == '_' ? '-' : c;
  if (has(commands, name)) return name;
  if (has(commands, name + "s")) return name + "s";
  if (name.ends_with('s') && has(commands, name.substr(0, name.size() - 1))) return name.substr(0, name.size() - 1);
  for (const OtherName& other : kOtherNames) {
    if (other.typed == name) return std::string(other.meant);
  }
  return {};
}

bool is_verb(std::string_view word) {
  constexpr std::string_view kVerbs[] = {"get", "list", "ls", "show", "describe", "info"};
  return std::find(std::begin(kVerbs), std::end(kVerbs), to_lower(word)) != std::end(kVerbs);
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
  } else {
    words.front() = "gpus";  // `show h100`
  }
  return {};
}

// `gpus list`, `models ls`, `prices help`.
void drop_empty_words(std::vector<std::string>& words) {
  const bool lists = words.front() == "gpus" || words.front() == "models" || words.front() == "prices";
  if (lists && words.size() > 1 && (is_verb(words[1]) || words[1] == "all")) words.erase(words.begin() + 1);
  if (words.size() == 2 && to_lower(words[1]) == "help") words[1] = "--help";
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
  put_command_first(words);
  Typed typed{std::move(words), {}};
  if (typed.words.empty()) return typed;
  if (typed.words.front() == "-v" || typed.words.front() == "version") typed.words = {"--version"};
  if (typed.words.front().starts_with('-')) return typed;
  if (is_verb(typed.words.front()) && !has(commands, typed.words.front())) {
    if (Result<> taken = take_verb(typed.words, commands); !taken) return fail(taken.error());
  }
  const std::string written = typed.words.front();
  std::string name = find_command(written, commands);
  if (name == "gpus" && written == "show-gpus") name = show_gpus(typed.words);
  if (name.empty()) {
    for (const NotOurs& other : kNotOurs) {
      if (other.typed == to_lower(written))
        return fail(bad_input(fmt::format("there is no command '{}'", written)).with_hint(std::string(other.instead)));
    }
    return typed;
  }
  if (fold_name(name) != fold_name(written) && fold_name(name) != fold_name(written + "s"))
    typed.notes.push_back(fmt::format("'{}' is 'rightsize {}'", written, name));
  typed.words.front() = name;
  drop_empty_words(typed.words);
  return typed;
}

}  // namespace rightsize::app
