#include "feeds/import.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "base/csv_reader.h"
#include "catalog/test_catalog.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;
using testing::HasSubstr;

// Imports a whole feed from text.
Checked<Import> import(const std::string& kind, const std::string& text, const std::string& provider = "") {
  const std::string path = testing::TempDir() + "feed-" + std::to_string(getpid());
  std::ofstream(path) << text;
  Importer importer(built_in_catalog(), *parse_date("2026-11-01"), kind);
  const Result<> read = read_feed(kind, path, {provider, &built_in_catalog()}, importer);
  const Result<FeedKind> found = feed_of(path);
  EXPECT_TRUE(!read || (found && found->name == kind)) << text.substr(0, 200);
  std::filesystem::remove(path);
  if (!read) return fail(Errors(read.error()));
  return importer.finish();
}

double price(const Import& import, const std::string& instance, const std::string& region, Purchase purchase) {
  for (const ImportedPrice& one : import.prices) {
    if (one.instance == instance && one.region == region && one.purchase == purchase) return one.usd_per_hour;
  }
  return 0;
}

constexpr const char* kSkyHeader =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n";

std::string gpu_info(const char* name, int mib) {
  return "\"{'Gpus': [{'Name': '" + std::string(name) +
         "', 'Count': 1, 'MemoryInfo': {'SizeInMiB': " + std::to_string(mib) +
         "}}], 'TotalGpuMemoryInMiB': " + std::to_string(mib) + "}\"";
}

TEST(SkyPilot, ZonesAreMergedOnlyIfTheirPricesAreEqual) {
  const auto found = import("skypilot",
                            kSkyHeader + std::string("p5.48xlarge,H100,8.0,192,2048,,55.04,20.1,us-east-1,use1-az1\n"
                                                     "p5.48xlarge,H100,8.0,192,2048,,55.04,22.5,us-east-1,use1-az2\n"
                                                     "m5.large,,,2,8,,0.096,0.03,us-east-1,use1-az1\n"),
                            "aws");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->audit.taken, 4);
  EXPECT_EQ(found->audit.passed, 1);
  ASSERT_EQ(found->prices.size(), 3U);  // one on-demand price of the region, a spot price of each zone
  EXPECT_EQ(found->prices[0].zone, "");
  EXPECT_EQ(found->prices[1].zone, "use1-az1");
  EXPECT_DOUBLE_EQ(price(*found, "p5.48xlarge", "us-east-1", Purchase::kOnDemand), 55.04);
}

// Each of these rows was in a public catalogue.
TEST(SkyPilot, KnownBadRowsAreCaught) {
  const auto twelve = import(
      "skypilot", kSkyHeader + std::string("Standard_ND96isr_H100_v5,H100,12,96,1900,,98.32,98.32,eastus,\n"), "azure");
  ASSERT_TRUE(twelve);
  EXPECT_EQ(twelve->audit.taken, 0);
  EXPECT_THAT(twelve->audit.refused.begin()->first, HasSubstr("12"));
  const auto h200 =
      import("skypilot", kSkyHeader + ("x.8,H200,8,96,1900," + gpu_info("H200", 81920) + ",40,,r1,\n"), "acme");
  ASSERT_TRUE(h200);
  EXPECT_EQ(h200->audit.taken, 0);
  EXPECT_THAT(h200->audit.refused.begin()->first, HasSubstr("memory contradicts the GPU"));
  const auto zero =
      import("skypilot", kSkyHeader + std::string("p5e.48xlarge,H200,8,192,2048,,0,,us-east-2,\n"), "aws");
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero->audit.taken, 0);
  EXPECT_THAT(zero->audit.refused.begin()->first, HasSubstr("$0"));
  const auto gigabytes =
      import("skypilot", kSkyHeader + ("y.1,L40S,1,8,64," + gpu_info("L40S", 48) + ",1.2,,r1,\n"), "acme");
  ASSERT_TRUE(gigabytes);
  EXPECT_EQ(gigabytes->audit.taken, 1);
  EXPECT_THAT(gigabytes->audit.corrected.begin()->first, HasSubstr("in GB, labelled MiB"));
  const auto placeholder = import("skypilot", kSkyHeader + std::string("z.8,H100-SXM,8,96,900,,24,24,r1,\n"), "acme");
  ASSERT_TRUE(placeholder);
  EXPECT_EQ(placeholder->prices.size(), 1U);
  EXPECT_THAT(placeholder->audit.refused.begin()->first, HasSubstr("no spot offered"));
  const auto fraction =
      import("skypilot", kSkyHeader + std::string("g6f.large,L4,0.125,2,8,,0.202,,us-east-1,use1-az1\n"), "aws");
  ASSERT_TRUE(fraction);
  EXPECT_THAT(fraction->audit.refused.begin()->first, HasSubstr("fraction"));
}

