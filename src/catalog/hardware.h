// The catalogue without prices, which are most of the reading.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::catalog {

// Like load_catalog(), but without prices.
Checked<Catalog> load_hardware(const std::string& overlay);

}  // namespace rightsize::catalog
