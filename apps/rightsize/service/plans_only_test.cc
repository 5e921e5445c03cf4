// The page shows the plans of --plans-only while a slider moves.
#include <gtest/gtest.h>

#include "rightsize/call.h"

namespace rightsize::app {
namespace {

// The three cheapest.
std::vector<Json> plans_of(std::vector<std::string> words, bool plans_only) {
  words.insert(words.end(), {"--from", RIGHTSIZE_SOURCE_DIR "/examples/service/metrics.txt.gz", "--gpu", "h200-sxm"});
  if (plans_only) words.emplace_back("--plans-only");
  const Checked<Outcome> answer = call("service", words);
  std::vector<Json> plans;
  for (const Json& plan : *answer.value().report.document.find("services")->items()->front().find("plans")->items())
    if (plans.size() < 9)
      for (const char* field : {"gpu", "gpus", "usd_per_month"}) plans.push_back(*plan.find(field));
  return plans;
}

TEST(ServicePlansOnly, HasTheCheapestPlansOfTheFullAnswer) {
  for (const char* slo : {"ttft=300ms,tpot=30ms", "ttft=1s,tpot=50ms", "ttft=5s,tpot=200ms"})
    for (const char* traffic : {"1x", "3x"})
      EXPECT_EQ(plans_of({"--slo", slo, "--traffic", traffic}, true),
                plans_of({"--slo", slo, "--traffic", traffic}, false))
          << slo << traffic;
}

}  // namespace
}  // namespace rightsize::app
