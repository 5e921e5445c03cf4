#include <cstdlib>

#include "store/database.h"

namespace rightsize::store {

std::string usual_place(std::string_view flag, const char* variable, const char* file) {
  const auto value_of = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (!flag.empty()) return std::string(flag);
  if (std::string named = value_of(variable); !named.empty()) return named;
  if (const std::string data = value_of("XDG_DATA_HOME"); !data.empty()) return data + "/rightsize/" + file;
  const std::string home = value_of("HOME");
  return home.empty() ? "" : home + "/.local/share/rightsize/" + file;
}

}  // namespace rightsize::store
