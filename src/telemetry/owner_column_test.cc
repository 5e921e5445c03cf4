#include <fmt/format.h>
#include <gtest/gtest.h>

#include "telemetry/read.h"

namespace rightsize::telemetry {
namespace {

struct OwnersOfRows : SampleSink {
  std::vector<Device> devices;
  std::string rows;
  int open(const Device& device) override {
    devices.push_back(device);
    return static_cast<int>(devices.size()) - 1;
  }
  void add(int device, const Sample&) override {
    const Device& whose = devices[static_cast<std::size_t>(device)];
    rows += fmt::format("{}{} ", whose.index, whose.labels.empty() ? "" : whose.labels.begin()->second);
  }
};

// A column that names owners is a label of their rows: each owner of a GPU has a separate series.
TEST(ReadSamples, AColumnOfOwnersIsALabel) {
  for (const char* column : {"user", "account", "job_id", "remark"}) {
    const std::string text = fmt::format(
        "timestamp, index, utilization.gpu [%], {}\n"
        "2026/01/02 00:00:00, 0, 50 %, ana\n2026/01/02 00:00:00, 1, 60 %, ben\n"
        "2026/01/02 00:01:00, 0, 70 %, ben\n2026/01/02 00:01:00, 1, 80 %, ben\n",
        column);
    OwnersOfRows owners;
    const auto source = bytes_of(text);
    ASSERT_TRUE(read_samples("test", *source, owners));
    EXPECT_EQ(owners.rows, std::string(column) == "remark" ? "0 1 0 1 " : "0ana 1ben 0ben 1ben ");
  }
}

}  // namespace
}  // namespace rightsize::telemetry
