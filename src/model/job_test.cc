#include "model/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "settings/setting.h"

namespace rightsize::model {
namespace {

using testing::HasSubstr;

Checked<Job> parse(std::vector<std::pair<std::string, std::string>> settings) {
  std::vector<Setting> list;
  for (auto& [name, value] : settings) list.push_back({name, value, {}});
  return parse_job(list);
}

TEST(Job, TrainingDefaultsAreAHuggingFaceFineTune) {
  Checked<Job> job = parse({});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kTrain);
  EXPECT_EQ(job->stack, Stack::kHf);
  EXPECT_EQ(job->precision, Precision::kBf16);
  EXPECT_EQ(job->train.optimizer, Optimizer::kAdamW);
}

TEST(Job, MegatronAndTorchtitanKeepMasterWeights) {
  for (const char* stack : {"megatron", "torchtitan"}) {
    EXPECT_EQ(parse({{"stack", stack}})->precision, Precision::kMixedBf16) << stack;
    EXPECT_EQ(parse({{"stack", stack}, {"precision", "bf16"}})->precision, Precision::kBf16) << stack;
    EXPECT_EQ(parse({{"stack", stack}, {"method", "lora"}})->precision, Precision::kBf16) << stack;
  }
  EXPECT_EQ(parse({{"stack", "llm-foundry"}})->precision, Precision::kBf16);
}

TEST(Job, ServingDefaultsToVllm) { EXPECT_EQ(parse({{"job", "serve"}})->stack, Stack::kVllm); }

TEST(Job, SettingsOfServingImplyServing) {
  for (const std::string& name : job_settings()) {
    const std::string values = settings::placeholder(settings::get(name));
    if (values.find('|') != std::string::npos || !belongs_only_to(JobKind::kServe, name)) continue;
    const std::string value = name == "disaggregated" ? "prefill=8x1,decode=8x1" : values.front() == 'N' ? "16" : "0.5";
    const bool split = name == "attention-dp";
    const Checked<Job> implied = parse({{name, value}, {split ? "tp" : "gpus", "16"}});
    ASSERT_TRUE(implied) << name << describe(implied.error());
    EXPECT_EQ(implied->kind, JobKind::kServe) << name;
    EXPECT_EQ(implied->stack, Stack::kVllm) << name;
  }
  EXPECT_EQ(parse({{"stack", "sglang"}})->kind, JobKind::kServe);
  EXPECT_EQ(parse({{"isl", "100"}, {"job", "train"}})->kind, JobKind::kTrain);
  EXPECT_EQ(parse({{"isl", "100"}, {"optimizer", "sgd"}})->kind, JobKind::kTrain);
}

TEST(Job, ReadsEverySetting) {
  Checked<Job> job = parse({{"method", "QLoRA"},
                            {"lora-rank", "64"},
                            {"batch", "4"},
                            {"seq", "4k"},
                            {"gpus", "16"},
                            {"tp", "4"},
                            {"pp", "2"},
                            {"zero", "1"},
                            {"recompute", "full"},
                            {"optimizer", "adamw-paged-8bit"}});
  ASSERT_TRUE(job) << describe(job.error());
  EXPECT_EQ(job->train.method, Method::kQlora);
  EXPECT_EQ(job->sequence, 4000);
  EXPECT_EQ(job->parallel.data(), 2);
}

struct Wrong {
  std::vector<std::pair<std::string, std::string>> settings;
  const char* message;
};

TEST(Job, RefusesWrongInputWithAReason) {
  const Wrong cases[] = {
      {{{"precision", "bf61"}}, "unknown --precision 'bf61'"},
      {{{"bacth", "4"}}, "unknown setting 'bacth'\nhint: did you mean 'batch'?"},
      {{{"batch", "0"}}, "--batch 0 must be between 1"},
      {{{"batch", "-4"}}, "is negative"},
      {{{"batch", "1.5"}}, "not a whole number"},
      {{{"batch", "nan"}}, "not a finite number"},
      {{{"lora-rank", "99999"}}, "must be between 1 and 4,096"},
      {{{"method", "qlora"}, {"precision", "fp32"}}, "QLoRA keeps the base model in nf4"},
      {{{"precision", "int4"}}, "training does not run in int4\nhint: --method qlora"},
      {{{"job", "serve"}, {"precision", "amp-bf16"}}, "amp-bf16 is a training precision"},
      {{{"job", "serve"}, {"kv-precision", "nf4"}}, "no engine keeps its KV cache in nf4"},
      {{{"gpus", "6"}, {"tp", "4"}}, "does not divide 6 GPUs"},
      {{{"job", "serve"}, {"stack", "megatron"}}, "megatron does not serve"},
      {{{"stack", "vllm"}, {"job", "train"}}, "vllm does not train"},
      {{{"optimizer-in-backward", "yes"}, {"accumulate", "4"}}, "cannot accumulate gradients"},
      {{{"pp-interleave", "2"}}, "virtual stages need a pipeline"},
      {{{"job", "serve"}, {"memory-share", "1.2"}}, "must be between 0.05 and 1"},
      {{{"batch", "1"}, {"batch", "2"}}, "'batch' is given twice"},
  };
  for (const Wrong& wrong : cases) {
    Checked<Job> job = parse(wrong.settings);
    ASSERT_FALSE(job) << wrong.message;
    EXPECT_THAT(describe(job.error()), HasSubstr(wrong.message));
  }
}

TEST(Job, EveryMistakeIsReportedWithItsPlace) {
  Checked<Job> job = parse_job({{"batch", "x", {"w.yaml", 3, 8, 1, "batch: x"}},
                                {"optimiser", "adamw", {"w.yaml", 4, 1, 9, "optimiser: adamw"}}});
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().size(), 2u);
  EXPECT_THAT(describe(job.error()), HasSubstr("w.yaml:3:8: batch: 'x' is not a number\n  batch: x\n         ^"));
  EXPECT_THAT(describe(job.error()), HasSubstr("did you mean 'optimizer'"));
}

TEST(Job, EverySettingHasARow) {
  for (const std::string& name : job_settings()) EXPECT_NE(settings::find(name), nullptr) << name;
}

}  // namespace
}  // namespace rightsize::model
