// Properties of any bill, on generated bills in the format of exports.
#include "bill/bill.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "bill/budget.h"
#include "bill/focus_writer.h"
#include "bill/reconcile.h"
#include "catalog/test_catalog.h"

namespace rightsize::bill {
namespace {

using testing::HasSubstr;

// Machines with GPUs that no other provider has under the same name.
const std::vector<const catalog::Machine*>& distinct_machines() {
  static const std::vector<const catalog::Machine*> kAll = [] {
    std::map<std::string, int> named;
    for (const catalog::Machine& machine : built_in_catalog().machines) ++named[machine.instance];
    std::vector<const catalog::Machine*> all;
    for (const catalog::Machine& machine : built_in_catalog().machines) {
      if (machine.gpus > 0 && named[machine.instance] == 1) all.push_back(&machine);
    }
    return all;
  }();
  return kAll;
}
const catalog::Machine& some_machine() {
  return *distinct_machines()[*rc::gen::inRange<std::size_t>(0, distinct_machines().size())];
}

Bill bill_of(const std::string& csv, const std::string& tag = {}) {
  BillReader reader(built_in_catalog(), tag);
  const auto source = bytes_of(csv);
  const Result<> read = reader.read(*source, "bill.csv");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return reader.finish();
}

constexpr const char* kHeader =
    "ProviderName,BilledCost,EffectiveCost,ListCost,ChargeCategory,PricingCategory,ChargePeriodStart,ConsumedQuantity,"
    "ConsumedUnit,BillingCurrency,ServiceCategory,SkuPriceDetails,ResourceId,CommitmentDiscountId,"
    "CommitmentDiscountStatus,CommitmentDiscountType,Tags\n";

// An amount in units of 10^-9, as text with some zeros after it.
std::string money_text(std::int64_t nano) {
  const std::int64_t whole = std::abs(nano) / 1'000'000'000, rest = std::abs(nano) % 1'000'000'000;
  return fmt::format("{}{}.{:09}{}", nano < 0 ? "-" : "", whole, rest,
                     std::string(static_cast<std::size_t>(whole % 4), '0'));
}

struct Row {
  std::int64_t billed, effective;  // 10^-9
  int day;
  double hours;
  std::string details, id, team, category = "Usage", status = {}, commitment = {};

  std::string csv() const {
    return fmt::format("AWS,{},{},{},{},Standard,{}T00:00:00Z,{},Hours,USD,Compute,{},{},{},{},Savings Plan,{}\n",
                       money_text(billed), money_text(effective), money_text(effective), category,
                       format_date(Date{day}), hours, csv_cell(details), id, commitment, status,
                       csv_cell(fmt::format("{{\"env\":\"prod\",\"Team\":\"{}\"}}", team)));
  }
};

std::vector<Row> some_rows() {
  std::vector<Row> rows(*rc::gen::inRange<std::size_t>(1, 60));
  for (Row& row : rows) {
    row.billed = *rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 100'000'000'000'000);
    row.effective = *rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 100'000'000'000'000);
    row.day = *rc::gen::inRange(20000, 20031);
    row.hours = *rc::gen::inRange(0, 25);
    row.details =
        fmt::format("{{\"InstanceType\":\"{}\"}}", *rc::gen::arbitrary<bool>() ? some_machine().instance : "m6i.large");
    row.id = fmt::format("arn:aws:ec2:us-east-1:1:instance/i-{}", *rc::gen::inRange(0, 5));
    row.team = *rc::gen::element<std::string>("ml", "research", "search");
  }
  return rows;
}

std::string file_of(const std::vector<Row>& rows) {
  std::string csv = kHeader;
  for (const Row& row : rows) csv += row.csv();
  return csv;
}

