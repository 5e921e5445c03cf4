// Recognizes a file by its beginning, and names the command that reads it.
#pragma once

#include <string>
#include <vector>

namespace rightsize::app {

// For a batch script `diff /dev/null FILE`, for job accounting `fleet --from FILE`, ...; empty: unknown, or no such
// file.
std::vector<std::string> command_for_file(const std::string& path);

}  // namespace rightsize::app
