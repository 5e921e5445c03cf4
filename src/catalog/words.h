// GPUs, providers, regions, parts of the world and purchase terms as users write them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::catalog {

// The part of the world a provider's region is in: "us", "canada", "latin-america", "europe", "asia", "oceania",
// "middle-east", "africa"; empty if its name does not tell.
std::string_view part_of_world(std::string_view region);

// The region of a price that is the same everywhere.
inline constexpr std::string_view kAnyRegion = "any";

// Every provider with a price.
std::set<std::string> known_providers(const Catalog& catalog);

// Every region that a price or Catalog::gpu_regions names.
std::set<std::string> known_regions(const Catalog& catalog);

// The regions for a comma-separated list of words: whole names, their beginnings (us-east), or parts of the world (us,
// eu, europe, asia, ...) for every provider, however it names regions. "eu" is the EU and the EEA; "europe" adds the UK
// and Switzerland. kAnyRegion must be named explicitly: an offer of any region matches "europe" only if
// Catalog::gpu_regions has the GPU there (market/price_book.h). An unknown word gets a suggestion.
Result<std::vector<std::string>> match_regions(std::string_view words, const std::set<std::string>& known);

// The terms of a comma-separated list: "spot,1y", in any case. Other words fail with a suggestion and the list of
// terms.
Result<std::vector<Purchase>> read_purchases(std::string_view words);
Result<Purchase> read_purchase(std::string_view word);

// The providers for a list of words, by our names or the companies' (amazon, google).
Result<std::vector<std::string>> match_providers(std::string_view words, const std::set<std::string>& known);

// The GPUs of a list of words: names, families (h100) and vendors (nvidia).
Result<std::vector<const Gpu*>> gpus_meant(std::string_view words, const Catalog& catalog);

// The instance types of a list of words, as the catalogue spells them.
Result<std::vector<std::string>> match_instances(std::string_view words, const Catalog& catalog);

// The providers, GPUs and instance types of a list of words that may name any of these, or a vendor.
Result<std::vector<std::string>> match_names(std::string_view words, const Catalog& catalog);

// Superchips with a Grace processor, which is an Arm host, are named after it: gh200, gb200, gb300.
bool is_superchip(const Gpu& gpu);

// "H100:8", "8xH100" and "8 x H100" as a name and a number; the number is empty if there is none.
struct CountedGpu {
  std::string name;
  std::optional<int> count;
};
CountedGpu split_gpu_count(std::string_view text);

// One GPU. For a family ("h100") the most common member: the SXM module, or the one that most machines in the catalogue
// have. `others` names the rest of the family, to report the choice.
struct UsualGpu {
  const Gpu* gpu = nullptr;
  std::vector<std::string> others;
};
Result<UsualGpu> usual_gpu(const Catalog& catalog, std::string_view name);

}  // namespace rightsize::catalog
