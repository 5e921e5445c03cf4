// The fields of a fleet's analysis, from which its JSON, CSV and tables are made.
#pragma once

#include "report/fields.h"
#include "rightsize/fleet/read.h"

namespace rightsize::app {

extern const report::Fields<fleet::LedgerLine> kLedgerFields;
extern const report::Fields<fleet::Action> kActionFields;
extern const report::Fields<fleet::GroupLine> kGroupFields;
extern const report::Fields<fleet::JobIssueLine> kJobIssueFields;
extern const report::Fields<fleet::GpuRow> kGpuRowFields;

}  // namespace rightsize::app
