// Properties of training plans over random deadlines and numbers of GPUs.
#include <algorithm>

#include <gtest/gtest.h>

#include "memory/memory.h"
#include "plan/explain.h"
#include "plan/test_draws.h"

namespace rightsize::plan {
namespace {

constexpr double kTie = 1.02;

int runs_to_try() { return std::max(8, requests_to_try()); }

// Runs whose memory is often short: large vocabularies, long sequences, few GPUs.
Given run(Draw& draw) {
  return {{"model", draw.one_of({"qwen2.5-1.5b", "llama-3.2-1b", "llama-3.1-8b", "gemma-2-2b"})},
          {"tokens", draw.whole(1e9, 3e11)},
          {"seq", draw.one_of({"2048", "4096", "8192"})},
          {"gpu", draw.one_of({"b200-sxm", "h100-sxm,l40s", "h100-sxm,b200-sxm", "a100-80gb-sxm,h200-sxm"})},
          {"deadline", draw.whole(6, 700) + "h"},
          {"max-gpus", draw.one_of({"32", "64", "128"})}};
}

Recommendation quick(const Given& given) {
  Request request = request_of(given);
  request.plans_only = true;
  return recommend(request, built_in_prices(), built_in_constants());
}

Given with(Given given, const std::string& name, const std::string& value) {
  std::ranges::find(given, name, &std::pair<std::string, std::string>::first)->second = value;
  return given;
}

// More time or more GPUs keep every plan, so the first one never ranks at a higher cost.
TEST(Deadlines, MoreTimeOrMoreGpusNeverCostMore) {
  int compared = 0;
  for (int i = 0; i < runs_to_try(); ++i) {
    Draw draw(9000 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given = run(draw);
    SCOPED_TRACE(shown(given));
    const Recommendation found = quick(given);
    if (found.plans.empty()) continue;
    const long hours_given = std::stol(given[4].second);
    for (const Given& relaxed :
         {with(given, "deadline", std::to_string(hours_given * 3 / 2 + 1) + "h"),
          with(given, "deadline", std::to_string(hours_given * 4) + "h"), with(given, "max-gpus", "256")}) {
      const Recommendation then = quick(relaxed);
      ASSERT_FALSE(then.plans.empty()) << shown(relaxed);
      EXPECT_LE(then.plans.front().ranked_cost, kTie * found.plans.front().ranked_cost) << shown(relaxed);
      EXPECT_LE(in_usd(then.plans.front().cost), kTie * found.plans.front().ranked_cost) << shown(relaxed);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

// A plan with hardly any memory left has no free way to need less, and no plan of the list beats the first one in
// money, time and GPUs on the same terms and evidence.
TEST(Deadlines, TheFirstPlanIsNotDominatedAndItsMemoryIsCured) {
  int tight = 0, chunked = 0;
  for (int i = 0; i < 3 * runs_to_try(); ++i) {
    Draw draw(9500 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given = run(draw);
    SCOPED_TRACE(shown(given));
    const Request request = request_of(given);
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    if (found.plans.empty()) continue;
    const Plan& first = found.plans.front();
    for (const std::vector<Plan>* list : {&found.plans, &found.pareto}) {
      for (const Plan& p : *list) {
        const bool alike = p.offer.gpu == first.offer.gpu &&
                           p.offer.machine->provider == first.offer.machine->provider &&
                           p.offer.price->purchase == first.offer.price->purchase;
        EXPECT_FALSE(alike && p.cost < first.cost && p.time.total() < first.time.total() && p.gpus < first.gpus);
      }
    }
    for (const Plan& a : found.pareto)
      for (const Plan& b : found.pareto)
        EXPECT_FALSE(a.cost < b.cost && a.time.total() < b.time.total() && a.extrapolated <= b.extrapolated);
    chunked += first.job.train.cross_entropy == model::CrossEntropy::kChunked ? 1 : 0;
    if (first.memory.high <= first.fit.capacity * 0.95) continue;
    ++tight;
    model::Job cured = first.job;
    cured.train.cross_entropy = model::CrossEntropy::kChunked;
    EXPECT_GE(in_gib(memory::estimate_memory(request.model, cured, first.offer.gpu).high),
              0.95 * in_gib(first.fit.capacity));
  }
  EXPECT_GT(tight + chunked, 0);
}

// A deadline below one that the explanation names has the plan named there as its answer.
TEST(Deadlines, BreakpointsAreTheAnswersOfTheirDeadlines) {
  int points = 0;
  for (int i = 0; i < runs_to_try(); ++i) {
    Draw draw(9700 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given = run(draw);
    const Recommendation found = recommend(request_of(given), built_in_prices(), built_in_constants());
    for (const Breakpoint& point : found.breakpoints) {
      if (point.cost_ratio != 0) continue;
      Request request = request_of(given);
      request.plans_only = true;
      request.limits.deadline = point.deadline_under * 0.995;
      SCOPED_TRACE(shown(given) + " under " + std::to_string(in_hours(point.deadline_under)) + " h");
      const Recommendation then = recommend(request, built_in_prices(), built_in_constants());
      ASSERT_FALSE(then.plans.empty());
      const Plan& first = then.plans.front();
      EXPECT_EQ(first.offer.gpu->name, point.plan.offer.gpu->name);
      EXPECT_EQ(first.machines, point.plan.machines);
      EXPECT_NEAR(in_usd(first.cost), in_usd(point.plan.cost), 0.01 * in_usd(first.cost));
      ++points;
    }
  }
  EXPECT_GT(points, 0);
}

}  // namespace
}  // namespace rightsize::plan
