// Which GPU of the catalogue a feed means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/catalog.h"
#include "feeds/feed.h"

namespace rightsize::feeds {

struct ResolvedGpu {
  const catalog::Gpu* gpu = nullptr;
  bool assumed = false;  // the feed does not say whether it is SXM or PCIe: the slower is taken
};

// Without what feeds add to the name of a GPU: memory in gigabytes, the vendor, "NVIDIA ", "-80G-".
std::vector<std::string> spellings(std::string_view name);

// Stated memory is as sold or as the driver reports; both are within this of the catalogue's.
bool memory_agrees(const catalog::Gpu& gpu, double gib);

// The GPU for a feed's spelling, of those that match it by name or alias: families ("A100") by stated memory, then by
// what name and instance say of the form (SXM, PCIe, NVL). Fails where the catalogue does not have it, or where its
// memory contradicts what is stated.
Result<ResolvedGpu> resolve_gpu(const catalog::Catalog& catalog, const FeedRow& row,
                                std::vector<const catalog::Gpu*> found);

}  // namespace rightsize::feeds
