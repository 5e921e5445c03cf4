#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/signals.h"
#include "diagnose/test_recordings.h"

namespace rightsize::diagnose {
namespace {

using testing::Contains;
using testing::HasSubstr;

Diagnosis of(const Level& level) {
  const auto samples = record(6, [&](double) { return level; });
  return classify(summarize_steady(samples, find_phases(samples, false)), {});
}

TEST(Evidence, NamesTheCountersBehindTheVerdict) {
  const Diagnosis copy = of({0.99, 0.98, 0.88, 0, 30});
  EXPECT_THAT(copy.evidence, Contains(HasSubstr("DRAM 88 %")));
  EXPECT_THAT(copy.evidence, Contains(HasSubstr("memory used: 16 GiB")));
}

TEST(Actions, EveryVerdictThatCanBeActedOnHasOne) {
  for (const Kind& kind : kSteadyKinds) EXPECT_FALSE(of(kind.level).actions.empty()) << kind.name;
}

// The SMs of a launch-bound load are empty, so the advice must not include a faster GPU.
TEST(Actions, ALaunchBoundLoadIsNotSentToAFasterGpu) {
  for (const Action& action : of({0.26, 0.02, 0.0, 0, 210}).actions) {
    if (action.kind != "smaller-gpu") continue;
    EXPECT_THAT(action.text, HasSubstr("a faster GPU does not help"));
  }
}

}  // namespace
}  // namespace rightsize::diagnose
