// What a word names, according to the built-in facts.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/memo.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/account.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {

const Checked<catalog::Catalog>& word_facts() {
  static const Checked<catalog::Catalog> kFacts = catalog::load_hardware("");
  return kFacts;
}

namespace {

// Nothing where no GPU has the name.
std::vector<const catalog::Gpu*> gpus_named(std::string_view word) {
  const std::string name = catalog::split_gpu_count(word).name;
  if (!word_facts() || name.starts_with('-')) return {};    // "4x-A100" would exclude the A100
  if (is_digits(word) && word.ends_with("000")) return {};  // "max 6000 a month" has no RTX 6000
  return word_facts()->match_gpus(name).value_or(std::vector<const catalog::Gpu*>{});
}

}  // namespace

bool is_other_chip(std::string_view gpu) {
  const std::vector<const catalog::Gpu*> found = gpus_named(gpu);
  return !found.empty() && std::none_of(found.begin(), found.end(), [](const catalog::Gpu* chip) {
    return chip->vendor == "NVIDIA" || chip->vendor == "AMD";
  });
}

WordKind kind_of_word(std::string_view word) {
  static Memo<WordKind> known;
  return known.get(word, [](std::string_view one) {
    return !gpus_named(one).empty() ? WordKind::kGpu : model::is_known_name(one) ? WordKind::kModel : WordKind::kOther;
  });
}

const catalog::Machine* machine_named(std::string_view word) {
  const Checked<catalog::Catalog>& facts = word_facts();
  constexpr std::string_view kAzure = "standard_";
  const std::string name = to_lower(word);
  if (!facts || name.find_first_of(".-_") == std::string::npos || !gpus_named(word).empty()) return nullptr;
  for (const catalog::Machine& machine : facts->machines) {
    const std::string instance = to_lower(machine.instance);
    if (instance == name || instance == std::string(kAzure) + name) return &machine;
  }
  return nullptr;
}

std::string gpus_of_instance(std::string_view word) {
  const catalog::Machine* machine = machine_named(word);
  return machine == nullptr  ? std::string()
         : machine->gpus > 1 ? fmt::format("{}x{}", machine->gpus, machine->gpu)
                             : machine->gpu;
}

bool is_region(std::string_view word) {
  const std::string lower = to_lower(word), area = lower.substr(0, lower.find('-'));
  return area.size() < lower.size() && lower.find_first_of("0123456789", lower.size() - 2) != std::string::npos &&
         lists_word("us eu ap ca sa me af il mx europe asia australia northamerica southamerica", area);
}

bool is_unknown_name(std::string_view word) {
  const bool letter = word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") > 0;
  return letter && word.find('-') != std::string_view::npos &&
         word.find_first_of("0123456789") != std::string_view::npos && kind_of_word(word) == WordKind::kOther &&
         machine_named(word) == nullptr;
}

bool is_instance_family(std::string_view word) {
  const bool name =
      word.find_first_of("0123456789") != std::string_view::npos && kind_of_word(word) == WordKind::kOther;
  return name && word_facts() && std::ranges::any_of(word_facts()->machines, [&](const catalog::Machine& machine) {
           return to_lower(machine.instance).starts_with(to_lower(word) + ".") ||
                  to_lower(machine.instance).starts_with(to_lower(word) + "-");
         });
}

std::string gpu_with_memory(std::string_view size) {
  const Checked<catalog::Catalog>& facts = word_facts();
  const std::string lower = to_lower(size);
  const Result<Bytes> memory = parse_bytes(lower.ends_with("gb") ? lower.substr(0, lower.size() - 2) + "GiB" : lower);
  if (!facts || !memory || !(lower.ends_with("gb") || lower.ends_with("gib"))) return {};
  // The driver of some GPUs keeps a part of the memory: an L4 has 22.5 of 24 GiB.
  const catalog::Gpu* usual = nullptr;
  std::pair<long long, std::ptrdiff_t> best;
  for (const catalog::Gpu& gpu : facts->gpus) {
    if (gpu.vendor != "NVIDIA" || std::llround(in_gib(gpu.memory)) != std::llround(in_gib(*memory))) continue;
    const auto machines = std::count_if(facts->machines.begin(), facts->machines.end(),
                                        [&](const catalog::Machine& machine) { return machine.gpu == gpu.name; });
    const std::pair rank(std::llround(in_gib(gpu.capacity())), machines);
    if (usual == nullptr || rank > best) usual = &gpu, best = rank;
  }
  return usual == nullptr ? std::string() : usual->name;
}

std::string singular_gpu(const std::string& word) {
  if (const std::size_t label = word.find("gpu.product="); label != std::string::npos) return word.substr(label + 12);
  const bool plural = word.size() > 2 && word.back() == 's' && kind_of_word(word) != WordKind::kGpu;  // an L40S is one
  const std::string one = plural ? word.substr(0, word.size() - 1) : word;
  return plural && kind_of_word(one) == WordKind::kGpu ? one : word;
}

bool is_vendor_or_provider(std::string_view word) {
  static Memo<bool> known;
  return word_facts() &&
         known.get(word, [](std::string_view one) { return catalog::match_names(one, *word_facts()).has_value(); });
}

std::string meant_choice(std::string_view flag, const std::deque<FlagInfo>& declared) {
  if (!flag.starts_with("--")) return {};
  flag.remove_prefix(2);
  if (const std::string other = meant_exclusion(flag, declared); !other.empty()) return other;
  for (const std::string_view ok : {"-ok", "-allowed", "-too"})  // --spot-ok: beside the usual terms
    if (flag.ends_with(ok) && catalog::read_purchase(flag.substr(0, flag.size() - ok.size())) &&
        find_flag(declared, "--purchase") != nullptr)
      return "--purchase=on-demand," + std::string(flag.substr(0, flag.size() - ok.size()));
  std::string_view only = flag;
  if (flag.ends_with("-only"))
    only.remove_suffix(5);
  else if (flag.starts_with("only-"))
    only.remove_prefix(5);
  else
    return {};
  if (const std::string place = offer_named(only, declared); !place.empty()) return place;
  if (find_flag(declared, "--" + std::string(only)) != nullptr) return "--" + std::string(only);
  const bool gpu = find_flag(declared, "--gpu") != nullptr && word_facts() && catalog::gpus_meant(only, *word_facts());
  return gpu ? "--gpu=" + std::string(only) : std::string();
}

std::string offer_named(std::string_view word, const std::deque<FlagInfo>& declared) {
  const std::string lower = to_lower(word);
  if (find_flag(declared, "--purchase") != nullptr && catalog::read_purchase(lower)) return "--purchase=" + lower;
  // A region of each place that is asked for by its name; codes of two letters are mostly words.
  static const std::set<std::string> kPlaces = [] {
    const std::vector<std::string_view> names = split_list(listed("places"), ' ');
    return std::set<std::string>(names.begin(), names.end());
  }();
  const bool place = lower.size() > 3 || lists_word("us usa eu uk", lower);
  if (find_flag(declared, "--region") != nullptr && place && lower.find('-') == std::string::npos &&
      catalog::match_regions(lower, kPlaces))
    return "--region=" + lower;
  if (find_flag(declared, "--provider") == nullptr || !word_facts()) return {};
  static const std::set<std::string> kProviders = [] {
    std::set<std::string> names;
    for (const catalog::Machine& machine : word_facts()->machines) names.insert(machine.provider);
    return names;
  }();
  return catalog::match_providers(lower, kProviders) ? "--provider=" + lower : std::string();
}

}  // namespace rightsize::app
