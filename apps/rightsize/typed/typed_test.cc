#include "rightsize/typed/typed.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rightsize/typed/aliases.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/repair.h"
#include "rightsize/typed/sentence.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

// The translated command line as one text.
std::string meant(const std::string& line) {
  Typed typed = meant_command(words_in(line), command_names());
  if (const Result<CommandInfo> command = describe_command(typed.words.front()))
    typed = meant_flags(std::move(typed), command->flags);
  return fmt::format("{}", fmt::join(typed.words, " "));
}

std::vector<CommandInfo> all_commands() {
  std::vector<CommandInfo> all;
  for (const std::string& name : command_names()) all.push_back(*describe_command(name));
  return all;
}

bool has(const CommandInfo& command, std::string_view flag) { return find_flag(command.flags, flag) != nullptr; }

// Every spelling of every row, in every command: a flag of the command is left alone, and any other becomes one.
TEST(Aliases, EverySpellingNamesAFlagOfTheCommand) {
  for (const CommandInfo& command : all_commands()) {
    for (const NameRow& alias : names_of("flag")) {
      const std::string flag(alias.meant.substr(0, alias.meant.find('=')));
      if (flag == "argument" || flag == "default" || flag == "ignored" || !has(command, flag)) continue;
      for (const std::string_view typed : split_list(alias.names, ' ')) {
        if (has(command, typed)) continue;
        const std::string found = meant_flag(typed, command.flags, alias.more == "serving");
        ASSERT_FALSE(found.empty()) << command.name << " " << typed;
        EXPECT_TRUE(found == "argument" || found == "default" || found == "ignored" ||
                    has(command, found.substr(0, found.find('='))))
            << command.name << typed;
      }
    }
  }
}

TEST(Aliases, EveryRowNamesASetting) {
  for (const NameRow& alias : names_of("flag")) {
    if (alias.meant == "argument" || alias.meant == "default" || alias.meant == "ignored") continue;
    const std::string_view flag = alias.meant.substr(2, alias.meant.find('=') - 2);
    const settings::Setting* row = settings::find(flag);
    ASSERT_NE(row, nullptr) << alias.meant;
    const std::size_t equals = alias.meant.find('=');
    if (equals == std::string_view::npos || alias.meant.find('*') != std::string_view::npos) continue;
    EXPECT_TRUE(settings::read_list(*row, alias.meant.substr(equals + 1))) << alias.meant;
  }
  for (const NameRow& alias : names_of("command")) {
    const std::string command(alias.meant.substr(0, alias.meant.find(' ')));
    EXPECT_TRUE(describe_command(command) || command == "manual" || command == "completion" || command == "help")
        << alias.meant;
  }
}

// The degrees of parallelism in one value, in any order.
TEST(Typed, FlagsMayBeMembersOfAValue) {
  const auto declared = describe_command("estimate")->flags;
  for (const char* name : {"--parallelism", "--parallel-strategy", "--strategy"}) {
    for (const char* value : {"tp=4", "tp=4,pp=2", "pp=2,tp=4"}) {
      const Typed meant = meant_flags({{"estimate", "llama-3.1-8b", name, value}}, declared);
      for (const std::string_view member : split_list(value, ','))
        EXPECT_TRUE(holds(meant.words, "--" + std::string(member))) << name << value;
    }
    EXPECT_EQ(value_of(meant_flags({{"estimate", "llama-3.1-8b", name, "fsdp"}}, declared).words, "--zero"), "3");
  }
}

// A unit or a period in the name of a flag is that of its value.
TEST(Typed, UnitsMayBeInTheName) {
  const CommandInfo command = *describe_command("recommend");
  for (const FlagInfo& flag : command.flags) {
    if (flag.setting == nullptr || flag.setting->kind != settings::Kind::kDuration || flag.name.ends_with("hours"))
      continue;
    for (const auto& [word, unit] : {std::pair{"hours", "h"}, {"minutes", "min"}, {"days", "d"}}) {
      const std::string typed = fmt::format("{}-{}", flag.name, word), value = fmt::format("3{}", unit);
      if (!settings::read(*flag.setting, value) || has(command, typed) ||
          !meant_flag(typed, command.flags, false).empty())
        continue;
      EXPECT_EQ(meant(fmt::format("recommend --model m {} 3", typed)),
                fmt::format("recommend --model=m {}={}", flag.name, value));
    }
  }
  for (const char* typed :
       {"--budget-per-month", "--budget-usd-month", "--max-cost-per-month", "--budget-usd", "--cost-limit-usd"})
    EXPECT_EQ(meant(fmt::format("recommend --model m {} 500", typed)), "recommend --model=m --budget=500") << typed;
  EXPECT_EQ(meant("recommend --model m --budget-per-day 500"), "recommend --model=m --budget=500/d");
}

