// The same recording gets the same alternatives and the same saving from 'profile', 'fleet' and 'recommend --profile'.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rightsize/call.h"

namespace rightsize::app {
namespace {

constexpr double kMonthHours = 730;

// A run on one GPU: start-up, then work at a constant or varying load.
void write_recording(const std::string& path) {
  const auto share = [](int low, int high) { return *rc::gen::inRange(low, high) / 100.0; };
  const std::string gpu =
      *rc::gen::element<std::string>("NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S",
                                     "NVIDIA L4", "Tesla T4", "NVIDIA RTX A6000");
  const int start = *rc::gen::element(0, 0, 5, 12), seconds = *rc::gen::inRange(40, 900);
  const int period = *rc::gen::element(1, 1, 6, 20);
  const double duty = share(10, 101), level = share(12, 100), sm = share(5, 101), tensor = share(0, 90),
               dram = share(0, 95), memory = *rc::gen::inRange(2, 15) * 1000.0;
  const bool counters = *rc::gen::arbitrary<bool>();
  std::ofstream file(path);
  file << "t_s,gpu,gpu_util_pct,fb_used_mib,power_w,name"
       << (counters ? ",graphics_pct,sm_pct,tensor_pct,dram_bw_pct" : "") << "\n";
  for (int t = 0; t < seconds; ++t) {
    const bool on = t >= start && (t % period) < std::max(1.0, duty * period);
    const double busy = on ? 100 * level : 0;
    file << fmt::format("{},0,{:.1f},{},{:.0f},{}", t, busy, t < start ? 600 : memory, 100 + 3 * busy, gpu);
    if (counters)
      file << fmt::format(",{:.2f},{:.2f},{:.2f},{:.2f}", busy, busy * sm, busy * sm * tensor, busy * sm * dram);
    file << "\n";
  }
}

std::optional<double> number(const Json* value) {
  if (value == nullptr) return std::nullopt;
  return value->visit([](const auto& content) -> std::optional<double> {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(content)>>) return static_cast<double>(content);
    return std::nullopt;
  });
}
std::optional<double> number(const Json& parent, const char* name) { return number(parent.find(name)); }
std::string text(const Json& parent, const char* name) {
  const Json* value = parent.find(name);
  return value != nullptr && value->text() != nullptr ? *value->text() : "";
}
bool close(double a, double b, double relative) { return std::fabs(a - b) <= relative * std::fabs(b) + 1e-9; }

void expect_same_action(const Json& profile, const Json& fleet) {
  for (const Json& action : *fleet.find("actions")->items()) {
    if (text(action, "kind") != "downsize") continue;
    RC_ASSERT(text(action, "to").find(text(profile, "alternative") + " (") != std::string::npos);
    RC_ASSERT(close(*number(action, "saving_usd_per_month"), *number(profile, "saving_usd_per_month"), 1e-6));
    return;
  }
  // A recording of an hour or less is too short for any other action.
  RC_ASSERT(number(profile, "saving_usd_per_month").value_or(0) < 1);
}

// "No other GPU for less" is said only if no GPU costs less, and a GPU without a list price hides no other price.
void expect_true_sentence(const Json& profile, const std::string& report) {
  const bool none = report.find("No other GPU does this work for less than") != std::string::npos;
  bool prices = false, keeps_up = false;
  for (const Json& there : *profile.find("projections")->items()) {
    const bool offered = *number(there, "fits") == 1 && *number(there, "replaces") == 1;
    prices = prices || number(there, "usd_per_gpu_hour").has_value();
    const bool cheaper = offered && number(there, "cost_ratio").value_or(1) < 1;
    if (none) RC_ASSERT(!cheaper);
    keeps_up = keeps_up || (cheaper && *number(there, "keeps_up") == 1);
    if (offered && *number(there, "keeps_up") == 0 && *number(profile, "paced") == 1)
      RC_ASSERT(*number(there, "low") < 1);
  }
  // A smaller GPU is proposed only if there is one.
  if (report.find("cheaper GPU does the same work") != std::string::npos && number(profile, "usd_per_hour"))
    RC_ASSERT(keeps_up);
  RC_ASSERT(prices || profile.find("projections")->items()->empty());
}

// A plan runs on a GPU that can do the work, at the speed and price of the profile.
void expect_same_cost(const Json& profile, const Json& plan) {
  const std::string gpu = text(plan, "gpu");
  if (gpu == text(profile, "gpu")) return;
  for (const Json& there : *profile.find("projections")->items()) {
    if (text(there, "gpu") != gpu) continue;
    for (const char* must : {"fits", "replaces", "keeps_up"}) RC_ASSERT(*number(there, must) == 1);
    const double cost = *number(there, "usd_per_gpu_hour") * kMonthHours / *number(there, "speed");
    // A machine with several GPUs may cost less per GPU, and start-up time is paid for.
    RC_ASSERT(*number(plan, "usd_total") <= cost * 1.01);
    if (*number(profile, "paced") == 1) RC_ASSERT(close(*number(plan, "usd_total"), cost, 0.01));
    return;
  }
  RC_FAIL("a GPU that the profile does not have: " + gpu);
}

RC_GTEST_PROP(OneAnswer, ProfileFleetAndRecommendAgree, ()) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir());
  const std::string recording = folder / "one_answer.csv", document = folder / "one_answer.json";
  write_recording(recording);
  const Checked<Outcome> profile = call("profile", {"--replay", recording});
  RC_ASSERT(profile.has_value());
  const Json& gpu = profile->report.document.find("gpus")->items()->front();
  const Checked<Outcome> fleet = call("fleet", {"--from", recording});
  RC_ASSERT(fleet.has_value());
  RC_TAG(text(gpu, "verdict"));
  fleet->report.with_document([&](const Json& whole) { expect_same_action(gpu, whole); });
  expect_true_sentence(gpu, report::render(profile->report, report::Format::kText));
  if (text(gpu, "verdict").starts_with("idle") || text(gpu, "verdict") == "unknown") return;
  std::ofstream(document) << profile->report.document.dump();
  const Checked<Outcome> plans =
      call("recommend", {"--profile", document, "--gpu-hours", fmt::format("{}h", kMonthHours), "--plans-only"});
  RC_ASSERT(plans.has_value());
  expect_same_cost(gpu, plans->report.document.find("plans")->items()->front());
}