// The same rows in the columns of a version. 1.1 adds SkuPriceDetails, 1.2 the invoice and prices in another currency,
// 1.3 replaces ProviderName by two columns. In 1.0, the machine type is in the provider's own column.
std::string in_version(const std::vector<Row>& rows, int minor) {
  std::string csv =
      "BilledCost,EffectiveCost,ListCost,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,";
  csv += "ConsumedUnit,BillingCurrency,PricingCategory,ServiceCategory,ResourceId,SubAccountId,SubAccountName,Tags,";
  csv += "CommitmentDiscountId,CommitmentDiscountStatus,CommitmentDiscountType";
  csv += minor == 0 ? ",x_InstanceType" : ",SkuPriceDetails,SkuMeter,CommitmentDiscountQuantity,CommitmentDiscountUnit";
  if (minor >= 2) csv += ",InvoiceId,PricingCurrency,PricingCurrencyEffectiveCost";
  csv += minor >= 3 ? ",ProviderName,PublisherName,ServiceProviderName,HostProviderName\n"
                    : ",ProviderName,PublisherName\n";
  for (const Row& row : rows) {
    csv += fmt::format(
        "{},{},{},{},{}T00:00:00Z,{}T00:00:00Z,{},Hours,USD,Standard,Compute,{},123,{},{},{},{},Savings Plan",
        money_text(row.billed), money_text(row.effective), minor >= 2 ? "" : money_text(row.effective), row.category,
        format_date(Date{row.day}), format_date(Date{row.day + 1}), row.hours, row.id, minor % 2 == 0 ? "" : "prod",
        csv_cell(fmt::format("{{\"Team\":\"{}\"}}", row.team)), row.commitment, row.status);
    const std::string type(json_text(row.details, "InstanceType"));
    csv += minor == 0 ? "," + type : fmt::format(",{},Compute,,", csv_cell(row.details));
    if (minor >= 2) csv += ",I-1,EUR,0.5";
    csv += minor >= 3 ? ",,,AWS,AWS\n" : ",AWS,Amazon Web Services\n";
  }
  return csv;
}

RC_GTEST_PROP(Bill, OnlyPricesFarAboveTheListAreDoubtful, ()) {
  const catalog::Machine& machine = some_machine();
  const double list = *rc::gen::inRange(1, 100), times = *rc::gen::element(0.5, 1.0, 1.9, 2.1, 60.0);
  Row row;
  row.billed = 0, row.effective = std::llround(24e9 * list * times), row.day = 20000, row.hours = 24;
  row.details = fmt::format("{{\"InstanceType\":\"{}\"}}", machine.instance);
  catalog::Price dear, cheap, spot;
  dear.instance = cheap.instance = spot.instance = machine.instance;
  dear.machine_price = usd_per_machine_hour(list), cheap.machine_price = usd_per_machine_hour(list / 3);
  spot.machine_price = usd_per_machine_hour(list * 100), spot.purchase = catalog::Purchase::kSpot;
  const Bill bill = bill_of(file_of({row}));
  const std::vector<DoubtfulPrice> doubtful = doubtful_prices(bill, {cheap, dear, spot});
  RC_ASSERT((times > 2) == !doubtful.empty());
  RC_ASSERT(doubtful_prices(bill, {}).empty());  // no list price
}

RC_GTEST_PROP(Bill, EveryVersionOfFocusGivesTheSameTotals, ()) {
  const std::vector<Row> rows = some_rows();
  const Bill first = bill_of(in_version(rows, 0));
  for (const int minor : {1, 2, 3}) {
    const Bill other = bill_of(in_version(rows, minor));
    RC_ASSERT(other.rows == first.rows);
    RC_ASSERT(other.total.billed == first.total.billed);
    RC_ASSERT(other.total.effective == first.total.effective);
    RC_ASSERT(other.total.list == first.total.list);
    RC_ASSERT(other.gpu == first.gpu);
    RC_ASSERT(other.machines.size() == first.machines.size());
    for (std::size_t i = 0; i < first.machines.size(); ++i) {
      RC_ASSERT(other.machines[i].machine == first.machines[i].machine);
      RC_ASSERT(other.machines[i].hours == first.machines[i].hours);
      RC_ASSERT(other.machines[i].costs.effective == first.machines[i].costs.effective);
    }
    RC_ASSERT(other.teams.size() == first.teams.size());
    for (std::size_t i = 0; i < first.teams.size(); ++i) {
      RC_ASSERT(other.teams[i].name == first.teams[i].name);
      RC_ASSERT(other.teams[i].effective == first.teams[i].effective);
    }
    RC_ASSERT(other.uses.size() == first.uses.size());
  }
}

// Half away from zero.
std::int64_t cents_of(std::int64_t nano) { return (nano + (nano < 0 ? -5'000'000 : 5'000'000)) / 10'000'000; }

RC_GTEST_PROP(Money, SumsAreExact, (const std::vector<std::int32_t>& amounts)) {
  Money sum;
  std::int64_t truth = 0;
  for (const std::int32_t amount : amounts) {
    Money one;
    RC_ASSERT(Money::parse(money_text(amount), one));
    sum += one;
    truth += amount;
  }
  RC_ASSERT(sum.cents() == cents_of(truth));
  Money again;
  RC_ASSERT(Money::parse(sum.text(), again));
  RC_ASSERT(again == sum);
}

