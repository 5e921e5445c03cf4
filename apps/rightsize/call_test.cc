#include "rightsize/call.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Call, DescribesACommandsFlags) {
  const Result<CommandInfo> info = describe_command("fleet");
  ASSERT_TRUE(info.has_value());
  EXPECT_THAT(info->flags, Contains(AllOf(Field(&FlagInfo::name, "--price"), Field(&FlagInfo::repeatable, true))));
  EXPECT_FALSE(describe_command("flet").has_value());
  EXPECT_THAT(command_names(), Contains("recommend"));
}

}  // namespace
}  // namespace rightsize::app
