// Field tables that the document and the text tables of an estimate share.
#pragma once

#include "rightsize/estimate/report.h"

namespace rightsize::app {

extern const report::Fields<perf::TimePart> kPartFields;
extern const report::Fields<SweepRow> kSweepFields;
extern const report::Fields<Roofline> kRooflineFields;

inline report::Choices bound_choices() { return report::one_of({"compute", "memory", "communication", "host"}); }
inline report::Choices basis_choices() {
  return report::one_of({"measured", "calibrated", "transferred", "specification"});
}

}  // namespace rightsize::app
