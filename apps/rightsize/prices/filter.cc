// Selects the offers that the words and flags of `prices` describe.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/words.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/prices/prices.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;

// Machines by the beginning of their names: p4d, a2-ultragpu, ND96asr_v4 of Standard_ND96asr_v4.
std::set<std::string> machines_called(std::string_view word, const catalog::Catalog& catalog) {
  constexpr std::string_view kAzure = "standard_";
  std::set<std::string> found;
  const bool named = word.size() > 1 && word.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos;
  if (!named) return found;
  for (const catalog::Machine& machine : catalog.machines) {
    const std::string name = to_lower(machine.instance);
    const std::string_view rest = name.starts_with(kAzure) ? std::string_view(name).substr(kAzure.size()) : name;
    if (name.starts_with(word) || rest.starts_with(word)) found.insert(name);
  }
  return found;
}

}  // namespace

PricesFlags sorted_out(PricesFlags flags, const catalog::Catalog& catalog) {
  const std::string words = std::exchange(flags.gpu, {});
  const auto add = [](std::string& list, std::string_view word) {
    list += (list.empty() ? "" : ",") + std::string(word);
  };
  for (std::string_view word : split_list(words, ',')) {
    if (catalog.match_gpus(catalog::split_gpu_count(word).name)) {
      add(flags.gpu, word);  // some machines are named after their GPU
    } else if (catalog::match_providers(word, catalog::known_providers(catalog))) {
      add(flags.provider, word);
    } else if (catalog::read_purchase(word)) {
      add(flags.purchase, word);
    } else if (const auto machines = machines_called(to_lower(word), catalog); !machines.empty()) {
      for (const std::string& machine : machines) add(flags.instance, machine);
      if (!machines.contains(to_lower(word)))
        note(fmt::format("'{}' is read as the instance type{} {}{}", word, machines.size() == 1 ? "" : "s",
                         *machines.begin(),
                         machines.size() == 1 ? "" : fmt::format(" and {} more", machines.size() - 1)));
    } else {
      add(catalog::match_regions(word, catalog::known_regions(catalog)) ? flags.region : flags.gpu, word);
    }
  }
  return flags;
}

PricesFlags with_known_names(PricesFlags flags, const catalog::Catalog& catalog) {
  const auto keep_known = [](std::string& list, const char* what, const auto& is_known) {
    std::string known, unknown;
    for (std::string_view word : split_list(list, ',')) {
      std::string& into = is_known(word) ? known : unknown;
      into += (into.empty() ? "" : ",") + std::string(word);
    }
    if (known.empty() || unknown.empty()) return;
    note(fmt::format("the catalogue has no {} '{}': only {} is shown", what, unknown, known));
    list = known;
  };
  const std::set<std::string> providers = catalog::known_providers(catalog);
  keep_known(flags.provider, "provider",
             [&](std::string_view word) { return catalog::match_providers(word, providers).has_value(); });
  keep_known(flags.region, "region", [&](std::string_view word) {
    return catalog::match_regions(word, catalog::known_regions(catalog)).has_value();
  });
  keep_known(flags.gpu, "GPU", [&](std::string_view word) {
    return catalog.match_gpus(catalog::split_gpu_count(word).name).has_value();
  });
  return flags;
}

Result<market::OfferFilter> read_filter(const PricesFlags& flags, const catalog::Catalog& catalog) {
  market::OfferFilter filter;
  filter.retired = flags.retired;
  filter.community = flags.community;
  filter.min_memory = flags.min_memory.value_or(Bytes{});
  filter.max_price = flags.max_price;
  std::set<int> counts;
  for (std::string_view word : split_list(flags.gpu, ',')) {
    const catalog::CountedGpu wanted = catalog::split_gpu_count(word);
    RIGHTSIZE_TRY(std::vector<const Gpu*> matched, catalog.match_gpus(wanted.name));
    for (const Gpu* gpu : matched) filter.gpus.push_back(gpu->name);
    counts.insert(wanted.count.value_or(0));
  }
  // "8xh100,16xa100": no machine has both numbers, so any may be a part of them.
  filter.machine_gpus = counts.size() == 1 ? *counts.begin() : 0;
  if (filter.machine_gpus == 0) filter.machine_gpus = flags.machine_gpus;
  if (filter.max_price && flags.machine_limit && filter.machine_gpus > 1) *filter.max_price /= filter.machine_gpus;
  RIGHTSIZE_TRY(filter.providers, catalog::match_providers(flags.provider, catalog::known_providers(catalog)));
  RIGHTSIZE_TRY(filter.regions, catalog::match_regions(flags.region, catalog::known_regions(catalog)));
  RIGHTSIZE_TRY(filter.purchases, catalog::read_purchases(flags.purchase));
  RIGHTSIZE_TRY(filter.instances, catalog::match_instances(flags.instance, catalog));
  RIGHTSIZE_TRY(filter.excluded, catalog::match_names(flags.exclude, catalog));
  return filter;
}

std::string missing_sentence(const PricesFlags& flags, const market::PriceBook& book) {
  const catalog::Catalog& catalog = book.catalog();
  std::vector<std::string> missing;
  const auto look = [&](const std::string& list, std::string PricesFlags::*part) {
    for (const std::string& one : words_of(list)) {
      PricesFlags only = flags;
      only.*part = one;
      const Result<market::OfferFilter> filter = read_filter(only, catalog);
      if (filter && book.offers(*filter).empty()) missing.push_back(one);
    }
  };
  if (words_of(flags.provider).size() > 1) look(flags.provider, &PricesFlags::provider);
  if (words_of(flags.region).size() > 1) look(flags.region, &PricesFlags::region);
  return missing.empty() ? "" : fmt::format("No price on file: {}.", fmt::join(missing, ", "));
}

std::string sort_key_meant(const std::string& words) {
  // The unit decides; a price without a unit is per GPU.
  static constexpr std::pair<std::string_view, std::string_view> kMeant[] = {
      {"gbs gb/s bandwidth bw", "usd-per-gbs-hour"},
      {"gb gib vram memory", "usd-per-gib-hour"},
      {"tflop tflops flop flops compute", "usd-per-tflop-hour"},
      {"machine instance node", "usd-per-hour"},
      {"price cost usd cheap cheapest", "usd-per-gpu-hour"},
      {"date newest", "age"}};
  if (words.starts_with("usd-per-")) return words;
  std::string typed = to_lower(words);
  std::ranges::replace_if(
      typed, [](char c) { return c == '-' || c == '_' || c == '$'; }, ' ');
  const std::vector<std::string_view> each = split_list(typed, ' ');
  for (const auto& [names, key] : kMeant) {
    for (const std::string_view name : split_list(names, ' '))
      if (std::ranges::find(each, name) != each.end()) return std::string(key);
  }
  return words;
}

}  // namespace rightsize::app