TEST(Money, ReadsEveryFormOfFocusNumbers) {
  const auto read = [](std::string_view text) {
    Money money;
    return Money::parse(text, money) ? money.text() : "refused";
  };
  EXPECT_EQ(read("12.50"), "12.5");
  EXPECT_EQ(read("-0.00031"), "-0.00031");
  EXPECT_EQ(read("1.5E-7"), "0.00000015");
  EXPECT_EQ(read("35.2E7"), "352000000");
  EXPECT_EQ(read("0"), "0");
  for (const char* wrong :
       {"", "-", ".", "1,000", "$5", "1e", "1e9999", "NaN", "99999999999999999999999999999999999999999"})
    EXPECT_EQ(read(wrong), "refused") << wrong;
}

RC_GTEST_PROP(Money, PartsAddUpToTheWhole, (std::int32_t amount)) {
  Money whole, sum;
  RC_ASSERT(Money::parse(money_text(amount), whole));
  const int count = *rc::gen::inRange(1, 367);
  for (int i = 0; i < count; ++i) sum += whole.part(i, count);
  RC_ASSERT(sum == whole);
}

TEST(Bill, AChargeForAMonthIsSpreadOverItsDays) {
  const Bill bill = bill_of(
      "BilledCost,EffectiveCost,ChargePeriodStart,ChargePeriodEnd\n31,31,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z\n"
      "5,5,2026-10-01T00:00:00Z,2026-10-01T01:00:00Z\n7,7,2026-10-20T00:00:00Z,2026-10-21T00:00:00Z\n");
  ASSERT_EQ(bill.teams.size(), 1U);
  const auto& days = bill.teams[0].by_day;
  EXPECT_EQ(days.size(), 31U);
  EXPECT_EQ(days.begin()->second.text(), "6");
  EXPECT_EQ(days.rbegin()->second.text(), "1");
  // The data ends with the start of the last charge.
  EXPECT_EQ(format_date(Date{bill.last_day}), "2026-10-20");
}

TEST(Bill, ABillByMonthsEndsWithItsLastMonth) {
  const Bill bill = bill_of(
      "BilledCost,EffectiveCost,ChargePeriodStart,ChargePeriodEnd\n31,31,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z\n"
      "5,5,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z\n");
  EXPECT_EQ(format_date(Date{bill.last_day}), "2026-10-31");
}

// A discount needs the list cost of every row: without one it is unknown, not 0.
RC_GTEST_PROP(Bill, ADiscountIsKnownOnlyWithListCosts, ()) {
  const double list = *rc::gen::inRange(1, 1000), effective = *rc::gen::inRange(0, 1000);
  const bool listed = *rc::gen::arbitrary<bool>();
  const std::string header =
      "BilledCost,EffectiveCost,ListCost,ChargeCategory,ConsumedQuantity,ConsumedUnit,x_InstanceType\n";
  const std::string type = some_machine().instance;
  const Bill bill = bill_of(header + fmt::format("1,{0},{1},Usage,1,Hours,{2}\n1,{0},{3},Usage,1,Hours,{2}\n",
                                                 effective, list, type, listed ? fmt::format("{}", list) : ""));
  RC_ASSERT(bill.machines.size() == 1U);
  const std::optional<double> discount = bill.machines.front().costs.discount();
  RC_ASSERT(discount.has_value() == listed);
  if (listed) RC_ASSERT(std::abs(*discount - (1 - effective / list)) < 1e-9);
}

RC_GTEST_PROP(Bill, TotalsAreExactToTheCentInAnyOrder, ()) {
  std::vector<Row> rows = some_rows();
  std::int64_t billed = 0, effective = 0;
  for (const Row& row : rows) billed += row.billed, effective += row.effective;
  const Bill bill = bill_of(file_of(rows));
  RC_ASSERT(bill.total.billed.cents() == cents_of(billed));
  RC_ASSERT(bill.total.effective.cents() == cents_of(effective));
  Money teams, days;
  for (const TeamCost& team : bill.teams) {
    teams += team.effective;
    for (const auto& [day, money] : team.by_day) days += money;
  }
  RC_ASSERT(teams == bill.total.effective);
  RC_ASSERT(days == bill.total.effective);
  std::ranges::reverse(rows);
  const Bill again = bill_of(file_of(rows));
  RC_ASSERT(again.total.effective == bill.total.effective);
  RC_ASSERT(again.gpu == bill.gpu);
  RC_ASSERT(again.machines.size() == bill.machines.size());
}

