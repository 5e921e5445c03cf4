#include "model/adapters.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "presets/presets.h"

namespace rightsize::model {
namespace {

int ranks(const ModelShape& shape, std::string_view name, Stack stack = Stack::kHf,
          LoraTargets targets = LoraTargets::kAllLinear) {
  const auto found = std::find_if(shape.weights.begin(), shape.weights.end(),
                                  [&](const Weight& weight) { return weight.name.ends_with(name); });
  EXPECT_NE(found, shape.weights.end()) << name;
  return found == shape.weights.end() ? -1 : adapter_ranks(shape, *found, targets, stack);
}

ModelShape preset(const char* name) {
  const auto shape = find_model(name);
  EXPECT_TRUE(shape.has_value()) << name;
  return *shape;
}

TEST(Adapters, DenseModelsAreAdaptedExceptForTheirOutputLayer) {
  const ModelShape llama = preset("llama-3.1-8b");
  EXPECT_EQ(ranks(llama, "q_proj"), 1);
  EXPECT_EQ(ranks(llama, "down_proj"), 1);
  EXPECT_EQ(ranks(llama, "lm_head"), 0);
  EXPECT_EQ(ranks(llama, "down_proj", Stack::kHf, LoraTargets::kAttention), 0);
}

// The choices of peft 0.21 for small models of these families.
TEST(Adapters, PeftAdaptsEitherExpertsOrOtherMlps) {
  const ModelShape qwen3 = preset("qwen3-30b-a3b"), deepseek = preset("deepseek-v2-lite");
  EXPECT_TRUE(adapts_experts(qwen3));
  EXPECT_EQ(ranks(qwen3, "experts.gate_up_proj"), 2);
  EXPECT_EQ(ranks(qwen3, "mlp.gate"), 1);
  EXPECT_EQ(ranks(deepseek, "experts.down_proj"), 1);
  EXPECT_EQ(ranks(deepseek, "shared_experts.down_proj"), 0);
  for (const char* name : {"qwen1.5-moe-a2.7b", "gpt-oss-20b", "llama-4-scout"}) {
    const ModelShape spared = preset(name);
    EXPECT_FALSE(adapts_experts(spared)) << name;
    EXPECT_EQ(ranks(spared, "experts.gate_up_proj"), 0) << name;
    EXPECT_EQ(ranks(spared, "experts.gate_up_proj", Stack::kMegatron), 2) << name;
  }
  const ModelShape qwen2 = preset("qwen1.5-moe-a2.7b");
  EXPECT_EQ(ranks(qwen2, "shared_expert.down_proj"), 1);
  EXPECT_EQ(ranks(qwen2, "mlp.gate"), 0);
}

}  // namespace
}  // namespace rightsize::model
