// Finds the GPU of the catalogue that a feed means.
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
  bool assumed = false;  // the feed does not tell SXM from PCIe: the slower one is assumed
};

// Spellings without the additions of feeds: memory in gigabytes, the vendor, "NVIDIA ", "-80G-".
std::vector<std::string> spellings(std::string_view name);

// Whether stated memory, as sold or as the driver reports it, agrees with the catalogue's.
bool memory_agrees(const catalog::Gpu& gpu, double gib);

// The GPU for a feed's spelling, by name or alias. In families ("A100"), the stated memory decides, then the form
// factor (SXM, PCIe, NVL) in the name or instance. Fails if the GPU is not in the catalogue, or if its memory
// contradicts the stated memory.
Result<ResolvedGpu> resolve_gpu(const catalog::Catalog& catalog, const FeedRow& row,
                                std::vector<const catalog::Gpu*> found);

}  // namespace rightsize::feeds
