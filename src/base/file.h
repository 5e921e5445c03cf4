// Whole files as text.
#pragma once

#include <string>

#include "base/result.h"

namespace rightsize {

// The whole of a file, or of standard input when the path is "-". kUnreadableSource with the system's reason when it
// cannot be read, or when it is larger than `limit` bytes (small inputs only come through here).
Result<std::string> read_file(const std::string& path, std::size_t limit = 256u << 20);

// Writes a file whole, through a temporary beside it, so that a failure leaves what was there.
Result<> write_file(const std::string& path, const std::string& content);

}  // namespace rightsize
