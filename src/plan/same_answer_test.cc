// The same request has one answer, regardless of other work and of the order of threads.
#include <gtest/gtest.h>

#include "plan/search_serving.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

Request busy_service() {
  return request_of({{"model", "llama-3.1-8b"},
                     {"job", "serve"},
                     {"rate", "30/s"},
                     {"isl", "2000"},
                     {"osl", "150"},
                     {"ttft-slo", "800ms"},
                     {"tpot-slo", "25ms"},
                     {"gpu", "l40s,h100-sxm,a100-80gb-sxm,gh200-96gb"}});
}

void expect_same(const std::vector<Plan>& a, const std::vector<Plan>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].offer.machine, b[i].offer.machine);
    EXPECT_EQ(a[i].machines, b[i].machines);
    EXPECT_EQ(in_seconds(a[i].ttft), in_seconds(b[i].ttft));
    EXPECT_EQ(in_seconds(a[i].tpot), in_seconds(b[i].tpot));
    EXPECT_EQ(a[i].token_budget, b[i].token_budget);
    EXPECT_EQ(in_usd(a[i].cost), in_usd(b[i].cost));
  }
}

// Variants of a request run concurrently on other threads and share its simulations.
TEST(SameAnswer, WithAndWithoutExploringVariants) {
  Request request = busy_service();
  const Recommendation first = recommend(request, built_in_prices(), built_in_constants());
  const Recommendation second = recommend(request, built_in_prices(), built_in_constants());
  request.plans_only = true;
  const Recommendation alone = recommend(request, built_in_prices(), built_in_constants());
  ASSERT_GE(first.plans.size(), 3U);
  expect_same(first.plans, second.plans);
  expect_same(first.pareto, second.pareto);
  expect_same(first.plans, alone.plans);
  EXPECT_EQ(first.confidence, second.confidence);
}

}  // namespace
}  // namespace rightsize::plan
