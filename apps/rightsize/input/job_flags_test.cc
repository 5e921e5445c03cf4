#include "rightsize/input/job_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

JobFlags flags_of(const char* model, std::map<std::string, std::string> settings) {
  return {model, "", std::move(settings)};
}

std::string said_of(const JobFlags& flags) {
  const Checked<ModelAndJob> read = read_job(flags);
  return read ? describe_job(read->model, read->job) : describe(read.error());
}

TEST(JobFlags, TrainingIsDescribedWithItsSettings) {
  EXPECT_EQ(said_of(flags_of("llama-2-7b", {{"batch", "8"}, {"seq", "2048"}, {"precision", "bf16"}})),
            "Training llama-2-7b in bf16 with adamw, batch 8 x 2048 tokens");
}

TEST(JobFlags, AdaptersRecomputeAndShardsAreNamed) {
  const std::string said = said_of(
      flags_of("llama-2-7b", {{"method", "lora"}, {"recompute", "full"}, {"gpus", "8"}, {"tp", "2"}, {"zero", "1"}}));
  EXPECT_THAT(said, HasSubstr("Training lora adapters of llama-2-7b"));
  EXPECT_THAT(said, HasSubstr(", full recompute, on 8 GPUs, tp 2, ZeRO 1"));
}

TEST(JobFlags, ServingIsDescribedByItsRequests) {
  EXPECT_THAT(said_of(flags_of("llama-2-7b", {{"job", "serve"}, {"concurrency", "1"}, {"isl", "512"}, {"osl", "64"}})),
              HasSubstr("1 request in flight, 512 tokens in, 64 out"));
}

TEST(JobFlags, ALengthThatWasLeftOutIsFilledIn) {
  const Checked<ModelAndJob> read = read_job(flags_of("llama-2-7b", {}));
  ASSERT_TRUE(read);
  EXPECT_GT(read->job.sequence, 0);
}

TEST(JobFlags, AllMistakesAreReportedWithSuggestions) {
  const Checked<ModelAndJob> read = read_job(flags_of("llama-2-7b", {{"precision", "bf61"}, {"optimizer", "adamv"}}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().size(), 2u);
  EXPECT_THAT(describe(read.error()), HasSubstr("did you mean 'bf16'"));
  EXPECT_THAT(said_of(flags_of("llama-2-7", {})), HasSubstr("llama-2-7b"));
}

TEST(JobFlags, SettingsThatContradictTheModelAreRefused) {
  EXPECT_FALSE(read_job(flags_of("llama-2-7b", {{"gpus", "8"}, {"tp", "7"}})));
}

}  // namespace
}  // namespace rightsize::app
