// Selects and sorts GPUs of the catalogue.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"

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

// The GPUs that match, sorted; unknown names, vendors and sort orders get a suggestion.
Result<std::vector<const catalog::Gpu*>> select_gpus(const GpuChoice& choice, const catalog::Catalog& catalog);

}  // namespace rightsize::app
