#include "rightsize/input/workload_input.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;

std::string value_of(const std::vector<model::Setting>& settings, std::string_view name) {
  std::string found = "absent";
  for (const model::Setting& setting : settings) {
    if (setting.name == name) found = setting.value;
  }
  return found;
}

class WorkloadInput : public testing::Test {
 protected:
  std::string file(const std::string& text) const {
    std::string path = testing::TempDir() + "workload_input_test.yaml";
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(WorkloadInput, FlagsAloneAreOneWorkload) {
  const auto workloads = read_workloads({"", {{"model", "llama-2-7b"}}, {}});
  ASSERT_TRUE(workloads);
  ASSERT_EQ(workloads->size(), 1u);
  EXPECT_EQ(value_of(workloads->front(), "model"), "llama-2-7b");
}

// Groups are read by their members, whatever they are called.
TEST_F(WorkloadInput, MembersOfGroupsAreSettings) {
  for (const char* group : {"traffic", "load", "limits", "workload_spec"}) {
    const std::string path =
        file(fmt::format("job: serve\nmodel:\n  name: llama-3.1-8b\n{}:\n  rps: 8\n"
                         "  input_tokens: 1500\n  ttft: 1s\nslo: {{tpot: 50ms}}\n",
                         group));
    const auto workloads = read_workloads({path, {}, {}});
    ASSERT_TRUE(workloads) << describe(workloads.error());
    const std::pair<const char*, const char*> expected[] = {
        {"model", "llama-3.1-8b"}, {"rate", "8"}, {"isl", "1500"}, {"ttft-slo", "1s"}, {"tpot-slo", "50ms"}};
    for (const auto& [name, value] : expected) EXPECT_EQ(value_of(workloads->front(), name), value) << group << name;
  }
}

TEST_F(WorkloadInput, FlagsOverrideEveryWorkloadOfTheFile) {
  const std::string path = file("workloads:\n  - {model: a, tokens: 1B}\n  - {model: b, tokens: 2B}\n");
  const auto workloads = read_workloads({path, {{"tokens", "3B"}}, {}});
  ASSERT_TRUE(workloads) << describe(workloads.error());
  ASSERT_EQ(workloads->size(), 2u);
  EXPECT_EQ(value_of((*workloads)[0], "model"), "a");
  EXPECT_EQ(value_of((*workloads)[1], "model"), "b");
  for (const auto& settings : *workloads) EXPECT_EQ(value_of(settings, "tokens"), "3B");
}

TEST_F(WorkloadInput, KeysOfOtherToolsAreTranslated) {
  const auto workloads = read_workloads(
      {file("model: a\nprovider: aws\nregion: eu\naccelerators: H100:8\nuse_spot: true\nnum_train_epochs: 3\nodd: 1\n"),
       {},
       {}});
  ASSERT_TRUE(workloads) << describe(workloads.error());
  const std::vector<model::Setting>& settings = workloads->front();
  EXPECT_EQ(value_of(settings, "providers"), "aws");
  EXPECT_EQ(value_of(settings, "regions"), "eu");
  EXPECT_EQ(value_of(settings, "gpu"), "H100");
  EXPECT_EQ(value_of(settings, "gpus"), "8");
  EXPECT_EQ(value_of(settings, "purchase"), "spot");
  EXPECT_EQ(value_of(settings, "epochs"), "3");
  EXPECT_EQ(value_of(settings, "odd"), "absent");  // a note names it
}

// A file means the same as a command line with the same words.
TEST_F(WorkloadInput, JobsTrafficAndLimitsMayBeInTheUsersWords) {
  const auto workloads = read_workloads(
      {file("workloads:\n"
            "  - {model: llama-3.1-8b, job: serve, requests_per_day: 86400, slo: {p95-ttft: 1s, tpot: 50ms}}\n"
            "  - {model: bge-m3, job: embed, docs: 50M/day}\n"),
       {},
       {}});
  ASSERT_TRUE(workloads) << describe(workloads.error());
  EXPECT_EQ(value_of((*workloads)[0], "ttft-slo"), "1s");
  EXPECT_EQ(value_of((*workloads)[0], "tpot-slo"), "50ms");
  EXPECT_EQ(value_of((*workloads)[0], "slo-percentile"), "95");
  EXPECT_NE(value_of((*workloads)[0], "rate"), "absent");
  EXPECT_EQ(value_of((*workloads)[0], "slo"), "absent");
  EXPECT_EQ(value_of((*workloads)[1], "job"), "serve");
  EXPECT_NE(value_of((*workloads)[1], "items"), "absent");
}

TEST_F(WorkloadInput, AMissingFileIsNamed) {
  const auto workloads = read_workloads({"/nowhere/workload.yaml", {}, {}});
  ASSERT_FALSE(workloads);
  EXPECT_THAT(describe(workloads.error()), HasSubstr("/nowhere/workload.yaml"));
}

TEST_F(WorkloadInput, AFileThatIsNotAMappingIsRefused) { EXPECT_FALSE(read_workloads({file("- 1\n- 2\n"), {}, {}})); }

// Keys as other tools spell them.
TEST(OurKey, NamesOfOtherToolsAreOurs) {
  const std::pair<const char*, const char*> same[] = {
      {"input_tokens", "isl"}, {"prompt_tokens", "isl"}, {"output_tokens", "osl"}, {"tensor_parallel_size", "tp"},
      {"isl", "isl"},          {"ISL", "isl"},           {"no_such_key", ""}};
  for (const auto& [theirs, ours] : same) EXPECT_EQ(our_key(theirs), ours) << theirs;
}

}  // namespace
}  // namespace rightsize::app
