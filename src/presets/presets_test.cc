#include "presets/presets.h"

#include <cctype>
#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "base/date.h"
#include "base/file.h"

namespace rightsize::model {
namespace {

class EveryPreset : public testing::TestWithParam<Preset> {};

TEST_P(EveryPreset, HasItsPublishedCount) {
  const Preset& preset = GetParam();
  Checked<ModelShape> shape = find_model(preset.name);
  ASSERT_TRUE(shape) << describe(shape.error());
  EXPECT_EQ(shape->name, preset.name);
  EXPECT_GT(shape->parameters(), 0);
  if (!preset.published_parameters) return;
  if (preset.rounded) {
    const double published = static_cast<double>(*preset.published_parameters);
    EXPECT_NEAR(static_cast<double>(shape->parameters()), published, 0.01 * published);
  } else {
    EXPECT_EQ(shape->parameters(), *preset.published_parameters);
  }
}

TEST_P(EveryPreset, ParametersTensorsAndSizesAgree) {
  Checked<ModelShape> shape = find_model(GetParam().name);
  ASSERT_TRUE(shape);
  EXPECT_LE(shape->active_parameters(), shape->parameters());
  EXPECT_EQ(shape->experts.has_value(), shape->active_parameters() < shape->parameters());
  std::vector<std::int64_t> sizes = tensor_elements(*shape);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), shape->parameters());
  EXPECT_GT(shape->layers, 0);
  EXPECT_GT(shape->hidden, 0);
  if (shape->kind == ModelKind::kDecoder) {
    EXPECT_GT(shape->context, 0);
    EXPECT_GT(shape->vocabulary, 0);
  }
  EXPECT_FALSE(GetParam().source.empty());
  EXPECT_TRUE(parse_date(GetParam().date));
}

INSTANTIATE_TEST_SUITE_P(Models, EveryPreset, testing::ValuesIn(presets()), [](const auto& test) {
  std::string name = test.param.name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(Presets, NamesAndAliasesAreUnambiguous) {
  for (const Preset& preset : presets()) {
    EXPECT_EQ(find_model(preset.name)->name, preset.name);
    for (const std::string& alias : preset.aliases) EXPECT_EQ(find_model(alias)->name, preset.name) << alias;
  }
  EXPECT_GE(preset_names().size(), 150u);
}

TEST(Presets, APointBetweenDigitsIsSignificant) {
  EXPECT_EQ(find_model("opt1.3b")->name, "opt-1.3b");
  EXPECT_EQ(find_model("opt13b")->name, "opt-13b");
}

TEST(Presets, ActiveParametersOfMixturesAreThePublishedOnes) {
  struct Row {
    const char* name;
    double active_billions;  // as published, to two or three digits
  };
  for (Row row : {Row{"mixtral-8x7b", 12.9}, Row{"mixtral-8x22b", 39.1}, Row{"qwen3-30b-a3b", 3.3},
                  Row{"qwen3-235b-a22b", 22.2}, Row{"qwen1.5-moe-a2.7b", 2.7}, Row{"deepseek-v2", 21.4},
                  Row{"deepseek-v3", 37.6}, Row{"gpt-oss-20b", 4.2}, Row{"gpt-oss-120b", 5.7}}) {
    Checked<ModelShape> shape = find_model(row.name);
    ASSERT_TRUE(shape);
    EXPECT_NEAR(static_cast<double>(shape->active_parameters()) / 1e9, row.active_billions, 0.02 * row.active_billions)
        << row.name;
  }
}

TEST(FindModel, SeparatorsAndCaseDoNotMatter) {
  for (const char* name : {"llama-3.1-8b", "Llama3.1-8B", "llama_3.1_8b", "meta-llama/Llama-3.1-8B"}) {
    Checked<ModelShape> shape = find_model(name);
    ASSERT_TRUE(shape) << name;
    EXPECT_EQ(shape->name, "llama-3.1-8b");
  }
}

// A chat model has the shape of its base model, but files must name its weights.
TEST(HubId, IsTheOneThatWasTyped) {
  for (const char* id : {"meta-llama/Llama-3.1-8B-Instruct", "Qwen/Qwen2.5-7B-Instruct", "google/gemma-2-9b-it",
                         "mistralai/Mixtral-8x7B-Instruct-v0.1", "my-team/Llama-3.1-8B-finetuned"}) {
    EXPECT_EQ(hub_id(id), id);
    EXPECT_EQ(hub_id("https://huggingface.co/" + std::string(id) + "/tree/main"), id);
  }
  EXPECT_EQ(hub_id("llama-2-13b-chat"), "");  // its owner writes Llama-2-13b-chat-hf
  EXPECT_EQ(hub_id("llama-3.1-8b-instruct"), "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_EQ(hub_id("Qwen2.5-72B-Instruct"), "Qwen/Qwen2.5-72B-Instruct");
  EXPECT_EQ(hub_id("gemma-2-9b-it"), "google/gemma-2-9b-it");
  EXPECT_EQ(hub_id("./config.json"), "");
  EXPECT_EQ(hub_id("mpt-7b-foundry"), "");
}

TEST(HubId, BuiltInModelsUseTheirFirstHubId) {
  EXPECT_EQ(hub_id("llama-3.1-8b"), "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(hub_id("META-LLAMA/llama_3.1_8b"), "meta-llama/Llama-3.1-8B");
  for (const Preset& preset : presets()) {
    for (const std::string& alias : preset.aliases) {
      if (alias.find('/') == std::string::npos) continue;
      EXPECT_EQ(hub_id(alias), alias);
      EXPECT_NE(hub_id(preset.name).find('/'), std::string::npos) << preset.name;
    }
  }
}

TEST(FindModel, UnknownNamesGetSuggestions) {
  Checked<ModelShape> shape = find_model("lama-3.1-8b");
  ASSERT_FALSE(shape);
  std::string text = describe(shape.error());
  EXPECT_NE(text.find("unknown model 'lama-3.1-8b'"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean 'llama-3.1-8b'"), std::string::npos) << text;
}

TEST(FindModel, AMissingFileIsUnreadable) {
  Checked<ModelShape> shape = find_model("no/such/config.json");
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().at(0).code, ErrorCode::kUnreadableSource);
}

TEST(FindModel, ReadsAFileAndAFolder) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "find_model_test";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "config.json").string();
  ASSERT_TRUE(write_file(file, R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12})"));
  for (const std::string& path : {file, folder.string()}) {
    Checked<ModelShape> shape = find_model(path);
    ASSERT_TRUE(shape) << path << describe(shape.error());
    EXPECT_EQ(shape->parameters(), 124'439'808);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rightsize::model
