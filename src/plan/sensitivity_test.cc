#include "plan/sensitivity.h"

#include <gtest/gtest.h>

#include "plan/test_draws.h"

namespace rightsize::plan {
namespace {

// Of the first plan of a service: prompts are arithmetic, answers are reads of memory. A plan is called bound by memory
// only if more bandwidth helps its tightest limit at least as much.
TEST(Sensitivity, FollowsTheTightestLimit) {
  int prompts = 0, answers = 0;
  for (int i = 0; i < std::max(6, requests_to_try()); ++i) {
    Draw draw(700 + first_seed() + static_cast<std::uint64_t>(i));
    const bool long_prompts = i % 2 == 0;
    const Given given = {{"model", "llama-3.1-8b"},
                         {"job", "serve"},
                         {"gpu", draw.one_of({"h100-sxm", "gh200-96gb", "h200-sxm", "a100-80gb-sxm"})},
                         {"rate", long_prompts ? draw.one_of({"0.2/s", "0.5/s"}) : draw.one_of({"1/s", "2/s"})},
                         {"isl", long_prompts ? draw.whole(30e3, 90e3) : draw.whole(50, 100)},
                         {"osl", long_prompts ? draw.whole(50, 300) : draw.whole(500, 1500)},
                         {"tpot-slo", "60ms"},
                         {"ttft-slo", "40s"}};
    SCOPED_TRACE(shown(given));
    const Recommendation found = recommend(request_of(given), built_in_prices(), built_in_constants());
    if (found.plans.empty()) continue;
    const Plan& first = found.plans.front();
    EXPECT_GE(first.arithmetic_gain, 0);
    EXPECT_LT(first.arithmetic_gain, 1);
    if (long_prompts) {
      EXPECT_GT(first.arithmetic_gain, 0.05);
      ++prompts;
    } else {
      EXPECT_LT(first.arithmetic_gain, 0.05);
      EXPECT_NE(first.bound, perf::Bound::kCompute);
      ++answers;
    }
  }
  EXPECT_GT(prompts, 0);
  EXPECT_GT(answers, 0);
}

}  // namespace
}  // namespace rightsize::plan
