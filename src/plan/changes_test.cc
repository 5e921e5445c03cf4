#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/explain.h"
#include "plan/test_draws.h"

namespace rightsize::plan {
namespace {

using catalog::Purchase;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> flags_of(const std::vector<PossibleChange>& changes) {
  std::vector<std::string> flags;
  for (const PossibleChange& change : changes) flags.push_back(change.flags);
  return flags;
}

const Request& change_of(const std::vector<PossibleChange>& changes, const std::string& flags) {
  return std::find_if(changes.begin(), changes.end(), [&](const PossibleChange& c) { return c.flags == flags; })
      ->request;
}

TEST(PossibleChanges, TrainingChangesThatAlterTheResultLeastComeFirst) {
  const Request request = request_of({{"model", "llama-3.2-1b"}, {"tokens", "1B"}});
  const auto changes = possible_changes(request);
  EXPECT_THAT(flags_of(changes),
              ElementsAre("--cross-entropy chunked", "--offload optimizer", "--offload parameters", "--purchase spot",
                          "--stack torchtitan", "--stack megatron", "--optimizer adamw-8bit", "--precision bf16",
                          "--method lora", "--method qlora"));
  EXPECT_EQ(change_of(changes, "--method lora").choices.methods, std::vector{model::Method::kLora});
  EXPECT_EQ(change_of(changes, "--optimizer adamw-8bit").job.train.optimizer, model::Optimizer::kAdamW8bit);
}

TEST(PossibleChanges, SettingsAlreadyRequestedAreNotOffered) {
  const auto lora =
      flags_of(possible_changes(request_of({{"model", "llama-3.2-1b"}, {"tokens", "1B"}, {"method", "lora"}})));
  EXPECT_THAT(lora, ElementsAre("--cross-entropy chunked", "--offload parameters", "--purchase spot", "--method qlora"))
      << "no full training whose optimizer or weights could be smaller";
  const auto images = flags_of(possible_changes(request_of({{"model", "resnet-50"}, {"samples", "1M"}})));
  EXPECT_THAT(images, Not(Contains("--method lora"))) << "adapters are for language models";
}

TEST(PossibleChanges, ServingOffersFormatsSlosAndTerms) {
  const Request request =
      request_of({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "5/s"}, {"ttft-slo", "200ms"}});
  const auto changes = possible_changes(request);
  EXPECT_THAT(flags_of(changes), ElementsAre("--purchase spot", "--precision fp8", "--precision int4",
                                             "--precision fp4", "--ttft-slo 400ms"));
  EXPECT_EQ(*change_of(changes, "--ttft-slo 400ms").limits.ttft, milliseconds(400));
}

// Adapters are offered only with the trainer whose files train them.
TEST(PossibleChanges, AdaptersAreOfferedOnlyWithPeft) {
  for (const char* stack : {"hf", "torchtitan", "megatron"}) {
    const auto flags =
        flags_of(possible_changes(request_of({{"model", "llama-3.1-8b"}, {"tokens", "100M"}, {"stack", stack}})));
    const bool offered = std::find(flags.begin(), flags.end(), "--method lora") != flags.end() ||
                         std::find(flags.begin(), flags.end(), "--method qlora") != flags.end();
    EXPECT_EQ(offered, std::string(stack) == "hf") << stack;
  }
}

// Other software is offered where ours was assumed and we write its command: full training of language models.
TEST(PossibleChanges, OtherSoftwareIsOfferedWhereItWasAssumed) {
  const auto offers = [](Given given) {
    const auto flags = flags_of(possible_changes(request_of(given)));
    return std::ranges::count_if(flags, [](const std::string& flag) { return flag.starts_with("--stack"); });
  };
  const Given full = {{"model", "llama-3.2-1b"}, {"tokens", "1B"}};
  EXPECT_EQ(offers(full), 2);
  for (const auto& more : Given{{"stack", "hf"}, {"stack", "megatron"}, {"method", "lora"}, {"preference", "yes"}}) {
    Given given = full;
    given.push_back(more);
    EXPECT_EQ(offers(given), 0) << more.first << " " << more.second;
  }
  EXPECT_EQ(offers({{"model", "resnet-50"}, {"samples", "1M"}}), 0);
  EXPECT_EQ(offers({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"rate", "1/s"}}), 0);
  for (const bool given : {false, true}) {
    Given named = full;
    if (given) named.push_back({"stack", "hf"});
    const auto assumed = request_of(named).assumed;
    EXPECT_EQ(std::ranges::count(assumed, std::string("Hugging Face Trainer (--stack hf)")), given ? 0 : 1);
  }
}

