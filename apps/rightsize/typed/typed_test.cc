#include "rightsize/typed/typed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rightsize/typed/join_names.h"
#include "rightsize/typed/values.h"

namespace rightsize::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kCommands{"gpus", "memory", "prices", "profile", "recommend", "top", "help"};

std::vector<std::string> command(std::vector<std::string> words) {
  return meant_command(std::move(words), kCommands)->words;
}

std::deque<FlagInfo> flags() {
  std::deque<FlagInfo> all;
  for (const char* name : {"--provider", "--batch", "--precision", "--purchase", "--format", "--job", "--deadline"})
    all.push_back({name, "", "", "TEXT", "", "", "", false});
  all.push_back({"--wide", "", "", "", "", "", "", false});
  all.push_back({"--community", "", "", "", "", "", "", false});
  return all;
}

std::vector<std::string> meant(std::vector<std::string> words) {
  return meant_flags(Typed{std::move(words), {}}, flags())->words;
}

TEST(Typed, CommandsByTheNamesOfOtherTools) {
  EXPECT_THAT(command({"show-gpus"}), ElementsAre("gpus"));
  EXPECT_THAT(command({"show-gpus", "H100:8"}), ElementsAre("prices", "H100:8"));
  EXPECT_THAT(command({"get", "gpus"}), ElementsAre("gpus"));
  EXPECT_THAT(command({"GPU", "h100"}), ElementsAre("gpus", "h100"));
  EXPECT_THAT(command({"estimate-memory", "x"}), ElementsAre("memory", "x"));
  EXPECT_THAT(command({"--format", "json", "gpus"}), ElementsAre("gpus", "--format", "json"));
  EXPECT_THAT(command({"gpus", "help"}), ElementsAre("gpus", "--help"));
  EXPECT_THAT(command({"version"}), ElementsAre("--version"));
  EXPECT_THAT(command({"frobnicate"}), ElementsAre("frobnicate"));  // for the parser to refuse
}

TEST(Typed, WhatWeDoNotDoSaysWhatToUse) {
  EXPECT_THAT(describe(meant_command({"launch", "x.yaml"}, kCommands).error()), HasSubstr("--emit"));
  EXPECT_THAT(describe(meant_command({"list"}, kCommands).error()), HasSubstr("rightsize gpus"));
}

TEST(Typed, FlagsByTheNamesOfOtherTools) {
  EXPECT_THAT(meant({"prices", "--cloud", "aws"}), ElementsAre("prices", "--provider", "aws"));
  EXPECT_THAT(meant({"prices", "--providers=aws"}), ElementsAre("prices", "--provider", "aws"));
  EXPECT_THAT(meant({"memory", "--batch_size", "4"}), ElementsAre("memory", "--batch", "4"));
  EXPECT_THAT(meant({"prices", "--spot"}), ElementsAre("prices", "--purchase", "spot"));
  EXPECT_THAT(meant({"gpus", "-o", "JSON"}), ElementsAre("gpus", "--format", "json"));
  EXPECT_THAT(meant({"gpus", "-o", "wide"}), ElementsAre("gpus", "--wide"));
  EXPECT_THAT(meant({"recommend", "--hours", "24"}), ElementsAre("recommend", "--deadline", "24h"));
  EXPECT_THAT(meant({"memory", "--dtype", "bfloat16"}), ElementsAre("memory", "--precision", "bf16"));
}

// SLOs are spelt in two ways; each command understands both.
TEST(Typed, SlosTogetherAndOneByOne) {
  const auto of = [](std::vector<const char*> names, std::vector<std::string> words) {
    std::deque<FlagInfo> flags;
    for (const char* name : names) flags.push_back({name, "", "", "TEXT", "", "", "", false});
    return meant_flags(Typed{std::move(words), {}}, flags)->words;
  };
  EXPECT_THAT(of({"--slo"}, {"batch", "--ttft", "500ms", "--tpot-slo=40ms"}),
              ElementsAre("batch", "--slo", "ttft=500ms,tpot=40ms"));
  EXPECT_THAT(of({"--slo"}, {"service", "--slo", "tpot=40ms", "--ttft", "1s"}),
              ElementsAre("service", "--slo", "tpot=40ms,ttft=1s"));
  EXPECT_THAT(of({"--slo"}, {"batch", "--slo", "p99=100ms"}), ElementsAre("batch", "--slo", "p99=100ms"));
  EXPECT_THAT(of({"--ttft-slo", "--tpot-slo"}, {"recommend", "--slo", "ttft=1s,tpot=40ms"}),
              ElementsAre("recommend", "--ttft-slo", "1s", "--tpot-slo", "40ms"));
  EXPECT_THAT(of({"--ttft-slo", "--tpot-slo"}, {"recommend", "--slo", "cheap"}),
              ElementsAre("recommend", "--slo", "cheap"));
}

