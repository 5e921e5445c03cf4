// Any bytes as a config.json: read_model() returns a shape with consistent sums, or errors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "families/read_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  Checked<model::ModelShape> shape =
      model::read_model("fuzz.json", std::string(reinterpret_cast<const char*>(data), size));
  if (!shape) {
    if (shape.error().empty() || describe(shape.error()).empty()) std::abort();
    return 0;
  }
  if (shape->active_parameters() > shape->parameters() || shape->parameters() < 0) std::abort();
  return 0;
}
