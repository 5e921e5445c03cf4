// --sweep: one setting over a range of values.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace rightsize::app {

struct Sweep {
  std::string setting;
  std::vector<std::string> values;  // 1 to 200
};

// "batch=1..256" (doubling, the end included) or "batch=1,2,4".
Result<Sweep> parse_sweep(const std::string& text);

}  // namespace rightsize::app