RC_GTEST_PROP(Bill, AMachinesPriceIsItsCostOverItsHours, ()) {
  const catalog::Machine& machine = some_machine();
  const double price = *rc::gen::inRange(10, 9000) / 100.0;
  std::vector<Row> rows(*rc::gen::inRange<std::size_t>(1, 30));
  double hours = 0;
  for (Row& row : rows) {
    row.hours = *rc::gen::inRange(1, 25);
    row.billed = 0;  // covered by a commitment: amortised cost only
    row.effective = std::llround(price * row.hours * 1e9);
    row.day = 20000;
    row.details = fmt::format("{{\"x_Plan\":\"a\",\"InstanceType\":\"{}\"}}", machine.instance);
    row.id = "i-1";
    hours += row.hours;
  }
  // The unused part and taxes belong to no machine.
  Row unused = rows.front();
  unused.status = "Unused", unused.commitment = "sp-1";
  Row tax = rows.front();
  tax.category = "Tax";
  rows.push_back(unused);
  rows.push_back(tax);
  const Bill bill = bill_of(file_of(rows));
  RC_ASSERT(bill.machines.size() == 1U);
  RC_ASSERT(std::abs(bill.machines[0].hours - hours) < 1e-9);
  const auto prices = effective_prices(bill);
  RC_ASSERT(prices.size() == 1U);
  RC_ASSERT(std::abs(in_usd_per_machine_hour(prices.begin()->second) - price) < 1e-6);
  RC_ASSERT(bill.commitments.size() == 1U);
  RC_ASSERT(bill.commitments[0].unused.cents() == cents_of(unused.effective));
  RC_ASSERT(bill.commitments[0].unused_share() == 1.0);
}

TEST(Bill, VersionsAndProvidersNameTheMachineInDifferentColumns) {
  const std::string columns = "BilledCost,EffectiveCost,ChargeCategory,ServiceCategory,PricingQuantity,PricingUnit,";
  const auto instance = [&](const std::string& name, const std::string& cell) {
    const Bill bill = bill_of(columns + name + "\n98.32,98.32,Usage,Compute,1,1 Hour," + csv_cell(cell) + "\n");
    return bill.machines.empty() ? std::string("none") : bill.machines[0].machine->instance;
  };
  EXPECT_EQ(instance("SkuPriceDetails", "{\"InstanceType\":\"p5.48xlarge\",\"CoreCount\":192}"), "p5.48xlarge");
  EXPECT_EQ(instance("x_UsageType", "USE1-BoxUsage:p5.48xlarge"), "p5.48xlarge");
  EXPECT_EQ(instance("ChargeDescription", "$98.32 per On Demand Linux p5.48xlarge Instance Hour"), "p5.48xlarge");
  EXPECT_EQ(instance("x_SkuInstanceType", "STANDARD_ND96ISR_H100_V5"), "Standard_ND96isr_H100_v5");
  EXPECT_EQ(instance("x_SkuDetails", "{\"UsageType\":\"ComputeHR\",\"ServiceType\":\"Standard_ND96isr_H100_v5\"}"),
            "Standard_ND96isr_H100_v5");
  EXPECT_EQ(instance("ChargeDescription", "NAT gateway data processed"), "none");
}

// Companies add columns to exports: any column with names of machines is recognized.
RC_GTEST_PROP(Bill, AMachineIsFoundInAnyColumn, ()) {
  const std::string name = *rc::gen::element<std::string>("ResourceType", "x_instance_type", "vm size", "Flavor");
  const bool first = *rc::gen::arbitrary<bool>();
  const catalog::Machine& machine = some_machine();
  std::string csv = (first ? csv_cell(name) + "," : "") +
                    "BilledCost,EffectiveCost,ChargeCategory,ServiceCategory,PricingQuantity,PricingUnit,SkuId" +
                    (first ? "" : "," + csv_cell(name)) + "\n";
  const int rows = *rc::gen::inRange(1, 20);
  for (int i = 0; i < rows; ++i) {
    const std::string cell = csv_cell(machine.instance), rest = "10,10,Usage,Compute,2,1 Hour,SKU" + std::to_string(i);
    csv += first ? cell + "," + rest + "\n" : rest + "," + cell + "\n";
    csv += first ? ",1,1,Usage,Storage,1,GB,SKU\n" : "1,1,Usage,Storage,1,GB,SKU,\n";
  }
  const Bill bill = bill_of(csv);
  RC_ASSERT(bill.machines.size() == 1U);
  RC_ASSERT(bill.machines[0].machine->instance == machine.instance);
  RC_ASSERT(bill.machines[0].hours == 2.0 * rows);
  RC_ASSERT(bill.gpu.text() == std::to_string(10 * rows));
}

