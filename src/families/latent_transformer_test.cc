#include "families/latent_transformer.h"

#include <string>

#include <gtest/gtest.h>

#include "families/read_model.h"

namespace rightsize::model {
namespace {

struct Published {
  const char* config;
  std::int64_t parameters;
};

// Counts of the published checkpoints; the fields are those of their config.json.
constexpr Published kPublished[] = {
    {R"({"_class_name": "PixArtTransformer2DModel", "num_layers": 28, "num_attention_heads": 16, "attention_head_dim": 72,
         "caption_channels": 4096, "in_channels": 4, "out_channels": 8, "sample_size": 128, "patch_size": 2})",
     610'856'096},
    {R"({"_class_name": "WanTransformer3DModel", "num_layers": 30, "num_attention_heads": 12, "attention_head_dim": 128,
         "ffn_dim": 8960, "in_channels": 16, "out_channels": 16, "text_dim": 4096, "freq_dim": 256})",
     1'418'996'800},
    {R"({"_class_name": "SD3Transformer2DModel", "num_layers": 38, "num_attention_heads": 38, "attention_head_dim": 64,
         "caption_projection_dim": 2432, "joint_attention_dim": 4096, "pooled_projection_dim": 2048, "in_channels": 16,
         "out_channels": 16, "patch_size": 2, "sample_size": 128, "qk_norm": "rms_norm"})",
     8'056'627'520},
    {R"({"_class_name": "SD3Transformer2DModel", "num_layers": 24, "num_attention_heads": 24, "attention_head_dim": 64,
         "caption_projection_dim": 1536, "joint_attention_dim": 4096, "pooled_projection_dim": 2048, "in_channels": 16,
         "out_channels": 16, "patch_size": 2, "sample_size": 128, "qk_norm": "rms_norm",
         "dual_attention_layers": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]})",
     2'243'171'520},
    {R"({"_class_name": "HunyuanVideoTransformer3DModel", "num_layers": 20, "num_single_layers": 40})", 12'821'012'544},
};

TEST(LatentTransformers, HavePublishedCounts) {
  for (const Published& model : kPublished) {
    const Checked<ModelShape> shape = read_model("config.json", model.config);
    ASSERT_TRUE(shape) << describe(shape.error());
    EXPECT_EQ(shape->parameters(), model.parameters) << shape->family;
    EXPECT_TRUE(shape->pipeline) << shape->family;
  }
}

// Four frames share one latent frame, after the first one.
TEST(LatentTransformers, LengthGrowsWithFrames) {
  const std::string wan = kPublished[1].config;
  const auto tokens = [&](int frames) {
    const Checked<ModelShape> shape = read_model("config.json", wan, {ImageSize{832, 480}, frames});
    return shape ? shape->forward->attentions.front().query_tokens : 0;
  };
  const std::int64_t one = tokens(1);
  EXPECT_EQ(one, 52 * 30);
  for (int frames : {5, 17, 81}) EXPECT_EQ(tokens(frames), one * ((frames - 1) / 4 + 1)) << frames;
}

}  // namespace
}  // namespace rightsize::model
