#include "decisions/evidence.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "decisions/rollout.h"
#include "decisions/savings.h"

namespace rightsize::decisions {
namespace {

std::vector<MeasuredValue> samples_of(const char* metric, std::initializer_list<double> values) {
  std::vector<MeasuredValue> samples;
  for (const double value : values) samples.push_back({metric, value, unix_seconds(1000), "test"});
  return samples;
}

Decision service() {
  Decision d;
  d.summary.id = 3;
  d.summary.before = usd(9000);
  d.summary.cost = usd(7300);
  d.cost = UsdRange{usd(7300), usd(7300), usd(7300)};
  d.saving = UsdRange{{}, usd(1700), {}};
  d.summary.saving = usd(1700);
  d.predictions = {
      {kTpot, {0.028, 0.032, 0.040}, 0.05}, {kMemory, {70e9, 77e9, 80e9}, 85e9}, {kRate, {{}, 10, {}}, {}}};
  return d;
}

TEST(Judge, KeptBrokenAndInconclusive) {
  const PredictedMetric tpot = service().predictions[0];
  const auto near = [](double centre) {
    return samples_of(
        kTpot, {centre * 0.99, centre * 1.01, centre, centre * 0.995, centre * 1.005, centre, centre, centre * 1.002});
  };
  EXPECT_EQ(judge(tpot, near(0.033)).outcome, Judgement::kKept);
  EXPECT_FALSE(judge(tpot, near(0.033)).better);
  EXPECT_TRUE(judge(tpot, near(0.020)).better);
  EXPECT_EQ(judge(tpot, near(0.020)).outcome, Judgement::kKept);
  EXPECT_EQ(judge(tpot, near(0.047)).outcome, Judgement::kBroken);
  const JudgedMetric edge = judge(tpot, near(0.0398));
  EXPECT_EQ(edge.outcome, Judgement::kInconclusive);
  EXPECT_GT(edge.more.value_or(0), 0);
  EXPECT_EQ(judge(tpot, samples_of(kTpot, {0.033})).more, 4);
  EXPECT_EQ(judge(tpot, {}).reason, "not measured");
}

TEST(Judge, ASpeedBelowItsIntervalIsBroken) {
  const PredictedMetric tokens{kTokens, {100.0, 120, 150.0}, {}};
  EXPECT_EQ(judge(tokens, samples_of(kTokens, {80, 81, 79, 80, 80.5, 80, 79.5})).outcome, Judgement::kBroken);
  EXPECT_TRUE(judge(tokens, samples_of(kTokens, {180, 181, 179, 180, 180.5, 180, 179.5})).better);
}

TEST(Judge, AMissingIntervalDecidesNothing) {
  const PredictedMetric open{kTpot, {{}, 0.03, {}}, {}};
  const JudgedMetric v = judge(open, samples_of(kTpot, {1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(v.outcome, Judgement::kInconclusive);
  EXPECT_FALSE(v.reason.empty());
}

TEST(Judge, MemoryIsJudgedByItsPeak) {
  const PredictedMetric memory = service().predictions[1];
  EXPECT_EQ(judge(memory, samples_of(kMemory, {76e9, 81e9, 75e9})).outcome, Judgement::kBroken);
  const JudgedMetric few = judge(memory, samples_of(kMemory, {76e9, 77e9}));
  EXPECT_EQ(few.outcome, Judgement::kInconclusive);
  EXPECT_EQ(few.more, kEnoughPeaks - 2);
  EXPECT_EQ(judge(memory, std::vector<MeasuredValue>(kEnoughPeaks, {kMemory, 76e9, unix_seconds(0), ""})).outcome,
            Judgement::kKept);
}

TEST(Verify, OneBrokenPredictionBreaksAll) {
  std::vector<MeasuredValue> samples = samples_of(kTpot, {0.033, 0.0331, 0.0329, 0.033, 0.0332, 0.0328, 0.033});
  EXPECT_EQ(verify(service(), samples).outcome, Judgement::kKept);
  samples.push_back({kOom, 1, unix_seconds(0), ""});
  EXPECT_EQ(verify(service(), samples).outcome, Judgement::kBroken);
}

TEST(Verify, SavingsFollowFromTheMeasuredCost) {
  const Verification by_rate = verify(service(), samples_of(kRate, {10.5}));
  ASSERT_TRUE(by_rate.saved);
  EXPECT_NEAR(in_usd(*by_rate.saved), 9000 - in_usd(usd_per_hour(10.5) * kMonth), 1e-9);
  EXPECT_EQ(by_rate.outcome, Judgement::kBroken);
  EXPECT_NEAR(in_usd(*verify(service(), samples_of(kUsd, {7000, 7200})).saved), 1900, 1e-9);
  EXPECT_FALSE(verify(service(), {}).saved);
}

TEST(Verify, ARunCostsItsHoursAtTheMeasuredSpeed) {
  Decision job;
  job.summary.per = Per::kRun;
  job.summary.before = usd(200);
  job.predictions = {{kTokens, {80.0, 100, 120.0}, {}}, {kHours, {8.0, 10, 12.0}, {}}, {kRate, {{}, 9, {}}, {}}};
  EXPECT_NEAR(in_usd(*verify(job, samples_of(kTokens, {50, 50})).saved), 200 - 9 * 20, 1e-9);
  EXPECT_NEAR(in_usd(*verify(job, samples_of(kHours, {11, 13})).saved), 200 - 9 * 12, 1e-9);
}

TEST(Checks, FailedUnknownAndPassed) {
  const Decision d = service();
  const auto state = [&](const std::vector<MeasuredValue>& samples, const char* name) {
    for (const Check& check : check_stage(d, samples)) {
      if (check.name == name) return check.state;
    }
    return CheckState::kUnknown;
  };
  EXPECT_EQ(state({}, "speed"), CheckState::kUnknown);
  EXPECT_EQ(state(samples_of(kTpot, {0.06, 0.061, 0.059, 0.06, 0.0605, 0.06, 0.06}), "slo"), CheckState::kFailed);
  EXPECT_EQ(state(samples_of(kTpot, {0.045, 0.0451, 0.0449, 0.045, 0.0452, 0.045, 0.045}), "slo"), CheckState::kPassed);
  EXPECT_EQ(state(samples_of(kTpot, {0.045, 0.0451, 0.0449, 0.045, 0.0452, 0.045, 0.045}), "speed"),
            CheckState::kFailed);
  EXPECT_EQ(state(samples_of(kOom, {0}), "memory"), CheckState::kPassed);
  EXPECT_EQ(state(samples_of(kMemory, {86e9}), "memory"), CheckState::kFailed);
  EXPECT_EQ(state(samples_of(kRate, {10}), "cost"), CheckState::kPassed);
  EXPECT_EQ(state(samples_of(kRate, {10.2}), "cost"), CheckState::kFailed);
}

TEST(Savings, CountTheShareRolledOutFromStageToStage) {
  const Decision d = service();
  const TimePoint begin = unix_seconds(0);
  const std::vector<StageRecord> stages = {
      {RolloutStage::kOneJob, StageState::kPassed, begin, begin + kMonth, {}, {}, {}},
      {RolloutStage::kTenth, StageState::kPassed, begin + kMonth, begin + kMonth * 2, {}, {}, {}},
      {RolloutStage::kAll, StageState::kRunning, begin + kMonth * 2, {}, {}, {}, {}}};
  const Saving saving = saving_of(d, stages, {}, begin + kMonth * 4);
  EXPECT_NEAR(saving.share_months, 0.1 + 2, 1e-9);
  ASSERT_TRUE(saving.predicted);
  EXPECT_NEAR(in_usd(*saving.predicted), 1700 * 2.1, 1e-6);
  EXPECT_FALSE(saving.measured);
  const Saving measured = saving_of(d, stages, samples_of(kUsd, {7000}), begin + kMonth * 4);
  EXPECT_NEAR(in_usd(*measured.measured), 2000 * 2.1, 1e-6);
  EXPECT_FALSE(measured.predicted);
  Decision ended = d;
  ended.summary.ended_at = begin + kMonth * 3;
  EXPECT_NEAR(saving_of(ended, stages, {}, begin + kMonth * 4).share_months, 0.1 + 1, 1e-9);
  EXPECT_FALSE(saving_of(d, {}, {}, begin).predicted);
}

// With any number of samples, the interval covers their buckets.
RC_GTEST_PROP(Judge, IntervalsCoverTheBucketsOfHistograms, ()) {
  const double low = *rc::gen::inRange(1, 100) / 100.0, high = low * (1 + *rc::gen::inRange(1, 200) / 100.0);
  std::vector<MeasuredValue> samples;
  for (int i = *rc::gen::inRange(5, 200); i > 0; --i) {
    const double value = low + (high - low) * (0.5 + *rc::gen::inRange(-3, 4) / 100.0);
    samples.push_back({kTtft, value, unix_seconds(i), with_bucket("prometheus x", {low, high})});
    RC_ASSERT(bucket_of(samples.back()).has_value());
  }
  PredictedMetric prediction;
  prediction.metric = kTtft;
  prediction.value.likely = high;
  const JudgedMetric judged = judge(prediction, samples);
  RC_ASSERT(judged.measured.low <= low * (1 + 1e-9));
  RC_ASSERT(judged.measured.high >= high * (1 - 1e-9));
}

// A window is counted completely, so the last one decides, and a share of zero is a measurement.
TEST(Evidence, TheLastWindowOfAScalingPolicyDecides) {
  PredictedMetric over{kOverSlo, {{}, 0.004, 0.01}, 0.01};
  const auto judged = [&](std::initializer_list<double> shares) {
    std::vector<MeasuredValue> samples;
    for (const double share : shares) samples.push_back({kOverSlo, share, {}, "service"});
    return judge(over, samples);
  };
  EXPECT_EQ(judged({0}).outcome, Judgement::kKept);
  EXPECT_EQ(judged({0.02, 0.01}).outcome, Judgement::kKept);
  EXPECT_EQ(judged({0, 0.011}).outcome, Judgement::kBroken);
  EXPECT_EQ(judged({}).outcome, Judgement::kInconclusive);
  over.value.high.reset();
  EXPECT_FALSE(judged({0.5}).reason.empty());
}

}  // namespace
}  // namespace rightsize::decisions
