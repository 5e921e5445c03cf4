#include "rightsize/command.h"

namespace rightsize::app {

void add_catalog_flag(FlagSet& command, std::string& directory) {
  command.add_option("--catalog", directory,
                     "folder with your own gpus.csv, machines.csv, prices/*.csv laid over the built-in facts "
                     "(or $RIGHTSIZE_CATALOG, or rightsize/catalog in your XDG configuration folder)");
}

}  // namespace rightsize::app
