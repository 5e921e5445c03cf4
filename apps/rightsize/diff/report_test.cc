#include "rightsize/diff/report.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "rightsize/call.h"
#include "rightsize/diff/program.h"

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

// A file, and a folder, compared with their version in git: the same change as between two files.
TEST(Diff, ARevisionOfGitIsTheOldVersion) {
  const std::string folder = testing::TempDir() + "diff_git", file = folder + "/a.sbatch";
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", "-c",
                                 "commit.gpgsign=false", "-c", "init.defaultBranch=main"});
    ASSERT_TRUE(output_of(words)) << words.back();
  };
  const auto write = [](const std::string& path, int gpus) {
    std::ofstream(path) << fmt::format("#!/bin/bash\n#SBATCH --gres=gpu:h100:{}\n", gpus);
  };
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  write(file, 2);
  git({"init", "-q"});
  git({"add", "a.sbatch"});
  git({"commit", "-q", "-m", "first"});
  write(file, 8);
  const std::string old = testing::TempDir() + "diff_old.sbatch";
  write(old, 2);
  const auto change = [](const std::vector<std::string>& words) -> std::string {
    const Checked<Outcome> outcome = call("diff", words);
    if (!outcome) return describe(outcome.error());
    return outcome->report.document.find("usd_per_month")->find("change")->dump();
  };
  const std::string wanted = change({old, file});
  EXPECT_GT(std::stod(wanted), 0);
  EXPECT_EQ(change({file, "--against", "main"}), wanted);
  EXPECT_EQ(change({"--against", "HEAD", folder}), wanted);
  write(folder + "/b.sbatch", 1);  // not in the revision
  EXPECT_GT(std::stod(change({folder, "--against", "main"})), std::stod(wanted));
  EXPECT_THAT(change({file, "--against", "no-such-branch"}), testing::HasSubstr("git has no revision"));
  EXPECT_THAT(change({file, "--against=--help"}), testing::HasSubstr("git has no revision"));
  EXPECT_EQ(change({file}), change({"/dev/null", file}));
}

// A Terraform plan and a patch hold both versions.
TEST(Diff, OneFileMayHoldBothVersions) {
  const auto change = [](const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    const Checked<Outcome> outcome = call("diff", {path});
    EXPECT_TRUE(outcome) << describe(outcome.error());
    const Json& month = *outcome->report.document.find("usd_per_month");
    return std::pair(std::stod(month.find("before")->dump()), std::stod(month.find("after")->dump()));
  };
  const char* resource = R"("address":"aws_instance.a","mode":"managed","type":"aws_instance","name":"a")";
  const auto plan =
      change("diff_plan.json", fmt::format(R"({{"format_version":"1.2","resource_changes":[{{{},"change":)"
                                           R"({{"before":{{"instance_type":"g5.12xlarge"}},)"
                                           R"("after":{{"instance_type":"p5.48xlarge"}}}}}}]}})",
                                           resource));
  EXPECT_GT(plan.first, 0);
  EXPECT_GT(plan.second, plan.first);
  const auto created = change("diff_new.json", fmt::format(R"({{"format_version":"1.2","resource_changes":[{{{},)"
                                                           R"("change":{{"before":null,)"
                                                           R"("after":{{"instance_type":"p5.48xlarge"}}}}}}]}})",
                                                           resource));
  EXPECT_EQ(created, std::pair(0.0, plan.second));
  // The provider's region has its own price.
  const auto tokyo = change("diff_region.json",
                            fmt::format(R"({{"format_version":"1.2","configuration":{{"provider_config":{{"aws":)"
                                        R"({{"expressions":{{"region":{{"constant_value":"ap-northeast-1"}}}}}}}}}},)"
                                        R"("resource_changes":[{{{},"change":{{"before":null,)"
                                        R"("after":{{"instance_type":"p5.48xlarge"}}}}}}]}})",
                                        resource));
  EXPECT_GT(tokyo.second, created.second);
  const auto patch = change("diff_change.patch",
                            "diff --git a/j.sbatch b/j.sbatch\n--- a/j.sbatch\n+++ b/j.sbatch\n@@ -1,3 +1,3 @@\n"
                            " #!/bin/bash\n #SBATCH --time=10:00:00\n-#SBATCH --gres=gpu:h100:2\n"
                            "+#SBATCH --gres=gpu:h100:8\n");
  EXPECT_GT(patch.first, 0);
  EXPECT_NEAR(patch.second / patch.first, 4, 0.5);
}

// The cost of the same work follows from the prices and the times of 'estimate'.
TEST(Diff, TheSameWorkCostsWhatEstimateSays) {
  const auto write = [](const char* name, const std::string& gpu) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << fmt::format("#!/bin/bash\n#SBATCH --job-name=a\n#SBATCH --gres=gpu:{}:8\n", gpu);
    return path;
  };
  const auto number = [](const Json& json, const char* name) { return std::stod(json.find(name)->dump()); };
  const auto basis = [](const Json& json) {
    constexpr std::string_view kWeakestLast[] = {"\"measured\"", "\"calibrated\"", "\"transferred\"",
                                                 "\"specification\""};
    return std::ranges::find(kWeakestLast, json.find("basis")->dump()) - kWeakestLast;
  };
  std::ptrdiff_t weakest = 0;
  const auto tpot = [&](const std::string& gpu) {
    const Checked<Outcome> train = call("estimate", {"llama-3.1-8b", "--job", "train", "--seq", "2048", "--gpu", gpu}),
                           serve =
                               call("estimate", {"llama-3.1-8b", "--job", "serve", "--concurrency", "1", "--gpu", gpu});
    EXPECT_TRUE(train && serve) << gpu;
    weakest = std::max({weakest, basis(train->report.document), basis(serve->report.document)});
    return number(serve->report.document, "tpot_seconds");
  };
  const std::pair<const char*, const char*> pairs[] = {
      {"a100-40gb-sxm", "h100-sxm"}, {"a100-80gb-sxm", "h100-sxm"}, {"a10g", "l4"}, {"h100-sxm", "h200-sxm"}};
  for (const auto& [before, after] : pairs) {
    const Checked<Outcome> outcome =
        call("diff", {write("diff_work_a.sbatch", before), write("diff_work_b.sbatch", after), "--price",
                      std::string(before) + "=2", "--price", std::string(after) + "=3"});
    ASSERT_TRUE(outcome) << describe(outcome.error());
    const Json& work = *outcome->report.document.find("changes")->items()->front().find("work");
    weakest = 0;
    EXPECT_NEAR(number(work, "memory_bound"), 1.5 * tpot(after) / tpot(before), 1e-3) << before << " " << after;
    EXPECT_EQ(basis(work), weakest) << before << " " << after;
  }
}

}  // namespace
}  // namespace rightsize::app