// The size of a data set: its unit decides, or its magnitude.
TEST(Typed, DataSetsHaveTokensSamplesOrBytes) {
  for (const char* flag : {"--dataset", "--dataset-size", "--data", "--data-size", "--corpus"}) {
    const auto line = [&](const char* value) {
      return meant(fmt::format("recommend --model llama-3.1-8b {} {}", flag, value));
    };
    for (const auto& [value, wanted] : {std::pair{"50M", "--dataset-tokens=50M"},
                                        {"2B", "--dataset-tokens=2B"},
                                        {"20k", "--dataset-samples=20k"},
                                        {"5000", "--dataset-samples=5000"},
                                        {"20k rows", "--dataset-samples=20000"},
                                        {"300k tokens", "--dataset-tokens=300000"},
                                        {"50MB", "--dataset-tokens=12500000"},
                                        {"2GB", "--dataset-tokens=500000000"}})
      EXPECT_EQ(line(value), fmt::format("recommend --model=llama-3.1-8b {}", wanted)) << flag;
  }
}

TEST(Typed, StartCommandsNameTheEngine) {
  for (const auto& [typed, stack] : {std::pair{"vllm serve X/Y", "vllm"},
                                     {"python -m vllm.entrypoints.openai.api_server --model X/Y", "vllm"},
                                     {"python3 -m sglang.launch_server --model-path X/Y", "sglang"},
                                     {"python3 -m dynamo.vllm --model X/Y", "vllm"},
                                     {"trtllm-serve X/Y", "trtllm"}}) {
    for (const char* command : {"estimate", "memory", "recommend"}) {
      const std::string line = meant(fmt::format("{} {} --tp 8 --gpu h200", command, typed));
      EXPECT_THAT(line, testing::HasSubstr(fmt::format("--stack={}", stack))) << typed;
      EXPECT_THAT(line, testing::HasSubstr("--job=serve")) << typed;
      EXPECT_THAT(line, testing::HasSubstr("X/Y")) << typed;
    }
  }
}

// A command line of another tool, pasted without one of ours.
TEST(Typed, CommandLinesOfOtherToolsNameACommand) {
  for (const auto& [typed, wanted] :
       {std::pair{"vllm serve X/Y --gpu h200", "memory X/Y"},
        {"python3 -m sglang.launch_server --model-path X/Y --gpu h200", "memory --model=X/Y"},
        {"sky show-gpus H100:8 --cloud aws", "prices H100:8 --provider=aws"},
        {"prices h100 --min-gpus 8", "prices h100 --gpus=8"},
        {"prices h100 --gpus-per-node 8", "prices h100 --gpus=8"},
        {"fine tune gemma 2 9b with lora on 30k rows", "recommend gemma-2-9b"}})
    EXPECT_TRUE(meant(typed).starts_with(wanted)) << meant(typed);
}

// The columns of a list are its conditions: each is a flag, alone, with a limit or in --filter.
TEST(Typed, ColumnsAreConditions) {
  for (const char* command : {"gpus", "models"}) {
    const CommandInfo info = *describe_command(command);
    for (const std::string& column : find_flag(info.flags, "--filter")->columns) {
      const auto has_meaning = [&](const std::string& flag) {
        return find_flag(info.flags, flag) || !meant_flag(flag, info.flags, false, "5").empty();
      };
      const auto line = [&](const std::string& rest) { return meant(fmt::format("{} {}", command, rest)); };
      EXPECT_EQ(line("--filter " + column), fmt::format("{} --filter {}", command, column));
      for (const auto& [typed, sign] : {std::pair{"min-", ">="}, {"max-", "<="}, {"", "="}}) {
        const std::string flag = fmt::format("--{}{}", typed, column);
        const std::string wanted = fmt::format("{} --filter {}{}5", command, column, sign);
        if (has_meaning(flag)) continue;
        EXPECT_EQ(line(flag + " 5"), wanted);
        EXPECT_EQ(line(fmt::format("--filter {}{}5", column, sign)), wanted);
      }
    }
  }
  EXPECT_EQ(meant("gpus --no-nvlink"), "gpus --filter nvlink=no");
  EXPECT_EQ(meant("gpus --min-tflops 500 --year 2024"), "gpus --filter bf16>=500 --filter year=2024");
}

