#include "rightsize/calibrate/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;

calibration::CalibrationFit fit_of(model::JobKind job) {
  calibration::CalibrationFit fit;
  fit.row.stack = model::Stack::kVllm, fit.row.job = job, fit.row.gpu = "l4";
  fit.row.factors.device = 1.2, fit.row.factors.host = 0.9, fit.row.factors.prefill = 1.05;
  fit.error_before = 0.31, fit.error_after = 0.04;
  calibration::CalibrationPoint point;
  point.line = 2, point.model = "llama-2-7b", point.metric = "tpot";
  point.measured = milliseconds(20), point.before = milliseconds(15), point.after = milliseconds(21);
  fit.points = {point};
  return fit;
}

TEST(CalibrationSentence, StatesTheFactorsAndTheErrorBeforeAndAfter) {
  EXPECT_EQ(sentence_about(fit_of(model::JobKind::kServe)),
            "vllm serving on l4: the error of the one value falls from 31 % to 4 % (GPU time x 1.20, host time x 0.90, "
            "prefill x 1.05).");
}

TEST(CalibrationSentence, TrainingHasNoPrefill) {
  EXPECT_THAT(sentence_about(fit_of(model::JobKind::kTrain)), Not(HasSubstr("prefill")));
}

TEST(CalibrationReport, EachPointShowsItsError) {
  const report::Report report = calibration_report({fit_of(model::JobKind::kServe)});
  const auto& table = std::get<report::Table>(report.blocks[1]);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0][4].shown, "-25.0 %");
  EXPECT_EQ(table.rows[0][5].shown, "+5.0 %");
}

}  // namespace
}  // namespace rightsize::app
