#include "rightsize/diff/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

TEST(EngineCommand, NamesTheModelAndItsSplit) {
  const auto vllm = read_engine_command("vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4");
  ASSERT_TRUE(vllm);
  EXPECT_EQ(vllm->model, "meta-llama/Llama-3.1-70B-Instruct");
  EXPECT_EQ(vllm->tensor_parallel, 4);
  const auto shell = read_engine_command(
      "sh -c python3 -m vllm.entrypoints.openai.api_server --model=Qwen/Qwen2.5-7B --tensor-parallel-size=2 "
      "--pipeline_parallel_size 2 --quantization fp8");
  ASSERT_TRUE(shell);
  EXPECT_EQ(shell->model, "Qwen/Qwen2.5-7B");
  EXPECT_EQ(shell->tensor_parallel, 2);
  EXPECT_EQ(shell->pipeline_parallel, 2);
  EXPECT_EQ(shell->quantization, "fp8");
  EXPECT_EQ(read_engine_command("python -m sglang.launch_server --model-path x/y --tp 8")->tensor_parallel, 8);
  EXPECT_FALSE(read_engine_command("python train.py"));
}

TEST(ModelFit, TellsWhetherTheModelFitsItsGpus) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  manifests::GpuRequest request;
  request.command = "--model meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 4";
  request.per_unit = 4;
  manifests::Cost cost;
  cost.gpu = *catalog.find_gpu("h100-sxm");
  ASSERT_TRUE(model_fit(request, cost));
  EXPECT_TRUE(model_fit(request, cost)->fits);
  cost.gpu = *catalog.find_gpu("l4");
  EXPECT_FALSE(model_fit(request, cost)->fits);
  request.per_unit = 2;
  EXPECT_THAT(model_fit(request, cost)->words, HasSubstr("the pod has 2"));
  request.command = "--model our/own-model";
  EXPECT_FALSE(model_fit(request, cost));
  cost.gpu = nullptr;
  EXPECT_FALSE(model_fit(request, cost));
}

}  // namespace
}  // namespace rightsize::app
