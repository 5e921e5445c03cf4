#include "rightsize/recommend/words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/test_requests.h"
#include "rightsize/input/facts.h"

namespace rightsize::app {
namespace {

using plan::PriceWarning;
using plan::RequestChangeKind;
using testing::EndsWith;
using testing::HasSubstr;

// A training job, its best plan on eight H100s, and the outline of another one.
struct RecommendWords : testing::Test {
  RecommendWords() {
    h100.name = "h100-sxm", a10g.name = "a10g";
    big.provider = "aws", big.instance = "p5.48xlarge", big.gpus = 8;
    small.provider = "gcp", small.instance = "g2", small.gpus = 1;
    price.purchase = catalog::Purchase::kOnDemand;
    request.work.kind = plan::WorkKind::kTraining;
    first.offer = {&h100, &big, &price};
    first.cost = usd(100);
    first.time.work = hours(10);
    other.offer = {&a10g, &small, &price};
    other.machines = 2;
    other.cost = usd(50);
    other.time = hours(30);
  }
  catalog::Gpu h100, a10g;
  catalog::Machine big, small;
  catalog::Price price;
  plan::Request request;
  plan::Plan first;
  plan::PlanOutline other;
};

// The text shows the same number as the JSON.
TEST_F(RecommendWords, EvidenceCountsTheSourcesThatTheDocumentCounts) {
  for (const int others : {0, 1, 3}) {
    market::PriceOutlook outlook;
    outlook.others = others, outlook.sources = 1 + others;
    EXPECT_THAT(describe_evidence(outlook),
                HasSubstr(others == 0 ? "one source" : fmt::format("{} sources", outlook.sources)));
  }
}

TEST_F(RecommendWords, AnOutlineNamesTheMachinesToOrder) {
  EXPECT_EQ(describe_outline(other), "2 x g2 (1 x a10g) from gcp, on-demand");
}

TEST_F(RecommendWords, EveryChangeHasWords) {
  for (int i = 0; i <= static_cast<int>(RequestChangeKind::kNoLimits); ++i) {
    EXPECT_NE(describe_change(static_cast<RequestChangeKind>(i)).what, "") << i;
  }
  EXPECT_EQ(describe_change(RequestChangeKind::kLora).what, "LoRA adapters");
  EXPECT_THAT(describe_change(RequestChangeKind::kSpot).effect, HasSubstr("interruptions"));
}

TEST_F(RecommendWords, AFixNamesTheChangeAndItsResult) {
  plan::Rejection rejection;
  rejection.fix = plan::Fix{"--method lora", other};
  EXPECT_EQ(describe_fix(request, rejection, nullptr),
            "--method lora: 2 x g2 (1 x a10g) from gcp, on-demand for $50.00");
  EXPECT_THAT(describe_fix(request, rejection, &first), EndsWith("for $50.00, 50 % less, 3x slower"));
  rejection.fix->plan.time = hours(10.2);
  EXPECT_THAT(describe_fix(request, rejection, &first), EndsWith(", as fast"));
  rejection.fix->plan.time = hours(5);
  EXPECT_THAT(describe_fix(request, rejection, &first), EndsWith(", 2x faster"));
  request.work.kind = plan::WorkKind::kServing;
  EXPECT_THAT(describe_fix(request, rejection, &first), EndsWith(", 50 % less"));
}

TEST_F(RecommendWords, WithoutAFixOnlyPricesAreMentioned) {
  plan::Rejection rejection;
  EXPECT_EQ(describe_fix(request, rejection, &first), "");
  rejection.stage = plan::RejectionStage::kPrice;
  EXPECT_THAT(describe_fix(request, rejection, &first), HasSubstr("--catalog"));
}

// 25 % more for one plan equals 20 % less for the other: at that point they cost the same.
TEST_F(RecommendWords, APriceBreakpointNamesBothDirections) {
  const BreakpointWords words = describe_breakpoint({1.25, {}, other}, first);
  EXPECT_EQ(words.when, "h100-sxm costs 25 % more per hour, or a10g 20 % less");
  EXPECT_EQ(words.recommended, "2 x g2 (1 x a10g) from gcp, on-demand for $50.00");
}

TEST_F(RecommendWords, ATimeBreakpointNamesTheDeadline) {
  const BreakpointWords words = describe_breakpoint({0, hours(10), other}, first);
  EXPECT_THAT(words.when, HasSubstr("the deadline is under 10 h"));
  EXPECT_THAT(words.recommended, HasSubstr("for $50.00 in "));
}

TEST_F(RecommendWords, EveryPriceWarningHasWords) {
  EXPECT_THAT(describe_warning({.kind = PriceWarning::Kind::kUnconfirmed}), HasSubstr("unconfirmed"));
  EXPECT_EQ(describe_warning({.kind = PriceWarning::Kind::kOld, .age_days = 120}), "confirm its price (120 days old)");
  EXPECT_THAT(
      describe_warning(
          {.kind = PriceWarning::Kind::kFarBelowOtherRegions, .elsewhere = usd_per_machine_hour(24), .times = 2.4}),
      HasSubstr("2.4x as much"));
}

// The Pareto front begins with the first plan, which is not compared with itself.
TEST_F(RecommendWords, OtherPlansExplainTheirCostDifferenceToTheFirst) {
  price.machine_price = usd_per_machine_hour(8);
  catalog::Price cheap = price;
  cheap.machine_price = usd_per_machine_hour(0.7);
  plan::Plan second = first;
  const auto why = [&] {
    for (plan::Plan* p : {&first, &second}) p->price.likely = p->price.listed = p->offer.rate();
    return reasons(request, second, first, {});
  };
  EXPECT_THAT(why(), testing::Not(testing::Contains(HasSubstr("first plan"))));
  second.offer = {&a10g, &small, &cheap};
  second.cost = usd(112);
  EXPECT_THAT(why(), testing::Contains("12 % more than the first plan: price per GPU-hour 30 % less, but 60 % more "
                                       "GPU-hours"));
  cheap.machine_price = usd_per_machine_hour(1);
  second.cost = usd(400);
  EXPECT_THAT(why(), testing::Contains("4x as much as the first plan: price per GPU-hour the same, and 4x as many "
                                       "GPU-hours"));
  second.cost = usd(100);
  EXPECT_THAT(why(), testing::Contains("the same cost as the first plan: the same GPU-hours at the same price"));
}

// The title names what decides the cost: the method, the format of the weights, and the period of a budget.
TEST(RecommendTitles, NameTheMethodTheFormatAndThePeriod) {
  const Facts facts = open_facts("").value();
  const auto title = [&](const std::vector<std::pair<std::string, std::string>>& settings) {
    return describe_request(plan::request_of(settings, facts.catalog));
  };
  for (const auto& [method, words] : {std::pair{"lora", "Train LoRA adapters of "},
                                      {"qlora", "Train QLoRA adapters of "},
                                      {"lora,qlora", "Train adapters of "},
                                      {"full,lora", "Train llama"}})
    EXPECT_THAT(title({{"model", "llama-3.1-8b"}, {"tokens", "10M"}, {"method", method}}), testing::StartsWith(words));
  for (const auto& [model, words] : {std::pair{"Qwen/Qwen3-32B-AWQ", " in int4 at 3 "},
                                     {"deepseek-r1", " in fp8 at 3 "},
                                     {"gpt-oss-20b", " in fp4 at 3 "},
                                     {"llama-3.1-8b", "llama-3.1-8b at 3 "}})
    EXPECT_THAT(title({{"model", model}, {"job", "serve"}, {"rate", "3/s"}}), HasSubstr(words));
  EXPECT_THAT(title({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "3/s"}, {"budget", "5kUSD"}}),
              testing::EndsWith("for at most $5,000/month"));
  EXPECT_THAT(title({{"model", "llama-3.1-8b"}, {"tokens", "10M"}, {"budget", "5kUSD"}}),
              testing::EndsWith("for at most $5,000"));
  EXPECT_THAT(title({{"model", "mistral-7b-v0.1"}, {"job", "serve"}, {"rate", "3/s"}, {"isl", "512"}, {"osl", "1"}}),
              HasSubstr("one pass over 512 tokens"));
}

TEST_F(RecommendWords, AComparisonIsAPercentageOrAFactor) {
  EXPECT_EQ(compare(1.001), "the same");
  EXPECT_EQ(compare(0.5), "50 % less");
  EXPECT_EQ(compare(1.5), "50 % more");
  EXPECT_EQ(compare(4), "4x as much");
}

}  // namespace
}  // namespace rightsize::app