// Vast gives the memory of all GPUs as that of one; Lambda gives that of one as the total. Both mean the same.
TEST(SkyPilot, MemoryOfAllGpusIsCorrected) {
  const auto row = [](const char* name, int count, int mib, const char* price) {
    return fmt::format(
        "{0}x-{1},{1},{0},32,64,\"{{'Gpus': [{{'Name': '{1}', 'Count': {0}, 'MemoryInfo': {{'SizeInMiB': "
        "{2}}}}}], 'TotalGpuMemoryInMiB': {2}}}\",{3},0.00,\"France, FR, EU\",\n",
        count, name, mib, price);
  };
  for (const char* provider : {"vast", "acme"}) {
    const auto found = import("skypilot",
                              kSkyHeader + row("H200", 2, 287542, "5.18") + row("H200", 8, 1150168, "17.88") +
                                  row("RTX4090", 4, 98256, "1.39"),
                              provider);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->audit.taken, 3) << provider;
    EXPECT_EQ(found->audit.refused_rows, 0) << provider;
    EXPECT_TRUE(found->audit.corrected.contains(kMemoryOfAll)) << provider;
  }
  const auto each = import("skypilot", kSkyHeader + row("B200", 8, 184320, "53"), "acme");
  ASSERT_TRUE(each);
  EXPECT_EQ(each->audit.taken, 1);
  EXPECT_TRUE(each->audit.corrected.empty());
  const auto forty = import("skypilot", kSkyHeader + row("A100", 2, 81920, "1.49"), "vast");
  ASSERT_TRUE(forty);
  ASSERT_EQ(forty->machines.size(), 1U);
  EXPECT_THAT(forty->machines.front().gpu, HasSubstr("40gb"));
}

TEST(SkyPilot, SuspiciousPricesAreAcceptedAndReported) {
  const auto found = import("skypilot",
                            kSkyHeader + std::string("p5.48xlarge,H100,8.0,192,2048,,55.04,5.504,us-east-1,use1-az1\n"
                                                     "p4d.24xlarge,A100,8.0,96,1152,,21.96,30,us-east-1,use1-az1\n"
                                                     "bait.8,H100-SXM,8,96,900,,6,,r1,\n"
                                                     "none.8,H100-SXM,8,96,900,,0.08,,r1,\n"),
                            "aws");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->audit.suspicious.contains("spot at the floor of a tenth of on-demand"));
  EXPECT_TRUE(found->audit.suspicious.contains("spot above on-demand"));
  EXPECT_TRUE(found->audit.suspicious.contains("under 30 % of other providers' prices for this GPU"));
  EXPECT_TRUE(found->audit.refused.contains("implausible price for this GPU"));  // one cent per hour
  for (const ImportedPrice& one : found->prices) {
    const bool doubted =
        one.instance == "bait.8" || (one.instance == "p4d.24xlarge" && one.purchase == Purchase::kSpot);
    EXPECT_EQ(one.doubted, doubted) << one.instance;
  }
}

TEST(SkyPilot, WithoutAFormFactorTheSlowerIsAssumed) {
  const auto found =
      import("skypilot",
             kSkyHeader + ("hyperstack_A100-80GB,A100-80GB,1,28,120," + gpu_info("A100-80GB", 80) + ",1.35,,r1,\n" +
                           "a100-sxm4x8,A100-80GB,8,96,900," + gpu_info("A100-80GB", 80) + ",14,,r1,\n"),
             "acme");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->machines.size(), 2U);
  EXPECT_EQ(found->machines[0].gpu, "a100-80gb-sxm");
  EXPECT_EQ(found->machines[1].gpu, "a100-80gb-pcie");
  EXPECT_THAT(found->machines[1].provenance.unverified, testing::Contains("gpu"));
}

