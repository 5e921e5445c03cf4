#include "manifests/price.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/words.h"
#include "manifests/compare.h"

namespace rightsize::manifests {
namespace {

using testing::HasSubstr;

class PriceTest : public testing::Test {
 protected:
  PriceTest() : catalog_(*catalog::load_catalog("")), book_(catalog_) {}

  Cost price(const GpuRequest& request, const PriceAssumptions& assumptions = {}) const {
    return price_of(request, book_, assumptions);
  }
  double on_demand(const char* provider, const char* instance, const char* region = "") const {
    return in_usd_per_machine_hour(
        book_.list_price(*catalog_.find_machine(provider, instance), catalog::Purchase::kOnDemand, region)->rate);
  }

  catalog::Catalog catalog_;
  market::PriceBook book_;
};

TEST_F(PriceTest, MachinesArePaidWholeAndPodsByTheirShare) {
  GpuRequest machine;
  machine.machines = {"p5.48xlarge"}, machine.provider = "aws", machine.whole_machines = true, machine.units = 2;
  const Cost whole = price(machine);
  ASSERT_TRUE(whole.rate);
  EXPECT_NEAR(in_usd_per_hour(*whole.rate), 2 * on_demand("aws", "p5.48xlarge"), 1e-9);
  EXPECT_EQ(whole.gpus, 16);
  EXPECT_EQ(whole.gpu->name, "h100-sxm");
  GpuRequest pod = machine;
  pod.whole_machines = false, pod.per_unit = 2, pod.units = 3;
  EXPECT_NEAR(in_usd_per_hour(*price(pod).rate), 6.0 / 8 * on_demand("aws", "p5.48xlarge"), 1e-9);
  pod.per_unit = 16;
  EXPECT_THAT(price(pod).misfits.at(0), HasSubstr("16 GPUs, p5.48xlarge has 8"));
}

// A region that was named holds for requests without their own, for machines and for GPUs.
TEST_F(PriceTest, ANamedRegionHoldsForRequestsWithoutOne) {
  for (const char* region : {"us-east-1", "eu-central-1", "ap-northeast-1"}) {
    GpuRequest machine;
    machine.machines = {"g5.xlarge"}, machine.provider = "aws", machine.whole_machines = true, machine.units = 1;
    const PriceAssumptions assumed{.regions = {region}};
    EXPECT_NEAR(in_usd_per_hour(*price(machine, assumed).rate), on_demand("aws", "g5.xlarge", region), 1e-9) << region;
    machine.region = "us-west-2";
    EXPECT_NEAR(in_usd_per_hour(*price(machine, assumed).rate), on_demand("aws", "g5.xlarge", "us-west-2"), 1e-9);
    GpuRequest pod;
    pod.gpus = {"a10g"}, pod.provider = "aws", pod.per_unit = 1, pod.units = 1;
    EXPECT_THAT(price(pod, assumed).source, HasSubstr(region));
  }
}

// A machine in a zone has the price of the zone's region, or the answer names the region of the price.
TEST_F(PriceTest, AZoneIsPricedInItsOwnRegion) {
  int in_region = 0, elsewhere = 0;
  for (const market::Offer& offer : market::list_offers(catalog_)) {
    const std::string& provider = offer.price->provider;
    const std::string& region = offer.price->region;
    if ((provider != "gcp" && provider != "aws") || region == "any") continue;
    for (const bool spot : {false, true}) {
      GpuRequest vm;
      vm.machines = {offer.machine->instance}, vm.provider = provider, vm.whole_machines = true, vm.spot = spot;
      vm.region = region + (provider == "gcp" ? "-a" : "a");
      const Cost cost = price(vm);
      if (!cost.rate) continue;
      const bool here = cost.source.find(", " + region + ",") != std::string::npos ||
                        cost.source.find(", " + region + " (") != std::string::npos;  // with its zone
      const bool said = std::ranges::any_of(
          cost.doubts, [](const std::string& doubt) { return doubt.find("priced in") != std::string::npos; });
      EXPECT_NE(here, said) << vm.machines[0] << " in " << vm.region << ": " << cost.source;
      ++(here ? in_region : elsewhere);
    }
  }
  EXPECT_GT(in_region, 100);
  EXPECT_LT(elsewhere, in_region);
}

// A family means the same GPU as in every command, and N GPUs of a node come from machines with at least N.
TEST_F(PriceTest, GpusOfANodeArePricedOnMachinesThatHoldThem) {
  int larger = 0;
  for (const catalog::Gpu& gpu : catalog_.gpus) {
    for (const int each : {1, 2, 4, 8}) {
      for (const bool spot : {false, true}) {
        GpuRequest node;
        node.gpus = {gpu.name}, node.per_unit = each, node.spot = spot;
        const Cost cost = price(node);
        if (!cost.rate) continue;
        EXPECT_EQ(cost.gpu->name, gpu.name);
        const bool said = std::ranges::any_of(
            cost.doubts, [](const std::string& doubt) { return doubt.find("smaller ones") != std::string::npos; });
        const std::size_t at = cost.source.find(" (");
        const int machine = std::stoi(cost.source.substr(at + 2));
        EXPECT_NE(machine >= each, said) << each << " x " << gpu.name << ": " << cost.source;
        larger += machine >= each && each > 1;
      }
    }
  }
  EXPECT_GT(larger, 20);
  for (const char* family : {"h100", "A100", "NVIDIA-H100", "gh200"}) {
    GpuRequest node;
    node.gpus = {family}, node.per_unit = 8, node.units = 4;
    const auto usual = catalog::usual_gpu(catalog_, family);
    if (!usual) continue;
    const Cost cost = price(node);
    ASSERT_NE(cost.gpu, nullptr) << family;
    EXPECT_EQ(cost.gpu->name, usual->gpu->name);
  }
}

TEST_F(PriceTest, AMachineWithAGuestAcceleratorIsOneOfTheCatalogue) {
  GpuRequest vm;
  vm.machines = {"n1-standard-8"}, vm.gpus = {"nvidia-tesla-t4"}, vm.provider = "gcp", vm.per_unit = 1,
  vm.whole_machines = true;
  const Cost cost = price(vm);
  ASSERT_TRUE(cost.rate);
  EXPECT_THAT(cost.source, HasSubstr("n1-standard-8+1xT4"));
}

TEST_F(PriceTest, ASliceIsAShareOfItsGpu) {
  GpuRequest pod;
  pod.gpus = {"NVIDIA-A100-SXM4-80GB"}, pod.per_unit = 7, pod.units = 1;
  GpuRequest slices = pod;
  slices.mig_profile = "1g.10gb";
  EXPECT_NEAR(in_usd_per_hour(*price(slices).rate), in_usd_per_hour(*price(pod).rate) / 7, 1e-9);
  slices.mig_profile = "1g.99gb";
  EXPECT_THAT(price(slices).misfits.at(0), HasSubstr("no MIG profile 1g.99gb"));
}

TEST_F(PriceTest, UnknownGpusHaveNoPrice) {
  GpuRequest open;
  open.resource = "nvidia.com/gpu", open.per_unit = 4;
  EXPECT_FALSE(price(open).rate);
  EXPECT_THAT(price(open).doubts.at(0), HasSubstr("--gpu"));
  EXPECT_TRUE(price(open, {*catalog_.find_gpu("l4"), {}}).rate);
  open.gpus = {"l4"}, open.units = std::nullopt, open.unresolved = {"replicas: {{ n }}"};
  EXPECT_FALSE(price(open).rate);
  GpuRequest partition;
  partition.per_unit = 4, partition.hint = "gpu_h100-long";
  EXPECT_EQ(price(partition).gpu->name.substr(0, 4), "h100");
  GpuRequest unknown;
  unknown.machines = {"p99.metal"}, unknown.provider = "aws", unknown.whole_machines = true;
  EXPECT_THAT(price(unknown).doubts.at(0), HasSubstr("no price on file for p99.metal"));
}

TEST_F(PriceTest, ALimitAloneCostsNothing) {
  GpuRequest pool;
  pool.machines = {"p5.*"}, pool.provider = "aws", pool.per_unit = 16, pool.ceiling = true;
  const Cost cost = price(pool);
  EXPECT_EQ(in_usd_per_month(*cost.monthly), 0);
  EXPECT_GT(in_usd_per_month(*cost.most), 0);
  pool.per_unit.reset();
  EXPECT_FALSE(price(pool).most);
}

TEST_F(PriceTest, JobsCostByTheirTime) {
  GpuRequest job;
  job.gpus = {"l4"}, job.per_unit = 1, job.job = true, job.time_limit = hours(10);
  const Cost all = price(job), some = price(job, {nullptr, hours(73)});
  EXPECT_TRUE(all.all_month_assumed);
  EXPECT_NEAR(in_usd(*all.run), 10 * in_usd_per_hour(*all.rate), 1e-9);
  EXPECT_NEAR(in_usd_per_month(*some.monthly), in_usd_per_month(*all.monthly) / 10, 1e-6);
  EXPECT_FALSE(some.all_month_assumed);
}

Side side(const char* file, const char* kind, const char* name, double gpus) {
  Side made;
  made.request.file = file, made.request.kind = kind, made.request.name = name, made.request.per_unit = gpus;
  return made;
}

// A resource that is created is never the successor of another one that is destroyed; scripts are known by their files.
TEST(Compare, OnlyTheSameAddressIsAPair) {
  for (const auto& [kind, pair] : {std::pair("aws_instance", false), std::pair("Deployment", false),
                                   std::pair("AWS::EC2::Instance", false), std::pair("sbatch", true)}) {
    const auto changes = compare({side("f", kind, "kept", 1), side("f", kind, "old", 2)},
                                 {side("f", kind, "kept", 4), side("f", kind, "new", 8)});
    ASSERT_EQ(changes.size(), pair ? 2U : 3U) << kind;
    EXPECT_EQ(changes[0].before->request.name, "kept");
    EXPECT_EQ(changes[1].is_new(), !pair) << kind;
    if (!pair) {
      EXPECT_EQ(changes[2].before->request.name, "old");
    }
  }
}

TEST(Compare, RequestsArePairedEvenIfTheyMoved) {
  const auto changes =
      compare({side("a.yaml", "Job", "x", 1), side("a.yaml", "Job", "y", 2), side("b.yaml", "Pod", "z", 3)},
              {side("a.yaml", "Job", "y", 2), side("c.yaml", "Pod", "z", 4), side("c.yaml", "Pod", "new", 1)});
  ASSERT_EQ(changes.size(), 4u);
  EXPECT_FALSE(changes[0].differs());
  EXPECT_EQ(changes[1].before->request.per_unit, 3);
  EXPECT_TRUE(changes[1].differs());
  EXPECT_TRUE(changes[2].is_new());
  EXPECT_TRUE(changes[3].is_gone());
  EXPECT_EQ(changes[3].before->request.name, "x");
}

}  // namespace
}  // namespace rightsize::manifests
