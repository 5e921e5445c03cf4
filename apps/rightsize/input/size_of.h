// The amount of input, for progress displays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace rightsize::app {

// The total size of the files in bytes. Files that cannot be examined count as 0.
inline std::uint64_t size_of(const std::vector<std::string>& files) {
  std::uint64_t total = 0;
  for (const std::string& file : files) {
    std::error_code wrong;
    const auto size = std::filesystem::file_size(file, wrong);
    if (!wrong) total += size;
  }
  return total;
}

}  // namespace rightsize::app