// A GPU that does nothing for most of the time does not need faster arithmetic.
RC_GTEST_PROP(OneAnswer, WaitingComesBeforeTheBoundOfTheRest, ()) {
  const std::string recording = std::filesystem::path(testing::TempDir()) / "waiting.csv";
  const int busy = *rc::gen::inRange(5, 45), memory = *rc::gen::inRange(0, 90);  // percent
  std::ofstream file(recording);
  file << "t_s,gpu,gpu_util_pct,mem_util_pct,fb_used_mib,power_w,name\n";
  std::minstd_rand random(static_cast<unsigned>(*rc::gen::inRange(1, 1000000)));
  const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  int sum = 0;
  for (int t = 0; t < 1200; t += 5) {
    const int util = up_to(100) < busy ? 60 + up_to(40) : up_to(10);
    sum += util;
    file << fmt::format("{},0,{},{},21000,{},NVIDIA A100-SXM4-80GB\n", t, util, util * memory / 100, 70 + 2 * util);
  }
  RC_PRE(sum < 40 * 240);
  file.close();
  const Checked<Outcome> profile = call("profile", {"--replay", recording});
  RC_ASSERT(profile.has_value());
  const Json& gpu = profile->report.document.find("gpus")->items()->front();
  const std::string verdict = text(gpu, "verdict");
  RC_TAG(verdict);
  if (verdict != "compute-bound" && verdict != "memory-bound" && verdict != "launch-bound") return;
  const std::string first = report::render(profile->report, report::Format::kText);
  RC_ASSERT(first.find("nothing runs") < first.find(verdict));
  for (const Json& action : *gpu.find("actions")->items()) RC_ASSERT(text(action, "kind") != "quantize");
}

}  // namespace
}  // namespace rightsize::app