// us-central1 a2-highgpu-1g: host 0.73948 + A100 2.93391 = 3.67339.
TEST(SkyPilot, GoogleMachinesAreSummed) {
  const auto found = import(
      "skypilot",
      "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n"
      "a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-a,0.73948,0.42691\n"
      ",,,A100,1,{},us-central1,us-central1-a,2.93391,1.6939\n"
      ",,,A100,1,{},us-central1,us-central1-b,2.93391,1.6939\n",
      "gcp");
  ASSERT_TRUE(found);
  EXPECT_NEAR(price(*found, "a2-highgpu-1g", "us-central1", Purchase::kOnDemand), 3.67339, 1e-9);
  EXPECT_NEAR(price(*found, "a2-highgpu-1g", "us-central1", Purchase::kSpot), 2.12081, 1e-9);
  EXPECT_EQ(found->prices.size(), 2U);  // zone b has the GPU and not the machine
}

TEST(SkyPilot, AnotherFileIsRefused) {
  EXPECT_FALSE(import("skypilot", "a,b\n1,2\n", "aws"));
  EXPECT_FALSE(import("skypilot", "", "aws"));
  EXPECT_FALSE(import("skypilot", kSkyHeader + std::string("\"unclosed,1\n"), "aws"));
}

constexpr const char* kAwsCsv =
    "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"x\"\n\"Publication "
    "Date\",\"2026-11-01\"\n\"Version\",\"1\"\n\"OfferCode\",\"AmazonEC2\"\n"
    "\"SKU\",\"TermType\",\"Unit\",\"PricePerUnit\",\"Currency\",\"LeaseContractLength\",\"PurchaseOption\","
    "\"OfferingClass\",\"Instance Type\",\"Tenancy\",\"Operating System\",\"CapacityStatus\",\"MarketOption\",\"Pre "
    "Installed S/W\",\"Region Code\"\n"
    "\"A\",\"OnDemand\",\"Hrs\",\"55.0400000000\",\"USD\",\"\",\"\",\"\",\"p5.48xlarge\",\"Shared\",\"Linux\",\"Used\","
    "\"OnDemand\",\"NA\",\"us-east-1\"\n"
    "\"A\",\"Reserved\",\"Hrs\",\"30.0\",\"USD\",\"1yr\",\"No "
    "Upfront\",\"standard\",\"p5.48xlarge\",\"Shared\",\"Linux\",\"Used\",\"OnDemand\",\"NA\",\"us-east-1\"\n"
    "\"A\",\"Reserved\",\"Quantity\",\"262800\",\"USD\",\"3yr\",\"All "
    "Upfront\",\"standard\",\"p5.48xlarge\",\"Shared\",\"Linux\",\"Used\",\"OnDemand\",\"NA\",\"us-east-1\"\n"
    "\"B\",\"OnDemand\",\"Hrs\",\"0\",\"USD\",\"\",\"\",\"\",\"p5.48xlarge\",\"Shared\",\"Linux\","
    "\"UnusedCapacityReservation\",\"OnDemand\",\"NA\",\"us-east-1\"\n"
    "\"C\",\"OnDemand\",\"Hrs\",\"60\",\"USD\",\"\",\"\",\"\",\"p5.48xlarge\",\"Shared\",\"Windows\",\"Used\","
    "\"OnDemand\",\"NA\",\"us-east-1\"\n"
    "\"D\",\"OnDemand\",\"Hrs\",\"0.1\",\"USD\",\"\",\"\",\"\",\"m5.large\",\"Shared\",\"Linux\",\"Used\",\"OnDemand\","
    "\"NA\",\"us-east-1\"\n";

TEST(AwsPriceList, CsvKeepsPlainLinuxAndConvertsUpfrontToHourly) {
  const auto found = import("aws", kAwsCsv);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(price(*found, "p5.48xlarge", "us-east-1", Purchase::kOnDemand), 55.04);
  EXPECT_DOUBLE_EQ(price(*found, "p5.48xlarge", "us-east-1", Purchase::kOneYear), 30);
  EXPECT_NEAR(price(*found, "p5.48xlarge", "us-east-1", Purchase::kThreeYears), 10, 1e-9);  // 262,800 / 26,280 h
  EXPECT_EQ(found->audit.passed, 3);
}

