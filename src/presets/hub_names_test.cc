#include "presets/hub_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/random.h"
#include "base/text.h"
#include "presets/presets.h"
#include "presets/scaled.h"

namespace rightsize::model {
namespace {

std::size_t one_of_names(Random& random, std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(count)));
}

// Every row names a built-in model, and every name resolves to it, with and without its organization.
TEST(HubNames, EveryRowResolves) {
  const std::vector<std::string> presets = preset_names();
  const Csv csv = *Csv::parse("hub_models.csv", std::string(embedded_file("hub_models.csv")));
  ASSERT_GT(csv.rows().size(), 800u);
  for (const CsvRow& row : csv.rows()) {
    const std::string id(csv.cell(row, "hub_id")), model(csv.cell(row, "model"));
    EXPECT_NE(std::find(presets.begin(), presets.end(), model), presets.end()) << id << " " << model;
    const auto found = shape_of_name(id, presets);
    ASSERT_TRUE(found) << id;
    EXPECT_EQ(found->preset, model) << id;
    EXPECT_EQ(found->format ? std::string(name_of(*found->format)) : "", csv.cell(row, "precision")) << id;
  }
}

// A unique name without its organization means that model; a short name has the ID of the built-in model.
TEST(HubNames, NamesWithoutAnOrganizationHaveAnId) {
  const Csv csv = *Csv::parse("hub_models.csv", std::string(embedded_file("hub_models.csv")));
  std::map<std::string, std::set<std::string>> ids;
  std::map<std::string, std::string> shorts;
  for (const CsvRow& row : csv.rows()) {
    const std::string id(csv.cell(row, "hub_id"));
    if (id.find('/') == std::string::npos)
      shorts.emplace(to_lower(id), csv.cell(row, "model"));
    else
      ids[to_lower(id.substr(id.find('/') + 1))].insert(id);
  }
  for (const auto& [name, model] : shorts) {
    if (ids.contains(name)) continue;
    EXPECT_EQ(hub_id(name), hub_id(model)) << name;
  }
  for (const auto& [name, all] : ids) {
    if (shorts.contains(name)) continue;
    EXPECT_EQ(listed_id(name), all.size() == 1 ? *all.begin() : "") << name;
  }
  EXPECT_EQ(hub_id("bge-large"), "BAAI/bge-large-en-v1.5");
  EXPECT_EQ(hub_id("bge-reranker-v2-m3"), "BAAI/bge-reranker-v2-m3");
}

// A quantized copy has the shape of its original, in the format given by its name.
TEST(HubNames, CopiesHaveTheShapeOfTheOriginal) {
  const std::pair<const char*, Precision> suffixes[] = {
      {"-FP8", Precision::kFp8},        {"-FP8-dynamic", Precision::kFp8},  {"-AWQ", Precision::kInt4},
      {"-GPTQ-Int4", Precision::kInt4}, {"-GPTQ-Int8", Precision::kInt8},   {"-quantized.w8a8", Precision::kInt8},
      {"-NVFP4", Precision::kFp4},      {"-bnb-4bit", Precision::kNf4},     {"-quantized.w4a16", Precision::kInt4},
      {"-GGUF", Precision::kInt4},      {"-GGUF:Q8_0", Precision::kInt8},   {"-Q4_K_M-GGUF", Precision::kInt4},
      {"-GGUF:Q6_K", Precision::kInt8}, {"-GGUF:IQ3_XS", Precision::kInt4},
  };
  Random random(4);
  for (const Preset& preset : presets()) {
    if (preset.name.find("b-") != std::string::npos || !billions_in_name(preset.name)) continue;
    const Checked<ModelShape> original = find_model(preset.name);
    ASSERT_TRUE(original) << preset.name;
    if (original->kind != ModelKind::kDecoder) continue;
    const auto& [suffix, format] = suffixes[one_of_names(random, std::size(suffixes))];
    const std::string copy = "someone/" + preset.name + "-Instruct" + suffix;
    const Checked<ModelShape> found = find_model(copy);
    ASSERT_TRUE(found) << copy;
    EXPECT_EQ(found->name, original->name) << copy;
    EXPECT_EQ(found->checkpoint, format) << copy;
  }
}

