#include "decisions/ledger.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "decisions/decision.h"
#include "store/schema.h"

namespace rightsize::decisions {
namespace {

using testing::HasSubstr;

// tests/decisions/store_test.py does the same with a real PostgreSQL.
class LedgerTest : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "ledger-" + std::to_string(getpid()) + "/a.db"; }
  void TearDown() override { std::filesystem::remove_all(std::filesystem::path(path_).parent_path()); }

  Ledger open() {
    Result<Ledger> ledger = Ledger::open(path_, store::Access::kWrite);
    EXPECT_TRUE(ledger) << ledger.error().message;
    return *std::move(ledger);
  }

  static Decision decision(const std::string& workload, const std::string& team = "search") {
    Decision d;
    d.summary.workload = workload;
    d.summary.team = team;
    d.summary.author = "ann";
    d.summary.decided_at = unix_seconds(1'790'000'000);
    d.summary.choice = {"2 x l4", "l4", "gcp", "g2-standard-24", "us-central1", "on-demand", 2, 1};
    d.summary.cost = usd(100);
    d.summary.before = usd(150);
    d.summary.saving = usd(50);
    d.cost = UsdRange{usd(90), usd(100), {}};
    d.saving = UsdRange{{}, usd(50), usd(60)};
    d.why = "it's cheaper \"now\"\n";
    d.request = {{"model", "llama-3.1-8b"}, {"rate", "5/s"}};
    d.plan = "{\n  \"plan\": {}\n}\n";
    d.predictions = {{kTpot, {0.02, 0.03, {}}, 0.05}};
    return d;
  }

  std::string path_;
};

TEST_F(LedgerTest, ReadsBackWhatWasStored) {
  Ledger ledger = open();
  const Decision kept = *ledger.add(decision("chat"));
  EXPECT_EQ(kept.summary.id, 1);
  for (const char* name : {"1", "D1", "chat"}) {
    const Result<Decision> found = ledger.find(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->why, kept.why);
    EXPECT_EQ(found->request, kept.request);
    EXPECT_EQ(found->plan, kept.plan);
    EXPECT_EQ(found->summary.choice.instance, "g2-standard-24");
    ASSERT_EQ(found->predictions.size(), 1u);
    EXPECT_EQ(found->predictions[0].value.low, 0.02);
    EXPECT_EQ(found->predictions[0].value.high, std::nullopt);
    EXPECT_EQ(found->predictions[0].limit, 0.05);
    EXPECT_EQ(in_usd(*found->cost->low), 90);
    EXPECT_FALSE(found->cost->high);
    EXPECT_EQ(in_usd(*found->saving->high), 60);
  }
  const Result<Decision> wrong = ledger.find("chta");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(describe(wrong.error()), HasSubstr("did you mean 'chat'?"));
  EXPECT_FALSE(ledger.find("D7"));
}

TEST_F(LedgerTest, AWorkloadHasOneLiveDecision) {
  Ledger ledger = open();
  ASSERT_TRUE(ledger.add(decision("chat")));
  ASSERT_TRUE(ledger.add(decision("other")));
  ASSERT_TRUE(ledger.add(decision("chat")));
  EXPECT_EQ(ledger.find("D1")->summary.status, DecisionStatus::kSuperseded);
  EXPECT_EQ(ledger.find("D1")->superseded_by, 3);
  EXPECT_EQ(ledger.find("chat")->summary.id, 3);
  EXPECT_EQ(ledger.list({.statuses = {DecisionStatus::kDecided}})->size(), 2u);
}

TEST_F(LedgerTest, ListsAreFiltered) {
  Ledger ledger = open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ledger.add(decision("w" + std::to_string(i), i % 2 == 0 ? "a" : "b")));
  EXPECT_EQ(ledger.list({})->size(), 10u);
  EXPECT_EQ(ledger.list({.team = "a"})->size(), 5u);
  EXPECT_EQ(ledger.list({.workload = "w3"})->size(), 1u);
  EXPECT_EQ(ledger.list({.gpu = "h100-sxm"})->size(), 0u);
  EXPECT_EQ(ledger.list({.since = unix_seconds(1'790'000'001)})->size(), 0u);
  EXPECT_EQ(ledger.totals({.team = "a", .most = 2})->decisions, 5);
  EXPECT_EQ(ledger.totals({})->live, 10);
  EXPECT_EQ(in_usd(ledger.totals({})->saving), 500);
  const auto newest = *ledger.list({.most = 2});
  ASSERT_EQ(newest.size(), 2u);
  EXPECT_EQ(newest[0].id, 10);
}

TEST_F(LedgerTest, ARolloutGoesStageByStageAndSurvivesReopening) {
  const TimePoint now = unix_seconds(1'790'000'100);
  std::int64_t id = 0;
  {
    Ledger ledger = open();
    id = ledger.add(decision("chat"))->summary.id;
    ASSERT_TRUE(ledger.start_stage(id, RolloutStage::kOneJob, now, "ann"));
    EXPECT_FALSE(ledger.start_stage(id, RolloutStage::kOneJob, now, "ann"));
  }
  Ledger ledger = open();
  ASSERT_EQ(ledger.stages(id)->size(), 1u);
  for (const RolloutStage stage : kStages)
    ASSERT_TRUE(ledger.pass_stage(id, stage, now, {.by = "bob", .how = "by hand"})) << name_of(stage);
  EXPECT_FALSE(ledger.pass_stage(id, RolloutStage::kAll, now, {}));
  EXPECT_EQ(ledger.find("chat")->summary.status, DecisionStatus::kInForce);
  EXPECT_EQ(ledger.stages(id)->size(), 4u);
  ASSERT_TRUE(ledger.roll_back(id, now, {}));
  EXPECT_EQ(ledger.find("chat")->summary.status, DecisionStatus::kRolledBack);
  EXPECT_FALSE(ledger.roll_back(id, now, {}));
  EXPECT_FALSE(ledger.start_stage(id, RolloutStage::kOneJob, now, ""));
}

TEST_F(LedgerTest, SamplesKeepTheirOrder) {
  Ledger ledger = open();
  const std::int64_t id = ledger.add(decision("chat"))->summary.id;
  ASSERT_TRUE(ledger.add_samples(id, {{kTpot, 0.1, unix_seconds(5), "x"}, {kTpot, 0.2, unix_seconds(4), "y"}}));
  ASSERT_TRUE(ledger.add_samples(id, {{kMemory, 1e9, unix_seconds(6), "z"}}));
  const auto samples = *ledger.samples(id);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[1].value, 0.2);
  EXPECT_EQ(samples[2].metric, kMemory);
}

TEST_F(LedgerTest, AnOlderLedgerIsCopiedAndBroughtUpToDate) {
  {
    store::Schema first = ledger_schema();
    first.steps.resize(1);
    auto database = *store::open(path_);
    ASSERT_TRUE(store::bring_up_to_date(*database, first));
    ASSERT_TRUE(database->run(
        "INSERT INTO decision (id, workload, team, author, decided_at, status, choice, gpu, gpus, provider, "
        "instance, instances, region, purchase, per) VALUES (1, 'old', '', '', 0, 'decided', '', '', 0, '', '', "
        "0, '', '', 'month')"));
  }
  Ledger ledger = open();
  EXPECT_FALSE(ledger.backup().empty());
  EXPECT_TRUE(std::filesystem::exists(ledger.backup()));
  EXPECT_EQ(ledger.list({})->size(), 1u);
  ASSERT_TRUE(ledger.add_samples(1, {{kTpot, 0.1, unix_seconds(5), "x"}}));
  auto copy = *store::open(ledger.backup(), store::Access::kRead);
  EXPECT_EQ(*store::version_of(*copy, ledger_schema()), 1);
  EXPECT_TRUE(open().backup().empty());
}

TEST_F(LedgerTest, ANewerLedgerIsRefusedAndLeftAlone) {
  ASSERT_TRUE(open().add(decision("chat")));
  {
    auto database = *store::open(path_);
    ASSERT_TRUE(database->run("UPDATE decision_version SET number = 99"));
  }
  for (const auto access : {store::Access::kRead, store::Access::kWrite}) {
    const Result<Ledger> refused = Ledger::open(path_, access);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("written by a newer rightsize (table version 99"));
  }
}

TEST_F(LedgerTest, ReadingAMissingLedgerFails) {
  const Result<Ledger> none = Ledger::open(path_, store::Access::kRead);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("there is no ledger at"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST(Clock, TimesAreReadAndWritten) {
  EXPECT_EQ(format_time(*parse_time("2026-11-15T09:30:05Z")), "2026-11-15T09:30:05Z");
  EXPECT_EQ(format_time(*parse_time("2026-11-15")), "2026-11-15T00:00:00Z");
  for (const char* wrong :
       {"", "2026-11-15T", "2026-11-15T25:00:00Z", "2026-13-01", "2026-11-15T09:30:05", "T09:30:05Z"}) {
    EXPECT_FALSE(parse_time(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace rightsize::decisions
