#include "perf/model_work.h"

#include <gtest/gtest.h>

#include "presets/presets.h"

namespace rightsize::perf {
namespace {

ModelWork work(const char* name) {
  const Checked<model::ModelShape> shape = model::find_model(name);
  EXPECT_TRUE(shape) << name;
  return work_of(*shape);
}

double linear_flops(const ModelWork& w) {
  double sum = 0;
  for (const LayerWork& layer : w.kinds) {
    for (const WorkOp& op : layer.ops) {
      if (op.kind == model::OpKind::kLinear) sum += layer.count * op.rows.at(1, 1) * op.inputs * op.outputs;
    }
  }
  return sum;
}

double fused_flops(const ModelWork& w) {
  double sum = 0;
  for (const LayerWork& layer : w.kinds) {
    for (const Product& p : layer.products) sum += layer.count * p.inputs * p.outputs_on(1);
  }
  return sum;
}

// Of Llama-3.1-8B: 32 layers of q and o (4096 x 4096), k and v (4096 x 1024), gate, up and down (4096 x 14336).
TEST(ModelWork, CountsTheProductsOfALlama) {
  const ModelWork w = work("llama-3.1-8b");
  const double layer = 2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336;
  EXPECT_DOUBLE_EQ(linear_flops(w), 32 * layer);
  ASSERT_EQ(w.kinds.size(), 1U);
  EXPECT_EQ(w.kinds[0].count, 32);
  ASSERT_EQ(w.kinds[0].products.size(), 4U);  // q, k and v in one, o, gate and up in one, down
  EXPECT_DOUBLE_EQ(w.kinds[0].products[0].outputs_on(1), 4096 + 2 * 1024);
  EXPECT_DOUBLE_EQ(w.kinds[0].products[0].outputs_on(16), 4096 / 16.0 + 2 * 128);  // a key head stays whole
  EXPECT_EQ(w.key_width, 2 * 8 * 128);
}

// A norm and an addition read the residual stream; q, k and v read the output of the first norm.
TEST(ModelWork, GradientsAreAddedWhereAValueIsReadTwice) {
  const ModelWork w = work("llama-3.1-8b");
  EXPECT_EQ(w.kinds[0].input_joins, 1);
  double joins = 0;
  for (const WorkOp& op : w.kinds[0].ops) joins += op.joins;
  EXPECT_EQ(joins, 2 + 1 + 1);  // q, k, v; the second residual; gate and up
}

// OLMo 2 (and MiniMax) norms q and k over all heads, which tensor parallelism divides; Qwen 3 norms each head.
TEST(ModelWork, NormsOverAllHeadsAreSummedAcrossGpus) {
  EXPECT_EQ(work("olmo-2-7b").norm_reductions, work("olmo-2-7b").layers);
  EXPECT_EQ(work("qwen3-8b").norm_reductions, 0);
  EXPECT_EQ(work("llama-3.1-8b").norm_reductions, 0);
}

TEST(ModelWork, WindowsAndExpertsMakeDifferentKindsOfLayers) {
  const ModelWork gemma = work("gemma-2-2b");
  EXPECT_EQ(gemma.kinds.size(), 2U);
  EXPECT_EQ(gemma.window, 4096);
  const ModelWork deepseek = work("deepseek-v3");
  ASSERT_EQ(deepseek.kinds.size(), 2U);
  EXPECT_EQ(deepseek.expert_layers, 58);
  EXPECT_EQ(deepseek.key_width, 512 + 64);
}

// Fusion does not change the work: for every built-in model, the products sum to the same multiply-adds per token.
TEST(ModelWork, FusingKeepsTheWork) {
  for (const model::Preset& preset : model::presets()) {
    const ModelWork w = work(std::string(preset.name).c_str());
    if (w.image || w.encoder_decoder) continue;
    EXPECT_NEAR(fused_flops(w) / linear_flops(w), 1, 1e-12) << preset.name;
  }
}

}  // namespace
}  // namespace rightsize::perf
