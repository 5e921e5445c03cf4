// Finds the GPU that a user named.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::app {

// Prints "note: ..." on standard error.
void note(const std::string& text);

// One GPU of the catalogue. A family ("h100") means its most common member, and a note names it. The number in "8xh100"
// is not used, and a note says so.
Result<const catalog::Gpu*> named_gpu(const catalog::Catalog& catalog, const std::string& text);

}  // namespace rightsize::app
