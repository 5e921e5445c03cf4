// The fields of a plan's power, energy and carbon dioxide.
#pragma once

#include "plan/plan.h"
#include "report/fields.h"

namespace rightsize::app {

const report::Fields<plan::Plan>& energy_fields();

}  // namespace rightsize::app
