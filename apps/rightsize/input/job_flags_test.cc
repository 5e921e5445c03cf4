#include "rightsize/input/job_flags.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/hardware.h"
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
  EXPECT_THAT(said, HasSubstr("Training LoRA adapters of rank 16 of llama-2-7b"));
  EXPECT_THAT(said, HasSubstr(", full recompute, on 8 GPUs, tp 2, ZeRO 1"));
}

TEST(JobFlags, ServingIsDescribedByItsRequests) {
  EXPECT_THAT(said_of(flags_of("llama-2-7b", {{"job", "serve"}, {"concurrency", "1"}, {"isl", "512"}, {"osl", "64"}})),
              HasSubstr("1 request in flight, 512 tokens in, 64 out"));
}

TEST(JobFlags, AMissingLengthIsFilledIn) {
  const Checked<ModelAndJob> read = read_job(flags_of("llama-2-7b", {}));
  ASSERT_TRUE(read);
  EXPECT_GT(read->job.sequence, 0);
}

TEST(JobFlags, HelpShowsTheDefaultsInUse) {
  for (const std::string& name : model::job_settings()) {
    const settings::Setting& row = settings::get(name);
    const std::string value(row.preset.empty() ? row.preset_words : row.preset);
    if (value.empty() || value.find(' ') != std::string::npos) continue;  // depends on the job
    for (const char* kind : {"train", "serve"}) {
      const Checked<ModelAndJob> given = read_job(flags_of("llama-2-7b", {{"job", kind}, {name, value}}));
      if (!given) continue;  // belongs to the other kind of job
      const Checked<ModelAndJob> without = read_job(flags_of("llama-2-7b", {{"job", kind}}));
      EXPECT_EQ(describe_job(given->model, given->job), describe_job(without->model, without->job)) << name;
      EXPECT_EQ(in_bytes(memory::estimate_memory(given->model, given->job, nullptr).device),
                in_bytes(memory::estimate_memory(without->model, without->job, nullptr).device))
          << name;
    }
  }
}

TEST(JobFlags, AGpuMayHaveACount) {
  JobFlags flags;
  EXPECT_TRUE(take_gpu("H100:8", flags.gpu, flags.settings));
  EXPECT_EQ(flags.gpu, "H100");
  EXPECT_EQ(flags.settings["gpus"], "8");
  EXPECT_TRUE(take_gpus("8xL4", flags.gpu, flags.settings));
  EXPECT_EQ(flags.gpu, "L4");
  EXPECT_THAT(describe(take_gpus("4", flags.gpu, flags.settings).error()), HasSubstr("both 8 and 4"));
  EXPECT_THAT(describe(take_gpus("nan", flags.gpu, flags.settings).error()), HasSubstr("--gpus"));
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

// For any numbers, memory is positive and finite, and a job that needs more than the GPU has does not fit.
RC_GTEST_PROP(JobFlags, HugeNumbersAreRefusedOrAnswered, ()) {
  static const catalog::Catalog kCatalog = *catalog::load_hardware("");
  const char* model = *rc::gen::element("llama-3.1-8b", "qwen3-30b-a3b", "bert-large", "resnet-50", "whisper-large-v3");
  const bool serves = *rc::gen::arbitrary<bool>();
  std::map<std::string, std::string> given = {{"job", serves ? "serve" : "train"}};
  const std::vector<std::string> names = serves
                                             ? std::vector<std::string>{"batch", "isl", "osl", "concurrency", "images"}
                                             : std::vector<std::string>{"batch", "seq", "accumulate", "lora-rank"};
  for (const std::string& name : names) {
    const settings::Setting& row = settings::get(name);
    const double at = *rc::gen::inRange(0, 101) / 100.0;  // on a logarithmic scale
    const double value = std::max(row.least, std::floor(std::pow(row.most, at)));
    if (*rc::gen::inRange(0, 3) > 0) given[name] = settings::format(row, std::min(value, row.most));
  }
  if (given.contains("lora-rank")) given["method"] = "lora";
  if (!serves && *rc::gen::arbitrary<bool>()) given["attention"] = "eager";
  const Checked<ModelAndJob> read = read_job({model, "", given});
  if (!read) {
    RC_ASSERT(!describe(read.error()).empty());
    return;
  }
  const catalog::Gpu& gpu = **kCatalog.find_gpu("h100-sxm");
  const memory::MemoryNeed need = memory::estimate_memory(read->model, read->job, &gpu);
  for (const Bytes part : {need.peak_allocated, need.reserved, need.device, need.low, need.high}) {
    RC_ASSERT(std::isfinite(in_bytes(part)));
    RC_ASSERT(part >= Bytes{});
  }
  for (const Bytes part : need.parts.bytes) RC_ASSERT(std::isfinite(in_bytes(part)) && part >= Bytes{});
  // An engine reserves its share of the GPU even if the job does not fit into it.
  if (need.device > gpu.capacity()) RC_ASSERT(memory::fits(need, gpu).verdict == memory::Verdict::kNo);
  if (serves) return;
  const double activations = static_cast<double>(read->job.batch * read->job.sequence);
  if (activations * 2 > in_bytes(gpu.capacity())) RC_ASSERT(memory::fits(need, gpu).verdict == memory::Verdict::kNo);
}

TEST(JobFlags, ProductsThatOverflowAreRefused) {
  EXPECT_THAT(said_of(flags_of("llama-3.1-8b", {{"batch", "10000000"}, {"seq", "10000000"}})),
              HasSubstr("more than can be computed"));
  EXPECT_THAT(said_of(flags_of("llama-3.1-8b", {{"concurrency", "1000000"}, {"isl", "100000000"}})),
              HasSubstr("more than can be computed"));
}

}  // namespace
}  // namespace rightsize::app
