// Any bytes as a compressed file: text of bounded size, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "telemetry/feeds/uncompress.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string packed(reinterpret_cast<const char*>(data), size);
  auto source = telemetry::uncompress("fuzz", telemetry::bytes_of(packed));
  if (!source) return 0;
  auto text = telemetry::read_all(**source, 1U << 20);
  if (!text && describe(text.error()).empty()) std::abort();
  return 0;
}