TEST(AwsPriceList, JsonGivesTheSamePrices) {
  const auto found = import("aws", R"({"formatVersion":"v1.0","products":{
    "A":{"sku":"A","attributes":{"instanceType":"p5.48xlarge","regionCode":"us-east-1","operatingSystem":"Linux","tenancy":"Shared","capacitystatus":"Used","preInstalledSw":"NA","marketoption":"OnDemand","gpu":"8"}},
    "B":{"sku":"B","attributes":{"instanceType":"p5.48xlarge","regionCode":"us-east-1","operatingSystem":"Linux","tenancy":"Shared","capacitystatus":"Used","preInstalledSw":"NA","marketoption":"CapacityBlock"}}},
    "terms":{"OnDemand":{"A":{"A.J":{"priceDimensions":{"A.J.6":{"unit":"Hrs","pricePerUnit":{"USD":"55.0400000000"}}},"termAttributes":{}}},
                         "B":{"B.J":{"priceDimensions":{"B.J.6":{"unit":"Hrs","pricePerUnit":{"USD":"0"}}},"termAttributes":{}}}},
             "Reserved":{"A":{"A.K":{"priceDimensions":{"a":{"unit":"Hrs","pricePerUnit":{"USD":"5"}},"b":{"unit":"Quantity","pricePerUnit":{"USD":"43800"}}},
                         "termAttributes":{"LeaseContractLength":"1yr","OfferingClass":"standard","PurchaseOption":"Partial Upfront"}}}}}})");
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(price(*found, "p5.48xlarge", "us-east-1", Purchase::kOnDemand), 55.04);
  EXPECT_NEAR(price(*found, "p5.48xlarge", "us-east-1", Purchase::kOneYear), 10, 1e-9);  // 5 + 43,800 / 8,760
}

TEST(AwsSavingsPlans, GiveThePriceOfTheTerm) {
  const auto found = import("aws", R"({"version":"1","regionCode":"us-east-1","products":[],"terms":{"savingsPlan":[
    {"sku":"S","description":"1 year No Upfront p5 EC2 Instance Savings Plan","leaseContractLength":{"duration":1,"unit":"year"},
     "rates":[{"discountedUsageType":"BoxUsage:p5.48xlarge","discountedOperation":"RunInstances","discountedRate":{"price":"40.1","currency":"USD"}},
              {"discountedUsageType":"UnusedBox:p5.48xlarge","discountedOperation":"RunInstances","discountedRate":{"price":"0","currency":"USD"}}]}]}})");
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(price(*found, "p5.48xlarge", "us-east-1", Purchase::kOneYear), 40.1);
}

TEST(AwsCapacityBlocks, AFeeIsDividedByMachinesAndHours) {
  const auto found = import("aws", R"({"CapacityBlockOfferings":[
    {"CapacityBlockOfferingId":"cb-1","InstanceType":"p5.48xlarge","AvailabilityZone":"us-east-2a","InstanceCount":4,"StartDate":"2026-11-20T11:30:00.000Z","CapacityBlockDurationHours":48,"UpfrontFee":"6041.088","CurrencyCode":"USD","Tenancy":"default"},
    {"CapacityBlockOfferingId":"cb-2","InstanceType":"p5.48xlarge","AvailabilityZone":"us-east-2a","InstanceCount":0,"StartDate":"2026-11-20T11:30:00.000Z","CapacityBlockDurationHours":48,"UpfrontFee":"1","CurrencyCode":"USD"}]})");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->prices.size(), 1U);
  EXPECT_EQ(found->prices[0].purchase, catalog::Purchase::kBlock);
  EXPECT_EQ(found->prices[0].region, "us-east-2");
  EXPECT_NEAR(found->prices[0].usd_per_hour, 31.464, 1e-9);
  EXPECT_EQ(found->audit.refused_rows, 1);
}

