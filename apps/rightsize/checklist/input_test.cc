#include "rightsize/checklist/input.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

// A file with this text, for as long as it lives.
class Written {
 public:
  explicit Written(const std::string& text) : path_(testing::TempDir() + "checklist_input.json") {
    std::ofstream(path_) << text;
  }
  ~Written() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ChecklistInput, ReadsTheTotalsOfAFleet) {
  const Written file(R"({"schema": "rightsize/fleet/1", "actions": [{"what": "stop it"}],
                         "totals": {"gpus": 8, "spend_usd": 100.5}})");
  const MeasuredFleet fleet = *read_fleet(file.path());
  EXPECT_EQ(fleet.gpus, 8);
  EXPECT_EQ(fleet.spend, usd(100.5));
  EXPECT_FALSE(fleet.waste) << "not in the file is not zero";
  EXPECT_EQ(fleet.first_action, "stop it");
}

TEST(ChecklistInput, ADocumentOfAnotherCommandIsRefused) {
  const Written file(R"({"schema": "rightsize/fleet/1"})");
  const auto profile = read_profile(file.path());
  ASSERT_FALSE(profile);
  EXPECT_THAT(describe(profile.error()), HasSubstr("this is not what 'rightsize profile' writes"));
}

TEST(ChecklistInput, AProfileWithoutGpusIsRefused) {
  const Written file(R"({"schema": "rightsize/profile/1", "gpus": []})");
  const auto profile = read_profile(file.path());
  ASSERT_FALSE(profile);
  EXPECT_THAT(describe(profile.error()), HasSubstr("no GPU was profiled"));
}

}  // namespace
}  // namespace rightsize::app
