#include "rightsize/checklist/steps.h"

#include <gmock/gmock.h>

#include "catalog/test_catalog.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

TEST(Checklist, WithoutFactsEveryStepSaysWhatToDoNext) {
  const std::vector<ChecklistStep> steps = checklist_steps({built_in_catalog()});
  ASSERT_EQ(steps.size(), 5u);
  for (const ChecklistStep& step : steps) {
    EXPECT_FALSE(step.done) << step.name;
    EXPECT_FALSE(step.next.empty()) << step.name;
  }
}

LocatedJson document(const char* text) { return *LocatedJson::parse("test.json", text); }

TEST(Checklist, AProfileAnswersTheProfileAndTheBottleneck) {
  const LocatedJson profile = document(R"({"gpus": [{"name": "NVIDIA H100 80GB HBM3", "verdict": "memory-bound",
      "confidence": 0.9, "seconds": 120, "metrics": {"memory_used_bytes": {"max": 5e10}},
      "evidence": ["DRAM active"], "actions": [{"text": "use a larger batch"}]}]})");
  const std::vector<ChecklistStep> steps = checklist_steps({.catalog = built_in_catalog(), .profile = profile});
  EXPECT_THAT(steps[0].answer, HasSubstr("46.6 GiB of memory, over 2 min"));
  EXPECT_THAT(steps[1].answer, HasSubstr("memory-bound (confidence 90 %)"));
  EXPECT_THAT(steps[1].evidence, testing::ElementsAre("DRAM active"));
  EXPECT_EQ(steps[1].next, "use a larger batch");
  EXPECT_THAT(steps[2].answer, HasSubstr("51.2 GiB with 10 % to spare"));
  EXPECT_FALSE(steps[3].done) << "a profile says nothing about the cloud";
}

TEST(Checklist, AFleetAnswersTheProfileAndUnknownWasteIsNotZero) {
  const LocatedJson fleet =
      document(R"({"actions": [{"what": "stop it"}], "totals": {"gpus": 8, "spend_usd": 100.5}})");
  const ChecklistStep step = checklist_steps({.catalog = built_in_catalog(), .fleet = fleet})[0];
  EXPECT_TRUE(step.done);
  EXPECT_THAT(step.answer, HasSubstr("8 GPUs, $100.50 spent."));
  EXPECT_THAT(step.evidence, testing::ElementsAre("stop it"));
}

TEST(Checklist, TheReportHasOneBlockAndOneJsonEntryPerStep) {
  const report::Report shown = checklist_report("Checklist", checklist_steps({built_in_catalog()}));
  EXPECT_EQ(shown.blocks.size(), 5u);
  EXPECT_EQ(shown.document.find("steps")->size(), 5u);
  EXPECT_THAT(std::get<report::Paragraph>(shown.blocks.front()).text, HasSubstr("[ ] 1."));
}

}  // namespace
}  // namespace rightsize::app
