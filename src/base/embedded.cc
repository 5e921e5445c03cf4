#include "base/embedded.h"

namespace rightsize {

std::string_view embedded_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return file.content;
  }
  return {};
}

}  // namespace rightsize