TEST(AwsSpot, HistoryKeepsZoneIdsAndTheNewestPrice) {
  const auto found = import("aws", R"({"SpotPriceHistory":[
    {"AvailabilityZone":"us-east-2c","AvailabilityZoneId":"use2-az3","InstanceType":"p5.48xlarge","ProductDescription":"Linux/UNIX","SpotPrice":"20.2849","Timestamp":"2026-10-30T01:00:00Z"},
    {"AvailabilityZone":"us-east-2c","AvailabilityZoneId":"use2-az3","InstanceType":"p5.48xlarge","ProductDescription":"Linux/UNIX","SpotPrice":"25","Timestamp":"2026-10-31T01:00:00Z"},
    {"AvailabilityZone":"us-east-2c","InstanceType":"p5.48xlarge","ProductDescription":"Windows","SpotPrice":"30","Timestamp":"2026-10-31T01:00:00Z"}]})");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->prices.size(), 1U);
  EXPECT_DOUBLE_EQ(found->prices[0].usd_per_hour, 25);
  EXPECT_EQ(found->prices[0].region, "us-east-2");
  EXPECT_EQ(format_date(found->prices[0].date), "2026-10-31");
  const auto advice = import(
      "aws", R"({"ranges":[],"spot_advisor":{"us-east-1":{"Linux":{"p5.48xlarge":{"s":60,"r":3}},"Windows":{}}}})");
  ASSERT_TRUE(advice);
  ASSERT_EQ(advice->interruptions.size(), 1U);
  EXPECT_DOUBLE_EQ(advice->interruptions[0].least, 0.15);
  EXPECT_DOUBLE_EQ(advice->interruptions[0].most, 0.20);
  EXPECT_FALSE(import("aws", R"({"something":1})"));
}

TEST(Azure, ReservationsAreWholeTermsAndWindowsIsNot) {
  const auto page = [](const char* items) {
    return std::string(R"({"BillingCurrency":"USD","Items":[)") + items + R"(],"NextPageLink":null,"Count":1})";
  };
  const std::string on_demand =
      R"({"currencyCode":"USD","retailPrice":98.32,"armRegionName":"eastus","productName":"Virtual Machines NDsr H100 v5 Series","skuName":"ND96isr H100 v5","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":"Standard_ND96isr_H100_v5","savingsPlan":[{"retailPrice":60.5,"term":"1 Year"}]})";
  const std::string windows =
      R"({"currencyCode":"USD","retailPrice":110,"armRegionName":"eastus","productName":"Virtual Machines NDsr Win","skuName":"ND96isr H100 v5","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":"Standard_ND96isr_H100_v5"})";
  const std::string spot =
      R"({"currencyCode":"USD","retailPrice":39.3,"armRegionName":"eastus","productName":"Virtual Machines NDsr","skuName":"ND96isr H100 v5 Spot","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":"Standard_ND96isr_H100_v5"})";
  const std::string three =
      R"({"currencyCode":"USD","retailPrice":1051200,"reservationTerm":"3 Years","armRegionName":"eastus","productName":"Virtual Machines NDsr","skuName":"ND96isr H100 v5","unitOfMeasure":"1 Hour","type":"Reservation","armSkuName":"Standard_ND96isr_H100_v5"})";
  const auto found =
      import("azure", page((on_demand + "," + windows).c_str()) + "\n" + page((spot + "," + three).c_str()));
  ASSERT_TRUE(found);
  const std::string machine = "Standard_ND96isr_H100_v5";
  EXPECT_DOUBLE_EQ(price(*found, machine, "eastus", Purchase::kOnDemand), 98.32);
  EXPECT_DOUBLE_EQ(price(*found, machine, "eastus", Purchase::kSpot), 39.3);
  EXPECT_DOUBLE_EQ(price(*found, machine, "eastus", Purchase::kOneYear), 60.5);
  EXPECT_NEAR(price(*found, machine, "eastus", Purchase::kThreeYears), 40, 1e-9);  // 1,051,200 / 26,280 h
}

TEST(Google, SkusAreSummedIntoMachines) {
  const auto sku = [](const char* text, const char* group, const char* usage, const char* units, int nanos) {
    return std::string(R"({"description":")") + text + R"(","category":{"resourceGroup":")" + group +
           R"(","usageType":")" + usage +
           R"("},"serviceRegions":["us-central1"],"pricingInfo":[{"pricingExpression":{"usageUnit":"h","tieredRates":[{"startUsageAmount":0,"unitPrice":{"currencyCode":"USD","units":")" +
           units + R"(","nanos":)" + std::to_string(nanos) + "}}]}}]}";
  };
  const std::string text = R"({"skus":[)" +
                           sku("Nvidia Tesla A100 GPU running in Americas", "GPU", "OnDemand", "2", 933908000) + "," +
                           sku("A2 Instance Core running in Americas", "CPU", "OnDemand", "0", 31611000) + "," +
                           sku("A2 Instance Ram running in Americas", "RAM", "OnDemand", "0", 4237000) + "," +
                           sku("Nvidia Tesla A100 GPU attached to DWS Calendar Mode", "GPU", "OnDemand", "1", 0) +
                           R"(],"nextPageToken":""})";
  const auto found = import("gcp", text);
  ASSERT_TRUE(found);
  // 12 vCPUs x 0.031611 + 85 GiB x 0.004237 + 2.933908 = 3.673385.
  EXPECT_NEAR(price(*found, "a2-highgpu-1g", "us-central1", Purchase::kOnDemand), 3.673385, 1e-9);
}

