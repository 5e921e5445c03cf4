#include "rightsize/input/job_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory/memory.h"

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
            "Training llama-2-7b in bf16 with adamw, batch 8 x 2,048 tokens");
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

TEST(JobFlags, HelpShowsTheDefaultsThatHold) {
  for (const model::SettingInfo& info : model::job_settings()) {
    const std::string value = default_of(info.name);
    if (value.empty() || value.find(';') != std::string::npos || info.name == "job") continue;
    for (const char* kind : {"train", "serve"}) {
      const Checked<ModelAndJob> given = read_job(flags_of("llama-2-7b", {{"job", kind}, {info.name, value}}));
      if (!given) continue;  // of the other kind of job
      const Checked<ModelAndJob> without = read_job(flags_of("llama-2-7b", {{"job", kind}}));
      EXPECT_EQ(describe_job(given->model, given->job), describe_job(without->model, without->job)) << info.name;
      EXPECT_EQ(in_bytes(memory::estimate_memory(given->model, given->job, nullptr).device),
                in_bytes(memory::estimate_memory(without->model, without->job, nullptr).device))
          << info.name;
    }
  }
}

TEST(JobFlags, AGpuMayBeCounted) {
  JobFlags flags;
  take_gpu("H100:8", flags.gpu, flags.settings);
  EXPECT_EQ(flags.gpu, "H100");
  EXPECT_EQ(flags.settings["gpus"], "8");
  take_gpus("8xL4", flags.gpu, flags.settings);
  EXPECT_EQ(flags.gpu, "L4");
  take_gpus("4", flags.gpu, flags.settings);
  EXPECT_EQ(flags.settings["gpus"], "8 and 4");  // refused as no number
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
