// Finds the GPU of the catalogue for a feed's spelling.
#pragma once

#include "base/result.h"
#include "catalog/catalog.h"
#include "feeds/feed.h"

namespace rightsize::feeds {

struct ResolvedGpu {
  const catalog::Gpu* gpu = nullptr;
  bool assumed = false;  // the feed does not say whether it is SXM or PCIe: the slower is taken
};

// By name or alias; families ("A100") by stated memory, then by what name and instance say of the form (SXM, PCIe,
// NVL). kBadInput: the catalogue does not have it, or its memory contradicts what is stated.
Result<ResolvedGpu> resolve_gpu(const catalog::Catalog& catalog, const FeedRow& row);

}  // namespace rightsize::feeds
