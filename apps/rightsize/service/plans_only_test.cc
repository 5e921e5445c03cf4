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

// Without SLOs, no plan is slower than the service is today.
TEST(ServiceWithoutSlo, PlansKeepTodaysLatency) {
  for (const char* gpu : {"h200-sxm", "h100-sxm", "l40s"}) {
    const Checked<Outcome> answer = call(
        "service", {"--from", RIGHTSIZE_SOURCE_DIR "/examples/service/metrics.txt.gz", "--gpu", gpu, "--plans-only"});
    const Json& service = answer.value().report.document.find("services")->items()->front();
    const std::string words = report::render(answer->report, report::Format::kText);
    EXPECT_NE(words.find("today's latency"), std::string::npos) << words;
    EXPECT_EQ(words.find("meet every SLO"), std::string::npos);
    ASSERT_FALSE(service.find("latency_kept")->items()->empty());
    for (const Json& kept : *service.find("latency_kept")->items()) {
      const char* quantity = *kept.find("quantity")->text() == "TTFT" ? "ttft_seconds" : "tpot_seconds";
      for (const Json& plan : *service.find("plans")->items()) {
        EXPECT_LE(std::stod(plan.find(quantity)->dump()), 1.01 * std::stod(kept.find("limit_seconds")->dump()))
            << gpu << quantity;
      }
    }
  }
}

}  // namespace
}  // namespace rightsize::app