TEST(Marketplaces, PeersAreFlagged) {
  const auto runpod = import(
      "runpod",
      R"({"data":{"gpuTypes":[{"id":"NVIDIA H100 80GB HBM3","displayName":"H100 SXM","memoryInGb":80,"maxGpuCount":8,"securePrice":2.99,"communityPrice":2.69,"secureSpotPrice":1.75,"communitySpotPrice":null}]}})");
  ASSERT_TRUE(runpod);
  EXPECT_NEAR(price(*runpod, "8x_H100-SXM_SECURE", "any", Purchase::kOnDemand), 8 * 2.99, 1e-9);
  EXPECT_NEAR(price(*runpod, "1x_H100-SXM_COMMUNITY", "any", Purchase::kOnDemand), 2.69, 1e-9);
  const auto vast = import(
      "vast",
      R"({"offers":[{"gpu_name":"RTX 4090","num_gpus":2,"dph_total":0.7,"min_bid":0.3,"gpu_ram":24564,"cpu_ram":64000,"cpu_cores_effective":16,"geolocation":"Sweden, SE"},
                                                 {"gpu_name":"RTX 4090","num_gpus":2,"dph_total":0.6,"min_bid":0,"gpu_ram":24564,"geolocation":"Sweden, SE"}]})");
  ASSERT_TRUE(vast);
  EXPECT_DOUBLE_EQ(price(*vast, "2x_RTX-4090", "Sweden, SE", Purchase::kOnDemand), 0.6);  // the cheaper host
  ASSERT_EQ(vast->machines.size(), 1U);
  EXPECT_TRUE(vast->machines[0].community);
}

TEST(Tables, GpuhuntAndOurTableKeepTheirFacts) {
  const auto hunted = import(
      "gpuhunt",
      "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size\n"
      "gpu_8x,us-1,20,96,1000,8,H100,80,False,\ngpu_8x,us-1,9,96,1000,8,H100,80,True,\ncpu,us-1,1,4,16,0,,,False,\n",
      "acme");
  ASSERT_TRUE(hunted);
  EXPECT_DOUBLE_EQ(price(*hunted, "gpu_8x", "us-1", Purchase::kSpot), 9);
  EXPECT_EQ(hunted->audit.passed, 1);
  const auto ours = import("csv",
                           "provider,instance,region,purchase,price,gpu,gpus\nacme,box,r,1y,12USD/"
                           "h,h100-sxm,8\nacme,box,r,monthly,12,h100-sxm,8\n");
  ASSERT_TRUE(ours);
  EXPECT_DOUBLE_EQ(price(*ours, "box", "r", Purchase::kOneYear), 12);
  EXPECT_EQ(ours->audit.refused_rows, 1);
}

// A list of quotes says the same as a price table, whatever its columns are called.
TEST(OwnTable, QuotesAreReadUnderTheirOwnNames) {
  const double rate = built_in_catalog().exchange_rate("EUR", *parse_date("2026-11-01"))->usd;
  struct Case {
    const char* header;
    bool per_gpu;
    double usd;
  };
  for (const auto& [header, per_gpu, unit] :
       std::initializer_list<Case>{{"vendor,gpu,gpus,price_eur_per_gpu_hour,term,location", true, rate},
                                   {"Provider,GPU,gpu_count,price_eur,Purchase,Region", false, rate},
                                   {"cloud,gpu_type,gpus,EUR per GPU-hour,terms,location", true, rate},
                                   {"vendor,gpu,gpus,hourly_rate,term,region", false, 1},
                                   {"vendor,gpu,gpus,price/gpu,term,region", true, 1}}) {
    const auto found = import("csv", fmt::format("{}\nNebius,H100 SXM,8,{},on-demand,Finland\n"
                                                 "acme,H100 SXM,8,{},1 year,Helsinki\n",
                                                 header, per_gpu ? 2.35 : 18.8, per_gpu ? 1.85 : 14.8));
    ASSERT_TRUE(found) << header;
    EXPECT_EQ(found->audit.taken, 2) << header;
    EXPECT_NEAR(price(*found, "8xh100-sxm", "Finland", Purchase::kOnDemand), 18.8 * unit, 1e-9) << header;
    EXPECT_NEAR(price(*found, "8xh100-sxm", "Helsinki", Purchase::kOneYear), 14.8 * unit, 1e-9) << header;
    EXPECT_TRUE(found->providers.contains("nebius")) << header;
  }
}

