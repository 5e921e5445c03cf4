// GPUs of the catalogue as a table and JSON.
#pragma once

#include <vector>

#include "catalog/catalog.h"
#include "market/price_book.h"
#include "report/report.h"

namespace rightsize::app {

// In the order of `gpus`; `catalog` has their MIG profiles, `book` (may be null) their prices.
report::Report gpus_report(const std::vector<const catalog::Gpu*>& gpus, const catalog::Catalog& catalog,
                           const market::PriceBook* book = nullptr);

}  // namespace rightsize::app
