#include "rightsize/mig/report.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "catalog/test_catalog.h"
#include "rightsize/input/workload_input.h"
#include "rightsize/mig/input.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

mig::Geometry h100() { return *mig::Geometry::of(built_in_catalog(), **built_in_catalog().find_gpu("h100-sxm")); }

std::string text_of(const report::Report& shown) { return std::get<report::Paragraph>(shown.blocks.front()).text; }

TEST(MigInput, ANamedGpuWithoutMigIsRefusedAndOthersAreSkipped) {
  const market::PriceBook prices(built_in_catalog(), {});
  MigFlags flags;
  const auto all = allowed_types(flags, {}, prices, catalog::Purchase::kOnDemand);
  ASSERT_TRUE(all);
  for (const mig::GpuType& type : *all) EXPECT_TRUE(type.geometry) << type.gpu->name;
  flags.gpus = {"l4"};
  const auto named = allowed_types(flags, {}, prices, catalog::Purchase::kOnDemand);
  ASSERT_FALSE(named);
  EXPECT_THAT(describe(named.error()), HasSubstr("l4 does not support MIG"));
}

// A sentence that names slices asks about the same layout as --check, however its numbers are written.
TEST(MigInput, SlicesInASentenceAreALayout) {
  const mig::Geometry geometry = h100();
  const char* const numbers[][4] = {
      {"a", "one", "1", "1x"}, {"two", "2", "2x", "two of the"}, {"three", "3", "3x", "3"}};
  for (const char* profile : {"1g.10gb", "2g.20gb", "3g.40gb", "1g.10gb+me"}) {
    for (std::size_t count = 0; count < std::size(numbers); ++count) {
      for (const char* number : numbers[count]) {
        const std::string asked = fmt::format("can I put {} {} and one 1g.20gb on one H100?", number, profile);
        const std::string layout = fmt::format("{}x{},1g.20gb", count + 1, profile);
        const auto read = mig::parse_layout(slices_in(asked), geometry);
        ASSERT_TRUE(read) << asked << " " << slices_in(asked);
        EXPECT_EQ(mig::describe_layout(*read, geometry),
                  mig::describe_layout(*mig::parse_layout(layout, geometry), geometry))
            << asked;
      }
    }
  }
  EXPECT_EQ(slices_in("12 models of 6 GB each on A100s"), "");
}

TEST(MigReport, AFittingLayoutHasItsCommandAndAnotherEndsWithExitCodeTwo) {
  const mig::Geometry geometry = h100();
  const Outcome fits = check_outcome(geometry, {{"GPU 0", *mig::parse_layout("3g.40gb,2x1g.10gb", geometry)}});
  EXPECT_EQ(fits.exit_code, kDone);
  EXPECT_THAT(text_of(fits.report), HasSubstr("nvidia-smi mig -i 0"));
  EXPECT_THAT(text_of(fits.report), HasSubstr("Left over: 2 of 8 memory slices and 2 of 7 compute slices"));
  const Outcome too_much = check_outcome(geometry, {{"GPU 0", *mig::parse_layout("2x4g.40gb", geometry)}});
  EXPECT_EQ(too_much.exit_code, kNoFeasibleAnswer);
  EXPECT_THAT(text_of(too_much.report), HasSubstr("does not fit"));
}

TEST(MigInput, ModelsBecomeWorkloadsWithOneNameEach) {
  const auto file = mig::read_workloads("--models", workloads_of({"BAAI/bge-m3", "qwen2.5-3b", "qwen2.5-3b"}),
                                        built_in_catalog(), Ratio::percent(20));
  ASSERT_TRUE(file) << describe(file.error());
  ASSERT_EQ(file->workloads.size(), 2u);
  EXPECT_EQ(file->workloads[0].name, "bge-m3");
  EXPECT_EQ(file->replicas(), 3u);
}

TEST(MigReport, LayoutCountsMatchTheGeometry) {
  const mig::Geometry geometry = h100();
  const report::Report shown = layouts_report(geometry);
  EXPECT_EQ(shown.document.find("layouts")->size(), geometry.combinations().size());
}

TEST(MigReport, ADriverListThatDiffersFromOurTableEndsWithExitCodeTwo) {
  const mig::Geometry geometry = h100();
  mig::ListedProfile wrong;
  wrong.name = "1g.10gb";
  wrong.sms = 1;
  EXPECT_EQ(verify_outcome(geometry, "list.txt", {wrong}).exit_code, kNoFeasibleAnswer);
}

// The file takes the keys that recommend takes, as other tools spell them; others are refused with those that exist.
TEST(MigWorkloads, KeysOfOtherToolsAreOurs) {
  for (const int tokens : {100, 1000, 8000}) {
    Bytes memory[2];
    for (const int spelled : {0, 1}) {
      const auto file = mig::read_workloads("w.yaml",
                                            fmt::format("workloads:\n- {{name: a, model: llama-3.2-1b, {}: {}}}\n",
                                                        spelled == 0 ? "isl" : "input_tokens", tokens),
                                            built_in_catalog(), Ratio::fraction(0), {}, our_key);
      ASSERT_TRUE(file) << describe(file.error());
      memory[spelled] = file->workloads.front().memory;
    }
    EXPECT_EQ(memory[0], memory[1]);
  }
  const auto file = mig::read_workloads("w.yaml", "workloads:\n- {name: a, memory: 4GiB, replicsa: 2}\n",
                                        built_in_catalog(), Ratio::fraction(0), {}, our_key);
  ASSERT_FALSE(file);
  EXPECT_THAT(describe(file.error()),
              testing::AllOf(testing::HasSubstr("did you mean 'replicas'"), testing::HasSubstr("use name, model")));
}

// A wrong cell of a table is shown where it is in the table; columns of limits have any of their names.
TEST(MigWorkloads, AWrongCellIsShownInTheTable) {
  const std::string path = testing::TempDir() + "workloads.csv";
  const std::vector<std::string> good = {"a", "4GiB", "2/s", "80ms", "300"};
  for (const std::size_t column : {1U, 2U, 3U, 4U}) {
    for (const std::size_t row : {0U, 1U, 2U}) {
      std::string table = "name,memory,rate,service,p95_latency_ms,ttft_ms\n";
      for (std::size_t i = 0; i < 3; ++i) {
        std::vector<std::string> cells = good;
        cells[0] += std::to_string(i);
        if (i == row) cells[column] = "nonsense";
        table += fmt::format("{},50\n", fmt::join(cells, ","));
      }
      std::ofstream(path) << table;
      const auto source = workloads_text(path);
      ASSERT_TRUE(source);
      auto file = mig::read_workloads(path, source->text, built_in_catalog(), Ratio::fraction(0), {}, workload_key);
      ASSERT_FALSE(file) << column;
      const bool shown = std::ranges::any_of(file.error(), [&](const Error& error) {
        Place place = error.place;
        source->move(place);
        return place.line == static_cast<int>(row) + 2 &&
               place.excerpt.substr(static_cast<std::size_t>(place.column - 1), 8) == "nonsense";
      });
      EXPECT_TRUE(shown) << table;
    }
  }
}

}  // namespace
}  // namespace rightsize::app
