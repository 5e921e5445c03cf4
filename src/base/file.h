// Whole files as text.
#pragma once

#include <string>

#include "base/result.h"

namespace rightsize {

// Reads a whole file, or standard input if the path is "-". Fails with kUnreadableSource and the system's reason if it
// cannot be read or is larger than `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit = 256u << 20);

// Writes a whole file through a temporary file next to it, so a failure leaves the old content.
Result<> write_file(const std::string& path, const std::string& content);

// "$VARIABLE/rightsize/NAME" or "$HOME/FALLBACK/rightsize/NAME", according to the XDG specification: a relative path in
// the variable is ignored. Empty if neither is set.
std::string user_path(const char* variable, const char* fallback, const char* name);

}  // namespace rightsize
