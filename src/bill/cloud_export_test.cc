#include "bill/cloud_export.h"

#include <cctype>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"
#include "bill/bill.h"

namespace rightsize::bill {
namespace {

using testing::HasSubstr;

const catalog::Catalog& machines() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

Bill read_export(const std::string& text) {
  BillReader reader(machines());
  const auto source = bytes_of(text);
  const Result<> read = reader.read(*source, "export");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return reader.finish();
}

const char* const kGoogleRows[] = {
    // Cost, credits, SKU, amount, unit
    R"({{"service":{{"description":"Compute Engine"}},"sku":{{"description":"{}"}},"usage_start_time":"2026-11-01 00:00:00 UTC","usage_end_time":"2026-11-02 00:00:00 UTC","project":{{"id":"ml"}},"labels":[{{"key":"team","value":"vision"}}],"system_labels":[{{"key":"compute.googleapis.com/machine_spec","value":"a3-highgpu-8g"}}],"location":{{"region":"us-central1"}},"cost":{},"currency":"USD","usage":{{"amount":1,"unit":"seconds","amount_in_pricing_units":{},"pricing_unit":"{}"}},"credits":[{{"name":"CUD","type":"COMMITTED_USAGE_DISCOUNT","amount":{}}}],"cost_type":"{}"}})",
    R"(Compute Engine,{},2026-11-01 00:00:00 UTC,2026-11-02 00:00:00 UTC,ml,"[{{""key"":""team"",""value"":""vision""}}]","[{{""key"": ""compute.googleapis.com/machine_spec"", ""value"": ""a3-highgpu-8g""}}]",us-central1,{},USD,1,seconds,{},{},"[{{""name"":""CUD"",""type"":""COMMITTED_USAGE_DISCOUNT"",""amount"":{}}}]",{})",
};

// The same rows as CSV and as JSON.
TEST(CloudExport, ExportsOfGoogleCloudAreNetOfCredits) {
  for (const bool csv : {false, true}) {
    const auto row = [&](const char* sku, double cost, double hours, const char* unit, double credit,
                         const char* type) {
      return fmt::format(fmt::runtime(kGoogleRows[csv ? 1 : 0]), sku, cost, hours, unit, credit, type) + "\n";
    };
    const Bill bill = read_export(
        (csv ? "service.description,sku.description,usage_start_time,usage_end_time,project.id,labels,system_labels,"
               "location.region,cost,currency,usage.amount,usage.unit,usage.amount_in_pricing_units,"
               "usage.pricing_unit,credits,cost_type\n"
             : "") +
        row("Nvidia H100 80GB GPU running in Iowa", 850.5, 80, "hour", -100.25, "regular") +
        row("A3 Instance Core running in Iowa", 100, 2080, "hour", 0, "regular") + row("VAT", 7, 0, "", 0, "tax"));
    EXPECT_EQ(bill.rows, 3U);
    EXPECT_EQ(bill.total.effective.text(), "857.25");
    ASSERT_EQ(bill.machines.size(), 1U);
    EXPECT_EQ(bill.machines[0].machine->instance, "a3-highgpu-8g");
    EXPECT_DOUBLE_EQ(bill.machines[0].hours, 10);
    EXPECT_EQ(bill.machines[0].pricing, Pricing::kCommitted);
    ASSERT_EQ(bill.teams.size(), 1U);
    EXPECT_EQ(bill.teams[0].name, "vision");
    EXPECT_EQ(bill.categories.at(Category::kTax).billed.text(), "7");
    EXPECT_EQ(bill.first_day, bill.last_day);
  }
}

// The console's cost table names no machine: GPUs are priced by themselves, and its dates are inclusive.
TEST(CloudExport, TheCostTableOfGoogleCloudPricesItsGpus) {
  const struct {
    const char *sku, *gpu;
  } skus[] = {{"Nvidia Tesla A100 GPU running in Americas", "a100-40gb-sxm"},
              {"Spot Preemptible Nvidia Tesla A100 80GB GPU running in EMEA", "a100-80gb-sxm"},
              {"Nvidia H100 80GB GPU running in Iowa", "h100-sxm"},
              {"Nvidia L4 GPU running in Americas", "l4"}};
  for (const auto& [sku, gpu] : skus) {
    const Bill bill = read_export(
        "Project name,Project ID,Service description,SKU description,Usage start date,Usage end date,Usage amount,"
        "Usage unit,Subtotal ($)\n" +
        fmt::format("ml,ml-1,Compute Engine,{},2026-10-01,2026-10-31,1440,hour,2880\n", sku) +
        "ml,ml-1,Compute Engine,A2 Instance Core running in Americas,2026-10-01,2026-10-31,17280,hour,500\n"
        "ml,ml-1,Compute Engine,N2 Instance Core running in Americas,2026-10-01,2026-10-31,17280,hour,70\n");
    ASSERT_EQ(bill.machines.size(), 1U) << sku;
    EXPECT_EQ(bill.machines[0].machine->gpu, gpu);
    EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(*bill.machines[0].rate()), 2);
    EXPECT_EQ(bill.gpu.text(), "3380");
    EXPECT_EQ(bill.hosts.text(), "500");
    EXPECT_EQ(bill.last_day - bill.first_day, 30);
  }
}

// Both agreements name their columns differently; the additional information or the meter names the machine.
TEST(CloudExport, CostExportsOfAzure) {
  const std::string day =
      R"(11/01/2026,Virtual Machines,ND96isr H100 v5{},1 Hour,24,{},USD,/vm/train0,{},"""team"": ""vision""",{},{},,{})";
  const auto row = [&](const char* spot, const char* cost, const char* info, const char* type, const char* model,
                       const char* list) {
    return fmt::format(fmt::runtime(day), spot, cost, info, type, model, list) + "\n";
  };
  const std::string info = R"("{""ServiceType"":""Standard_ND96isr_H100_v5""}")";
  const std::string rows = row("", "2000", info.c_str(), "Usage", "OnDemand", "98.32") +
                           row(" Spot", "500", "", "Usage", "Spot", "98.32") +
                           row("", "300", "", "UnusedReservation", "Reservation", "");
  for (const char* header :
       {"Date,MeterCategory,MeterName,UnitOfMeasure,Quantity,CostInBillingCurrency,BillingCurrencyCode,ResourceId,"
        "AdditionalInfo,Tags,ChargeType,PricingModel,ReservationId,PayGPrice\n",
        "\xEF\xBB\xBF"
        "date,meterCategory,meterName,unitOfMeasure,quantity,costInBillingCurrency,billingCurrency,"
        "InstanceId,additionalInfo,tags,chargeType,pricingModel,benefitId,payGPrice\n"}) {
    const Bill bill = read_export(header + rows);
    EXPECT_EQ(bill.total.effective.text(), "2800");
    ASSERT_EQ(bill.machines.size(), 2U);
    EXPECT_EQ(bill.machines[0].machine->instance, "Standard_ND96isr_H100_v5");
    EXPECT_DOUBLE_EQ(bill.machines[0].hours, 24);
    EXPECT_NEAR(*bill.machines[0].costs.discount(), 1 - 2000 / (24 * 98.32), 1e-9);
    EXPECT_EQ(bill.machines[1].pricing, Pricing::kSpot);
    EXPECT_EQ(bill.gpu.text(), "2500");
    EXPECT_EQ(bill.first_day, bill.last_day);
  }
  BillReader reader(machines());
  const auto damaged = bytes_of("Date,MeterCategory,MeterName\n11/01/2026,Virtual Machines,ND96isr H100 v5\n");
  const Result<> wrong = reader.read(*damaged, "azure.csv");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("without the column CostInBillingCurrency"));
  EXPECT_EQ(wrong.error().place.line, 1);
}

// Every column of a file is a way to group it, under its name in any spelling; then tags, then what a word means. The
// groups add up to the total.
RC_GTEST_PROP(Groups, AreColumnsTagsAndMeanings, ()) {
  const std::string name = *rc::gen::element<std::string>("Cost Centre", "x_Squad", "app/Owner", "labels.env_2");
  std::string csv =
      "BilledCost,EffectiveCost,ChargePeriodStart,ServiceName,SubAccountName,BillingAccountName,Tags," + name;
  std::map<std::string, std::int64_t> cells, accounts, teams, services;
  const int rows = *rc::gen::inRange(2, 40);
  for (int i = 0; i < rows; ++i) {
    const std::int64_t cost = *rc::gen::inRange(-50, 500);
    const std::string cell = i % 4 == 0 ? "" : fmt::format("c{}", *rc::gen::inRange(0, 3));
    const std::string account = fmt::format("a{}", i % 2), team = fmt::format("t{}", i % 3);
    csv += fmt::format("\n{0},{0},2026-10-01,s{1},{2},payer,\"{{\"\"Team\"\": \"\"{3}\"\"}}\",{4}", cost, i % 5,
                       account, team, cell);
    cells[cell] += 100 * cost, accounts[account] += 100 * cost, teams[team] += 100 * cost;
    services[fmt::format("s{}", i % 5)] += 100 * cost;
  }
  const auto sums = [&](const std::string& by) {
    BillReader reader(machines(), by);
    const auto source = bytes_of(csv);
    RC_ASSERT(reader.read(*source, "bill.csv").has_value());
    const Bill bill = reader.finish();
    std::map<std::string, std::int64_t> all;
    for (const TeamCost& team : bill.teams) all[team.name] += team.effective.cents();
    return all;
  };
  std::string spelled = name;
  for (char& c : spelled) {
    if (*rc::gen::arbitrary<bool>()) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = *rc::gen::element(' ', '-', '_');
  }
  RC_ASSERT(sums(spelled) == cells);
  for (const char* word : {"account", "projects", "Subscription"}) RC_ASSERT(sums(word) == accounts);
  RC_ASSERT(sums("TEAM") == teams);
  RC_ASSERT(sums("service") == services);
  const auto none = sums("nothing of this name");
  RC_ASSERT(none.size() == 1 && none.contains(""));
}

// The console's cost table starts with the lines of its invoice, or not.
TEST(CloudExport, TheConsoleWritesItsInvoiceFirst) {
  const std::string table =
      "Project ID,Service description,SKU description,Credit type,Cost type,Usage start date,Usage end date,"
      "Usage amount,Usage unit,Unrounded cost ($),Cost ($)\n"
      "ml-1,Compute Engine,Nvidia L4 GPU running in Iowa,,Usage,2026-10-01,2026-10-31,720,hour,403.204,403.20\n";
  for (const std::string before : {"", "Invoice number,12\nCurrency,USD\n\nTotal amount due,9\n\n"}) {
    const Bill bill = read_export(before + table);
    EXPECT_EQ(bill.total.effective.text(), "403.2") << before;
    EXPECT_EQ(bill.rows, 1U);
  }
}

// Cost Explorer's CSV: random costs by month or by day, with its total row and column or without them. Every name has
// its sum, and the time is covered without gaps.
RC_GTEST_PROP(CostExplorer, TotalsAreExact, ()) {
  const std::vector<std::string> kinds = {"Instance type", "Service", "Usage type", "Linked account", "Region"};
  const std::string kind = *rc::gen::elementOf(kinds);
  std::vector<std::string> names = {"p4d.24xlarge", "g5.12xlarge", "m5.large", "No " + kind, "EC2 (other), x"};
  names.resize(static_cast<std::size_t>(*rc::gen::inRange(1, 6)));
  const bool daily = *rc::gen::arbitrary<bool>(), totals = *rc::gen::arbitrary<bool>();
  const std::string total = totals ? kind + " total" : "Total costs";
  const int rows = *rc::gen::inRange(1, 10);
  std::string csv = fmt::format("\"{}\"", kind), body;
  for (const std::string& name : names) csv += fmt::format(",\"{}($)\"", name);
  std::map<std::string, std::int64_t> sums;
  std::int64_t all = 0;
  for (int row = 0; row < rows; ++row) {
    body += daily ? fmt::format("\n2026-03-{:02}", row + 1) : fmt::format("\n2025-{:02}-01", row + 1);
    std::int64_t of_row = 0;
    for (const std::string& name : names) {
      const std::int64_t cents = *rc::gen::inRange(0, 3) == 0 ? 0 : *rc::gen::inRange(0, 100'000'000);
      sums[name] += cents, of_row += cents;
      body += cents == 0 ? ",\"\"" : fmt::format(",\"{}.{:02}\"", cents / 100, cents % 100);
    }
    all += of_row;
    body += fmt::format(",\"{}.{:02}\"", of_row / 100, of_row % 100);
  }
  std::string total_row = "\n\"" + total + "\"";
  for (const std::string& name : names) total_row += fmt::format(",{}.{:02}", sums[name] / 100, sums[name] % 100);
  csv += fmt::format(",\"{}($)\"", total) + (totals ? total_row : "") + body;
  const Bill bill = read_export(csv);
  RC_ASSERT(bill.total.effective.cents() == all);
  RC_ASSERT(bill.total.billed.cents() == all);
  std::int64_t gpu = 0;
  for (const TeamCost& team : bill.teams) RC_ASSERT(team.effective.cents() == sums[team.name]);
  for (const MachineCost& machine : bill.machines) {
    RC_ASSERT(machine.costs.effective.cents() == sums[machine.machine->instance]);
    RC_ASSERT(!machine.rate() && !machine.costs.discount());
    gpu += machine.costs.effective.cents();
  }
  const bool of_machines = kind != "Linked account" && kind != "Region";
  RC_ASSERT(gpu == (of_machines ? sums["p4d.24xlarge"] + sums["g5.12xlarge"] : 0));
  if (all == 0) return;
  RC_ASSERT(bill.team_tag == to_lower(kind));
  RC_ASSERT(!bill.notes.empty());
}

// The JSON of `aws ce get-cost-and-usage`, grouped by machine and terms, with the names of its groups or without.
RC_GTEST_PROP(CostExplorer, JsonHasTheSameTotals, (bool defined, bool compact)) {
  std::string times;
  std::map<std::string, std::int64_t> sums;
  std::int64_t all = 0, gpu_hours = 0;
  const int months = *rc::gen::inRange(1, 5);
  for (int month = 1; month <= months; ++month) {
    std::string groups;
    for (const char* name : {"p4d.24xlarge", "m5.large", "NoInstanceType"}) {
      const int cents = *rc::gen::inRange(1, 100'000'000), hours = *rc::gen::inRange(1, 700);
      sums[name] += cents, all += cents;
      if (name[0] == 'p') gpu_hours += hours;
      groups += fmt::format(R"({}{{"Keys":["{}","Spot Instances"],"Metrics":{{"UnblendedCost":{{"Amount":"{}.{:02}",)"
                            R"("Unit":"USD"}},"UsageQuantity":{{"Amount":"{}","Unit":"Hrs"}}}}}})",
                            groups.empty() ? "" : ",", name, cents / 100, cents % 100, hours);
    }
    times += fmt::format(R"({}{{"TimePeriod":{{"Start":"2026-{:02}-01","End":"2026-{:02}-01"}},"Groups":[{}]}})",
                         times.empty() ? "" : ",", month, month + 1, groups);
  }
  const std::string by =
      R"("GroupDefinitions":[{"Type":"DIMENSION","Key":"INSTANCE_TYPE"},{"Type":"DIMENSION","Key":"PURCHASE_TYPE"}],)";
  const Bill bill =
      read_export((compact ? "{" : "\n{\n ") + (defined ? by : "") + "\"ResultsByTime\":[" + times + "]}\n");
  RC_ASSERT(bill.total.effective.cents() == all);
  for (const TeamCost& team : bill.teams) RC_ASSERT(team.effective.cents() == sums[team.name]);
  RC_ASSERT(bill.machines.size() == 1U);
  RC_ASSERT(bill.machines[0].costs.effective.cents() == sums["p4d.24xlarge"]);
  RC_ASSERT(bill.machines[0].hours == static_cast<double>(gpu_hours));
  RC_ASSERT(bill.machines[0].pricing == Pricing::kSpot);
}

}  // namespace
}  // namespace rightsize::bill
