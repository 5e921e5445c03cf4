#include "rightsize/memory/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

catalog::Gpu gpu_of(const char* name, Bytes memory) {
  catalog::Gpu gpu;
  gpu.name = name, gpu.memory = memory, gpu.usable_memory = memory;
  return gpu;
}

memory::MemoryNeed need_of(Bytes low, Bytes likely, Bytes high) {
  memory::MemoryNeed need;
  need.low = low, need.device = likely, need.high = high;
  return need;
}

const memory::MemoryNeed kTwenty = need_of(gib(18), gib(20), gib(22));

std::string said_of(const std::vector<catalog::Gpu>& gpus, const model::Job& job = {}) {
  std::vector<const catalog::Gpu*> pointers;
  for (const catalog::Gpu& gpu : gpus) pointers.push_back(&gpu);
  return memory_sentence(kTwenty, job, pointers);
}

TEST(MemorySentence, AlwaysHasTheInterval) {
  EXPECT_THAT(said_of({gpu_of("a", gib(80))}), StartsWith("needs 20 GiB (80 % interval 18 GiB to 22 GiB)."));
}

TEST(MemorySentence, TellsWhetherOneGpuFitsIsTightOrTooSmall) {
  EXPECT_THAT(said_of({gpu_of("big", gib(80))}), EndsWith("It fits big with 60 GiB to spare."));
  EXPECT_THAT(said_of({gpu_of("near", gib(21))}), HasSubstr("It is tight on near: 1 GiB to spare,"));
  EXPECT_THAT(said_of({gpu_of("small", gib(16))}), EndsWith("It does not fit small: 4 GiB too much."));
}

TEST(MemorySentence, SaysWhatAnEngineThatDoesNotStartIsMissing) {
  memory::MemoryNeed need = kTwenty;
  need.max_concurrency = 0;
  model::Job job;
  job.serve.memory_share = 0.75;
  const catalog::Gpu gpu = gpu_of("near", gib(24));
  EXPECT_THAT(memory_sentence(need, job, {&gpu}), HasSubstr("the engine would not start"));
  EXPECT_THAT(memory_sentence(need, job, {&gpu}), HasSubstr("(--memory-share 0.75)"));
}

TEST(MemorySentence, NamesTheSmallestGpuThatFits) {
  EXPECT_THAT(
      said_of({gpu_of("small", gib(16)), gpu_of("near", gib(21)), gpu_of("mid", gib(40)), gpu_of("big", gib(80))}),
      EndsWith("The smallest GPU it fits is mid (40 GiB)."));
  EXPECT_THAT(said_of({gpu_of("small", gib(8)), gpu_of("also", gib(16))}),
              EndsWith("No single GPU for rent is large enough."));
}

TEST(MemorySentence, OnSeveralGpusTheNeedIsPerGpu) {
  model::Job job;
  job.parallel.gpus = 4;
  EXPECT_THAT(said_of({gpu_of("big", gib(80))}, job), StartsWith("needs 20 GiB on each"));
}

}  // namespace
}  // namespace rightsize::app
