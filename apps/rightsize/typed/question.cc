#include "rightsize/typed/question.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

constexpr std::string_view kAsking =
    "how can could will would does do is are should what what's whats which i we my our me you give tell show many "
    "much "
    "the a an it s be to for run runs running need needed want use using take takes does enough there have fast long "
    "big large fit fits fitting cost costs price prices cheap cheapest best gpu gpus gpu's memory vram ram speed "
    "throughput please get buy rent if or will room";

struct Topic {
  std::string_view command, words;
};
// In this order: "what does it cost to run fast" asks for a cost.
constexpr Topic kTopics[] = {
    {"memory", "fit fits fitting memory vram ram oom room"},
    {"recommend", "cost costs cheap cheapest many buy rent best"},
    {"estimate", "fast speed throughput latency slow slower faster quick tokens/s tok/s"},
};

std::string bare(std::string word) {
  while (!word.empty() && (word.back() == '?' || word.back() == ',' || word.back() == '!')) word.pop_back();
  return to_lower(word);
}

const Checked<catalog::Catalog>& hardware() {
  static const Checked<catalog::Catalog> kFacts = catalog::load_hardware("");
  return kFacts;
}

bool is_vendor_or_provider(std::string_view word) {
  return hardware() && catalog::match_names(word, *hardware()).has_value();
}

bool has_flag(const std::deque<FlagInfo>& declared, std::string_view name) {
  return std::any_of(declared.begin(), declared.end(), [&](const FlagInfo& flag) { return flag.is_called(name); });
}

}  // namespace

std::string answer_question(std::vector<std::string>& words) {
  constexpr std::string_view kFirst = "how can could will would does do is are should what what's whats which i we";
  if (words.size() < 3 || !lists_word(kFirst, bare(words.front()))) return {};
  std::string command = "recommend";
  bool found = false, model = false, gpu = false, run = false, job = false;
  for (const Topic& topic : kTopics) {
    for (const std::string& word : words) {
      if (found || !lists_word(topic.words, bare(word))) continue;
      command = topic.command;
      found = true;
    }
  }
  std::vector<std::string> kept;
  for (std::string word : words) {
    if (!word.starts_with('-')) word = word.substr(0, bare(word).size());
    run |= bare(word) == "run" || bare(word) == "use";
    if (word.empty() || lists_word(kAsking, bare(word))) continue;
    const WordKind kind = word.starts_with('-') ? WordKind::kOther : kind_of_word(word);
    model |= kind == WordKind::kModel;
    gpu |= kind == WordKind::kGpu;
    job |= !job_of(word).empty();
    kept.push_back(std::move(word));
  }
  if (!found && run && gpu) command = "memory";  // "can I run mixtral on an a100"
  if (command == "recommend" && gpu && !model && kept.size() <= 4) command = "prices";
  if (command != "prices" && !job && command != "recommend") kept.emplace_back("--job=serve");
  words = std::move(kept);
  words.insert(words.begin(), command);
  return command;
}

std::string meant_choice(std::string_view flag, const std::deque<FlagInfo>& declared) {
  if (!flag.starts_with("--")) return {};
  flag.remove_prefix(2);
  const auto is_kind = [](std::string_view word) {
    return lists_word("provider providers cloud clouds gpu gpus vendor vendors instance instances machine machines",
                      word);
  };
  for (const std::string_view no : {"no-", "not-", "without-", "exclude-", "skip-", "avoid-", "except-"}) {
    if (!flag.starts_with(no) || !has_flag(declared, "--exclude")) continue;
    const std::string_view what = flag.substr(no.size());
    if (is_kind(what)) return "--exclude";
    if (is_vendor_or_provider(what)) return "--exclude=" + std::string(what);
  }
  std::string_view only = flag;
  if (flag.ends_with("-only"))
    only.remove_suffix(5);
  else if (flag.starts_with("only-"))
    only.remove_prefix(5);
  else
    return {};
  if (const std::string place = offer_named(only, declared); !place.empty()) return place;
  if (has_flag(declared, "--" + std::string(only))) return "--" + std::string(only);
  const bool gpu = has_flag(declared, "--gpu") && hardware() && catalog::gpus_meant(only, *hardware());
  return gpu ? "--gpu=" + std::string(only) : std::string();
}

std::string offer_named(std::string_view word, const std::deque<FlagInfo>& declared) {
  const std::string lower = to_lower(word);
  if (has_flag(declared, "--purchase") && catalog::read_purchase(lower)) return "--purchase=" + lower;
  const std::set<std::string> parts{"us-x", "eu-x", "ap-x"};  // a region of each part of the world that is asked for
  if (has_flag(declared, "--region") && lower.size() <= 6 && catalog::match_regions(lower, parts))
    return "--region=" + lower;
  if (!has_flag(declared, "--provider") || !hardware()) return {};
  static const std::set<std::string> kProviders = [] {
    std::set<std::string> names;
    for (const catalog::Machine& machine : hardware()->machines) names.insert(machine.provider);
    return names;
  }();
  return catalog::match_providers(lower, kProviders) ? "--provider=" + lower : std::string();
}

}  // namespace rightsize::app
