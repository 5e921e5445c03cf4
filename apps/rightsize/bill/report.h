// The report of `rightsize bill`.
#pragma once

#include <optional>
#include <vector>

#include "bill/bill.h"
#include "bill/budget.h"
#include "catalog/catalog.h"
#include "report/report.h"

namespace rightsize::app {

// The totals in the currency of --currency.
struct InCurrency {
  catalog::ExchangeRate rate;
  double effective = 0, billed = 0, gpu = 0;
};

struct BillResult {
  bill::Bill bill;
  std::optional<InCurrency> converted = {};
  std::vector<bill::BudgetLine> budgets;
  std::vector<bill::ChangeLine> weeks;  // empty with fewer than 14 days
  std::optional<bill::MonthChange> months = {};
  std::vector<bill::DoubtfulPrice> doubts = {};
};

// `top`: rows of each table shown as text.
report::Report bill_report(const BillResult& result, std::size_t top);

// A weekly summary: what changed, who is over budget, what is unused.
report::Report bill_digest(const BillResult& result);

}  // namespace rightsize::app
