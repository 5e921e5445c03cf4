#include "model/serve_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "presets/presets.h"

namespace rightsize::model {
namespace {

TEST(Disaggregated, WorkersTimesGpusInEitherOrder) {
  const Disaggregated d = *parse_disaggregated("decode=3x4,prefill=2x1");
  EXPECT_EQ(d.prefill_workers, 2);
  EXPECT_EQ(d.prefill_tensor, 1);
  EXPECT_EQ(d.decode_workers, 3);
  EXPECT_EQ(d.decode_tensor, 4);
  EXPECT_EQ(d.gpus(), 14);
}

TEST(Disaggregated, EverythingElseIsRefused) {
  for (const char* text : {"", "prefill=2x1", "prefill=2,decode=1x4", "prefill=0x1,decode=1x4",
                           "prefill=1x1,prefill=1x1", "prefil=1x1,decode=1x1", "prefill=1x1,decode=1x1,decode=1x1"}) {
    EXPECT_FALSE(parse_disaggregated(text)) << text;
  }
}

TEST(Speculation, TokensAndAcceptance) {
  EXPECT_EQ(parse_speculation("3")->tokens, 3);
  EXPECT_DOUBLE_EQ(parse_speculation("2,0.5")->acceptance, 0.5);
  for (const char* text : {"0", "17", "2,1", "2,-0.1", "a"}) EXPECT_FALSE(parse_speculation(text)) << text;
}

Checked<Job> job_of(std::vector<Setting> settings) {
  settings.push_back({"job", "serve", {}});
  return parse_job(settings);
}

TEST(ServedJob, WorkersGiveTheGpusAndTheTensorParallelism) {
  const Job job = *job_of({{"disaggregated", "prefill=2x1,decode=1x4", {}}});
  EXPECT_EQ(job.parallel.gpus, 6);
  EXPECT_EQ(job.parallel.tensor, 4);
}

TEST(ServedJob, ContradictionsAreRefused) {
  const std::vector<std::vector<Setting>> wrong = {
      {{"disaggregated", "prefill=2x1,decode=1x4", {}}, {"gpus", "5", {}}},
      {{"disaggregated", "prefill=2x1,decode=1x4", {}}, {"tp", "2", {}}},
      {{"tp", "4", {}}, {"gpus", "4", {}}, {"attention-dp", "3", {}}},
      {{"tp", "4", {}}, {"gpus", "4", {}}, {"ep", "8", {}}},
      {{"stack", "hf", {}}, {"tp", "2", {}}, {"gpus", "2", {}}, {"ep", "2", {}}},
  };
  for (const auto& settings : wrong) EXPECT_FALSE(job_of(settings)) << settings.back().name;
  for (const char* name : {"attention-dp", "prefix-hit", "speculate", "max-batch", "max-tokens"}) {
    const char* value = std::string_view(name) == "prefix-hit" ? "0.5" : "16";
    EXPECT_FALSE(parse_job({{"job", "train", {}}, {name, value, {}}})) << name;
  }
}

TEST(CheckpointFormat, IsTheOneInTheConfiguration) {
  EXPECT_EQ(checkpoint_precision(*find_model("deepseek-r1")), Precision::kFp8);
  EXPECT_EQ(checkpoint_precision(*find_model("gpt-oss-120b")), Precision::kFp4);
  EXPECT_EQ(checkpoint_precision(*find_model("llama-3.1-8b")), Precision::kBf16);
  EXPECT_EQ(default_precision(*find_model("gpt-oss-120b"), Stack::kHf), Precision::kBf16);
}

TEST(ServedFormats, FourBitsHoldTheExpertsOfAMixture) {
  const ServedFormats mixture = served_formats(true, Precision::kFp8, Precision::kFp4);
  EXPECT_EQ(mixture.experts, Precision::kFp4);
  EXPECT_EQ(mixture.dense, Precision::kBf16);
  EXPECT_EQ(served_formats(false, Precision::kBf16, Precision::kFp4).dense, Precision::kFp4);
  EXPECT_EQ(served_formats(true, Precision::kFp4, Precision::kFp8).experts, Precision::kFp4);
  EXPECT_EQ(served_formats(true, Precision::kFp4, Precision::kBf16).experts, Precision::kBf16);
}

}  // namespace
}  // namespace rightsize::model
