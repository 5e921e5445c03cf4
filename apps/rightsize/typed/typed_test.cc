#include "rightsize/typed/typed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rightsize::app
