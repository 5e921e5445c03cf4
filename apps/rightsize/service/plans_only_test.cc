// The page shows the plans of --plans-only while a slider moves.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/file.h"
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

// A scrape of vLLM: each histogram has random counts, so the measured percentiles may disagree with the simulation.
std::string scrape(double requests, const std::vector<double>& ttft, const std::vector<double>& tpot) {
  const std::string model = R"(model_name="meta-llama/Llama-3.1-8B-Instruct")";
  std::string text = fmt::format(
      "vllm:prompt_tokens_total{{{0}}} {1}\nvllm:generation_tokens_total{{{0}}} {2}\n"
      "vllm:request_success_total{{finished_reason=\"stop\",{0}}} {3}\n",
      model, requests * 800, requests * 200, requests);
  const auto add = [&](const char* name, const std::vector<double>& bounds, const std::vector<double>& shares) {
    double below = 0, sum = 0, all = 0;
    for (double share : shares) all += share;
    for (std::size_t i = 0; i <= bounds.size(); ++i) {
      const double count = requests * shares[i] / all;
      below += count, sum += count * bounds[std::min(i, bounds.size() - 1)];
      text += fmt::format("vllm:{}_bucket{{le=\"{}\",{}}} {}\n", name,
                          i < bounds.size() ? fmt::format("{}", bounds[i]) : "+Inf", model, below);
    }
    text += fmt::format("vllm:{0}_sum{{{1}}} {2}\nvllm:{0}_count{{{1}}} {3}\n", name, model, sum, requests);
  };
  add("time_to_first_token_seconds", {0.05, 0.1, 0.25, 0.5, 1, 2.5}, ttft);
  add("request_time_per_output_token_seconds", {0.01, 0.025, 0.05, 0.1}, tpot);
  return text;
}

// The current machines are listed if they were measured to meet the SLOs, and never if they were measured to miss one.
RC_GTEST_PROP(ServicePlans, DoNotContradictTheMeasuredSlos, ()) {
  const auto shares = [](std::size_t count) {
    return *rc::gen::container<std::vector<double>>(
        count, rc::gen::map(rc::gen::inRange(1, 100), [](int x) { return std::pow(1.1, x); }));
  };
  const std::vector<double> ttft = shares(7), tpot = shares(5);
  const double rate = *rc::gen::element(0.2, 1.5, 6.0);
  const std::string gpu = *rc::gen::element<std::string>("l40s", "h100-sxm", "a10g");
  const std::string slo = *rc::gen::element<std::string>("ttft=250ms", "ttft=500ms", "tpot=50ms", "ttft=1s,tpot=25ms");
  const auto folder = std::filesystem::temp_directory_path();
  const std::string first = folder / "rightsize_slo_a.txt", second = folder / "rightsize_slo_b.txt";
  RC_ASSERT(write_file(first, scrape(10'000, ttft, tpot)).has_value());
  RC_ASSERT(write_file(second, scrape(10'000 + 3600 * rate, ttft, tpot)).has_value());
  const Checked<Outcome> answer =
      call("service", {first, second, "--step", "1h", "--gpu", gpu, "--price", "2", "--slo", slo, "--plans-only"});
  RC_ASSERT(answer.has_value());
  const Json& service = answer->report.document.find("services")->items()->front();
  bool missed = false, sure = true;
  for (const Json& verdict : *service.find("slo")->items()) {
    missed = missed || verdict.find("kept")->dump() == "false";
    sure = sure && verdict.find("sure")->dump() == "true";
  }
  bool listed = false;
  for (const Json& plan : *service.find("plans")->items()) {
    const bool here = plan.find("gpu")->dump() == service.find("gpu")->dump() && plan.find("replicas")->dump() == "1" &&
                      plan.find("gpus")->dump() == "1";
    listed = listed || (here && *plan.find("change")->text() == "replicas");
    RC_ASSERT(!missed || !here);
  }
  RC_ASSERT(missed || !sure || listed);
}

}  // namespace
}  // namespace rightsize::app
