#pragma once

#include <cstdint>

namespace rightsize::model {

struct ImageSize {
  std::int64_t width = 0, height = 0;  // pixels
};

}  // namespace rightsize::model
