#include "bill/budget.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/date.h"
#include "bill/bill.h"
#include "catalog/test_catalog.h"

namespace rightsize::bill {
namespace {

// Costs per day times the days of a month are the cost of that month, whatever part of the months a bill covers.
RC_GTEST_PROP(MonthOverMonth, CostsPerDayAddUpToTheMonths, ()) {
  const catalog::Machine machine;
  Bill bill;
  bill.first_day = *rc::gen::inRange(20'000, 20'400);
  bill.last_day = bill.first_day + *rc::gen::inRange(0, 100);
  const Month last = month_of(bill.last_day);
  const int begin = std::max(bill.first_day, month_of(last.first - 1).first);
  double before = 0, after = 0;
  for (const char* name : {"a", "b", ""}) {
    TeamCost& team = bill.teams.emplace_back(TeamCost{name, {}, {}});
    for (int i = *rc::gen::inRange(0, 20); i > 0; --i) {
      const int day = *rc::gen::inRange(bill.first_day, bill.last_day + 1), cost = *rc::gen::inRange(1, 1000);
      team.by_day[day] += Money::of(cost);
      if (day >= last.first) after += cost;
      if (day >= begin && day < last.first) before += cost;
    }
    bill.machines.push_back({&machine, Pricing::kStandard, 1, {}, team.by_day});
  }
  const std::optional<MonthChange> change = month_over_month(bill);
  RC_ASSERT(change.has_value() == (bill.first_day < last.first));
  if (!change) return;
  RC_ASSERT(change->after_days == bill.last_day - last.first + 1);
  RC_ASSERT(change->before_days == last.first - begin);
  for (const auto* lines : {&change->teams, &change->machines}) {
    double sum_before = 0, sum_after = 0, largest = 1e300;
    for (const ChangeLine& line : *lines) {
      sum_before += in_usd(line.before), sum_after += in_usd(line.after);
      RC_ASSERT(std::abs(in_usd(line.change())) <= largest);
      largest = std::abs(in_usd(line.change()));
    }
    RC_ASSERT(std::abs(sum_before * change->before_days - before) < 1e-6);
    RC_ASSERT(std::abs(sum_after * change->after_days - after) < 1e-6);
  }
  RC_ASSERT(std::abs(in_usd(change->all.after) * change->after_days - after) < 1e-6);
}

// A row of a month is in a period that covers a part of it, and a note tells how much that is.
TEST(Bill, ARowThatAPeriodCutsIsCountedWhole) {
  constexpr const char* kMonths =
      "ProviderName,BilledCost,EffectiveCost,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,BillingCurrency\n"
      "AWS,100,100,Usage,2026-08-01T00:00:00Z,2026-09-01T00:00:00Z,USD\nAWS,200,200,Usage,2026-09-01T00:00:00Z,2026-10-"
      "01T00:00:00Z,USD\n";
  const int august = parse_date("2026-08-01")->day;
  for (const int first : {0, 1, 15, 30, 31, 45}) {
    BillReader reader(built_in_catalog());
    reader.take_only({.first_day = august + first});
    ASSERT_TRUE(reader.read(*bytes_of(kMonths), "bill.csv"));
    const Bill bill = reader.finish();
    EXPECT_EQ(bill.total.effective.text(), first < 31 ? "300" : "200") << first;
    const bool noted = std::ranges::any_of(
        bill.notes, [](const std::string& note) { return note.find("counted whole") != std::string::npos; });
    EXPECT_EQ(noted, first != 0 && first != 31) << first;
  }
}

}  // namespace
}  // namespace rightsize::bill
