#include "rightsize/profile/input.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "base/file.h"
#include "rightsize/call.h"

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

// --gpu names the GPU only if the recording does not.
TEST(ProfileInput, TheGpuOfTheRecordingCounts) {
  const std::string file = std::filesystem::temp_directory_path() / fmt::format("rightsize_named_{}.csv", getpid());
  const auto gpu_of = [&](const char* recorded, const char* typed) {
    std::string text = "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W]\n";
    for (int i = 0; i < 6; ++i)
      text += fmt::format("2026/11/18 10:00:0{}.000, 0, {}, 50 %, 18000 MiB, 130.00 W\n", i, recorded);
    EXPECT_TRUE(write_file(file, text));
    const Checked<Outcome> answer = call("profile", {"--replay", file, "--gpu", typed});
    if (!answer) return describe(answer.error());
    const report::Json* gpu = answer->report.document.find("gpus")->items()->front().find("gpu");
    return gpu->text() == nullptr ? std::string("unknown") : *gpu->text();
  };
  EXPECT_EQ(gpu_of("NVIDIA A100-SXM4-80GB", "a100-80gb-sxm"), "a100-80gb-sxm");
  EXPECT_EQ(gpu_of("NVIDIA A100-SXM4-80GB", "a100"), "a100-80gb-sxm");
  EXPECT_EQ(gpu_of("something", "l40s"), "l40s");
  EXPECT_THAT(gpu_of("NVIDIA A100-SXM4-80GB", "l40s"), HasSubstr("leave out --gpu"));
  EXPECT_THAT(gpu_of("NVIDIA L40S", "a100"), HasSubstr("the source names l40s"));
  std::filesystem::remove(file);
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
