// A short fingerprint of a catalogue: two catalogues with the same fingerprint give the same answers.
#pragma once

#include <string>

#include "catalog/catalog.h"

namespace rightsize::catalog {

// "2026-11-15-9f3c21ab": the newest fact's day, and a hash of GPUs, machines and prices.
std::string version_of(const Catalog& catalog);

}  // namespace rightsize::catalog