// Names of amounts without dashes: the time stays.
TEST(Typed, JoinedNamesOfAmountsKeepTheirTime) {
  for (const char* thing : {"requests", "docs", "images", "tokens", "users", "prompts"}) {
    for (const auto& [time, often] : {std::pair{"day", "daily"}, {"hour", "hourly"}, {"month", "monthly"}}) {
      const auto apart = read_work_flag(fmt::format("--{}-per-{}", thing, time));
      ASSERT_TRUE(apart);
      for (const std::string& joined : {fmt::format("--{}per{}", thing, time), fmt::format("--{}{}", often, thing)}) {
        const auto found = read_work_flag(joined);
        ASSERT_TRUE(found) << joined;
        EXPECT_EQ(found->thing, apart->thing) << joined;
        EXPECT_EQ(found->per, apart->per) << joined;
      }
    }
  }
}

// What a shell makes of an amount in double quotes, or without quotes, is never taken for an amount.
TEST(Typed, AmountsThatTheShellReplacedAreNoticed) {
  for (const char digit : std::string("123456789")) {
    for (const char* rest : {"k", "k/month", ".50", "00", "000", "/h", "0k", ",500"}) {
      const std::string amount = fmt::format("${}{}", digit, rest), left = amount.substr(2);
      EXPECT_TRUE(is_rest_of_amount(left)) << amount;
      EXPECT_FALSE(is_rest_of_amount(amount)) << amount;
      EXPECT_FALSE(is_rest_of_amount(fmt::format("{}{}", digit, rest))) << amount;
      EXPECT_TRUE(meant_line("recommend llama-3.1-8b --tokens 1B --budget " + left).refusal) << amount;
    }
    EXPECT_TRUE(meant_words({"best gpu under  an hour for llama 8b"}).refusal);  // an amount is gone
  }
  for (const char* word :
       {"4090", "7b", "h", "under", "0", "80GB", "10", "1.5", "m5", "km", "../prices.csv", "..", "./k"})
    EXPECT_FALSE(is_rest_of_amount(word)) << word;
}

// A setting of reinforcement learning in another job is refused, not dropped.
TEST(Typed, SettingsOfReinforcementLearningBelongToIt) {
  for (const char* command : {"recommend", "estimate", "memory"}) {
    const CommandInfo info = *describe_command(command);
    for (const FlagInfo& flag : info.flags) {
      if (!flag.setting->heading.starts_with("Reinforcement") || flag.name == "--prompts") continue;
      if (flag.setting->example.empty() && flag.choices().empty()) continue;
      const std::string_view value = flag.choices().empty() ? flag.setting->example : flag.choices().front();
      const std::string line = fmt::format("{} llama-3.1-8b --job serve {} {}", command, flag.name, value);
      EXPECT_TRUE(meant_line(line).refusal) << line;
    }
  }
}

// A limit from below is never replaced by one from above.
TEST(Repair, KeepsTheDirectionOfALimit) {
  for (const CommandInfo& command : all_commands()) {
    for (const FlagInfo& flag : command.flags) {
      if (!flag.name.starts_with("--min-") && !flag.name.starts_with("--max-")) continue;
      const std::string other = (flag.name.starts_with("--min-") ? "--max-" : "--min-") + flag.name.substr(6);
      for (const std::string& near : flags_spelled_like(other, "2", command.flags))
        EXPECT_EQ(near.substr(0, 6), other.substr(0, 6)) << command.name << " " << other;
    }
  }
}

// Flags that change no answer go, with their values, and nothing else changes.
TEST(Typed, OtherToolsFlagsThatChangeNothingAreLeftOut) {
  const std::string plain = meant("memory llama-3.1-8b --job serve --gpu h100");
  for (const NameRow& alias : names_of("flag")) {
    if (alias.meant != "ignored" && alias.meant != "default") continue;
    for (const std::string_view flag : split_list(alias.names, ' ')) {
      if (describe_command("memory")->flags.empty() || has(*describe_command("memory"), flag)) continue;
      const std::string typed = std::string(flag) + (alias.meant == "ignored" ? " 7" : "");
      if (meant_flag(flag, describe_command("memory")->flags, true).starts_with("--")) continue;
      EXPECT_EQ(meant("memory llama-3.1-8b " + typed + " --job serve --gpu h100"), plain) << typed;
    }
  }
}

