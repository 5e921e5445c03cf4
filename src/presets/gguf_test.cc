#include "presets/gguf.h"

#include <gtest/gtest.h>

namespace rightsize::model {
namespace {

TEST(Gguf, BitsPerWeightFollowTheNameOfTheQuantization) {
  const std::pair<const char*, std::optional<double>> cases[] = {
      {"llama3.1:70b-instruct-q4_K_M", 4.8944},
      {"llama-3.3-70b-instruct-Q4_K_M.gguf", 4.8944},
      {"Qwen/Qwen2.5-7B-Instruct-GGUF:Q8_0", 8.5008},
      {"bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", 4.8944},
      {"qwen2.5-coder:32b", 4.8944},
      {"m-Q2_K_S.gguf", 2.9697},
      {"m-Q2_K.gguf", 3.1593},
      {"m-Q3_K_XL.gguf", std::nullopt},
      {"llama3.1:8b-instruct-fp16", std::nullopt},
      {"Qwen/Qwen3-32B-AWQ", std::nullopt},
      {"llama-3.1-8b", std::nullopt},
  };
  for (const auto& [name, bits] : cases) EXPECT_EQ(gguf_bits(name), bits) << name;
}

}  // namespace
}  // namespace rightsize::model
