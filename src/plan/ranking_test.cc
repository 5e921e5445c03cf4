// The order of plans: evidence before price, other merits within 2 %, and GPU counts that do not divide the batch.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "plan/candidates.h"
#include "plan/explain.h"
#include "plan/test_draws.h"
#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

Recommendation answer(const Given& settings, const catalog::Catalog& catalog = built_in_catalog()) {
  const Request request = request_of(settings, catalog);
  catalog::Catalog with_own = catalog;
  EXPECT_TRUE(market::add_own_hardware(with_own, request.own));
  static std::vector<std::unique_ptr<catalog::Catalog>> kept;  // plans point into these
  kept.push_back(std::make_unique<catalog::Catalog>(std::move(with_own)));
  static std::vector<std::unique_ptr<market::PriceBook>> books;
  books.push_back(std::make_unique<market::PriceBook>(*kept.back()));
  return recommend(request, *books.back(), built_in_constants());
}

// The catalogue with every price of one GPU multiplied.
catalog::Catalog with_prices(const std::string& gpu, double factor) {
  catalog::Catalog catalog = built_in_catalog();
  for (catalog::Price& price : catalog.prices) {
    const auto machine = std::find_if(catalog.machines.begin(), catalog.machines.end(), [&](const auto& m) {
      return m.provider == price.provider && m.instance == price.instance;
    });
    if (machine != catalog.machines.end() && machine->gpu == gpu) price.machine_price = price.machine_price * factor;
  }
  return catalog;
}

const Given kTraining{{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"gpu", "mi300x,h100-sxm,h200-sxm"}, {"top", "9"}};

// Adapters have hardly any gradients and states to shard.
TEST(Adapters, ShardAllWeightsOrNothing) {
  for (const char* method : {"lora", "qlora"}) {
    const Given given = {
        {"model", "llama-3.1-70b"}, {"method", method}, {"tokens", "30M"}, {"gpu", "l40s,a100-80gb-sxm"}};
    for (const Plan& p : answer(given).plans) {
      const int zero = p.job.parallel.zero;
      EXPECT_TRUE(zero == 0 || zero == 3) << method << zero;
    }
  }
}

TEST(Ranking, AnExtrapolationLeadsOnlyIfItsHighEndIsCheaper) {
  for (const double factor : {0.2, 0.4, 0.6, 0.8, 1.0, 1.3}) {
    const catalog::Catalog catalog = with_prices("mi300x", factor);
    const Recommendation found = answer(kTraining, catalog);
    const auto cheapest = [&](bool extrapolated, auto cost) {
      double best = 1e300;
      for (const Plan& p : found.plans)
        if (p.extrapolated == extrapolated) best = std::min(best, in_usd(cost(p)));
      return best;
    };
    const double measured = cheapest(false, [](const Plan& p) { return p.cost; });
    const double high = cheapest(true, [](const Plan& p) { return p.cost_high; });
    const bool leads = found.plans.front().extrapolated;
    if (high < measured / 1.02) {
      EXPECT_TRUE(leads) << factor;
    }
    if (high > measured * 1.02) {
      EXPECT_FALSE(leads) << factor;
    }
    EXPECT_EQ(found.decision() == Decision::kExtrapolation, leads) << factor;
    if (leads) {
      EXPECT_TRUE(found.experiment && found.experiment->plan.extrapolated) << factor;
    }
  }
}

TEST(Ranking, AnExperimentIsCheaperAndPaysForItsTest) {
  int seen = 0;
  for (const double factor : {0.95, 1.0, 1.1, 1.2}) {
    const Recommendation found = answer(kTraining, with_prices("mi300x", factor));
    if (!found.experiment || found.plans.front().extrapolated) continue;
    ++seen;
    EXPECT_TRUE(found.experiment->plan.extrapolated);
    EXPECT_LT(found.experiment->plan.cost, found.plans.front().cost);
    EXPECT_GT(found.experiment->expected_saving, found.experiment->test_cost);
    EXPECT_GE(found.experiment->expected_saving, found.plans.front().cost - found.experiment->plan.cost)
        << "the option not to use it is worth something";
  }
  EXPECT_GT(seen, 0);
}

