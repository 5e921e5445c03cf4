// GPUs of the catalogue as a table and JSON.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "market/price_book.h"
#include "report/report.h"

namespace rightsize::app {

// The columns of conditions (report/filter.h), and the GPUs that meet them all.
std::vector<std::string> gpu_columns();
Result<> keep_matching(std::vector<const catalog::Gpu*>& gpus, const catalog::Catalog& catalog,
                       const std::vector<std::string>& conditions);

// In the order of `gpus`; `catalog` has their MIG profiles, `book` (may be null) their prices.
report::Report gpus_report(const std::vector<const catalog::Gpu*>& gpus, const catalog::Catalog& catalog,
                           const market::PriceBook* book = nullptr);

}  // namespace rightsize::app
