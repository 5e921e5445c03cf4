#include "plan/startup.h"

#include <set>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

Startup start(const Request& request, const char* gpu) {
  return startup_on(request, perf::work_of(request.model), **built_in_catalog().find_gpu(gpu));
}

// 405B weights take 13.5 minutes at 1 GB/s, in addition to the machine and its image.
TEST(Startup, GrowsWithTheWeights) {
  const auto minutes = [](const char* model) {
    return in_seconds(start(request_of({{"model", model}, {"tokens", "1B"}}), "h100-sxm").weights) / 60;
  };
  EXPECT_NEAR(minutes("llama-3.1-405b"), 13.5, 0.1);
  EXPECT_NEAR(minutes("gpt2"), 0, 0.1);
  EXPECT_NEAR(minutes("deepseek-v3"), 671 / 60.0, 0.3);  // published in fp8: a byte each
}

// ROCm's image is many times as large as CUDA's: a short job on AMD pays for it.
TEST(Startup, GrowsWithTheImage) {
  const Request request = request_of({{"model", "gpt2"}, {"tokens", "1B"}});
  const Startup nvidia = start(request, "h100-sxm"), amd = start(request, "mi300x");
  EXPECT_EQ(nvidia.image, "pytorch/pytorch:latest");
  EXPECT_EQ(amd.image, "rocm/pytorch:latest");
  ASSERT_TRUE(nvidia.image_size && amd.image_size);
  EXPECT_GT(amd.image_pull, nvidia.image_pull * 3);
  EXPECT_NEAR(in_seconds(nvidia.image_pull), in_bytes(*nvidia.image_size) / 41e6, 0.1);
  EXPECT_NEAR(in_seconds(amd.total()), in_seconds(amd.machine + amd.image_pull + amd.weights), 1e-9);
  const perf::ModelWork work = perf::work_of(request.model);
  EXPECT_EQ(assumptions_on(request, work, **built_in_catalog().find_gpu("mi300x")).restart, amd.total());
}

TEST(Startup, AGivenStartupIsUsed) {
  const Request request = request_of({{"model", "gpt2"}, {"tokens", "1B"}, {"startup", "1h"}});
  const market::JobAssumptions assumed =
      assumptions_on(request, perf::work_of(request.model), **built_in_catalog().find_gpu("h100-sxm"));
  EXPECT_EQ(assumed.startup, hours(1));
  EXPECT_EQ(assumed.restart, hours(1));
}

// Every image that emitted files name has a row in the data; known sizes have a source and a date.
TEST(Startup, EveryImageIsARow) {
  const Csv csv = *Csv::parse("data/images.csv", std::string(embedded_file("images.csv")));
  std::set<std::string, std::less<>> rows;
  for (const CsvRow& row : csv.rows()) {
    rows.emplace(csv.cell(row, "image"));
    EXPECT_EQ(csv.cell(row, "compressed").empty(), csv.cell(row, "source").empty()) << csv.cell(row, "image");
    EXPECT_EQ(csv.cell(row, "compressed").empty(), csv.cell(row, "date").empty()) << csv.cell(row, "image");
  }
  for (const char* stack : {"vllm", "sglang", "trtllm"}) {
    for (const char* gpu : {"h100-sxm", "mi300x"}) {
      const Request request =
          request_of({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "1/s"}, {"stack", stack}});
      EXPECT_TRUE(rows.contains(start(request, gpu).image)) << stack << " " << gpu;
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
