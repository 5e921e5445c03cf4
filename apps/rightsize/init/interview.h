// The questions of `rightsize init`.
#pragma once

#include <iosfwd>
#include <vector>

#include "catalog/catalog.h"
#include "model/job.h"

namespace rightsize::app {

// Asks for the kind of work, the model, the amount and the limits, and returns them as the settings of a workload. A
// wrong answer is explained, and the question is repeated; an empty answer takes the default in brackets. `ends_lines`:
// end the line after each question, because the answers come from a file and not from a terminal.
std::vector<model::Setting> hold_interview(const catalog::Catalog& catalog, std::istream& answers,
                                           std::ostream& questions, bool ends_lines);

}  // namespace rightsize::app
