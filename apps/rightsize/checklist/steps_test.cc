#include "rightsize/checklist/steps.h"

#include <gmock/gmock.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

const catalog::Catalog& facts() {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  return kCatalog;
}

TEST(Checklist, WithoutFactsEveryStepSaysWhatToDoNext) {
  const std::vector<ChecklistStep> steps = checklist_steps({facts()});
  ASSERT_EQ(steps.size(), 5u);
  for (const ChecklistStep& step : steps) {
    EXPECT_FALSE(step.done) << step.name;
    EXPECT_FALSE(step.next.empty()) << step.name;
  }
}

TEST(Checklist, AProfileAnswersTheProfileAndTheBottleneck) {
  ProfiledGpu gpu;
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.verdict = "memory-bound";
  gpu.confidence = 0.9;
  gpu.duration = seconds(120);
  const std::vector<ChecklistStep> steps = checklist_steps({.catalog = facts(), .profile = {gpu}});
  EXPECT_TRUE(steps[0].done);
  EXPECT_TRUE(steps[1].done);
  EXPECT_THAT(steps[1].answer, HasSubstr("memory-bound"));
  EXPECT_FALSE(steps[3].done) << "a profile says nothing about the cloud";
}

TEST(Checklist, TheReportHasOneBlockAndOneJsonEntryAStep) {
  const report::Report shown = checklist_report("Checklist", checklist_steps({facts()}));
  EXPECT_EQ(shown.blocks.size(), 5u);
  EXPECT_EQ(shown.document.find("steps")->size(), 5u);
  EXPECT_THAT(std::get<report::Paragraph>(shown.blocks.front()).text, HasSubstr("[ ] 1."));
}

}  // namespace
}  // namespace rightsize::app
