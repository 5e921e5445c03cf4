#include "catalog/purchase_terms.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::catalog {

Result<Purchase> read_purchase(std::string_view word) {
  if (const auto purchase = parse_purchase(to_lower(word))) return *purchase;
  std::vector<std::string> names;
  for (Purchase purchase : kPurchases) names.emplace_back(name_of(purchase));
  return fail(bad_input(fmt::format("unknown purchase terms '{}'", word))
                  .with_hint(did_you_mean(word, names))
                  .with_hint(fmt::format("known: {}", fmt::join(names, ", "))));
}

}  // namespace rightsize::catalog
