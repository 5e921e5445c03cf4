// Providers, regions and parts of the world as users write them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rightsize::catalog {

// The part of the world a provider's region is in: "us", "canada", "latin-america", "europe", "asia", "oceania",
// "middle-east", "africa"; empty where its name does not tell.
std::string_view part_of_world(std::string_view region);

// The region of a price that is the same everywhere.
inline constexpr std::string_view kAnyRegion = "any";

// The regions a list of words means, comma-separated: whole names, their beginnings (us-east), or parts of the world
// (us, eu, europe, asia, ...) for every provider whatever its way to name regions. A part of the world includes
// kAnyRegion; a region by its name does not, which is one provider's. A word that means none gets a suggestion.
Result<std::vector<std::string>> match_regions(std::string_view words, const std::set<std::string>& known);

// The providers a list of words means, by our names or the companies' (amazon, google).
Result<std::vector<std::string>> match_providers(std::string_view words, const std::set<std::string>& known);

}  // namespace rightsize::catalog
