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

// The verdict and the ranges of the plans are the same however many plans are listed.
TEST(SameAnswer, WhateverTheLengthOfTheList) {
  for (Request request : {busy_service(), request_of({{"model", "llama-3.1-8b"},
                                                      {"tokens", "500M"},
                                                      {"method", "lora"},
                                                      {"deadline", "2d"},
                                                      {"providers", "aws,gcp,lambda,runpod"}})}) {
    std::vector<Recommendation> found;
    for (const int top : {1, 3, 5, 9}) {
      request.top = top;
      found.push_back(recommend(request, built_in_prices(), built_in_constants()));
    }
    for (const Recommendation& one : found) {
      EXPECT_EQ(one.decision(), found.back().decision());
      ASSERT_EQ(one.compared().size(), found.back().compared().size());
      for (std::size_t i = 0; i < std::min<std::size_t>(one.plans.size(), 3); ++i) {
        EXPECT_EQ(in_usd(one.plans[i].cost), in_usd(found.back().plans[i].cost));
        EXPECT_EQ(in_usd(one.plans[i].cost_low), in_usd(found.back().plans[i].cost_low));
        EXPECT_EQ(in_usd(one.plans[i].cost_high), in_usd(found.back().plans[i].cost_high));
      }
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
