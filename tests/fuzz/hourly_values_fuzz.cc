// Any bytes as values by hour: 24 finite numbers, or errors.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "market/energy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const auto hours = market::parse_hours("fuzz.csv", std::string(reinterpret_cast<const char*>(data), size));
  if (!hours) {
    if (hours.error().empty() || describe(hours.error()).empty()) std::abort();
    return 0;
  }
  if (hours->size() != 24) std::abort();
  for (double value : *hours) {
    if (!std::isfinite(value)) std::abort();
  }
  return 0;
}
