// Files of tools that count GPUs in their own way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/test_catalog.h"
#include "manifests/mentions.h"
#include "manifests/price.h"
#include "manifests/read.h"

namespace rightsize::manifests {
namespace {

TEST(OtherTools, CountUnitsTheirOwnWay) {
  const struct {
    const char *file, *text;
    double gpus;
  } kCases[] = {
      {"runai.yaml",
       "apiVersion: run.ai/v2alpha1\nkind: TrainingWorkload\nmetadata: {name: a}\nspec:\n  gpuDevices:\n    value: 8\n",
       8},
      {"notebook.yaml",
       "apiVersion: run.ai/v2alpha1\nkind: InteractiveWorkload\nmetadata: {name: a}\nspec:\n  gpu: {value: \"0.5\"}\n",
       0.5},
      {"a.dstack.yml", "type: task\nnodes: 2\nresources:\n  gpu:\n    memory: 24GB..\n    count: 2..4\n", 4},
      {"b.dstack.yml", "type: task\nresources:\n  gpu: {memory: 24GB}\n", 1},
      {"search.yaml",
       "searcher: {name: random, max_trials: 8, max_concurrent_trials: 4}\nresources:\n  slots_per_trial: 16\n", 64},
  };
  for (const auto& each : kCases) {
    const std::vector<GpuRequest> found = read_files({{each.file, each.text}}).requests;
    ASSERT_EQ(found.size(), 1u) << each.text;
    EXPECT_EQ(found[0].total(), each.gpus) << each.text;
  }
}

// Machines of a job count, whichever tool the file is for.
TEST(OtherTools, MachinesAreCounted) {
  const struct {
    const char *file, *text, *provider;
    double machines;
  } kCases[] = {
      {"job.yml", "command: python a.py\nresources:\n  instance_type: Standard_NC96ads_A100_v4\n  instance_count: 3\n",
       "azure", 3},
      {"main.tf",
       "variable \"n\" { default = 2 }\nresource \"lambdalabs_instance\" \"a\" {\n  count = var.n\n  "
       "instance_type_name = \"gpu_8x_a100_80gb_sxm4\"\n}\n",
       "lambda", 2},
  };
  for (const auto& each : kCases) {
    const std::vector<GpuRequest> found = read_files({{each.file, each.text}}).requests;
    ASSERT_EQ(found.size(), 1u) << each.text;
    EXPECT_EQ(found[0].units, each.machines) << each.text;
    EXPECT_EQ(found[0].provider, each.provider) << each.text;
  }
}

TEST(OtherTools, AnUnknownNumberOfTasksIsNotOne) {
  const std::vector<GpuRequest> found =
      read_files({{"job.json",
                   "{\"taskGroups\": [{\"taskCount\": \"${N}\"}], \"allocationPolicy\": {\"instances\": "
                   "[{\"policy\": {\"machineType\": \"a2-highgpu-1g\"}}]}}"}})
          .requests;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].units);
  EXPECT_THAT(found[0].unresolved, testing::ElementsAre("count = ${N}"));
}

// A number on the line below its key is a mention, too.
TEST(OtherTools, NumbersBelowAKeyAreMentions) {
  for (const char* text :
       {"a:\n  gpuDevices:\n    value: 8\n", "gpu:\n  memory: 24GB..\n", "accelerators:\n- count: 2\n"})
    EXPECT_FALSE(gpu_mentions("a.yaml", text).empty()) << text;
  for (const char* text : {"gpu:\n  enabled: true\nvalue: 8\n", "gpuOperator:\n  count: 2\n",
                           "gpu:\nreplicas:\n  count: 2\n", "a:\n  gpu:\n  count: 3\n"})
    EXPECT_TRUE(gpu_mentions("a.yaml", text).empty()) << text;
}

// A MIG profile says which member of the family it is: every profile of the catalogue has a price where its GPU has
// one.
TEST(OtherTools, SlicesArePricedOnAGpuThatHasThem) {
  const market::PriceBook book(built_in_catalog());
  for (const catalog::MigProfile& profile : built_in_catalog().mig) {
    GpuRequest request;
    request.gpus = {profile.gpu.substr(0, profile.gpu.find('-'))};
    request.mig_profile = profile.profile;
    request.per_unit = 1;
    EXPECT_THAT(price_of(request, book, {}).misfits, testing::IsEmpty()) << profile.gpu << " " << profile.profile;
  }
}

TEST(OtherTools, AQueueMayNameTheGpu) {
  const market::PriceBook book(built_in_catalog());
  for (const char* hint : {"gpuv100", "gpu_v100", "v100-long"}) {
    GpuRequest request;
    request.hint = hint;
    request.per_unit = 1;
    const Cost cost = price_of(request, book, {});
    ASSERT_NE(cost.gpu, nullptr) << hint;
    EXPECT_TRUE(cost.gpu->name.starts_with("v100")) << hint;
  }
}

}  // namespace
}  // namespace rightsize::manifests
