#include "telemetry/live.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::telemetry {
namespace {

// tests/fake_nvml.cc, which is built with this test.
class FakeNvml : public testing::Test {
 protected:
  void SetUp() override {
    const auto library = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tests/libfake_nvml.so";
    ASSERT_TRUE(std::filesystem::exists(library)) << library;
    setenv("RIGHTSIZE_NVML", library.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("RIGHTSIZE_NVML");
    unsetenv("FAKE_NVML");
  }
};

TEST_F(FakeNvml, MigLayoutNamesProfilesAndPlacements) {
  setenv("FAKE_NVML", "mig", 1);
  auto layouts = read_mig_layout();
  ASSERT_TRUE(layouts) << describe(layouts.error());
  ASSERT_EQ(layouts->size(), 1u);
  EXPECT_TRUE(layouts->front().enabled);
  ASSERT_EQ(layouts->front().instances.size(), 2u);
  const MigInstance& large = layouts->front().instances[1];
  EXPECT_EQ(large.profile, "3g.71gb");
  EXPECT_EQ(large.start, 0);
  EXPECT_EQ(large.size, 4);
  EXPECT_EQ(layouts->front().instances[0].start, 4);
}

TEST_F(FakeNvml, GpusWithoutMigHaveNoLayout) {
  auto layouts = read_mig_layout();
  ASSERT_TRUE(layouts);
  EXPECT_EQ(layouts->size(), 2u);
  EXPECT_FALSE(layouts->front().enabled);
  EXPECT_TRUE(layouts->front().instances.empty());
}

TEST_F(FakeNvml, CountersCoverTheTimeSinceTheLastReading) {
  auto source = open_nvml();
  ASSERT_TRUE(source);
  EXPECT_FALSE((*source)->read(0, unix_seconds(0))->has(Metric::kSmActive)) << "nothing to compare with yet";
  const Sample second = *(*source)->read(0, unix_seconds(0.1));
  EXPECT_DOUBLE_EQ(*second.get(Metric::kSmActive), 0.449);
  EXPECT_DOUBLE_EQ(*second.get(Metric::kSmOccupancy), 0.061);
  EXPECT_TRUE(second.has(Metric::kGraphicsActive)) << "short runs have it, too";
  EXPECT_FALSE((*source)->read(0, unix_seconds(0.2))->has(Metric::kGraphicsActive)) << "once a second";
  EXPECT_FALSE(second.has(Metric::kNvlinkRx)) << "not supported is not zero";
  EXPECT_DOUBLE_EQ(*(*source)->read(0, unix_seconds(1.1))->get(Metric::kGraphicsActive), 0.996);
}

}  // namespace
}  // namespace rightsize::telemetry
