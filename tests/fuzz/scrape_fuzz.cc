// Any text as a scrape of /metrics: it is read, or refused with a place.
#include <cstddef>
#include <cstdint>
#include <string>

#include "live_service/scrape.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto samples = rightsize::live_service::parse_scrape("scrape", text);
  if (!samples && samples.error().place.line < 1) __builtin_trap();
  return 0;
}
