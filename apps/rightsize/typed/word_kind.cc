// What a word names, according to the built-in facts.
#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

const Checked<catalog::Catalog>& word_facts() {
  static const Checked<catalog::Catalog> kFacts = catalog::load_hardware("");
  return kFacts;
}

// Nothing where no GPU has the name.
std::vector<const catalog::Gpu*> gpus_named(std::string_view word) {
  if (!word_facts()) return {};
  return word_facts()->match_gpus(catalog::split_gpu_count(word).name).value_or(std::vector<const catalog::Gpu*>{});
}

}  // namespace

bool is_other_chip(std::string_view gpu) {
  const std::vector<const catalog::Gpu*> found = gpus_named(gpu);
  return !found.empty() && std::none_of(found.begin(), found.end(), [](const catalog::Gpu* chip) {
    return chip->vendor == "NVIDIA" || chip->vendor == "AMD";
  });
}

WordKind kind_of_word(std::string_view word) {
  static std::map<std::string, WordKind, std::less<>> known;  // sentences ask for the same words many times
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(word); found != known.end()) return found->second;
  const WordKind kind = !gpus_named(word).empty()    ? WordKind::kGpu
                        : model::is_known_name(word) ? WordKind::kModel
                                                     : WordKind::kOther;
  constexpr std::size_t kMost = 10'000;
  if (known.size() < kMost) known.emplace(word, kind);
  return kind;
}

std::string gpus_of_instance(std::string_view word) {
  const Checked<catalog::Catalog>& facts = word_facts();
  constexpr std::string_view kAzure = "standard_";
  const std::string name = to_lower(word);
  if (!facts || name.find_first_of(".-_") == std::string::npos || !gpus_named(word).empty()) return {};
  for (const catalog::Machine& machine : facts->machines) {
    const std::string instance = to_lower(machine.instance);
    if (instance != name && instance != std::string(kAzure) + name) continue;
    return machine.gpus > 1 ? fmt::format("{}x{}", machine.gpus, machine.gpu) : machine.gpu;
  }
  return {};
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

}  // namespace rightsize::app
