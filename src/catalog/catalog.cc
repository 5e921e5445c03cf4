#include "catalog/catalog.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {

std::string_view name_of(NumberFormat format) {
  static constexpr std::string_view kNames[kNumberFormats] = {"fp64", "fp32", "tf32", "fp16",
                                                              "bf16", "fp8",  "int8", "fp4"};
  return kNames[static_cast<int>(format)];
}

std::string_view name_of(Purchase purchase) {
  static constexpr std::string_view kNames[] = {"on-demand", "spot", "1y", "3y", "capacity-block"};
  return kNames[static_cast<int>(purchase)];
}

std::optional<Purchase> parse_purchase(std::string_view name) {
  for (Purchase purchase : kPurchases) {
    if (name_of(purchase) == name) return purchase;
  }
  // As other tools write it.
  static constexpr std::pair<std::string_view, Purchase> kOther[] = {
      {"ondemand", Purchase::kOnDemand}, {"preemptible", Purchase::kSpot},     {"interruptible", Purchase::kSpot},
      {"1yr", Purchase::kOneYear},       {"1year", Purchase::kOneYear},        {"oneyear", Purchase::kOneYear},
      {"reserved", Purchase::kOneYear},  {"3yr", Purchase::kThreeYears},       {"3year", Purchase::kThreeYears},
      {"3years", Purchase::kThreeYears}, {"threeyears", Purchase::kThreeYears}};
  const std::string folded = fold_name(name);
  for (const auto& [other, purchase] : kOther) {
    if (folded == other || folded == name_of(purchase)) return purchase;
  }
  return std::nullopt;
}

std::optional<FlopsPerSecond> Gpu::half_rate() const {
  const Peak& bf16 = peak(NumberFormat::kBf16);
  return bf16.supported && bf16.dense ? bf16.dense : peak(NumberFormat::kFp16).dense;
}

std::vector<std::string> Catalog::gpu_names() const { return list_of(gpus, &Gpu::name); }

