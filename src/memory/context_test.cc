// Requests and sequences end at the model's context, for every model and job.
#include <cstdio>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "memory/memory.h"
#include "presets/presets.h"

namespace rightsize::memory {
namespace {

using ::testing::HasSubstr;

model::Job serving(std::int64_t isl, std::int64_t osl) {
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.serve.isl = isl, job.serve.osl = osl;
  return job;
}

TEST(Context, LongerRequestsAndSequencesAreRefused) {
  Random random(1);
  for (const char* name : {"gpt2", "llama-3.1-8b", "qwen2.5-14b", "deepseek-v3", "gemma-3-27b", "bert-large"}) {
    const model::ModelShape model = *model::find_model(name);
    for (int i = 0; i < 20; ++i) {
      const auto tokens = static_cast<std::int64_t>(random.uniform() * 2 * static_cast<double>(model.context)) + 2;
      model::Job train;
      train.kind = model::JobKind::kTrain;
      train.sequence = tokens;
      const bool table = model.positions == model::Positions::kLearned;
      EXPECT_EQ(check_job(model, train).empty(), !table || tokens <= model.context) << name << tokens;
      train.stack = model::Stack::kMegatron;
      EXPECT_TRUE(check_job(model, train).empty()) << "trained from its sizes: " << name << tokens;
      if (model.kind == model::ModelKind::kEncoder) continue;
      const std::int64_t osl = 1 + tokens / 3;
      const Errors errors = check_job(model, serving(tokens - osl, osl));
      EXPECT_EQ(errors.empty(), tokens <= model.context) << name << tokens;
      const std::string named = errors.empty() ? "" : fmt::format("context of {}", model.name);
      EXPECT_THAT(describe(errors), HasSubstr(named)) << tokens;
    }
  }
}

// ALiBi, relative positions and state space models have no last position; an encoder-decoder has two contexts.
TEST(Context, SomeModelsHaveNoLimit) {
  for (const char* name : {"mpt-7b", "t5-large", "mamba2-2.7b"}) {
    const model::ModelShape model = *model::find_model(name);
    EXPECT_FALSE(check_length(model, 10 * std::max<std::int64_t>(model.context, 1), 10)) << name;
  }
  const model::ModelShape bart = *model::find_model("bart-large");
  EXPECT_FALSE(check_length(bart, bart.context, bart.context));
}

// The suggested lengths fit.
TEST(Context, TheHintFits) {
  const model::ModelShape model = *model::find_model("qwen2.5-14b");
  for (const auto& [isl, osl] : {std::pair{60'000, 500}, {100, 50'000}, {32'768, 1}}) {
    const auto wrong = check_length(model, isl, osl);
    ASSERT_TRUE(wrong);
    long long in = isl, out = osl;
    std::sscanf(wrong->hints.at(0).c_str(), "use at most --isl %lld and --osl %lld", &in, &out);
    EXPECT_FALSE(check_length(model, in, out)) << wrong->hints.at(0);
  }
}

}  // namespace
}  // namespace rightsize::memory
