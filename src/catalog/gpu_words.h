// GPUs as users write them: a family name for its usual member, a count with the name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"

namespace rightsize::catalog {

// "H100:8", "8xH100" and "8 x H100" as a name and a number; no number where there is none.
struct CountedGpu {
  std::string name;
  std::optional<int> count;
};
CountedGpu split_gpu_count(std::string_view text);

// One GPU. For a family ("h100") the member usually meant: the SXM module, or the one most machines in the catalogue
// have. `others` names the rest of the family, so that the choice can be reported.
struct UsualGpu {
  const Gpu* gpu = nullptr;
  std::vector<std::string> others;
};
Result<UsualGpu> usual_gpu(const Catalog& catalog, std::string_view name);

}  // namespace rightsize::catalog
