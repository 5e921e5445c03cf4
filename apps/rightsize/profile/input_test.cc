#include "rightsize/profile/input.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

const perf::Constants& constants() {
  static const perf::Constants kLoaded = *perf::load_constants("");
  return kLoaded;
}

TEST(ProfileInput, OneSourceOfSamplesAtATime) {
  ProfileFlags flags;
  EXPECT_TRUE(check(flags));
  flags.replay = "recording.csv";
  flags.pid = static_cast<unsigned>(getpid());
  EXPECT_THAT(describe(check(flags).error()), HasSubstr("use only one of"));
}

TEST(ProfileInput, AProcessThatDoesNotExistIsRefused) {
  ProfileFlags flags;
  flags.pid = 0x7fffffff;
  EXPECT_THAT(describe(check(flags).error()), HasSubstr("no process"));
}

TEST(ProfileInput, SettingsOfAJobNeedItsModel) {
  ProfileFlags flags;
  EXPECT_FALSE(known_work(flags, constants())->has_value());
  flags.step_time = milliseconds(410);
  EXPECT_THAT(describe(known_work(flags, constants()).error()), HasSubstr("--step-time needs --model"));
  flags.job.model = "llama-3.1-8b";
  const auto known = known_work(flags, constants());
  ASSERT_TRUE(known);
  EXPECT_EQ((*known)->step, milliseconds(410));
  EXPECT_THAT((*known)->described, HasSubstr("llama-3.1-8b"));
}

}  // namespace
}  // namespace rightsize::app
