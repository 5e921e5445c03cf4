#include "rightsize/flags.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Flags : testing::Test {
  CLI::App command;
  FlagSet flags{command};

  // What the command line says; empty when it is in order.
  std::string parse(const std::string& line) {
    try {
      command.parse(line);
      return {};
    } catch (const CLI::ParseError& failure) {
      return failure.what();
    }
  }
};

TEST_F(Flags, ValuesOfEveryTypeAreFilledIn) {
  std::string text;
  std::vector<std::string> list;
  int whole = 0;
  unsigned natural = 0;
  std::size_t size = 0;
  double number = 0;
  bool present = false;
  flags.add_option("--text", text, "");
  flags.add_option("--list", list, "");
  flags.add_option("--int", whole, "");
  flags.add_option("--unsigned", natural, "");
  flags.add_option("--size", size, "");
  flags.add_option("--double", number, "");
  flags.add_flag("--present", present, "");
  EXPECT_EQ(parse("--text a --list b --list c --int -3 --unsigned 4 --size 5 --double 0.5 --present"), "");
  EXPECT_EQ(text, "a");
  EXPECT_THAT(list, ElementsAre("b", "c"));
  EXPECT_EQ(whole, -3);
  EXPECT_EQ(natural, 4u);
  EXPECT_EQ(size, 5u);
  EXPECT_EQ(number, 0.5);
  EXPECT_TRUE(present);
}

TEST_F(Flags, OptionsThatAreNotGivenKeepTheirDefault) {
  std::string text = "before";
  flags.add_option("--text", text, "")->default_str("shown");
  EXPECT_EQ(parse(""), "");
  EXPECT_EQ(text, "before");
  EXPECT_EQ(flags.given("--text"), "");
  EXPECT_EQ(flags.given("--never-declared"), "");
}

TEST_F(Flags, GivenOptionsCanBeQueried) {
  std::string format;
  flags.add_option("--format", format, "");
  EXPECT_EQ(parse("--format json"), "");
  EXPECT_EQ(flags.given("--format"), "json");
}

TEST_F(Flags, AnOptionMayCallAFunction) {
  std::string taken;
  flags
      .add_option_function(
          "--batch", [&](const std::string& text) { taken = text; }, "")
      ->type_name("N");
  EXPECT_EQ(parse("--batch 8"), "");
  EXPECT_EQ(taken, "8");
}

TEST_F(Flags, ListsMayBeSeparatedByCommas) {
  std::vector<std::string> gpus;
  flags.add_option("--gpu", gpus, "")->delimiter(',');
  EXPECT_EQ(parse("--gpu l4,t4 --gpu a10g"), "");
  EXPECT_THAT(gpus, ElementsAre("l4", "t4", "a10g"));
}

TEST_F(Flags, AnOptionOfOneValueLeavesTheNextArgument) {
  std::vector<std::string> prices;
  std::string file;
  flags.add_option("--price", prices, "")->one_value_each();
  flags.add_option("file", file, "");
  EXPECT_EQ(parse("--price 2 workload.yaml"), "");
  EXPECT_THAT(prices, ElementsAre("2"));
  EXPECT_EQ(file, "workload.yaml");
}

TEST_F(Flags, WrongOptionsAreRefused) {
  std::string model;
  int nodes = 1;
  flags.add_option("--model", model, "")->required();
  flags.add_option("--nodes", nodes, "")->range(1, 64);
  flags.add_option("--top", nodes, "")->check([](const std::string& text) {
    return text == "no" ? "not this" : std::string();
  });
  EXPECT_THAT(parse("--nodes 2"), HasSubstr("--model"));
  EXPECT_THAT(parse("--model a --nodes 65"), HasSubstr("1"));
  EXPECT_THAT(parse("--model a --nodes x"), HasSubstr("--nodes"));
  EXPECT_THAT(parse("--model a --top no"), HasSubstr("not this"));
}

}  // namespace
}  // namespace rightsize::app