// A number and its unit are one value of every flag that takes a time, and a suggestion never keeps one without the
// other.
TEST(Typed, ANumberAndItsUnitAreOneValue) {
  using enum settings::Kind;
  int tried = 0;
  for (const CommandInfo& command : all_commands()) {
    for (const FlagInfo& flag : command.flags) {
      const settings::Kind kind = flag.setting->kind;
      const bool time = kind == kDate || kind == kMoment || kind == kDuration;
      if (!time || !flag.name.starts_with("--") || command.name == "profile") continue;
      for (const char* typed : {"3 months", "2 weeks", "30 days"}) {
        if (!settings::read(*flag.setting, typed)) continue;
        EXPECT_THAT(meant(fmt::format("{} {} {}", command.name, flag.name, typed)),
                    testing::AnyOf(HasSubstr(fmt::format("{}={}", flag.name, typed)),
                                   HasSubstr(fmt::format("{} {}", flag.name, typed))));
        ++tried;
      }
    }
    const std::vector<std::string> words = words_in(command.name + " --no-such-flag 3 months");
    EXPECT_EQ(with_known_flags(words, command.flags), std::vector<std::string>{command.name});
  }
  EXPECT_GT(tried, 20);
}

TEST(Typed, UnknownWordsAreKept) {
  EXPECT_EQ(meant("memory m --max-price 3"), "memory m --max-price 3");
  EXPECT_EQ(meant("profile -- python train.py --batch_size 4"), "profile -- python train.py --batch_size 4");
  EXPECT_EQ(meant("profile python train.py --batch_size 4"), "profile python train.py --batch_size 4");
}

// An unknown flag is recognised by its value, if that is a name of the catalogue.
TEST(OtherFlags, AreKnownByTheNamesInTheCatalogue) {
  const auto value = [](const std::string& line, const char* flag) { return typed_value(meant_line(line), flag); };
  std::set<std::string> providers;
  for (const catalog::Machine& machine : word_facts()->machines) {
    providers.insert(machine.provider);
    if (machine.provider != "aws") continue;
    EXPECT_EQ(value("prices --thing " + machine.instance, "--instance"), machine.instance);
  }
  for (const std::string& name : providers) EXPECT_EQ(value("prices --thing " + name, "--provider"), name);
  for (const catalog::Gpu& gpu : word_facts()->gpus) {
    if (is_digits(gpu.name) || providers.contains(gpu.name)) continue;
    EXPECT_EQ(value("prices --thing " + gpu.name, "--gpu"), gpu.name);
  }
}

TEST(OtherFlags, OfOtherToolsWithSeveralMeaningsAgree) {
  const std::pair<const char*, const char*> lines[] = {
      {"prices h100 --availability-zone us-east-1a", "--region=us-east-1"},
      {"prices h100 --az us-central1-a", "--region=us-central1"},
      {"prices h100 --zone us-east-1a,us-west-2b", "--region=us-east-1,us-west-2"},
      {"prices history h100 --zone us-east-1a", "--zone=us-east-1a"},
      {"prices h100 --billing hourly", "--purchase=on-demand"},
      {"prices h100 --max-items 5", "--top=5"},
      {"estimate llama-3.1-8b h100 --use_fsdp --fsdp_sharding_strategy SHARD_GRAD_OP", "--zero=2"},
      {"estimate llama-3.1-8b h100 --fsdp_sharding_strategy SHARD_GRAD_OP --use_fsdp", "--zero=2"},
      {"estimate llama-3.1-8b h100 --use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP", "--zero=3"},
      {"estimate llama-3.1-8b h100 --dtypes float16 int4", "--sweep=precision=fp16,int4"},
      {"estimate llama-3.1-8b h100 --dtypes float16 int4", "--job=serve"},
      {"estimate llama-3.1-8b h100 --tp 1 2 4", "--sweep=tp=1,2,4"},
      {"memory llama-3.2-3b --dtypes float16 int4 --library_name transformers", "--sweep=precision=fp16,int4"},
      {"prices gpu_name=RTX_4090 num_gpus>=4 dph<0.5", "--gpu=RTX_4090"},
      {"prices gpu_name=RTX_4090 num_gpus>=4 dph<0.5", "--gpus=4"},
      {"prices gpu_name=RTX_4090 num_gpus>=4 dph<0.5", "--max-price=0.5"},
      {"prices --filters Name=instance-type,Values=g5.12xlarge", "--instance=g5.12xlarge"},
  };
  for (const auto& [line, wanted] : lines) {
    const std::vector<std::string> words = meant_line(line).words;
    EXPECT_THAT(words, testing::Contains(wanted)) << fmt::format("{}: {}", line, fmt::join(words, " "));
  }
}

}  // namespace
}  // namespace rightsize::app
