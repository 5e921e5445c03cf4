// For commands that ask for no price.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::app {

// As open_catalog(), with no prices in it: GPUs, MIG profiles, machines.
Checked<catalog::Catalog> open_hardware(const std::string& flag);

}  // namespace rightsize::app
