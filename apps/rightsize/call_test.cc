#include "rightsize/call.h"

#include <algorithm>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/text.h"

namespace rightsize::app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

TEST(Call, AnswersWithTheReportOfTheCommand) {
  const Checked<Outcome> outcome = call("gpus", {"h100-sxm"});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(*outcome->report.document.find("schema")->text(), "rightsize/gpus/1");
}

TEST(Call, ErrorsAreThoseOfTheProgram) {
  EXPECT_THAT(describe(call("gpos", {}).error()), HasSubstr("did you mean 'gpus'"));
  EXPECT_THAT(describe(call("gpus", {"--vendr", "AMD"}).error()), HasSubstr("unknown flag '--vendr'"));
  EXPECT_THAT(describe(call("gpus", {"h10"}).error()), HasSubstr("h10"));
  EXPECT_THAT(describe(call("gpus", {"--help"}).error()), HasSubstr("--help works on the command line only"));
}

TEST(Call, RunsInSeveralThreadsAtOnce) {
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& text : texts) {
    threads.emplace_back([&] { text = call("memory", {"llama-3.1-8b", "h100-sxm"})->report.document.dump(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, texts.front());
}

// `portfolio` can plan the file that `fleet` and `service` write about today's workloads; today's cost is one option.
TEST(Call, TodaysWorkloadsAreAPortfolio) {
  const std::string examples = RIGHTSIZE_SOURCE_DIR "/examples/", fixtures = RIGHTSIZE_SOURCE_DIR "/tests/fixtures/";
  const std::vector<std::pair<std::string, std::vector<std::string>>> sources = {
      {"fleet", {"--from", examples + "fleet/cluster.json", "--price", "h100-sxm=2.5"}},
      {"fleet", {"--from", fixtures + "fleet/mig.json", "--price", "h100-sxm=7"}},
      {"service",
       {"--from", examples + "service/metrics.txt.gz", "--gpu", "h200-sxm", "--price", "h200-sxm=3.5", "--slo",
        "ttft=1s,tpot=50ms"}},
      {"service",
       {"--from", fixtures + "service/sglang.txt", "--gpu", "h100-sxm", "--price", "*=2", "--slo", "ttft=1s"}},
  };
  for (auto [command, words] : sources) {
    SCOPED_TRACE(command + " " + words[1]);
    words.insert(words.end(), {"--emit", "portfolio"});
    const Checked<Outcome> written = call(command, words);
    ASSERT_TRUE(written) << describe(written.error());
    const auto* text = std::get_if<report::Verbatim>(&written->report.blocks.at(0));
    ASSERT_NE(text, nullptr);
    const std::string path = testing::TempDir() + "running.yaml";
    std::ofstream(path) << text->text;
    const Checked<Outcome> planned = call("portfolio", {path});
    ASSERT_TRUE(planned) << describe(planned.error()) << text->text;
    EXPECT_EQ(planned->exit_code, 0);
    const report::Json& document = planned->report.document;
    EXPECT_GT(document.find("workloads")->size(), 0U);
    EXPECT_NE(document.find("proved")->dump().find("true"), std::string::npos);
  }
}

TEST(Call, DescribesACommandsFlags) {
  const Result<CommandInfo> info = describe_command("fleet");
  ASSERT_TRUE(info.has_value());
  EXPECT_THAT(info->flags, Contains(AllOf(Field(&FlagInfo::name, "--price"), Field(&FlagInfo::repeatable, true))));
  EXPECT_FALSE(describe_command("flet").has_value());
  EXPECT_THAT(command_names(), Contains("recommend"));
}

// A row without a command, or an option that its command does not have, would be ignored.
TEST(Call, EveryCommandHasOneRowOfTexts) {
  const Csv texts = *Csv::parse("commands.csv", std::string(embedded_file("commands.csv")));
  std::vector<std::string> names;
  for (const CsvRow& row : texts.rows()) {
    const std::string& name = names.emplace_back(texts.cell(row, "name"));
    const Result<CommandInfo> command = describe_command(name);
    ASSERT_TRUE(command) << name;
    EXPECT_EQ(command->summary, texts.cell(row, "summary"));
    EXPECT_FALSE(command->summary.empty() || command->summary.ends_with('.')) << name;
    for (const std::string_view option : split_list(command->short_help, ' '))
      EXPECT_TRUE(std::ranges::any_of(command->flags,
                                      [&](const FlagInfo& flag) { return flag.is_called("--" + std::string(option)); }))
          << name << " " << option;
  }
  EXPECT_EQ(names, command_names());
}

}  // namespace
}  // namespace rightsize::app
