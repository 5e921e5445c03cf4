#include "plan/explain.h"

#include <cmath>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

using testing::IsEmpty;

catalog::Catalog three_regions() {
  catalog::Catalog catalog;
  for (const auto& [region, usd] : {std::pair("a", 10.0), std::pair("b", 20.0), std::pair("c", 24.0)}) {
    catalog::Price price;
    price.provider = "cloud", price.instance = "m", price.region = region,
    price.machine_price = usd_per_machine_hour(usd);
    price.provenance.date = *parse_date("2026-11-01");
    catalog.prices.push_back(price);
  }
  return catalog;
}

market::Offer offer_of(const catalog::Price& price) { return {nullptr, nullptr, &price}; }

// 10 against a median of 24 (the upper of 20 and 24) is 2.4x; 20 against 24 or 10 gives no warning.
TEST(PriceWarnings, WarnsOfARegionFarBelowTheOthers) {
  const catalog::Catalog catalog = three_regions();
  const Date today = *parse_date("2026-11-15");
  const std::vector<PriceWarning> warnings = price_warnings(offer_of(catalog.prices[0]), catalog, today);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].kind, PriceWarning::Kind::kFarBelowOtherRegions);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(warnings[0].elsewhere), 24);
  EXPECT_DOUBLE_EQ(warnings[0].times, 2.4);
  EXPECT_THAT(price_warnings(offer_of(catalog.prices[1]), catalog, today), IsEmpty());
}

TEST(PriceWarnings, WarnsOfOldAndUnconfirmedPrices) {
  catalog::Catalog catalog = three_regions();
  catalog.prices[2].provenance.unverified = {"price"};
  const auto warnings = price_warnings(offer_of(catalog.prices[2]), catalog, *parse_date("2027-03-01"));
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0].kind, PriceWarning::Kind::kUnconfirmed);
  EXPECT_EQ(warnings[1].kind, PriceWarning::Kind::kOld);
  EXPECT_EQ(warnings[1].age_days, 120);
}

TEST(PriceWarnings, OwnPricesGetNoWarning) {
  catalog::Catalog catalog = three_regions();
  catalog.prices[0].provenance.sources = {market::kOwn};
  EXPECT_THAT(price_warnings(offer_of(catalog.prices[0]), catalog, *parse_date("2027-03-01")), IsEmpty());
}

// Candidates of a training job, each on a different machine.
class Rivals {
 public:
  // `spread`: the upper end of the 80 % interval of cost and time over the likely value.
  void add(const std::string& gpu, double usd_total, double hours_long, double spread = 1) {
    Kind& kind = *kinds_.emplace_back(std::make_unique<Kind>());
    kind.gpu.name = gpu;
    kind.machine.provider = "cloud", kind.machine.instance = "m-" + gpu, kind.machine.gpus = 8;
    kind.offer = {&kind.gpu, &kind.machine, &kind.price};
    kind.machines.gpu = same_gpu(gpu);
    kind.option.speed.high = spread;
    kind.outlook.low = kind.outlook.likely = kind.outlook.high = usd_per_machine_hour(1);
    candidates_.push_back({&kind.option,
                           &kind.machines,
                           &kind.offer,
                           &kind.outlook,
                           {hours(hours_long), {}, {}, {}},
                           {},
                           usd(usd_total)});
  }
  const std::vector<PricedOption>& all() const { return candidates_; }
  // The first one that is fast enough.
  FirstWithin within() const {
    return [this](Seconds deadline) {
      const auto fast =
          std::ranges::find_if(candidates_, [&](const PricedOption& c) { return c.time.total() <= deadline; });
      return fast == candidates_.end() ? std::nullopt : std::optional(*fast);
    };
  }

 private:
  struct Kind {
    catalog::Gpu gpu;
    catalog::Machine machine;
    market::PriceOutlook outlook;
    catalog::Price price;
    market::Offer offer;
    MachineClass machines;
    Option option;
  };
  const catalog::Gpu* same_gpu(const std::string& name) const {
    for (const auto& kind : kinds_) {
      if (kind->gpu.name == name) return &kind->gpu;
    }
    return nullptr;
  }
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<PricedOption> candidates_;
};

// Two log-normal costs with deviations of 0.1 and medians e^(0.1 x sqrt 2) apart: the first is lower with probability
// Phi(1) = 84.1 %.
TEST(Confidence, MatchesTheNormalDistributionForTwoRivals) {
  const double spread = std::exp(0.1 * 1.2816);
  Rivals rivals;
  rivals.add("a", 100, 10, spread);
  rivals.add("b", 100 * std::exp(0.1 * std::sqrt(2.0)), 10, spread);
  EXPECT_NEAR(*confidence_of({}, rivals.all()), 0.841, 0.03);
  // The error of cost x time is twice as large: Phi(1/2) at the same medians of the product.
  Request both;
  both.objective = Objective::kCostTime;
  EXPECT_NEAR(*confidence_of(both, rivals.all()), 0.691, 0.03);
}

