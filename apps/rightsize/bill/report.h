// A bill for people and for scripts.
#pragma once

#include <vector>

#include "bill/bill.h"
#include "bill/budget.h"
#include "report/report.h"

namespace rightsize::app {

struct BillResult {
  bill::Bill bill;
  std::vector<bill::BudgetLine> budgets;
  std::vector<bill::WeekLine> weeks;  // empty with fewer than 14 days
};

// `top`: rows of each table shown as text.
report::Report bill_report(const BillResult& result, std::size_t top);

// The same as a weekly message: what changed, who is over budget, what is unused.
report::Report bill_digest(const BillResult& result);

}  // namespace rightsize::app