// What other software is offered for is what it costs when it is requested, also where the assumed one cannot do the
// work at all.
TEST(PossibleChanges, OtherSoftwareCostsWhatItPromises) {
  int offered = 0, only = 0;
  for (int i = 0; i < std::max(6, requests_to_try()); ++i) {
    Draw draw(8000 + first_seed() + static_cast<std::uint64_t>(i));
    Given given = {{"model", draw.one_of({"llama-3.2-1b", "qwen2.5-1.5b", "llama-3.1-8b", "mistral-7b"})},
                   {"tokens", draw.whole(1e8, 3e11)},
                   {"seq", draw.one_of({"2048", "4096"})},
                   {"gpu", draw.one_of({"h100-sxm", "b200-sxm,h100-sxm", "a100-80gb-sxm,h200-sxm"})},
                   {"max-gpus", draw.one_of({"8", "32"})}};
    if (i % 3 == 2) given.push_back({"precision", "fp8"});
    const Recommendation found = recommend(request_of(given), built_in_prices(), built_in_constants());
    for (const RequestChange& change : found.changes) {
      if (!changes_stack(change.kind)) continue;
      Given changed = given;
      changed.push_back({"stack", change.flags.substr(change.flags.find(' ') + 1)});
      Request request = request_of(changed);
      request.plans_only = true;
      const Recommendation again = recommend(request, built_in_prices(), built_in_constants());
      SCOPED_TRACE(shown(changed));
      ASSERT_FALSE(again.plans.empty());
      EXPECT_NEAR(in_usd(again.plans.front().cost), in_usd(change.plan.cost), 0.02 * in_usd(change.plan.cost));
      ++offered, only += found.plans.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(offered, 0);
  EXPECT_GT(only, 0);
}

// Adapters are for fine-tuning: a data set with more tokens than the model has parameters is pre-training.
TEST(PossibleChanges, AdaptersAreNotOfferedForPreTraining) {
  for (const char* model : {"llama-3.2-1b", "qwen2.5-0.5b", "llama-3.1-8b"}) {
    const Request small = request_of({{"model", model}, {"tokens", "100M"}});
    const Request large = request_of({{"model", model}, {"tokens", "1T"}});
    EXPECT_THAT(flags_of(possible_changes(small)), Contains("--method lora")) << model;
    EXPECT_THAT(flags_of(possible_changes(large)), Not(Contains("--method lora"))) << model;
    EXPECT_THAT(flags_of(possible_changes(large)), Not(Contains("--method qlora"))) << model;
  }
}

// A format wider than the model's own saves nothing.
TEST(PossibleChanges, OnlyNarrowerWeightsAreOffered) {
  const auto offered = [](const char* model) {
    return flags_of(possible_changes(
        request_of({{"model", model}, {"job", "serve"}, {"rate", "5/s"}, {"purchase", "on-demand,spot"}})));
  };
  EXPECT_THAT(offered("Qwen/Qwen3-32B"), ElementsAre("--precision fp8", "--precision int4", "--precision fp4"));
  EXPECT_THAT(offered("RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8"), ElementsAre("--precision int4", "--precision fp4"));
  for (const char* model : {"Qwen/Qwen3-32B-AWQ", "gpt-oss-120b", "bartowski/Meta-Llama-3.1-8B-Instruct-GGUF"})
    EXPECT_THAT(offered(model), IsEmpty()) << model;
}

// A chosen format can be slower than a wider one.
TEST(PossibleChanges, WiderWeightsThanTheChosenOnesAreOffered) {
  const Request int4 = request_of({{"model", "qwen2.5-72b"}, {"job", "serve"}, {"items", "5M"}, {"precision", "int4"}});
  EXPECT_THAT(flags_of(possible_changes(int4)), IsSupersetOf({"--precision fp8", "--precision fp4"}));
}

// Of a relaxed limit, the smallest one with the same saving is reported, and running it costs no more.
TEST(PossibleChanges, TheSmallestRelaxationIsReported) {
  const Given given = {{"model", "llama-3.1-8b"},
                       {"job", "serve"},
                       {"rate", "30/s"},
                       {"isl", "1500"},
                       {"osl", "350"},
                       {"ttft-slo", "1s"},
                       {"tpot-slo", "12ms"},
                       {"gpu", "l40s,h100-sxm"},
                       {"providers", "runpod"},
                       {"max-gpus", "64"},
                       {"top", "2"}};
  const Recommendation found = recommend(request_of(given), built_in_prices(), built_in_constants());
  ASSERT_FALSE(found.plans.empty());
  int longer = 0;
  for (const RequestChange& change : found.changes) {
    if (change.kind != RequestChangeKind::kLongerTpot) continue;
    ++longer;
    Given relaxed = given;
    relaxed[6].second = change.flags.substr(change.flags.find(' ') + 1);
    const Recommendation again = recommend(request_of(relaxed), built_in_prices(), built_in_constants());
    ASSERT_FALSE(again.plans.empty()) << change.flags;
    EXPECT_LE(again.plans.front().cost, change.plan.cost) << change.flags;
    EXPECT_NE(change.flags, "--tpot-slo 24ms");
  }
  EXPECT_EQ(longer, 1);
}

TEST(PossibleChanges, LongDeadlinesAreWrittenInDays) {
  for (const auto& [deadline, twice] : {std::pair{"60d", "120d"}, {"30h", "60h"}, {"1d", "2d"}, {"7h", "14h"}}) {
    const Request request = request_of({{"model", "llama-3.2-1b"}, {"tokens", "1B"}, {"deadline", deadline}});
    EXPECT_THAT(flags_of(possible_changes(request)), Contains(std::string("--deadline ") + twice));
  }
}

TEST(PossibleChanges, LimitsAreRelaxedOnlyWhenNothingIsFeasible) {
  const Request request =
      request_of({{"model", "llama-3.2-1b"}, {"tokens", "1B"}, {"deadline", "1h"}, {"budget", "5USD"}});
  std::vector<PossibleChange> given_up = relaxed_limits(request);
  const auto keeps_limits = [](const PossibleChange& c) { return c.kind < RequestChangeKind::kNoDeadline; };
  // Settings that need less memory come first: they give the same result.
  EXPECT_TRUE(keeps_result(possible_changes(request).front().kind));
  std::erase_if(given_up,
                [&](const PossibleChange& c) { return keeps_limits(c) && c.kind != RequestChangeKind::kMoreGpus; });
  ASSERT_GE(given_up.size(), 4U);
  EXPECT_EQ(given_up[0].flags, "--max-gpus 1024");
  EXPECT_EQ(given_up[1].flags, "no --deadline");
  EXPECT_FALSE(given_up[1].request.limits.deadline);
  EXPECT_TRUE(given_up[1].request.limits.budget);
  EXPECT_EQ(given_up[2].flags, "no --budget");
  EXPECT_FALSE(given_up[3].request.limits.deadline || given_up[3].request.limits.budget);
  for (const PossibleChange& change : possible_changes(request)) {
    EXPECT_TRUE(change.request.limits.deadline && change.request.limits.budget) << change.flags;
  }
}

// Each change changes one thing and leaves the rest of the request as it is.
TEST(PossibleChanges, MeasuredWorkOffersOnlyOtherPurchaseTerms) {
  const Request request =
      request_of({{"items", "1M"}, {"job", "serve"}, {"per-item", "100ms"}, {"gpu", "l4"}, {"purchase", "on-demand"}});
  EXPECT_THAT(flags_of(possible_changes(request)), ElementsAre("--purchase spot"));
}

}  // namespace
}  // namespace rightsize::plan
