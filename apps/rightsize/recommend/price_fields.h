// Fields of a plan's price: spend commitments, spot, reserved terms, quota.
#pragma once

#include "plan/plan.h"
#include "report/fields.h"

namespace rightsize::app {

const report::Fields<market::Draw>& draw_fields();
const report::Fields<plan::SpotPrice>& spot_fields();
const report::Fields<plan::Commitment>& commitment_fields();
const report::Fields<plan::Quota>& quota_fields();

}  // namespace rightsize::app
