#include "plan/layouts.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "presets/presets.h"

namespace rightsize::plan {
namespace {

Request serving(const char* model) {
  Request request;
  request.model = *model::find_model(model);
  request.job.kind = model::JobKind::kServe;
  request.job.stack = model::Stack::kVllm;
  return request;
}

TEST(Layouts, OnlyMixturesSpreadExpertsAndAttention) {
  EXPECT_EQ(groups_of(serving("llama-3.1-70b"), 8).size(), 1u);
  const std::vector<Groups> groups = groups_of(serving("deepseek-v3"), 8);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_TRUE(groups[0].plain() && groups[1].plain());
  EXPECT_EQ(groups[2].expert, 8);
  EXPECT_EQ(groups[2].attention, 8);
  EXPECT_EQ(groups_of(serving("deepseek-v3"), 1).size(), 1u);
}

TEST(Layouts, AReplicaOfSeparateWorkersHasAllTheirGpus) {
  model::Job job;
  job.parallel.tensor = 4;
  EXPECT_EQ(replica_gpus(job), 4);
  job.serve.disaggregated = model::Disaggregated{2, 1, 1, 4};
  EXPECT_EQ(replica_gpus(job), 6);
}

TEST(Layouts, TheSplitBalancesTheWorkers) {
  const auto same = [](double each) { return [each](int tensor) { return each * tensor; }; };
  const auto even = best_separation({1}, 8, same(1), same(1));
  ASSERT_TRUE(even);
  EXPECT_EQ(even->prefill_workers, 4);
  EXPECT_EQ(even->decode_workers, 4);
  const auto short_prompts = best_separation({1}, 8, same(7), same(1));
  ASSERT_TRUE(short_prompts);
  EXPECT_EQ(short_prompts->prefill_workers, 1);
  EXPECT_EQ(short_prompts->decode_workers, 7);
  // A model that fits no worker.
  EXPECT_FALSE(best_separation({1, 2}, 8, same(0), same(1)));
}

// Stages hold every layer once; only the ends are shorter, and the longest stage is as short as possible.
RC_GTEST_PROP(Layouts, UnevenStagesHoldEveryLayer, ()) {
  const int layers = *rc::gen::inRange(1, 200), stages = *rc::gen::inRange(2, 33);
  const auto split = pipeline_stages(layers, stages);
  const int longest = (layers + stages - 1) / stages;
  if (!split) {
    RC_ASSERT(layers % stages != 0 && longest * stages - layers > 2 * (longest - 1) - 1);
    return;
  }
  RC_ASSERT(split->first + split->last + split->middle * (stages - 2) == layers);
  RC_ASSERT(split->middle == longest && split->first <= longest && split->last <= split->first && split->last > 0);
  RC_ASSERT(split->even() == (layers % stages == 0));
}

// No other split of the same GPUs carries more.
RC_GTEST_PROP(Layouts, NoSplitCarriesMore, ()) {
  const double prompt = *rc::gen::inRange(1, 50), answer = *rc::gen::inRange(1, 50);
  const int gpus = *rc::gen::element(2, 4, 8);
  const auto prefill = [&](int tensor) { return prompt * tensor; };
  const auto decode = [&](int tensor) { return answer * tensor * (tensor > 2 ? 1.2 : 1.0); };
  const auto best = best_separation({1, 2, 4, 8}, gpus, prefill, decode);
  RC_ASSERT(best.has_value());
  RC_ASSERT(best->gpus() <= gpus);
  const double most = std::min(best->prefill_workers * prefill(best->prefill_tensor),
                               best->decode_workers * decode(best->decode_tensor));
  for (int p : {1, 2, 4}) {
    for (int d : {1, 2, 4}) {
      for (int n = 1; n * p + d <= gpus; ++n) {
        const int decoders = (gpus - n * p) / d;
        RC_ASSERT(std::min(n * prefill(p), decoders * decode(d)) <= most + 1e-9);
      }
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
