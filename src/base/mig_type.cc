#include "base/mig_type.h"

#include <cctype>

namespace rightsize {

MigType split_mig_type(std::string_view type) {
  const std::size_t g = type.find("g.");
  if (g == std::string_view::npos || g == 0 || std::isdigit(static_cast<unsigned char>(type[g - 1])) == 0)
    return {std::string(type), {}};
  MigType found{std::string(type.substr(0, g - 1)), std::string(type.substr(g - 1))};
  const auto trim_end = [&] {
    while (!found.gpu.empty() && (found.gpu.back() == '_' || found.gpu.back() == '-' || found.gpu.back() == '.'))
      found.gpu.pop_back();
  };
  trim_end();
  if (found.gpu.ends_with("mig") || found.gpu.ends_with("MIG")) found.gpu.resize(found.gpu.size() - 3);
  trim_end();
  return found;
}

}  // namespace rightsize
