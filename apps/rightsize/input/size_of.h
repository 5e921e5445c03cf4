// How much there is to read, for LongWork.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace rightsize::app {

// Bytes of the files together; what cannot be looked at counts nothing.
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
