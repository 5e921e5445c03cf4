// Requests of two versions of the same files, side by side.
#pragma once

#include <optional>
#include <vector>

#include "manifests/price.h"

namespace rightsize::manifests {

struct Side {
  GpuRequest request;
  Cost cost;
};

// One request before and after; one side is empty if it is new or removed.
struct RequestChange {
  std::optional<Side> before, after;

  bool is_new() const { return !before; }
  bool is_gone() const { return !after; }
  // Whether the request differs.
  bool differs() const;
};

// Pairs requests by file, kind, name and part, then by kind and name if they moved to another file, and scripts by file
// and kind; in the order of the new files. Resources of different addresses are never a pair.
std::vector<RequestChange> compare(std::vector<Side> before, std::vector<Side> after);

}  // namespace rightsize::manifests