// Google bills cores, memory and GPUs in separate rows, each with separate hours.
TEST(Bill, AMachineInPartsHasTheHoursOfOneGpu) {
  const std::string label = ",\"{\"\"compute.googleapis.com/machine_spec\"\":\"\"a3-highgpu-8g\"\"}\"\n";
  const Bill bill = bill_of(
      "ProviderName,BilledCost,EffectiveCost,ChargeCategory,ServiceCategory,ConsumedQuantity,ConsumedUnit,"
      "ChargeDescription,Tags\n"
      "Google Cloud,10,10,Usage,Compute,2080,hour,A3 Instance Core running in Iowa" +
      label + "Google Cloud,5,5,Usage,Compute,18720,hour,A3 Instance Ram running in Iowa" + label +
      "Google Cloud,85,85,Usage,Compute,80,hour,Nvidia H100 80GB GPU running in Iowa" + label);
  ASSERT_EQ(bill.machines.size(), 1U);
  EXPECT_DOUBLE_EQ(bill.machines[0].hours, 10);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(*bill.machines[0].rate()), 10);
}

// The line items of a month as AWS documents them, hour by hour, in the columns of a version of the report. What is
// expected is AWS's rule for amortised cost, written out for each type.
struct ReportLine {
  std::string type, cost, amount = "1", instance = {}, usage = {}, unit = "Hrs", id = {}, team = {};
  std::string reservation = {}, reservation_cost = {}, unused_fee = {}, unused_upfront = {};
  std::string plan = {}, plan_cost = {}, plan_total = {}, plan_used = {}, net = {};
};

std::string report_of(const std::vector<ReportLine>& lines, bool second, bool with_net = false) {
  const auto column = [&](const char* legacy, const char* newer) { return std::string(second ? newer : legacy) + ","; };
  std::string csv = column("identity/LineItemId", "identity_line_item_id") +
                    column("lineItem/UsageStartDate", "line_item_usage_start_date") +
                    column("lineItem/UsageEndDate", "line_item_usage_end_date") +
                    column("lineItem/LineItemType", "line_item_line_item_type") +
                    column("lineItem/UnblendedCost", "line_item_unblended_cost") +
                    column("lineItem/UsageAmount", "line_item_usage_amount") +
                    column("lineItem/CurrencyCode", "line_item_currency_code") +
                    column("lineItem/UsageType", "line_item_usage_type") +
                    column("lineItem/ResourceId", "line_item_resource_id") +
                    column("product/instanceType", "product_instance_type") + column("pricing/unit", "pricing_unit") +
                    column("reservation/ReservationARN", "reservation_reservation_a_r_n") +
                    column("reservation/EffectiveCost", "reservation_effective_cost") +
                    column("reservation/UnusedRecurringFee", "reservation_unused_recurring_fee") +
                    column("reservation/UnusedAmortizedUpfrontFeeForBillingPeriod",
                           "reservation_unused_amortized_upfront_fee_for_billing_period") +
                    column("savingsPlan/SavingsPlanARN", "savings_plan_savings_plan_a_r_n") +
                    column("savingsPlan/SavingsPlanEffectiveCost", "savings_plan_savings_plan_effective_cost") +
                    column("savingsPlan/TotalCommitmentToDate", "savings_plan_total_commitment_to_date") +
                    column("savingsPlan/UsedCommitment", "savings_plan_used_commitment") +
                    (with_net ? column("lineItem/NetUnblendedCost", "line_item_net_unblended_cost") : "") +
                    (second ? "resource_tags\n" : "resourceTags/user:Team\n");
  for (const ReportLine& l : lines) {
    csv += fmt::format("x,2026-05-03T04:00:00Z,2026-05-03T05:00:00Z,{},{},{},USD,{},{},{},{},{},{},{},{},{},{},{},{},",
                       l.type, l.cost, l.amount, l.usage, l.id, l.instance, l.unit, l.reservation, l.reservation_cost,
                       l.unused_fee, l.unused_upfront, l.plan, l.plan_cost, l.plan_total, l.plan_used);
    if (with_net) csv += l.net + ",";
    csv += second ? csv_cell(fmt::format("{{\"user_team\":\"{}\"}}", l.team)) + "\n" : l.team + "\n";
  }
  return csv;
}

