// The questions of `rightsize init`.
#pragma once

#include <iosfwd>
#include <vector>

#include "catalog/catalog.h"
#include "model/job.h"

namespace rightsize::app {

// What is run, on what, how much of it, within which limits: the settings of one workload. Asks until an answer is
// good; an empty one, and the end of the answers, take what is shown in brackets. `ends_lines`: nobody pressed Enter
// (the answers come from a file), so a line is ended after each.
std::vector<model::Setting> hold_interview(const catalog::Catalog& catalog, std::istream& answers,
                                           std::ostream& questions, bool ends_lines);

}  // namespace rightsize::app