TEST(ReadFeed, CompressedFilesAreDecompressed) {
  const std::string path = testing::TempDir() + "feed-" + std::to_string(getpid()) + ".csv.gz";
  const std::string text = "provider,instance,region,purchase,price,gpu,gpus\nacme,box,r,1y,12,h100-sxm,8\n";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  Importer importer(built_in_catalog(), *parse_date("2026-11-01"), "csv");
  ASSERT_TRUE(read_feed("csv", path, {"", &built_in_catalog()}, importer));
  std::filesystem::remove(path);
  EXPECT_DOUBLE_EQ(price(importer.finish(), "box", "r", Purchase::kOneYear), 12);
}

// Reasons may quote the feed, so the audit limits their number.
TEST(Import, AnInvalidFeedDoesNotFillMemory) {
  std::string text = "provider,instance,region,purchase,price,gpu,gpus\n";
  for (int i = 0; i < 3000; ++i) text += "acme,box-" + std::to_string(i) + ",r,1y,12,gpu-" + std::to_string(i) + ",8\n";
  const auto found = import("csv", text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->audit.refused_rows, 3000);
  EXPECT_LE(found->audit.refused.size(), 1001U);
}

TEST(FeedKinds, AnUnknownOneGetsASuggestion) {
  const auto wrong = find_feed_kind("skypilt");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(describe(wrong.error()), HasSubstr("did you mean 'skypilot'?"));
}

TEST(CsvReader, RecordsMayHoldLineEndsInQuotes) {
  const std::string text = "a,b\n\"x\ny\",2\r\n\n3,\"q\"\"q\"";
  const auto source = bytes_of(text);
  CsvReader csv(*source, "t");
  std::vector<std::string> records;
  for (std::string_view record; csv.next(record);) records.emplace_back(record);
  EXPECT_FALSE(csv.failed());
  EXPECT_EQ(records, (std::vector<std::string>{"a,b", "\"x\ny\",2", "3,\"q\"\"q\""}));
  std::vector<std::string_view> cells;
  split_csv(records[1], cells);
  EXPECT_EQ(cells, (std::vector<std::string_view>{"x\ny", "2"}));
}

Checked<Import> import_dated(const std::string& kind, const std::string& text, DateIs known,
                             const std::string& currency = "", const catalog::Catalog& catalog = built_in_catalog()) {
  const std::string path = testing::TempDir() + "dated-" + std::to_string(getpid());
  std::ofstream(path) << text;
  Importer importer(catalog, *parse_date("2026-11-01"), kind == "skypilot" ? "skypilot-catalog" : kind, known);
  const Result<> read = read_feed(kind, path, {"", &catalog, currency}, importer);
  std::filesystem::remove(path);
  if (!read) return fail(Errors(read.error()));
  return importer.finish();
}

constexpr const char* kOwnHeader = "provider,instance,region,purchase,price,currency,date\n";

TEST(OwnTable, DatesAndDuplicatesAreReported) {
  const auto found = import_dated("csv",
                                  kOwnHeader + std::string("aws,p5.48xlarge,us-east-1,on-demand,55,,2026-10-01\n"
                                                           "aws,p5.48xlarge,us-east-1,on-demand,57,,2026-10-01\n"
                                                           "aws,p5.48xlarge,us-west-2,on-demand,55,,2999-01-01\n"
                                                           "aws,p5.48xlarge,us-west-2,on-demand,55,,tomorrow\n"),
                                  DateIs::kStated);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->prices.size(), 1U);
  EXPECT_TRUE(found->audit.refused.contains("date in the future"));
  EXPECT_TRUE(found->audit.refused.contains("date is not like 2026-11-01"));
  EXPECT_TRUE(found->audit.suspicious.contains("listed twice at different prices: the lower was taken"));
}

