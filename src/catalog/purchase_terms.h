// Terms of purchase as users name them.
#pragma once

#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::catalog {

// "spot", "1y"; any case. Other words fail with a suggestion and the list of terms.
Result<Purchase> read_purchase(std::string_view word);

}  // namespace rightsize::catalog
