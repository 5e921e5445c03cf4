// Selects and sorts GPUs of the catalogue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "market/price_book.h"

namespace rightsize::app {

struct GpuChoice {
  std::vector<std::string> gpus;
  std::string vendor;  // empty: any
  std::optional<Bytes> min_memory = {};
  std::optional<BytesPerSecond> min_bandwidth = {};
  std::optional<double> max_watts = {};  // GPUs with unknown power do not match
  std::string supports = {};             // a number format; empty: any
  std::string sort = "catalogue";
};

// Whether the order needs prices.
bool sorts_by_price(const GpuChoice& choice);

// The lowest on-demand price of a GPU; empty without a price.
std::optional<UsdPerGpuSecond> price_of(const catalog::Gpu& gpu, const market::PriceBook* book);

// The GPUs that match, sorted; unknown names, vendors and sort orders get a suggestion. `book` is needed to sort by
// price.
Result<std::vector<const catalog::Gpu*>> select_gpus(const GpuChoice& choice, const catalog::Catalog& catalog,
                                                     const market::PriceBook* book = nullptr);

}  // namespace rightsize::app
