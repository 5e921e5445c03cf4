// Any bytes as a profile in JSON: the measured work, or errors.
#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/read_parts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  rightsize::plan::PlanLimits limits;
  (void)rightsize::plan::read_profile("fuzz.json", text, 1, limits);
  return 0;
}
