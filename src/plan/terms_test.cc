#include <set>

#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "plan/explain.h"

namespace rightsize::plan {
namespace {

using catalog::Purchase;

class Quotas : public ::testing::Test {
 protected:
  std::optional<Quota> quota(const catalog::Machine& machine, Purchase purchase, int machines) const {
    catalog::Price price;
    price.purchase = purchase;
    Plan plan;
    plan.offer.machine = &machine;
    plan.offer.price = &price;
    plan.machines = machines;
    return quota_of(plan);
  }
  std::string code(const std::string& instance, Purchase purchase = Purchase::kOnDemand) const {
    for (const catalog::Machine& machine : catalog_.machines) {
      if (machine.instance != instance) continue;
      const auto found = quota(machine, purchase, 1);
      return found ? found->code : "";
    }
    return "no such machine";
  }

  catalog::Catalog catalog_ = *catalog::load_catalog("");
};

TEST_F(Quotas, NameTheQuotaOfTheProvider) {
  EXPECT_EQ(code("p5.48xlarge"), "L-417A185B");
  EXPECT_EQ(code("g6.xlarge", Purchase::kSpot), "L-3819A6DF");
  EXPECT_EQ(code("Standard_ND96isr_H100_v5"), "standardNDSH100v5Family");
  EXPECT_EQ(code("Standard_NC24ads_A100_v4"), "StandardNCADSA100v4Family");
  EXPECT_EQ(code("Standard_ND96amsr_A100_v4"), "Standard NDAMSv4_A100Family");
  EXPECT_EQ(code("Standard_NC24ads_A100_v4", Purchase::kSpot), "lowPriorityCores");
  EXPECT_EQ(code("a3-megagpu-8g"), "gpu_family NVIDIA_H100_MEGA");
  EXPECT_EQ(code("a3-highgpu-8g"), "gpu_family NVIDIA_H100");
  EXPECT_EQ(code("g2-standard-4"), "NVIDIA_L4_GPUS");
}

// vCPUs if the provider counts them, otherwise GPUs; for all machines together.
TEST_F(Quotas, GrowWithTheMachines) {
  std::set<std::string> providers;
  for (const catalog::Machine& machine : catalog_.machines) {
    const auto one = quota(machine, Purchase::kOnDemand, 1), three = quota(machine, Purchase::kOnDemand, 3);
    ASSERT_EQ(one.has_value(), three.has_value());
    if (!one) continue;
    providers.insert(machine.provider);
    EXPECT_EQ(one->amount, one->vcpus ? *machine.vcpus : machine.gpus) << machine.instance;
    EXPECT_EQ(three->amount, 3 * one->amount) << machine.instance;
  }
  EXPECT_EQ(providers, (std::set<std::string>{"aws", "azure", "gcp"}));
}

}  // namespace
}  // namespace rightsize::plan
