// For tests: the catalog that ships with the program, read once.
#pragma once

#include "catalog/catalog.h"

namespace rightsize {

inline const catalog::Catalog& built_in_catalog() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

}  // namespace rightsize
