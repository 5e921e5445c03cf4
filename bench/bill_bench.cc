// Bytes per second when reading a bill on one core. The target is 10 million rows of 500 bytes (5 GB) in 60 s.
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bill/bill.h"

namespace {

using namespace rightsize;

// A month of hourly rows as AWS exports them: 48 columns, most of them about other services.
std::string focus_rows(int rows) {
  std::string text =
      "AvailabilityZone,BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,"
      "BillingPeriodStart,ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,ChargePeriodEnd,"
      "ChargePeriodStart,CommitmentDiscountId,CommitmentDiscountStatus,CommitmentDiscountType,ConsumedQuantity,"
      "ConsumedUnit,ContractedCost,EffectiveCost,ListCost,PricingCategory,PricingQuantity,PricingUnit,ProviderName,"
      "RegionId,ResourceId,ResourceName,ServiceCategory,ServiceName,SkuPriceDetails,Tags\n";
  for (int i = 0; i < rows; ++i) {
    const bool gpu = i % 50 == 0;
    text += fmt::format(
        "us-east-1a,{0}.{1:06},100000000001,Example,USD,2026-11-01T00:00:00Z,2026-10-01T00:00:00Z,Usage,,\"Linux "
        "on-demand "
        "instance, per "
        "hour\",Usage-Based,2026-10-{2:02}T01:00:00Z,2026-10-{2:02}T00:00:00Z,,,,1,Hours,{0}.{1:06},{0}.{1:06},"
        "{0}.{1:06},Standard,1,Hours,AWS,us-east-1,arn:aws:ec2:us-east-1:100000000001:instance/i-{3:08x},i-{3:08x},{4},"
        "AmazonEC2,\"{{\"\"InstanceType\"\":\"\"{5}\"\",\"\"CoreCount\"\":2}}\",\"{{\"\"env\"\":\"\"prod\"\","
        "\"\"team\"\":\"\"team-{6}\"\"}}\"\n",
        i % 97, i % 1000003 % 1000000, 1 + i % 31, gpu ? i % 5000 : i, gpu ? "Compute" : "Storage",
        gpu ? "p5.48xlarge" : "m6i.large", i % 40);
  }
  return text;
}

void read_bill(benchmark::State& state) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const std::string text = focus_rows(100'000);
  for (auto _ : state) {
    bill::BillReader reader(catalog);
    const auto source = bytes_of(text);
    if (!reader.read(*source, "bench")) return state.SkipWithError("not read");
    benchmark::DoNotOptimize(reader.finish());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_bill)->Unit(benchmark::kMillisecond);

}  // namespace
