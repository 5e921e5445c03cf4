// Bytes from somewhere, a piece at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rightsize::telemetry {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills the beginning of `buffer` and says how much of it; 0 at the end. Waits for input where there is none yet.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
};

// A file, or standard input when the path is "-". kUnreadableSource with the system's reason when it cannot be opened.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

// Text in memory, which must outlive the source.
std::unique_ptr<ByteSource> bytes_of(std::string_view text);

}  // namespace rightsize::telemetry
