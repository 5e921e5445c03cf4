// Additions of newer families to a shape, calculated by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "families/read_model.h"
#include "families/vision_tower.h"
#include "presets/model_job.h"
#include "presets/presets.h"

namespace rightsize::model {
namespace {

using testing::HasSubstr;

ModelShape shape_of(const char* name) {
  Checked<ModelShape> shape = find_model(name);
  EXPECT_TRUE(shape) << name << describe(shape.error());
  return shape ? *std::move(shape) : ModelShape{};
}

Checked<ModelJob> fitted(const char* name, std::vector<Setting> settings) {
  RIGHTSIZE_TRY(const Job job, parse_job(settings));
  return fit_to_model(name, job, settings);
}

std::string refusal(const char* name, std::vector<Setting> settings) {
  const Checked<ModelJob> read = fitted(name, std::move(settings));
  return read ? "" : describe(read.error());
}

// 64 layers of 128 heads, each with a matrix of 64 x 128 in 32 bits, and 3 tokens of 8192 + 2 x 8 x 128 channels in 16.
TEST(Families, MambaKeepsAStateAndNoCache) {
  const ModelShape mamba = shape_of("mamba-codestral-7b");
  EXPECT_EQ(mamba.uncached_layers, mamba.layers);
  EXPECT_EQ(mamba.state_bytes, 64LL * (128 * 64 * 128 * 4 + 3 * (8192 + 2048) * 2));
}

TEST(Families, HybridsCacheOnlyInAttentionLayers) {
  EXPECT_EQ(shape_of("nemotron-h-8b").layers - shape_of("nemotron-h-8b").uncached_layers, 4);
  EXPECT_EQ(shape_of("qwen3-next-80b-a3b").layers - shape_of("qwen3-next-80b-a3b").uncached_layers, 12);
  EXPECT_EQ(shape_of("llama-3.1-8b").uncached_layers, 0);
  EXPECT_EQ(shape_of("llama-3.1-8b").state_bytes, 0);
}

// Scout has experts in every layer, Maverick in every other; three of four layers attend within chunks.
TEST(Families, Llama4AlternatesItsLayers) {
  EXPECT_EQ(shape_of("llama-4-scout").experts->dense_layers, 0);
  EXPECT_EQ(shape_of("llama-4-maverick").experts->dense_layers, 24);
  int windowed = 0;
  const ModelShape maverick = shape_of("llama-4-maverick");
  for (const LayerRun& run : maverick.forward->stacks[0].runs) {
    for (std::int32_t program : run.programs) {
      for (const Op& op : maverick.forward->programs[static_cast<std::size_t>(program)].ops) {
        if (op.kind == OpKind::kAttention)
          windowed += maverick.forward->attentions[static_cast<std::size_t>(op.aux)].window > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(windowed, 36);
}

TEST(Families, ImagesTakeTokensByTheirSize) {
  // 1024 / 28 = 36.6 patches of 2 x 2 per side, rounded.
  EXPECT_EQ(image_tokens(*shape_of("qwen2.5-vl-7b").vision, {1024, 1024}), 37 * 37);
  EXPECT_EQ(image_tokens(*shape_of("llava-1.5-7b").vision, {4000, 3000}), 576);
  EXPECT_EQ(image_tokens(*shape_of("gemma-3-4b").vision, {896, 896}), 256);
  // Four by four tiles of 336 pixels and one of the whole, 24 x 24 patches each, four to a token.
  EXPECT_EQ(image_tokens(*shape_of("llama-4-scout").vision, {1344, 1344}), 17 * 144);
}

TEST(Families, ImagesOfAPromptAreTokensOfIt) {
  const Checked<ModelJob> read =
      fitted("qwen2.5-vl-7b", {{"job", "serve", {}}, {"isl", "100", {}}, {"images", "2", {}}});
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->job.serve.isl, 100 + 2 * 37 * 37);
  EXPECT_EQ(read->model.tower_images, 2);
  EXPECT_THAT(refusal("llama-3.1-8b", {{"job", "serve", {}}, {"images", "1", {}}}), HasSubstr("does not read images"));
}

TEST(Families, GlmHasBiasesByDefault) {
  const Checked<ModelShape> glm =
      read_model("config.json", R"({"model_type": "glm4", "architectures": ["Glm4ForCausalLM"],
    "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "intermediate_size": 128, "vocab_size": 256})");
  ASSERT_TRUE(glm) << describe(glm.error());
  int biases = 0;
  for (const Weight& weight : glm->weights) biases += weight.has_bias ? 1 : 0;
  EXPECT_EQ(biases, 3);
}

TEST(ModelJob, AnEncoderHasOneLengthByEitherName) {
  EXPECT_EQ(fitted("bert-large", {{"job", "serve", {}}, {"isl", "256", {}}})->job.sequence, 256);
  EXPECT_EQ(fitted("bert-large", {{"job", "serve", {}}, {"seq", "256", {}}})->job.sequence, 256);
  EXPECT_EQ(fitted("bge-m3", {{"job", "serve", {}}})->job.sequence, 512);  // it could read 8,192 tokens
  EXPECT_THAT(refusal("bert-large", {{"job", "serve", {}}, {"seq", "256", {}}, {"isl", "128", {}}}),
              HasSubstr("set the same length"));
  EXPECT_THAT(refusal("bert-large", {{"job", "serve", {}}, {"osl", "16", {}}}), HasSubstr("generates no tokens"));
}

TEST(ModelJob, ADecoderIsServedTokensInAndOut) {
  EXPECT_THAT(refusal("llama-3.1-8b", {{"job", "serve", {}}, {"seq", "256", {}}}),
              HasSubstr("--isl (prompt) and --osl (answer)"));
  EXPECT_EQ(fitted("llama-3.1-8b", {{"job", "serve", {}}})->job.serve.isl, 1024);
}

// GPT-2 has 1024 positions, Whisper 448 for its output.
TEST(ModelJob, UsualLengthsFitTheModel) {
  for (const char* name : {"gpt2", "whisper-large-v3", "opt-1.3b", "llama-2-7b"}) {
    const Checked<ModelJob> read = fitted(name, {{"job", "serve", {}}});
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_LE(read->job.serve.isl + read->job.serve.osl, read->model.context) << name;
    EXPECT_GT(read->job.serve.osl, 0);
  }
}

TEST(ModelJob, OnlyImageGeneratorsHaveStepsAndSizes) {
  const Checked<ModelJob> sdxl =
      fitted("sdxl", {{"job", "serve", {}}, {"steps", "20", {}}, {"resolution", "768x512", {}}});
  ASSERT_TRUE(sdxl) << describe(sdxl.error());
  EXPECT_EQ(sdxl->model.image_size, 96);
  EXPECT_EQ(sdxl->model.image_height, 64);
  EXPECT_EQ(sdxl->model.pipeline->encoder_shapes.size(), 2u);
  EXPECT_EQ(sdxl->model.pipeline->decoder_shape->image_size, 768);
  EXPECT_THAT(refusal("resnet-50", {{"job", "serve", {}}, {"steps", "20", {}}}), HasSubstr("step by step"));
  EXPECT_THAT(refusal("sdxl", {{"job", "serve", {}}, {"isl", "77", {}}}), HasSubstr("images, not on tokens"));
  EXPECT_THAT(refusal("sdxl", {{"job", "serve", {}}, {"resolution", "1001x1000", {}}}), HasSubstr("not a multiple"));
  EXPECT_THAT(refusal("vit-b-16", {{"job", "serve", {}}, {"resolution", "384", {}}}), HasSubstr("224x224 only"));
}

TEST(FindModel, UnknownHubIdsExplainHowToPassAConfiguration) {
  EXPECT_EQ(shape_of("Qwen/Qwen3-Next-80B-A3B-Instruct").name, "qwen3-next-80b-a3b");
  const Checked<ModelShape> unknown = find_model("google/vit-base-patch16-384");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(describe(unknown.error()),
              HasSubstr("huggingface.co/google/vit-base-patch16-384/resolve/main/config.json"));
}

}  // namespace
}  // namespace rightsize::model