std::vector<std::string> of_job(std::vector<std::string> words) {
  std::deque<FlagInfo> flags;
  for (const char* name : {"--precision", "--method", "--lora-rank", "--lora-targets", "--recompute", "--zero", "--gpu",
                           "--gpus", "--deadline", "--ttft-slo", "--tpot-slo", "--budget", "--regions", "--provider"})
    flags.push_back({name, "", "", "TEXT", "", "", "", false});
  flags.push_back({"--compile", "", "", "yes|no", "", "", "", false});
  const Result<Typed> meant = meant_flags(Typed{std::move(words), {}}, flags);
  if (!meant) return {"refused", meant.error().message};
  return meant->words;
}

TEST(Typed, FormatsAsTrainersSayThem) {
  EXPECT_THAT(of_job({"memory", "--mixed_precision", "bf16"}), ElementsAre("memory", "--precision", "amp-bf16"));
  EXPECT_THAT(of_job({"memory", "--mixed_precision", "no"}), ElementsAre("memory", "--precision", "fp32"));
  EXPECT_THAT(of_job({"memory", "--dtype", "auto"}), ElementsAre("memory"));
  EXPECT_THAT(of_job({"memory", "--gradient_checkpointing", "True", "--bf16", "False"}),
              ElementsAre("memory", "--recompute", "full"));
  EXPECT_THAT(of_job({"memory", "--compile"}), ElementsAre("memory", "--compile", "yes"));
}

TEST(Typed, AdaptersAreMeantByTheirSettings) {
  EXPECT_THAT(of_job({"memory", "--lora-rank", "64"}), ElementsAre("memory", "--lora-rank", "64", "--method", "lora"));
  EXPECT_THAT(of_job({"memory", "--load_in_4bit", "--use_peft"}), ElementsAre("memory", "--method", "qlora"));
  EXPECT_THAT(of_job({"memory", "--method", "lora", "--lora_target_modules", "q_proj,v_proj"}),
              ElementsAre("memory", "--method", "lora", "--lora-targets", "attention"));
}

TEST(Typed, SchedulersAndPlanners) {
  EXPECT_THAT(of_job({"recommend", "--gres=gpu:h100:8", "--time", "1-12:30:00"}),
              ElementsAre("recommend", "--gpu", "h100", "--gpus", "8", "--deadline", "1d12h30min"));
  EXPECT_THAT(of_job({"recommend", "--ttft", "300", "--tpot", "10ms"}),
              ElementsAre("recommend", "--ttft-slo", "300ms", "--tpot-slo", "10ms"));
  EXPECT_THAT(of_job({"recommend", "--goodput", "ttft:500", "tpot:50"}),
              ElementsAre("recommend", "--ttft-slo", "500ms", "--tpot-slo", "50ms"));
  EXPECT_THAT(of_job({"recommend", "--cloud", "aws", "--cloud", "gcp"}),
              ElementsAre("recommend", "--provider", "aws,gcp"));
  EXPECT_THAT(of_job({"recommend", "--deadline", "2", "weeks"}), ElementsAre("recommend", "--deadline", "2 weeks"));
  EXPECT_THAT(of_job({"recommend", "--zone", "us-east-1a"}), ElementsAre("recommend", "--regions", "us-east-1"));
  EXPECT_THAT(of_job({"recommend", "--budget", "$2.5/hr"}).front(), "refused");
  EXPECT_THAT(of_job({"memory", "--max-model-len", "8192"}).front(), "refused");
}