// No modelled engine runs GGUF, so the answer must say which format replaces it.
TEST(HubNames, GgufCopiesExplainHowTheyAreModelled) {
  for (const char* name : {"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "Qwen/Qwen2.5-7B-Instruct-GGUF:Q4_K_M",
                           "someone/Unknown-13B-GGUF", "TheBloke/Llama-2-13B-chat-GGUF"}) {
    EXPECT_NE(note_on_name(name).find("modelled as int4 weights"), std::string::npos) << name << note_on_name(name);
    EXPECT_EQ(find_model(name)->checkpoint, Precision::kInt4) << name;
  }
  for (const char* name : {"Qwen/Qwen2.5-7B-Instruct-AWQ", "llama-3.1-8b", "RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8"})
    EXPECT_EQ(note_on_name(name).find("GGUF"), std::string::npos) << name;
}

// Long-context encoders differ from short ones: rotary positions and gated MLPs give a different size and a different
// limit.
TEST(HubNames, RotaryEncodersHaveTheirOwnShape) {
  for (const auto& [name, millions] : {std::pair{"nomic-ai/nomic-embed-text-v1.5", 137.0},
                                       {"nomic-ai/nomic-embed-text-v1", 137.0},
                                       {"Alibaba-NLP/gte-large-en-v1.5", 434.0},
                                       {"Alibaba-NLP/gte-base-en-v1.5", 137.0}}) {
    const Checked<ModelShape> shape = find_model(name);
    ASSERT_TRUE(shape) << name;
    EXPECT_EQ(shape->context, 8192) << name;
    EXPECT_NEAR(static_cast<double>(shape->parameters()) / 1e6, millions, 0.01 * millions) << name;
  }
}

// A model with the shape of a built-in one may have another context, and so may its copies.
TEST(HubNames, ContextOfTheModelItself) {
  const Csv csv = *Csv::parse("hub_models.csv", std::string(embedded_file("hub_models.csv")));
  for (const CsvRow& row : csv.rows()) {
    const std::string id(csv.cell(row, "hub_id")), own(csv.cell(row, "context"));
    if (own.empty()) continue;
    const Checked<ModelShape> shape = find_model(id);
    ASSERT_TRUE(shape) << id;
    EXPECT_EQ(shape->context, std::stoll(own)) << id;
  }
  EXPECT_EQ(find_model("someone/Qwen3-Coder-30B-A3B-Instruct-AWQ")->context, 40'960);
  EXPECT_EQ(find_model("Qwen/Qwen3-Coder-30B-A3B-Instruct-AWQ")->context, 262'144);
}

TEST(HubNames, ModelsWithOtherShapesAreNotConfused) {
  for (const char* name : {"Qwen2.5-VL-7B", "Llama-3.1-Minitron-8B", "llama-3.1-9b"}) {
    const auto found = shape_of_name(name, preset_names());
    EXPECT_TRUE(!found || found->preset.find("vl") != std::string::npos) << name << " " << found->preset;
  }
}

// A scaled model has about the requested number of parameters.
TEST(Scaled, HasTheParameters) {
  Random random(6);
  for (int i = 0; i < 40; ++i) {
    const double billions = std::exp(std::log(0.5) + random.uniform() * std::log(1000));
    const char* const families[] = {"llama", "qwen3", "mistral", "unheard-of"};
    const std::string name = fmt::format("{:.1f}B like {}", billions, families[one_of_names(random, 4)]);
    const Checked<ModelShape> shape = find_model(name);
    ASSERT_TRUE(shape) << name;
    EXPECT_NEAR(static_cast<double>(shape->parameters()) / 1e9 / billions, 1, 0.12) << name;
    EXPECT_EQ(shape->hidden % shape->heads, 0) << name;
    EXPECT_EQ(shape->heads % shape->kv_heads, 0) << name;
  }
}

}  // namespace
}  // namespace rightsize::model
