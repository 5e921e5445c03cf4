// Any bytes as a compressed file: text of bounded size, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/byte_source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string packed(reinterpret_cast<const char*>(data), size);
  auto source = uncompress("fuzz", bytes_of(packed));
  if (!source) return 0;
  auto text = read_all(**source, 1U << 20);
  if (!text && describe(text.error()).empty()) std::abort();
  return 0;
}
