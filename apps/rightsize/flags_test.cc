#include "rightsize/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "rightsize/call.h"
#include "rightsize/typed/typed.h"

namespace rightsize::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> all;
  for (const std::string_view word : split_list(line, ' ')) all.emplace_back(word);
  return all;
}

struct Flags : testing::Test {
  FlagSet command;

  // The errors and surplus words of a command line; empty if it is correct.
  std::string parse(const std::string& line) {
    const Checked<std::vector<std::string>> unknown = command.parse(words(line));
    if (!unknown) return describe(unknown.error());
    std::string text;
    for (const std::string& word : *unknown) text += word + " ";
    return text;
  }
};

TEST_F(Flags, TheExampleInTheHeaderWorks) {
  struct {
    std::string gpu;
    Seconds window;
    std::optional<Usd> fail_over;
    std::vector<std::string> from;
    bool once = false;
  } flags;
  command.add("gpu", flags.gpu)->argument();
  command.add("window", flags.window)->or_else("4h");
  command.add("fail-over", flags.fail_over);
  command.add("from", flags.from)->meaning("files to read")->required();
  command.add("once", flags.once);
  EXPECT_EQ(in_hours(flags.window), 4);
  EXPECT_EQ(parse("h100 --from a.csv b.csv --once"), "");
  EXPECT_EQ(flags.gpu, "h100");
  EXPECT_EQ(flags.fail_over, std::nullopt);
  EXPECT_THAT(flags.from, ElementsAre("a.csv", "b.csv"));
  EXPECT_TRUE(flags.once);
}

TEST_F(Flags, EverySpellingOfAFlagIsRead) {
  std::string provider, output;
  bool quiet = false, wide = false;
  command.add("provider", provider);
  command.add("output", output);
  command.add("quiet", quiet);
  command.add("wide", wide);
  EXPECT_EQ(parse("--providers=aws,gcp -qo plan.yaml --wide=no"), "");
  EXPECT_EQ(provider, "aws,gcp");
  EXPECT_EQ(output, "plan.yaml");
  EXPECT_TRUE(quiet);
  EXPECT_FALSE(wide);
  EXPECT_EQ(command.given("--provider"), "aws,gcp");
  EXPECT_EQ(command.given("--format"), "");
}

TEST_F(Flags, TypedValuesAreChecked) {
  double interruptions = 0;
  int gpus = 0;
  std::vector<int> replicas;
  Ratio target;
  command.add("interruptions", interruptions);
  command.add("max-gpus", gpus);
  command.add("replicas", replicas);
  command.add("target", target);
  EXPECT_EQ(interruptions, 0.05);
  EXPECT_EQ(parse("--interruptions 0.2 --max-gpus 8 --replicas 1,2 --replicas 4 --target 70%"), "");
  EXPECT_EQ(interruptions, 0.2);
  EXPECT_THAT(replicas, ElementsAre(1, 2, 4));
  EXPECT_DOUBLE_EQ(target.fraction(), 0.7);
}

TEST_F(Flags, AValueOutOfRangeIsRefused) {
  double interruptions = 0;
  command.add("interruptions", interruptions);
  EXPECT_THAT(parse("--interruptions nan"), HasSubstr("--interruptions"));
}

TEST_F(Flags, AllMistakesAreReported) {
  int gpus = 0;
  std::string model, gpu;
  command.add("max-gpus", gpus);
  command.add("model", model)->required();
  command.add("gpu", gpu);
  const std::string errors = parse("--max-gpus 0 --max-gpus 4 --gpu");
  EXPECT_THAT(errors, HasSubstr("--max-gpus 0 must be between 1 and 65,536"));
  EXPECT_THAT(errors, HasSubstr("--max-gpus is given more than once"));
  EXPECT_THAT(errors, HasSubstr("--gpu needs a value"));
  EXPECT_THAT(errors, HasSubstr("--model is required"));
}

TEST_F(Flags, AFlagIsNotTheValueOfTheFlagBeforeIt) {
  std::string model, gpu;
  command.add("model", model);
  command.add("gpu", gpu);
  EXPECT_THAT(parse("--model --gpu h100"), HasSubstr("--model needs a value"));
}

