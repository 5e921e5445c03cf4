// The catalogue and the constants of the speed model. open_catalog() and open_hardware() are in command.h.
#pragma once

#include "perf/perf.h"
#include "rightsize/command.h"

namespace rightsize::app {

// Both with the overlay of --catalog.
struct Facts {
  catalog::Catalog catalog;
  perf::Constants constants;
};
Checked<Facts> open_facts(const std::string& catalog_flag);
Checked<perf::Constants> open_constants(const std::string& catalog_flag);

// Caches facts from now on, for programs that answer many questions. Changed files are read again.
void keep_facts();

// Changes when the user's catalogue, calibration or price store changes; with prices on a database server, every minute.
std::string facts_version();

}  // namespace rightsize::app
