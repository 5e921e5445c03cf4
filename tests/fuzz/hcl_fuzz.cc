// Any bytes as a Terraform module: blocks or an error with its place, and requests with plausible numbers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "manifests/hcl.h"
#include "manifests/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto root = manifests::parse_hcl("fuzz.tf", text);
  if (!root && root.error().place.line < 1) std::abort();
  for (const manifests::GpuRequest& request : manifests::read_terraform({{"fuzz.tf", text}}).requests) {
    if (request.resource.empty()) std::abort();
    if ((request.units && *request.units < 0) || (request.per_unit && *request.per_unit < 0)) std::abort();
  }
  return 0;
}