TEST(Bill, CostAndUsageReportsOfAwsGiveAmortisedCosts) {
  const std::vector<ReportLine> lines = {
      {"Usage", "55.04", "1", "p5.48xlarge", "BoxUsage:p5.48xlarge", "Hrs", "i-1", "ml"},
      // Without pricing columns, as spot rows are.
      {"Usage", "21.5", "1", "p5.48xlarge", "USW2-SpotUsage:p5.48xlarge", "", "i-2", "research"},
      {.type = "DiscountedUsage",
       .cost = "0",
       .instance = "p4d.24xlarge",
       .usage = "BoxUsage:p4d.24xlarge",
       .id = "i-3",
       .team = "ml",
       .reservation = "arn:ri",
       .reservation_cost = "13.123456789"},
      {.type = "RIFee",
       .cost = "9000",
       .amount = "720",
       .instance = "p4d.24xlarge",
       .reservation = "arn:ri",
       .unused_fee = "100.25",
       .unused_upfront = "0.5"},
      {.type = "SavingsPlanCoveredUsage",
       .cost = "55.04",
       .instance = "p5.48xlarge",
       .usage = "BoxUsage:p5.48xlarge",
       .id = "i-4",
       .team = "ml",
       .plan = "arn:sp",
       .plan_cost = "30.1"},
      {.type = "SavingsPlanNegation",
       .cost = "-55.04",
       .instance = "p5.48xlarge",
       .usage = "BoxUsage:p5.48xlarge",
       .plan = "arn:sp"},
      {.type = "SavingsPlanRecurringFee", .cost = "40", .plan = "arn:sp", .plan_total = "40", .plan_used = "30.1"},
      {.type = "SavingsPlanUpfrontFee", .cost = "5000", .plan = "arn:sp"},
      {.type = "Fee", .cost = "12", .amount = "1", .unit = ""},
      {.type = "Usage", .cost = "0.7", .amount = "7", .usage = "EBS:VolumeUsage.gp3", .unit = "GB-Mo"},
      {.type = "Tax", .cost = "3.33"},
      {.type = "Credit", .cost = "-20"},
      {.type = "Refund", .cost = "-1.5"},
  };
  for (const bool second : {false, true}) {
    SCOPED_TRACE(second);
    const Bill bill = bill_of(report_of(lines, second));
    EXPECT_EQ(bill.rows, lines.size());
    EXPECT_TRUE(bill.notes.empty());
    EXPECT_EQ(bill.total.billed.text(), "14111.07");  // the sum of the unblended costs
    EXPECT_EQ(bill.total.effective.text(), "224.943456789");
    EXPECT_EQ(bill.gpu.text(), "119.763456789");
    ASSERT_EQ(bill.commitments.size(), 2U);
    EXPECT_EQ(bill.commitments[0].id, "arn:ri");
    EXPECT_EQ(bill.commitments[0].purchased.text(), "9000");
    EXPECT_EQ(bill.commitments[0].unused.text(), "100.75");
    EXPECT_EQ(bill.commitments[1].purchased.text(), "5040");
    EXPECT_EQ(bill.commitments[1].used.text(), "30.1");
    EXPECT_EQ(bill.commitments[1].unused.text(), "9.9");
    std::map<Pricing, double> hours;
    for (const MachineCost& machine : bill.machines) hours[machine.pricing] += machine.hours;
    EXPECT_EQ(hours,
              (std::map<Pricing, double>{{Pricing::kStandard, 1}, {Pricing::kCommitted, 2}, {Pricing::kSpot, 1}}));
    const auto team = std::ranges::find(bill.teams, "ml", &TeamCost::name);
    ASSERT_NE(team, bill.teams.end());
    EXPECT_EQ(team->gpu.text(), "98.263456789");
    EXPECT_EQ(bill.uses.size(), 4U);
  }
}

