// The built-in prices without what user files need: thousands of rows are read at every start, and a test of ours
// (catalog_test.cc) has checked each of them the long way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace rightsize::catalog {

// The rows of an embedded data/prices/<provider>.csv. Nothing where a row is not as the test left it: the long way then
// says what is wrong.
std::optional<std::vector<Price>> read_built_in_prices(const std::string& provider, std::string_view text);

}  // namespace rightsize::catalog
