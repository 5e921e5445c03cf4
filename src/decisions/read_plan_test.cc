#include "decisions/read_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace rightsize::decisions {
namespace {

using testing::HasSubstr;

Checked<Decision> read(const std::string& file, const PlanPick& pick = {}) {
  return read_plan(file, *read_file(std::string(RIGHTSIZE_SOURCE_DIR) + "/" + file), pick);
}

TEST(ReadPlan, AServiceOfRecommend) {
  const auto d = read("examples/decisions/plan.json");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->command, "recommend");
  EXPECT_EQ(d->summary.per, Per::kMonth);
  EXPECT_FALSE(d->catalogue.empty());
  EXPECT_FALSE(d->request.empty());
  const PredictedMetric* tpot = d->find(kTpot);
  ASSERT_NE(tpot, nullptr);
  EXPECT_LT(*tpot->value.low, tpot->value.likely);
  EXPECT_GT(*tpot->value.high, tpot->value.likely);
  EXPECT_EQ(tpot->limit, 0.05);
  EXPECT_EQ(d->find(kTokens), nullptr);  // a service's rate is its load, not its speed
  EXPECT_TRUE(d->find(kMemory)->value.low && d->find(kMemory)->limit);
  EXPECT_NEAR(d->find(kRate)->value.likely, in_usd(d->cost->likely / kMonth * hours(1)), 1e-9);
}

TEST(ReadPlan, ATrainingRunOfRecommend) {
  const auto d = read("examples/decisions/tune.json");
  ASSERT_TRUE(d);
  EXPECT_EQ(d->summary.per, Per::kRun);
  const PredictedMetric* speed = d->find(kTokens);
  ASSERT_NE(speed, nullptr);
  EXPECT_EQ(speed->info().worse, Worse::kBelow);
  EXPECT_LT(*speed->value.low, speed->value.likely);
  EXPECT_EQ(d->find(kHours)->limit, 72);
}

TEST(ReadPlan, AFileWithoutAPlanSaysWhy) {
  EXPECT_THAT(describe(read_plan("p.json", " \n", {}).error()), HasSubstr("the command that was to write it failed"));
  const auto none = read_plan("p.json", R"({"schema": "rightsize/recommend/1", "plans": []})", {});
  ASSERT_FALSE(none);
  EXPECT_THAT(describe(none.error()), HasSubstr("nothing met the limits"));
}

TEST(ReadPlan, AnActionOfAFleet) {
  const auto d = read("tests/fixtures/decisions/fleet.json");
  ASSERT_TRUE(d);
  EXPECT_GT(in_usd(d->saving->likely), 0);
  EXPECT_FALSE(d->rollback.empty());
  EXPECT_FALSE(d->cost);
}

TEST(ReadPlan, AScalingPolicy) {
  const std::string file = "tests/fixtures/decisions/autoscale.json";
  const auto best = read(file), named = read(file, {1, "fixed"}), spelled = read(file, {1, "fixed:replicas=2"});
  ASSERT_TRUE(best && named && spelled);
  EXPECT_EQ(best->find(kOverSlo)->value.high, 0.01);  // the share that the SLO allows
  EXPECT_EQ(best->find(kOverSlo)->limit, 0.01);
  EXPECT_EQ(best->find(kTpot)->limit, 0.05);
  EXPECT_GT(named->find(kGpuHours)->value.likely, best->find(kGpuHours)->value.likely);
  EXPECT_EQ(named->what, spelled->what);
  EXPECT_TRUE(best->cost && best->plan.find("\"hours\"") == std::string::npos);
  EXPECT_THAT(describe(read(file, {1, "keda"}).error()), HasSubstr("fixed:replicas=2"));
}

TEST(ReadPlan, ABatchingServer) {
  const auto d = read("tests/fixtures/decisions/batch.json");
  ASSERT_TRUE(d);
  EXPECT_TRUE(d->cost);
  EXPECT_EQ(d->find(kLatency)->limit, 0.1);
  EXPECT_EQ(d->summary.choice.instances, 0);
}

TEST(ReadPlan, ServicesAreNamed) {
  const std::string two = R"({"schema": "rightsize/service/1", "services": [
    {"name": "prod/chat", "workload": "chat", "model": "llama-3.1-8b", "usd_per_month": 5000, "gpu": "h100-sxm", "gpus": 2, "replicas": 2,
     "requests_per_second": {"peak_hour": 4}, "isl": {"mean": 1500.4}, "slo": [{"quantity": "TPOT", "limit_seconds": 0.05}],
     "plans": [{"gpu": "l4", "gpus": 4, "usd_per_month": 2000, "tpot_seconds": 0.04}]},
    {"name": "prod/code", "workload": "code", "plans": []}]})";
  const auto chat = read_plan("s.json", two, {1, "chat"});
  ASSERT_TRUE(chat);
  EXPECT_EQ(in_usd(*chat->summary.before), 5000);
  EXPECT_EQ(chat->find(kTpot)->limit, 0.05);
  EXPECT_THAT(chat->rollback, HasSubstr("2 x h100-sxm"));
  const RequestSettings wanted = {
      {"job", "serve"}, {"model", "llama-3.1-8b"}, {"rate", "4/s"}, {"isl", "1500"}, {"tpot-slo", "0.05s"}};
  EXPECT_EQ(chat->request, wanted);
  const auto which = read_plan("s.json", two, {});
  ASSERT_FALSE(which);
  EXPECT_THAT(describe(which.error()), HasSubstr("--part"));
  EXPECT_FALSE(read_plan("s.json", two, {1, "code"}));
}

TEST(ReadPlan, WorkloadsOfAPortfolioAreNamed) {
  const std::string text = R"({"schema": "rightsize/portfolio/1", "usd_per_month": 900, "workloads": [
    {"name": "chat", "where": "h100-eu", "takes": "2 GPUs", "usd_per_month": 600},
    {"name": "tune", "where": "spot", "takes": "", "usd_per_month": 300}]})";
  const auto chat = read_plan("p.json", text, {1, "chat"});
  ASSERT_TRUE(chat);
  EXPECT_EQ(in_usd(chat->cost->likely), 600);
  EXPECT_EQ(chat->summary.choice.words, "h100-eu: 2 GPUs");
  EXPECT_FALSE(read_plan("p.json", text, {}));
}

TEST(ReadPlan, DocumentsWithoutAPlanAreRefusedWithTheirPlace) {
  for (const char* text :
       {"{}", "[]", "{\"schema\": \"rightsize/memory/1\"}", "{\"schema\": \"other\"}", "{",
        "{\"schema\": \"rightsize/recommend/1\", \"plans\": []}", "{\"schema\": \"rightsize/batch/1\"}",
        "{\"schema\": \"rightsize/recommend/1\", \"plans\": [{\"gpus\": \"two\"}]}"}) {
    const auto refused = read_plan("plan.json", text, {});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().front().place.file, "plan.json") << text;
  }
}

}  // namespace
}  // namespace rightsize::decisions
