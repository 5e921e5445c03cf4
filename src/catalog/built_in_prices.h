// A fast reader for the built-in prices: thousands of rows are read at every start, and catalog_test.cc has validated
// each of them with the full reader.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace rightsize::catalog {

// The rows of an embedded data/prices/<provider>.csv. Nothing where a row is not in the expected form: the full reader
// then reports what is wrong.
std::optional<std::vector<Price>> read_built_in_prices(const std::string& provider, std::string_view text);

}  // namespace rightsize::catalog
