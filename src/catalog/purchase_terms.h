// Terms of purchase as people name them.
#pragma once

#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::catalog {

// "spot", "1y"; any case. Another word fails with a suggestion and the list of those that are known.
Result<Purchase> read_purchase(std::string_view word);

}  // namespace rightsize::catalog