TEST(Confidence, PlansOnTheSameGpuDoNotLowerIt) {
  EXPECT_FALSE(confidence_of({}, {}));
  Rivals rivals;
  rivals.add("a", 100, 10, 2);
  rivals.add("a", 101, 10, 2);
  EXPECT_FALSE(confidence_of({}, rivals.all()));
  rivals.add("b", 1e6, 10, 1.1);
  EXPECT_GT(*confidence_of({}, rivals.all()), 0.99);
}

TEST(Confidence, FallsWithTheErrorBars) {
  double last = 1;
  for (double spread : {1.05, 1.2, 1.5, 2.0, 4.0}) {
    Rivals rivals;
    rivals.add("a", 100, 10, spread);
    rivals.add("b", 120, 10, spread);
    const double now = *confidence_of({}, rivals.all());
    EXPECT_LT(now, last) << spread;
    EXPECT_GT(now, 0.5) << spread;
    last = now;
  }
}

// b costs 125 and a 100: they are equal when a costs 25 % more or b 20 % less.
TEST(Breakpoints, NamesThePriceAtWhichAnotherGpuWins) {
  Rivals rivals;
  rivals.add("a", 100, 10);
  rivals.add("a", 110, 10);
  rivals.add("b", 125, 10);
  const std::vector<Breakpoint> found = breakpoints_of({}, rivals.all(), rivals.within());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].cost_ratio, 1.25);
  EXPECT_EQ(found[0].plan.offer.gpu->name, "b");
  EXPECT_EQ(found[0].plan.cost, usd(125));
  EXPECT_THAT(breakpoints_of({}, {}, rivals.within()), IsEmpty());
}

// From cheap to fast: each plan answers deadlines between its own hours and those of the previous plan.
TEST(Breakpoints, EveryFasterPlanHasADeadlineBreakpoint) {
  Rivals rivals;
  rivals.add("a", 100, 10);
  rivals.add("b", 150, 5);
  rivals.add("c", 300, 2);
  std::vector<Breakpoint> found = breakpoints_of({}, rivals.all(), rivals.within());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].cost_ratio, 0);
  EXPECT_DOUBLE_EQ(in_hours(found[1].deadline_under), 10);
  EXPECT_EQ(found[1].plan.offer.gpu->name, "b");
  EXPECT_DOUBLE_EQ(in_hours(found[2].deadline_under), 5);
  EXPECT_EQ(found[2].plan.offer.gpu->name, "c");
  Request serving;
  serving.work.kind = WorkKind::kServing;
  EXPECT_EQ(breakpoints_of(serving, rivals.all(), rivals.within()).size(), 1U) << "a service has no deadline";
}

// The explanations of real requests are true: a plan for a shorter deadline meets it, and a batch reported as
// indivisible is.
TEST(Explanations, AreTrueOfThePlansTheyName) {
  const std::vector<Given> requests = {
      {{"model", "llama-3.2-1b"},
       {"tokens", "30B"},
       {"seq", "8192"},
       {"deadline", "7d"},
       {"gpus", "8"},
       {"stack", "torchtitan"}},
      {{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"gpus", "12"}, {"global-batch", "100"}},
      {{"model", "gpt2"}, {"tokens", "3B"}, {"deadline", "10d"}},
      {{"model", "llama-3.1-8b"}, {"tokens", "2B"}, {"method", "lora"}, {"max-gpus", "32"}},
      {{"model", "resnet-50"}, {"samples", "100M"}, {"gpus", "4"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"items", "2M"}, {"deadline", "4d"}}};
  int deadlines = 0;
  for (const auto& given : requests) {
    const Request request = request_of(given);
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    for (const Breakpoint& point : found.breakpoints) {
      if (point.cost_ratio != 0) continue;
      EXPECT_LT(point.plan.time, point.deadline_under) << given[0].second;
      ++deadlines;
    }
    for (const Rejection& row : found.rejected) {
      if (row.nearest.kind == Shortfall::Kind::kGlobalBatch) {
        EXPECT_NE(row.nearest.need_gpus % row.nearest.have_gpus, 0) << given[0].second << " on " << row.gpu;
      }
    }
  }
  EXPECT_GT(deadlines, 4);
}

}  // namespace
}  // namespace rightsize::plan
