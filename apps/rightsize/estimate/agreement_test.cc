// 'estimate' and 'memory' answer the same question about memory alike, and 'estimate' says it first.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using report::Json;

TEST(EstimateAndMemory, JobsThatDoNotFitSaySoFirst) {
  // Images, videos, single passes, training: everything without an engine that refuses to start.
  const std::vector<std::vector<std::string>> jobs = {
      {"flux.1-dev", "--job", "serve"},
      {"sdxl", "--job", "serve", "--batch", "16"},
      {"wan2.1-t2v-14b", "--job", "serve"},
      {"bert-large", "--job", "serve", "--batch", "4096", "--seq", "512"},
      {"vit-l-16", "--job", "train", "--batch", "512"},
      {"llama-3.1-8b", "--job", "train", "--batch", "1"},
      {"llama-3.1-8b", "--job", "train", "--method", "qlora", "--batch", "1"},
      {"resnet-50", "--job", "train", "--batch", "64"},
      {"llama-3.1-8b", "--job", "serve", "--stack", "hf", "--batch", "64"},
  };
  int too_large = 0, fitting = 0;
  std::mt19937 random(7);
  for (const std::vector<std::string>& job : jobs) {
    for (const char* gpu : {"t4", "rtx-4090", "l40s", "h100-sxm", "b200-sxm"}) {
      if (random() % 2 == 0) continue;
      std::vector<std::string> words = job;
      words.insert(words.end(), {"--gpu", gpu});
      const Checked<Outcome> need = call("memory", words), speed = call("estimate", words);
      ASSERT_TRUE(need) << describe(need.error());
      ASSERT_TRUE(speed) << describe(speed.error());
      if (*speed->report.document.find("feasible") != Json(true)) continue;
      const bool fits = *need->report.document.find("fits")->items()->front().find("verdict")->text() != "no";
      const std::string first = std::get<report::Paragraph>(speed->report.blocks.front()).text;
      EXPECT_EQ(first.find("run out of memory") == std::string::npos, fits) << job[0] << " on " << gpu << ": " << first;
      fits ? ++fitting : ++too_large;
    }
  }
  EXPECT_GT(fitting, 3);
  EXPECT_GT(too_large, 3);
}

// A language model that embeds texts answers with texts per second, as encoders answer with samples per second.
TEST(Estimate, APassWithoutOutputTokensHasNoTimePerOutputToken) {
  for (const char* model : {"mistral-7b-v0.1", "llama-3.1-8b", "qwen3-0.6b"}) {
    const Checked<Outcome> outcome =
        call("estimate", {model, "--gpu", "l4", "--job", "serve", "--isl", "512", "--osl", "1", "--concurrency", "32"});
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const std::string text = std::get<report::Paragraph>(outcome->report.blocks.front()).text;
    EXPECT_THAT(text, testing::HasSubstr("texts/s"));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("TPOT")));
  }
}

}  // namespace
}  // namespace rightsize::app
