#include "rightsize/command.h"

#include <cstdlib>

#include <unistd.h>

namespace rightsize::app {

void add_catalog_flag(FlagSet& command, std::string& directory) { command.add("catalog", directory); }

bool takes_escape_codes(int descriptor) {
  const char* kind = std::getenv("TERM");
  return isatty(descriptor) != 0 && kind != nullptr && *kind != '\0' && kind != std::string_view("dumb");
}

}  // namespace rightsize::app