// An account with a private discount: net costs contain it, so that its own rows must not count again.
TEST(Bill, NetCostsOfAReportContainItsDiscounts) {
  std::vector<ReportLine> lines = {{"Usage", "100", "2", "p5.48xlarge", "BoxUsage:p5.48xlarge"},
                                   {.type = "EdpDiscount", .cost = "-9"}};
  EXPECT_EQ(bill_of(report_of(lines, true)).total.effective.text(), "91");
  lines[0].net = "91";
  const Bill bill = bill_of(report_of(lines, true, true));
  EXPECT_EQ(bill.total.effective.text(), "91");
  ASSERT_EQ(bill.machines.size(), 1U);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(*bill.machines[0].rate()), 45.5);
}

// Random line items: both versions of the report agree, and billed costs add up to the cent.
RC_GTEST_PROP(Bill, BothVersionsOfAReportAreTheSameBill, ()) {
  std::vector<ReportLine> lines(*rc::gen::inRange<std::size_t>(1, 40));
  std::int64_t all = 0;
  for (ReportLine& line : lines) {
    const auto some = [] { return money_text(*rc::gen::inRange<std::int64_t>(0, 100'000'000'000)); };
    const std::int64_t cost = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 100'000'000'000);
    all += cost;
    line = {.type = *rc::gen::element<std::string>("Usage", "DiscountedUsage", "SavingsPlanCoveredUsage", "RIFee",
                                                   "SavingsPlanNegation", "SavingsPlanRecurringFee", "Fee", "Tax",
                                                   "Credit", "Refund", "EdpDiscount"),
            .cost = money_text(cost),
            .instance = some_machine().instance,
            .usage = "BoxUsage:" + line.instance,
            .team = *rc::gen::element<std::string>("", "ml", "search"),
            .reservation_cost = some(),
            .unused_fee = some(),
            .unused_upfront = some(),
            .plan_cost = some(),
            .plan_total = some(),
            .plan_used = some()};
    if (line.type.starts_with("SavingsPlan")) line.plan = "arn:sp";
    if (line.type == "DiscountedUsage" || line.type == "RIFee") line.reservation = "arn:ri";
  }
  const Bill a = bill_of(report_of(lines, false)), b = bill_of(report_of(lines, true));
  RC_ASSERT(a.total.billed.cents() == cents_of(all));
  RC_ASSERT(a.total.billed == b.total.billed);
  RC_ASSERT(a.total.effective == b.total.effective);
  RC_ASSERT(a.gpu == b.gpu);
  RC_ASSERT(a.teams.size() == b.teams.size());
  for (std::size_t i = 0; i < a.teams.size(); ++i) RC_ASSERT(a.teams[i].gpu == b.teams[i].gpu);
}

TEST(Bill, MistakesAreSaid) {
  BillReader reader(built_in_catalog());
  const auto other = bytes_of("a,b\n1,2\n");
  const Result<> wrong = reader.read(*other, "x.csv");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("BilledCost"));
  const Bill bill = bill_of("BilledCost,EffectiveCost,BillingCurrency\n1,1,USD\nfree,1,USD\n2,2,EUR\n");
  EXPECT_EQ(bill.total.billed.text(), "1");
  ASSERT_EQ(bill.notes.size(), 2U);
  EXPECT_THAT(bill.notes[0], HasSubstr("line 3"));
  EXPECT_THAT(bill.notes[1], HasSubstr("another currency"));
}

TEST(JsonText, FindsAKeyInTags) {
  EXPECT_EQ(json_text(R"({""Team"":""ml"",""env"":""prod""})", "team"), "ml");
  EXPECT_EQ(json_text(R"({"env": "team", "team": "a b"})", "team"), "a b");
  EXPECT_EQ(json_text(R"({""CoreCount"":4,""InstanceType"":""p5.48xlarge""})", "CoreCount"), "4");
  EXPECT_EQ(json_text(R"({""env"":""team""})", "team"), "");
  EXPECT_EQ(json_text("", "team"), "");
}

RC_GTEST_PROP(FocusWriter, WrittenRowsReadBackToTheCent, ()) {
  std::vector<Allocation> rows(*rc::gen::inRange<std::size_t>(1, 20));
  Money sum, of_ml;
  for (Allocation& row : rows) {
    row.team = *rc::gen::element<std::string>("ml", "a \"quoted\", team", "");
    row.workload = "chat";
    row.gpu = "h100-sxm";
    row.gpu_id = "GPU-1";
    row.gpu_hours = 3;
    row.cost = Money::of(*rc::gen::inRange(0, 1'000'000) / 1000.0);
    sum += row.cost;
    if (row.team == "ml") of_ml += row.cost;
  }
  const Bill bill = bill_of(write_focus(rows, 20000 * 86400.0, 20007 * 86400.0));
  RC_ASSERT(bill.rows == rows.size());
  RC_ASSERT(bill.total.effective == sum);
  RC_ASSERT(bill.total.billed == sum);
  for (const TeamCost& team : bill.teams) {
    if (team.name == "ml") RC_ASSERT(team.effective == of_ml);
  }
}

RC_GTEST_PROP(Reconcile, TheFleetAndTheDifferencesAddUpToTheBill, ()) {
  std::vector<Row> rows = some_rows();
  for (Row& row : rows) row.effective = std::abs(row.effective);
  const Bill bill = bill_of(file_of(rows));
  std::vector<SeenHost> fleet(*rc::gen::inRange<std::size_t>(0, 6));
  for (SeenHost& seen : fleet) {
    seen.host = fmt::format("i-{}", *rc::gen::inRange(0, 8));
    seen.gpu = some_machine().gpu;
    seen.gpu_hours = *rc::gen::inRange(0, 400);
    seen.usd = *rc::gen::inRange(0, 5000);
  }
  const Reconciliation found = reconcile(bill, fleet, 20000, 20031);
  double sum = found.fleet_usd;
  for (const Difference& part : found.parts) sum += part.usd;
  RC_ASSERT(std::abs(sum - found.bill_gpu_usd) < 0.05 + 1e-9 * std::abs(sum));
}

TEST(Reconcile, SaysWhichHoursHaveNoTelemetry) {
  std::vector<Row> rows;
  for (const char* id : {"i-1", "i-2", "i-3"}) {
    Row row{98'320'000'000 * 24, 98'320'000'000 * 24, 20000, 24, "{\"InstanceType\":\"p5.48xlarge\"}", id, "ml"};
    rows.push_back(row);
  }
  const Bill bill = bill_of(file_of(rows));
  // One host all day, one half the day, one never; at the bill's price.
  const double rate = 98.32 / 8;
  const Reconciliation found =
      reconcile(bill, {{"i-1", "h100-sxm", 192, 192 * rate}, {"i-2", "h100-sxm", 96, 96 * rate}}, 20000, 20001);
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_EQ(found.parts[0].what, "no-telemetry");
  EXPECT_NEAR(found.parts[0].usd, 192 * rate, 0.01);
  EXPECT_EQ(found.parts[1].what, "idle-nodes");
  EXPECT_NEAR(found.parts[1].usd, 96 * rate, 0.01);
  EXPECT_GE(found.explained, 0.99);
}

RC_GTEST_PROP(Budget, AConstantSpendIsForecastExactly, ()) {
  const int last = *rc::gen::inRange(19'000, 22'000);
  const Month month = month_of(last);
  const double daily = *rc::gen::inRange(1, 5000);
  TeamCost team;
  team.name = "ml";
  for (int day = last - 40; day <= last; ++day) team.by_day[day] = Money::of(daily);
  const double budget = daily * month.days * (*rc::gen::inRange(50, 150) / 100.0);
  const BudgetLine line = against_budgets({team}, {{"ml", usd(budget)}}, last).front();
  RC_ASSERT(std::abs(in_usd(line.forecast) - daily * month.days) < 0.01);
  RC_ASSERT(std::abs(in_usd(line.spent) - daily * line.days) < 0.01);
  RC_ASSERT(line.is_over() == (daily * month.days > budget + 1e-9 || in_usd(line.forecast) > budget));
  if (line.over_on) {
    // Spend exceeds the budget on that day, but not on the day before.
    const double days = *line.over_on - month.first + 1;
    RC_ASSERT(days * daily > budget - 1e-6);
    RC_ASSERT((days - 1) * daily <= budget + 1e-6);
  }
  const auto weeks = week_over_week({team}, last);
  RC_ASSERT(weeks.size() == 1U && std::abs(in_usd(weeks[0].change())) < 1e-6);
}

TEST(Budget, MistakesAreReported) {
  EXPECT_TRUE(parse_budgets({"ml=20000", "*=$90000"}));
  EXPECT_FALSE(parse_budgets({"ml"}));
  EXPECT_FALSE(parse_budgets({"ml=-5"}));
  EXPECT_FALSE(parse_budgets({"=5"}));
  EXPECT_THAT(budget_rules({{"a.b", usd(100)}}), HasSubstr("owner=~\"a\\\\.b(/.*)?\""));
}

}  // namespace
}  // namespace rightsize::bill