// Converting and scaling commute, and the currency may be in the text, the column or the option.
RC_GTEST_PROP(OwnTable, CurrencyIsAFactor, ()) {
  const int cents = *rc::gen::inRange(3'000, 8'000);
  const double factor = *rc::gen::element(1.0, 1.5, 2.0);
  const auto dollars_of = [](const std::string& row, const std::string& option) {
    const auto found = import_dated(
        "csv", kOwnHeader + ("aws,p5.48xlarge,us-east-1,on-demand," + row + ",2026-09-30\n"), DateIs::kStated, option);
    return found && found->prices.size() == 1 ? found->prices.front().usd_per_hour : 0.0;
  };
  const auto amount = [&](double by) { return fmt::format("{}", cents / 100.0 * by); };
  const double rate = built_in_catalog().exchange_rate("EUR", *parse_date("2026-09-30"))->usd;
  const double once = dollars_of(amount(1) + "EUR/h,", "");
  RC_ASSERT(std::fabs(once - cents / 100.0 * rate) < 1e-9 * once);
  RC_ASSERT(once == dollars_of(amount(1) + ",EUR", ""));
  RC_ASSERT(once == dollars_of(amount(1) + ",", "EUR"));
  RC_ASSERT(std::fabs(dollars_of(amount(factor) + " EUR,", "") - factor * once) < 1e-9 * once);
}

TEST(Importer, ImplausibleRowsAreRefused) {
  Importer importer(built_in_catalog(), *parse_date("2026-11-01"), "csv");
  const auto take = [&](const std::string& instance, const std::string& region) {
    FeedRow row;
    row.provider = "acme", row.instance = instance, row.region = region, row.usd_per_hour = 20;
    row.gpu = "H100-SXM", row.gpus = 8;
    importer.take(row);
  };
  for (std::size_t i = 0; i < kMostMachines + 7; ++i) take(fmt::format("box-{}", i), "east");
  for (std::size_t i = 0; i < kMostPrices; ++i) take("box-0", fmt::format("region-{}", i));
  take("box-0", std::string(201, 'x'));
  const Import found = importer.finish();
  EXPECT_EQ(found.machines.size(), kMostMachines);
  EXPECT_EQ(found.audit.taken, static_cast<long>(kMostPrices));
  EXPECT_EQ(found.audit.refused.at("more machine types than any provider lists").count, 7);
  EXPECT_EQ(found.audit.refused.at(kTooMany).count, static_cast<long>(kMostMachines));
  EXPECT_TRUE(found.audit.refused.contains("a name is longer than 200 characters"));
}

// A copy of a list keeps the dates on file if nothing changed, and never makes a price look newer than it is.
RC_GTEST_PROP(Importer, ACopyIsNotAConfirmation, ()) {
  const catalog::Catalog& catalog = built_in_catalog();
  std::vector<const catalog::Price*> ours;
  for (const catalog::Price& price : catalog.prices) {
    if (price.provider == "azure" && price.purchase == Purchase::kOnDemand && price.provenance.unverified.empty() &&
        price.provenance.sources == std::vector<std::string>{"skypilot-catalog"})
      ours.push_back(&price);
  }
  const catalog::Price& known = *ours[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(ours.size())))];
  const bool changed = *rc::gen::arbitrary<bool>();
  const DateIs how = *rc::gen::element(DateIs::kCopied, DateIs::kWritten);
  const double usd = in_usd_per_machine_hour(known.machine_price) * (changed ? 1.1 : 1);
  FeedRow row;
  row.provider = known.provider, row.instance = known.instance, row.region = known.region, row.zone = known.zone;
  row.usd_per_hour = usd;
  Importer importer(catalog, *parse_date("2026-11-01"), "skypilot-catalog", how);
  importer.take(row);
  const Import found = importer.finish();
  RC_ASSERT(found.prices.size() == 1U);
  const ImportedPrice& price = found.prices.front();
  const bool doubted = price.undated;
  if (!changed) RC_ASSERT(price.date == *known.provenance.date && !doubted);
  // A live copy that differs from the same source's earlier price has changed since; a file on disk may be older.
  if (changed) RC_ASSERT(doubted == (how == DateIs::kWritten));
}

}  // namespace
}  // namespace rightsize::feeds
