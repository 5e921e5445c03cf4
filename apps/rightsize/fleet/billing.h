// Compares a fleet's cost with the bill and the budgets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bill/reconcile.h"
#include "fleet/fleet.h"
#include "report/fields.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

// A team's spend rate and its budget.
struct FleetBudget {
  std::string team;
  Usd budget, forecast;  // per month; the forecast is the window's rate

  bool is_over() const { return forecast > budget; }
};

struct FleetBilling {
  std::optional<bill::Reconciliation> reconciliation = {};
  std::vector<FleetBudget> budgets = {};
};

// `teams`: the spend of each team in the window.
Checked<FleetBilling> bill_fleet(const fleet::FleetAnalysis& analysis, const std::vector<fleet::GroupLine>& teams,
                                 const catalog::Catalog& catalog, const PriceFlag& prices,
                                 const std::vector<std::string>& budgets);

// The cost of every owner on every GPU, as rows of FOCUS.
std::string emit_focus(const fleet::FleetAnalysis& analysis);

void add_billing(const FleetBilling& billing, report::Report& report);

extern const report::Fields<FleetBudget> kFleetBudgetFields;
extern const report::Fields<bill::Reconciliation> kReconciliationFields;

}  // namespace rightsize::app
