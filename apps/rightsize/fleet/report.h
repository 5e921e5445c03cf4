// The report of a fleet's analysis.
#pragma once

#include "report/fields.h"
#include "rightsize/fleet/read.h"

namespace rightsize::app {

// `top`: rows of each table shown as text.
report::Report fleet_report(const FleetResult& result, std::size_t top);
report::Json fleet_document(const FleetResult& result);

std::string percent(double share);
std::string dollars(Usd value);                             // sums may be off by fractions of a cent
std::string next_step(const fleet::UnplannedWaste& waste);  // for waste that no action removes
std::string time_text(TimePoint time);                      // "2026-01-03T08:30Z"

extern const report::Fields<fleet::LedgerLine> kLedgerFields;
extern const report::Fields<fleet::FleetAction> kActionFields;
extern const report::Fields<fleet::GroupLine> kGroupFields;
extern const report::Fields<fleet::WaitLine> kWaitFields;
extern const report::Fields<fleet::RequestLine> kRequestFields;
extern const report::Fields<fleet::NodeLine> kNodeFields;
extern const report::Fields<fleet::CapLine> kCapFields;
extern const report::Fields<fleet::JobIssueLine> kJobIssueFields;
extern const report::Fields<fleet::GpuRow> kGpuRowFields;

}  // namespace rightsize::app
