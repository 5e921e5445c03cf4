// The GPU a flag names, as people write it.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::app {

// Said beside the answer, on standard error: "note: ...".
void note(const std::string& text);

// One GPU of the catalogue. Of a family ("h100") the usual member, with a note that says which; of "8xh100" the GPU,
// with a note that the number is not used.
Result<const catalog::Gpu*> named_gpu(const catalog::Catalog& catalog, const std::string& text);

}  // namespace rightsize::app
