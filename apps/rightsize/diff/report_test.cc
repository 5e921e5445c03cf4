#include "rightsize/diff/report.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rightsize/call.h"

namespace rightsize::app {
namespace {

// Files of two tools in either order: each side has its own file, line and price, and the order changes only the sign.
TEST(Diff, BothSidesHaveTheirFileTheirLineAndThePrice) {
  for (const int gpus : {1, 2, 8}) {
    for (const int nodes : {1, 4}) {
      const std::string files[] = {testing::TempDir() + "diff_test.sbatch", testing::TempDir() + "diff_test.sky.yaml"};
      std::ofstream(files[0]) << fmt::format(
          "#!/bin/bash\n#SBATCH --job-name=a\n#SBATCH --nodes={}\n#SBATCH --gpus-per-node=h100:{}\n"
          "#SBATCH --time=48:00:00\n",
          nodes, gpus);
      std::ofstream(files[1]) << fmt::format("resources:\n  accelerators: A100-80GB:{}\nnum_nodes: {}\n", gpus, nodes);
      double sum = 0;
      for (const int first : {0, 1}) {
        const Checked<Outcome> outcome = call("diff", {files[first], files[1 - first]});
        ASSERT_TRUE(outcome) << describe(outcome.error());
        const Json& document = outcome->report.document;
        sum += std::stod(document.find("usd_per_month")->find("change")->dump());
        const Json::Array& changes = *document.find("changes")->items();
        ASSERT_EQ(changes.size(), 2u);
        for (const Json& change : changes) {
          const bool removed = change.find("change")->dump() == "\"removed\"";
          const Json& side = *change.find(removed ? "before" : "after");
          EXPECT_EQ(side.find("file")->dump(), Json(files[removed ? first : 1 - first]).dump());
          EXPECT_GT(std::stoi(side.find("line")->dump()), 0);
          EXPECT_NE(side.find("price_source")->dump(), "\"\"");
        }
        const std::string remarks = std::get<report::Paragraph>(outcome->report.blocks.back()).text;
        EXPECT_THAT(remarks, testing::HasSubstr("assuming 'h100' means h100-sxm"));
        EXPECT_THAT(remarks, testing::HasSubstr("per run (its time limit)"));
      }
      EXPECT_NEAR(sum, 0, 1e-6);
    }
  }
}

}  // namespace
}  // namespace rightsize::app
