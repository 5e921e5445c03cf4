// Any bytes as a bill: totals that agree with each other, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bill/bill.h"
#include "bill/budget.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  const std::string text(reinterpret_cast<const char*>(data), size);
  bill::BillReader reader(kCatalog);
  const auto source = bytes_of(text);
  if (const Result<> read = reader.read(*source, "fuzz.csv"); !read && read.error().message.empty()) std::abort();
  const bill::Bill found = reader.finish();
  bill::Money teams;
  for (const bill::TeamCost& team : found.teams) teams += team.effective;
  if (!(teams == found.total.effective)) std::abort();
  for (const bill::BudgetLine& line : bill::against_budgets(found.teams, {{"*", usd(100)}}, found.last_day)) {
    if (line.days < 1 || line.days > line.of_days) std::abort();
  }
  (void)bill::json_text(text, "team");
  bill::Money money;
  if (bill::Money::parse(text, money)) {
    bill::Money again;
    if (!bill::Money::parse(money.text(), again) || !(again == money)) std::abort();
  }
  return 0;
}
