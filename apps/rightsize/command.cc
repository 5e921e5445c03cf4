#include "rightsize/command.h"

namespace rightsize::app {

void add_catalog_flag(FlagSet& command, std::string& directory) { command.add("catalog", directory); }

}  // namespace rightsize::app