TEST(Ranking, ReplicasAreSpreadIfThatCostsTheSame) {
  for (const char* rate : {"0.5/s", "3/s"}) {
    const Recommendation found = answer({{"model", "llama-3.2-3b"},
                                         {"job", "serve"},
                                         {"rate", rate},
                                         {"gpu", "a40"},
                                         {"providers", "runpod"},
                                         {"ttft-slo", "2s"}});
    ASSERT_FALSE(found.plans.empty());
    EXPECT_EQ(found.plans.front().machines, found.plans.front().replicas);
  }
}

TEST(Ranking, FewerMachinesWinATieOfTraining) {
  const Recommendation found =
      answer({{"model", "llama-3.1-8b"}, {"tokens", "5B"}, {"gpu", "h100-sxm"}, {"providers", "aws"}});
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().machines, 1);
}

// The batch was not given, so it follows the number of GPUs.
TEST(Ranking, AnAssumedBatchIsAdjustedToTheGpus) {
  for (const int gpus : {8, 24, 40, 48, 56, 72, 88}) {
    const Recommendation found = answer({{"model", "llama-3.1-70b"},
                                         {"method", "lora"},
                                         {"tokens", "500M"},
                                         {"gpu", "a100-80gb-sxm"},
                                         {"gpus", std::to_string(gpus)}});
    ASSERT_FALSE(found.plans.empty()) << gpus;
    const model::Job& job = found.plans.front().job;
    const double samples = static_cast<double>(job.batch) * job.parallel.data() * job.train.accumulation;
    EXPECT_GT(samples, 64) << gpus;
    EXPECT_LE(samples, 128) << gpus;
    if (128 % gpus == 0) {
      EXPECT_EQ(samples, 128) << gpus;
    }
  }
}

TEST(Ranking, OwnMachinesWorkTogether) {
  const Given own{{"model", "llama-3.1-70b"},
                  {"method", "lora"},
                  {"tokens", "2B"},
                  {"providers", "own"},
                  {"on-prem", "8xa100-80gb-sxm=120000USD"},
                  {"on-prem-machines", "5"},
                  {"objective", "time"}};
  const Recommendation found = answer(own);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_GT(found.plans.front().machines, 1);
  EXPECT_LE(found.plans.front().machines, 5);
}

// More machines of the user never cost more, and never turn their use into renting.
TEST(Ranking, MoreOwnMachinesNeverCostMore) {
  int used = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Draw draw(seed);
    Given given{{"model", draw.one_of({"llama-3.1-8b", "qwen2.5-14b", "llama-3.2-3b"})},
                {"job", "serve"},
                {"rate", draw.whole(2, 30) + "/s"},
                {"ttft-slo", draw.whole(500, 4000) + "ms"},
                {"tpot-slo", draw.whole(20, 80) + "ms"},
                {"on-prem", draw.one_of({"8xh100-sxm=60000USD", "8xl40s=30000USD", "8xa100-80gb-sxm=40000USD"})},
                {"providers", "own,lambda,runpod"},
                {"on-prem-machines", "1"}};
    double before = INFINITY;
    for (const char* machines : {"1", "2", "3"}) {
      given.back().second = machines;
      const Recommendation found = answer(given);
      if (found.plans.empty() || found.plans.front().offer.machine->provider != market::kOwn) {
        EXPECT_TRUE(std::isinf(before)) << "rented with " << machines << " own machines, seed " << seed;
        continue;
      }
      EXPECT_LE(in_usd(found.plans.front().cost), before * 1.001) << machines << ", seed " << seed;
      before = in_usd(found.plans.front().cost), ++used;
    }
  }
  EXPECT_GT(used, 6);
}

// 126 layers have no even split into 4 or 8 stages.
TEST(Ranking, PipelinesHaveAnyNumberOfEqualStages) {
  const Given base{{"model", "llama-3.1-405b"}, {"tokens", "500M"},  {"seq", "8192"},        {"stack", "megatron"},
                   {"max-gpus", "256"},         {"gpu", "h200-sxm"}, {"global-batch", "256"}};
  const Recommendation found = answer(base);
  ASSERT_FALSE(found.plans.empty());
  for (const char* stages : {"7", "14"}) {
    Given fixed = base;
    fixed.push_back({"pp", stages});
    const Recommendation one = answer(fixed);
    if (!one.plans.empty()) {
      EXPECT_LE(found.plans.front().cost, one.plans.front().cost * 1.02) << stages;
    }
  }
}

}  // namespace
}  // namespace rightsize::plan
