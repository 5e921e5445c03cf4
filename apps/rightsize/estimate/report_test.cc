#include "rightsize/estimate/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const Facts& facts() {
  static const Facts kFacts = open_facts("").value();
  return kFacts;
}

SpeedInput input_of(const char* model, std::map<std::string, std::string> settings) {
  ModelAndJob read = read_job({model, "", std::move(settings)}).value();
  SpeedInput input;
  input.model = std::move(read.model);
  input.gpu = facts().catalog.find_gpu("h100-sxm").value();
  input.work = perf::work_of(input.model);
  input.job = perf::fitted_to(input.work, read.job);
  input.speed = perf::gpu_speed(facts().constants, *input.gpu);
  return input;
}

std::string text_of(const report::Block& block) { return std::get<report::Paragraph>(block).text; }

TEST(EstimateReport, TrainingStatesItsRateItsBoundsAndItsBasis) {
  const SpeedInput input = input_of("llama-3.2-1b", {{"batch", "4"}, {"seq", "2048"}});
  const Result<SpeedEstimate> estimate = estimate_speed(facts().constants, input);
  const report::Report report = report_of({input, estimate});
  const std::string text = text_of(report.blocks.front());
  EXPECT_THAT(text, StartsWith("Training llama-3.2-1b"));
  EXPECT_THAT(text, HasSubstr(" on h100-sxm runs at "));
  EXPECT_THAT(text, HasSubstr("tok/s per GPU (80 % interval "));
  EXPECT_TRUE(std::any_of(report.blocks.begin(), report.blocks.end(), [](const report::Block& block) {
    const auto* paragraph = std::get_if<report::Paragraph>(&block);
    return paragraph != nullptr && paragraph->text.starts_with("Basis: ");
  }));
  ASSERT_NE(report.document.find("tokens_per_second_per_gpu"), nullptr);
  EXPECT_EQ(*report.document.find("tokens_per_second_per_gpu"), Json(in_tokens_per_s(estimate->train->tokens_per_gpu)));
}

TEST(EstimateReport, ThePartsOfAStepSumToTheWhole) {
  const SpeedInput input = input_of("llama-3.2-1b", {{"batch", "4"}, {"seq", "2048"}});
  const report::Report report = report_of({input, estimate_speed(facts().constants, input)});
  double sum = 0;
  for (const auto& row : std::get<report::Table>(report.blocks[1]).rows) sum += std::stod(row[2].exact);
  EXPECT_GT(sum, 0.99);  // parts below half a thousandth are not shown
  EXPECT_LT(sum, 1.0001);
}

TEST(EstimateReport, JobsThatCannotRunSayWhyAndWhatHelps) {
  const SpeedInput input = input_of("llama-3.2-1b", {});
  const Result<SpeedEstimate> infeasible = fail(bad_input("it is too large").with_hint("use two"));
  const report::Report report = report_of({input, infeasible});
  EXPECT_THAT(text_of(report.blocks.front()), HasSubstr("cannot run: it is too large.\nhint: use two"));
  EXPECT_EQ(*report.document.find("feasible"), Json(false));
  EXPECT_EQ(*report.document.find("hints"), Json::array({"use two"}));
}

}  // namespace
}  // namespace rightsize::app