TEST_F(Flags, BareWordsFillTheRemainingArguments) {
  std::string model, gpu;
  command.add("model", model)->argument();
  command.add("gpu", gpu)->argument();
  EXPECT_EQ(parse("h100 --model llama -- extra"), "extra ");
  EXPECT_EQ(model, "llama");
  EXPECT_EQ(gpu, "h100");
}

TEST_F(Flags, WordsAfterTwoDashesAreNotFlags) {
  std::vector<std::string> run;
  bool once = false;
  command.add("COMMAND", run);
  command.add("once", once);
  EXPECT_EQ(parse("--once -- python train.py --lr 1 -q"), "");
  EXPECT_THAT(run, ElementsAre("python", "train.py", "--lr", "1", "-q"));
}

// Every flag of every command.
template <class Check>
void for_every_flag(Check check) {
  for (const std::string& name : command_names()) {
    const Result<CommandInfo> command = describe_command(name);
    ASSERT_TRUE(command) << name;
    for (const FlagInfo& flag : command->flags) check(name, flag);
  }
}

TEST(AllCommands, EveryFlagHasARowInTheSettingsTable) {
  for_every_flag([](const std::string& command, const FlagInfo& flag) {
    EXPECT_NE(settings::find(flag.setting->name), nullptr) << command << " " << flag.name;
    EXPECT_FALSE(flag.meaning.empty()) << command << " " << flag.name;
  });
}

// A meaningless number is refused before a command sees it, and the message names the flag.
TEST(AllCommands, MeaninglessNumbersAreRefused) {
  for_every_flag([](const std::string& command, const FlagInfo& flag) {
    if (!flag.name.starts_with("--") || flag.values.empty()) return;
    std::vector<std::string> texts = {""};
    if (settings::is_number(flag.setting->kind)) texts.insert(texts.end(), {"nan", "inf", "-1e9", "1e26"});
    for (const std::string& text : texts) {
      const Checked<Outcome> outcome = call(command, {flag.name + "=" + text});
      ASSERT_FALSE(outcome) << command << " " << flag.name << "=" << text;
      EXPECT_THAT(describe(outcome.error()), HasSubstr(flag.name.substr(2))) << command << " " << text;
      EXPECT_EQ(exit_code(outcome.error().front()), 1) << command << " " << flag.name;
    }
  });
}

// A text that the flag accepts.
std::string example_of(const FlagInfo& flag) {
  const settings::Setting& row = *flag.setting;
  if (row.kind == settings::Kind::kChoice || row.kind == settings::Kind::kYesNo)
    return std::string(split_list(row.values, '|').front());
  return row.example.empty() ? "x" : std::string(row.example);
}

// Parses the line as typed: the aliases of other tools are applied first, and they join the values of lists.
TEST(AllCommands, AFlagWithOneValueMayBeGivenOnce) {
  for_every_flag([](const std::string& command, const FlagInfo& flag) {
    if (!flag.name.starts_with("--") || flag.values.empty()) return;
    if (flag.repeatable || flag.list || flag.name == "--slo") return;  // --slo joins its limits
    const std::string value = example_of(flag);
    const Typed typed = meant_flags({{command, flag.name, value, flag.name, value}}, describe_command(command)->flags);
    const Checked<Outcome> outcome = call(command, {typed.words.begin() + 1, typed.words.end()});
    ASSERT_FALSE(outcome) << command << " " << flag.name;
    EXPECT_THAT(describe(outcome.error()), HasSubstr(flag.name + " is given more than once")) << command;
  });
}

TEST(AllCommands, AShortFlagIsNotAValue) {
  for_every_flag([](const std::string& command, const FlagInfo& flag) {
    if (!flag.name.starts_with("--") || flag.values.empty()) return;
    const Typed typed = meant_flags({{command, flag.name, "-q"}}, describe_command(command)->flags);
    EXPECT_THAT(typed.words, testing::AnyOf(testing::Contains("-q"), testing::Contains("--quiet")))
        << command << " " << flag.name;
  });
}

TEST(AllCommands, AListForAFlagWithOneValueIsRefused) {
  EXPECT_THAT(describe(call("memory", {"llama-3.1-8b", "--batch", "1,2"}).error()),
              HasSubstr("--batch takes one value, not '1,2'"));
  EXPECT_THAT(describe(call("top", {"--gpu", "l4,h100-sxm"}).error()), HasSubstr("--gpu takes one value"));
}

}  // namespace
}  // namespace rightsize::app