namespace {

bool is_named(const Gpu& gpu, const std::string& folded) {
  if (fold_name(gpu.name) == folded) return true;
  return std::ranges::any_of(gpu.aliases, [&](const std::string& alias) { return fold_name(alias) == folded; });
}

// "a100" means every a100-..., "a100-80gb" its sxm and pcie forms, "4090" the rtx-4090, "4070ti" the rtx-4070-ti; "a10"
// means a10 alone, "h10" nothing.
bool is_of_family(const Gpu& gpu, const std::string& family) {
  if (gpu.name.starts_with(family + "-")) return true;
  constexpr std::size_t kDigits = 4;  // a number that identifies the GPU
  if (std::min(family.find_first_not_of("0123456789"), family.size()) < kDigits) return false;
  for (std::size_t at = gpu.name.find('-'); at != std::string::npos; at = gpu.name.find('-', at + 1)) {
    if (fold_name(gpu.name.substr(at)) == fold_name(family)) return true;
  }
  return false;
}

// In the form of a name: "A100 80GB" becomes a100-80gb.
std::string as_family(std::string_view filter) {
  std::string family = to_lower(trim(filter));
  for (char& c : family) c = c == ' ' || c == '_' ? '-' : c;
  for (std::string_view vendor : {"nvidia-", "amd-", "tesla-", "geforce-"}) {
    if (family.starts_with(vendor)) family.erase(0, vendor.size());
  }
  return family;
}

// "hopper", "blackwell" (with Blackwell Ultra), "cdna3", "amd". For clouds that make their own chips, the name means
// the cloud: "aws".
bool is_of_maker(const Gpu& gpu, const std::string& folded) {
  if (folded.size() < 3 || folded == "aws" || folded == "google") return false;
  return fold_name(gpu.architecture).starts_with(folded) || fold_name(gpu.vendor) == folded;
}

// Words next to a name that describe the GPU, as schedulers combine them: ampere_a100, v100_sxm2_32gb, h100_80gb_hbm3.
// Each returns true if the word describes this GPU, and empty if it describes none.
std::optional<double> memory_in(std::string_view word) {  // in GB; "80gb", and "80" at the end of a name
  for (const std::string_view unit : {"gib", "gb", "g"}) {
    if (word.ends_with(unit)) word.remove_suffix(unit.size());
  }
  if (word.empty() || word.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return std::strtod(std::string(word).c_str(), nullptr);
}

// The form without its version: "sxm4" is sxm.
std::string_view form_in(std::string_view word) {
  if (word.starts_with("sxm") && word.find_first_not_of("0123456789", 3) == std::string_view::npos) return "-sxm";
  if (word == "pcie" || word == "pci") return "-pcie";
  return word == "nvl" ? "-nvl" : "";
}

bool is_architecture(const Gpu& gpu, std::string_view word) {
  const std::string name = fold_name(gpu.architecture.substr(0, gpu.architecture.find(' ')));
  return name.size() >= 3 && name == word && !gpu.name.starts_with(word);  // "tpu-v5e"
}

bool describes(std::string_view word, const Gpu& gpu) {
  if (const std::optional<double> memory = memory_in(word))
    return std::llround(in_gib(gpu.memory)) == std::llround(*memory);
  if (const std::string_view form = form_in(word); !form.empty()) return gpu.name.find(form) != std::string::npos;
  return word == "nvlink" ? gpu.nvlink_kind != "none" : to_lower(gpu.memory_type) == word || is_architecture(gpu, word);
}

struct DescribedName {
  std::string name;                // what remains
  std::vector<std::string> words;  // that describe it
};
DescribedName described_name(const std::string& family, const std::vector<Gpu>& gpus) {
  DescribedName found;
  for (std::size_t begin = 0; begin <= family.size();) {
    const std::size_t end = std::min(family.find('-', begin), family.size());
    const std::string word = family.substr(begin, end - begin);
    // A bare number is memory only at the end: "rtx-4090-24".
    const bool number = word.find_first_not_of("0123456789") == std::string::npos;
    const bool describing = number
                                ? end == family.size() && !found.name.empty()
                                : memory_in(word) || !form_in(word).empty() || word == "nvlink" ||
                                      std::ranges::any_of(gpus, [&](const Gpu& gpu) { return describes(word, gpu); });
    if (describing)
      found.words.push_back(word);
    else
      found.name += (found.name.empty() ? "" : "-") + word;
    begin = end + 1;
  }
  return found;
}

// "a100l", "v100l": where clusters have the variant with more memory beside the other.
std::vector<const Gpu*> largest_of(const std::vector<const Gpu*>& family) {
  const auto [least, most] = std::ranges::minmax_element(family, {}, [](const Gpu* gpu) { return gpu->memory; });
  if (family.empty() || (*least)->memory == (*most)->memory) return {};
  std::vector<const Gpu*> large;
  for (const Gpu* gpu : family) {
    if (gpu->memory == (*most)->memory) large.push_back(gpu);
  }
  return large;
}

// Names, families and architectures, to suggest from.
std::vector<std::string> all_words(const std::vector<Gpu>& gpus) {
  std::vector<std::string> all;
  for (const Gpu& gpu : gpus) {
    const std::string family = gpu.name.substr(0, gpu.name.find('-'));
    if (family.size() > 3 && (all.empty() || all.back() != family)) all.push_back(family);
  }
  for (const Gpu& gpu : gpus) all.push_back(gpu.name);
  for (const Gpu& gpu : gpus) all.push_back(to_lower(gpu.architecture));
  return all;
}

}  // namespace

Result<std::vector<const Gpu*>> Catalog::match_gpus(std::string_view filter) const {
  const std::string folded = fold_name(filter);
  const std::string family = as_family(filter);
  std::vector<const Gpu*> found;
  for (const Gpu& gpu : gpus) {
    if (is_named(gpu, folded)) return std::vector<const Gpu*>{&gpu};
    if (!family.empty() && is_of_family(gpu, family)) found.push_back(&gpu);
  }
  if (found.empty()) {
    for (const Gpu& gpu : gpus)
      if (is_of_maker(gpu, folded)) found.push_back(&gpu);
  }
  const auto others = [&](const std::string& name) { return match_gpus(name).value_or(std::vector<const Gpu*>{}); };
  if (found.empty()) {
    if (const DescribedName described = described_name(family, gpus);
        !described.words.empty() && !described.name.empty())
      for (const Gpu* gpu : others(described.name)) {
        if (std::ranges::all_of(described.words, [&](const std::string& word) { return describes(word, *gpu); }))
          found.push_back(gpu);
      }
  }
  if (found.empty() && family.size() > 2 && family.ends_with('l') && std::isdigit(family[family.size() - 2]) != 0)
    found = largest_of(others(family.substr(0, family.size() - 1)));
  if (!found.empty()) return found;
  return fail(bad_input(fmt::format("unknown GPU '{}'", trim(filter).substr(0, 60)))
                  .with_hint(did_you_mean(filter, all_words(gpus)))
                  .with_hint("'rightsize gpus' lists all"));
}

Result<const Gpu*> Catalog::find_gpu(std::string_view name) const {
  RIGHTSIZE_TRY(std::vector<const Gpu*> found, match_gpus(name));
  if (found.size() == 1) return found[0];
  std::vector<std::string> names(found.size());
  std::transform(found.begin(), found.end(), names.begin(), [](const Gpu* gpu) { return gpu->name; });
  return fail(bad_input(fmt::format("'{}' could be any of {}", name, fmt::join(names, ", ")))
                  .with_hint("write the whole name"));
}

const Machine* Catalog::find_machine(std::string_view provider, std::string_view instance) const {
  auto found = std::ranges::find_if(
      machines, [&](const Machine& machine) { return machine.instance == instance && machine.provider == provider; });
  return found == machines.end() ? nullptr : &*found;
}

const Source* Catalog::find_source(std::string_view key) const {
  auto found = std::ranges::find_if(sources, [&](const Source& source) { return source.key == key; });
  return found == sources.end() ? nullptr : &*found;
}

const ProviderFacts* Catalog::find_provider(std::string_view name) const {
  auto found =
      std::ranges::find_if(providers, [&](const ProviderFacts& provider) { return provider.provider == name; });
  return found == providers.end() ? nullptr : &*found;
}

Result<ExchangeRate> Catalog::exchange_rate(std::string_view name, Date day) const {
  std::string currency(name);
  for (char& c : currency) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (currency == kDollars) return ExchangeRate{std::string(kDollars), 1, day, {}};
  const ExchangeRate* best = nullptr;
  std::vector<std::string> names{std::string(kDollars)};
  for (const ExchangeRate& rate : exchange_rates) {
    if (std::ranges::find(names, rate.currency) == names.end()) names.push_back(rate.currency);
    if (rate.currency != currency) continue;
    // A rate from the month before the day; if there is none, the nearest.
    constexpr int kRecent = 31;
    const auto rank = [&](const ExchangeRate& one) {
      const int before = day - one.date;
      return std::pair(before < 0 || before > kRecent, std::abs(before));
    };
    if (best == nullptr || rank(rate) < rank(*best)) best = &rate;
  }
  if (best != nullptr) return *best;
  return fail(bad_input(fmt::format("no exchange rate for '{}'", currency))
                  .with_hint(did_you_mean(currency, names))
                  .with_hint(fmt::format("currencies on file: {}", fmt::join(names, ", "))));
}

}  // namespace rightsize::catalog
