#include "live_service/served_model.h"

#include <gtest/gtest.h>

namespace rightsize::live_service {
namespace {

TEST(ServedModel, NamesOfCheckpointsAreModelsAndFormats) {
  const std::tuple<const char*, const char*, model::Precision> cases[] = {
      {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b", model::Precision::kBf16},
      {"meta-llama/Meta-Llama-3.1-70B-Instruct", "llama-3.1-70b", model::Precision::kBf16},
      {"neuralmagic/Meta-Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b", model::Precision::kFp8},
      {"mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3", model::Precision::kBf16},
      {"Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b", model::Precision::kInt4},
      {"qwen2.5-14b", "qwen2.5-14b", model::Precision::kBf16},
  };
  for (const auto& [served, name, precision] : cases) {
    const auto found = find_served_model(served);
    ASSERT_TRUE(found) << served;
    EXPECT_EQ(found->shape.name, name) << served;
    EXPECT_EQ(found->precision, precision) << served;
  }
}

TEST(ServedModel, AnUnknownModelIsReported) {
  const auto found = find_served_model("team-chat-prod");
  ASSERT_FALSE(found);
  EXPECT_FALSE(found.error().front().hints.empty());
}

}  // namespace
}  // namespace rightsize::live_service
