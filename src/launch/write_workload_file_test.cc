#include "launch/write_workload_file.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/text.h"

namespace rightsize::launch {
namespace {

using model::Setting;
using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs read_back(const std::vector<Setting>& settings) {
  auto read = plan::read_workload_file("made", write_workload_file(settings));
  EXPECT_TRUE(read) << describe(read.error());
  Pairs pairs;
  if (read) {
    EXPECT_EQ(read->size(), 1u);
    for (const Setting& setting : read->front()) pairs.emplace_back(setting.name, setting.value);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Pairs pairs_of(const std::vector<Setting>& settings) {
  Pairs pairs;
  for (const Setting& setting : settings) pairs.emplace_back(setting.name, setting.value);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

class RoundTrip : public ::testing::TestWithParam<std::vector<Setting>> {};

TEST_P(RoundTrip, AWrittenFileReadsBackAsItsSettingsAndRequest) {
  EXPECT_EQ(read_back(GetParam()), pairs_of(GetParam()));
  static const catalog::Catalog kFacts = *catalog::load_catalog("");
  const auto read = plan::read_workload_file("made", write_workload_file(GetParam()));
  const auto request = plan::read_request(read->front(), kFacts);
  EXPECT_TRUE(request) << describe(request.error());
}

INSTANTIATE_TEST_SUITE_P(
    Works, RoundTrip,
    ::testing::Values(
        std::vector<Setting>{{"model", "llama-3.1-8b", {}}, {"tokens", "1B", {}}, {"deadline", "14d", {}}},
        std::vector<Setting>{
            {"model", "resnet-50", {}}, {"epochs", "90", {}}, {"dataset-samples", "1.28M", {}}, {"budget", "$500", {}}},
        std::vector<Setting>{{"job", "serve", {}},
                             {"model", "llama-3.1-70b", {}},
                             {"mix", "1024:256=0.7,8192:512=0.3", {}},
                             {"rate", "20/s", {}},
                             {"precision", "bf16,fp8", {}},
                             {"name", "chat: the \"big\" one # 1", {}}},
        std::vector<Setting>{{"job", "serve", {}},
                             {"model", "llama-3.1-8b", {}},
                             {"items", "1M", {}},
                             {"on-prem", "8xh100-sxm=280000USD", {}}}));

TEST(WriteWorkloadFile, ListsOnlySettingsOfTheWorkWithin100Columns) {
  const std::string train = write_workload_file({{"model", "llama-3.1-8b", {}}, {"tokens", "1B", {}}});
  EXPECT_THAT(train, ::testing::HasSubstr("\n# deadline:"));
  EXPECT_THAT(train, ::testing::HasSubstr("\n# recompute:"));
  EXPECT_THAT(train, ::testing::Not(::testing::HasSubstr("# rate:")));
  const std::string serve = write_workload_file({{"job", "serve", {}}, {"model", "llama-3.1-8b", {}}});
  EXPECT_THAT(serve, ::testing::HasSubstr("\n# rate:"));
  EXPECT_THAT(serve, ::testing::HasSubstr("\n# precision:"));
  EXPECT_THAT(serve, ::testing::Not(::testing::HasSubstr("# tokens:")));
  for (const std::string& text : {train, serve}) {
    for (std::string_view line : split_list(text, '\n')) EXPECT_LE(display_width(line), 100u) << line;
  }
}

// Names are the only values that may be any text.
RC_GTEST_PROP(WriteWorkloadFile, AnyNameReadsBack, (const std::vector<char>& letters)) {
  std::string name = "x";
  for (char c : letters) {
    if (c >= 0x20 && c < 0x7f) name += c;
  }
  const std::vector<Setting> settings{{"name", name, {}}, {"model", "llama-3.1-8b", {}}};
  RC_ASSERT(read_back(settings) == pairs_of(settings));
}

}  // namespace
}  // namespace rightsize::launch
