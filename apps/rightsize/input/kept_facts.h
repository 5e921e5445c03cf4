// The catalogue and the speed model's constants as files have them; read once for a program that answers many
// questions.
#pragma once

#include <string>

#include "catalog/catalog.h"
#include "perf/perf.h"

namespace rightsize::app {

// From here on what was read is kept for a minute, so that changes of the user's own files still show.
void keep_facts();

Checked<catalog::Catalog> read_catalog(const std::string& overlay);
Checked<perf::Constants> read_constants(const std::string& overlay);

}  // namespace rightsize::app
