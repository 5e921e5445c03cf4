// For tests: the built-in catalogue, read once.
#pragma once

#include "catalog/catalog.h"

namespace rightsize {

inline const catalog::Catalog& built_in_catalog() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

}  // namespace rightsize
