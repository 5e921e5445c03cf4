#pragma once

#include <compare>
#include <cstdint>

namespace rightsize::model {

struct ImageSize {
  std::int64_t width = 0, height = 0;  // pixels

  auto operator<=>(const ImageSize&) const = default;
};

}  // namespace rightsize::model