TEST(Typed, NamesInSeveralWords) {
  const auto joined = [](std::vector<std::string> words) {
    join_names(words);
    return words;
  };
  EXPECT_THAT(joined({"prices", "RTX", "4090"}), ElementsAre("prices", "RTX-4090"));
  EXPECT_THAT(joined({"prices", "8", "H100", "--top", "3"}), ElementsAre("prices", "8xH100", "--top", "3"));
  EXPECT_THAT(joined({"prices", "h100", "a100"}), ElementsAre("prices", "h100", "a100"));
  EXPECT_THAT(joined({"estimate", "llama", "3.1", "8b", "on", "h100"}),
              ElementsAre("estimate", "llama-3.1-8b", "h100"));
  EXPECT_THAT(joined({"recommend", "llama-3.1-8b", "h100", "--tokens", "1B"}),
              ElementsAre("recommend", "llama-3.1-8b", "--gpu", "h100", "--tokens", "1B"));
  EXPECT_THAT(joined({"commit", "h100"}), ElementsAre("commit", "--gpu", "h100"));
}

TEST(Typed, SwitchesTakeYesAndNo) {
  EXPECT_THAT(meant({"prices", "--community", "yes", "x"}), ElementsAre("prices", "--community", "x"));
  EXPECT_THAT(meant({"prices", "--community=no"}), ElementsAre("prices"));
}

TEST(Typed, ACommandThatIsRunStaysAsItIs) {
  EXPECT_THAT(meant({"profile", "--", "python", "--cloud", "x"}),
              ElementsAre("profile", "--", "python", "--cloud", "x"));
  EXPECT_THAT(meant({"profile", "python", "--json"}), ElementsAre("profile", "python", "--json"));
}

TEST(Typed, UnknownFlagsAreLeftForTheParser) {
  EXPECT_THAT(meant({"gpus", "--frob", "1"}), ElementsAre("gpus", "--frob", "1"));
}

TEST(Typed, WordsInFrontOfACommandAreDropped) {
  EXPECT_THAT(command({"kubectl", "get", "gpus"}), ElementsAre("gpus"));
  EXPECT_THAT(command({"gcloud", "compute", "accelerator-types", "list"}), ElementsAre("gpus"));
  EXPECT_THAT(command({"cheapest", "h100"}), ElementsAre("prices", "h100"));
  EXPECT_THAT(command({"prices", "h100", "vs", "a100"}), ElementsAre("prices", "h100", "a100"));
  EXPECT_THAT(command({"spot-price", "h100"}), ElementsAre("prices", "--purchase=spot", "h100"));
  EXPECT_THAT(command({"gpus", "--cloud", "aws"}), ElementsAre("prices", "--cloud", "aws"));
  EXPECT_THAT(command({"recommend", "serve", "x"}), ElementsAre("recommend", "x", "--job=serve"));
  EXPECT_THAT(command({"train", "x"}), ElementsAre("recommend", "--job=train", "x"));
}

MeantValues values(const std::string& flag, const std::string& typed, const std::string& value) {
  return *meant_values(flag, typed, value, [](const std::string&) { return true; });
}

TEST(Typed, ValuesOfOtherToolsBecomeFlags) {
  EXPECT_TRUE(values("--gpu", "--gpu", "any").flags.empty());
  const MeantValues place = values("--provider", "--infra", "gcp/us-central1");
  ASSERT_EQ(place.flags.size(), 2U);
  EXPECT_EQ(place.flags[1].flag + " " + place.flags[1].value, "--region us-central1");
  const MeantValues list = values("--gpus", "--gpus", "{H100:8, A100:8}");
  ASSERT_EQ(list.flags.size(), 2U);
  EXPECT_EQ(list.flags[0].value, "H100,A100");
  EXPECT_EQ(list.flags[1].value, "8");
  const auto all = [](const std::string&) { return true; };
  EXPECT_FALSE(meant_values("--gpus", "--gpus", "H100:8,A100:4", all));
  EXPECT_THAT(describe(meant_values("--format", "-o", "plan.json", all).error()), HasSubstr("> plan.json"));
  EXPECT_EQ(meant_filter("Name=instance-type,Values=p5.48xlarge", all)->flag, "--instance");
  EXPECT_EQ(meant_filter("gpu=h100", all)->value, "h100");
  EXPECT_FALSE(meant_filter("zone=x", all));
  EXPECT_FALSE(meant_filter("=", all));
}

}  // namespace
}  // namespace rightsize::app
