// Checks that the model still matches measured speeds, and that the fitter finds known constants.
#include <cmath>
#include <filesystem>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "report.h"

namespace rightsize::fit {
namespace {

const std::string kRoot = RIGHTSIZE_SOURCE_DIR;

struct World {
  std::vector<Stage> stages;
  std::unique_ptr<Measurements> measurements;
  ConstantTable table;
};

const World& world() {
  static const World* const kWorld = [] {
    auto* made = new World{*read_stages(kRoot), nullptr, *ConstantTable::read(kRoot + "/data")};
    std::vector<std::string> files;
    for (const Stage& stage : made->stages) files.insert(files.end(), stage.files.begin(), stage.files.end());
    made->measurements = *Measurements::read(kRoot, files);
    return made;
  }();
  return *kWorld;
}

const std::vector<Validated>& scores() {
  static const auto* const kScores =
      new std::vector<Validated>(*validate(world().stages, *world().measurements, world().table, false));
  return *kScores;
}

const Validated* find(std::string_view capability, std::string_view metric) {
  for (const Validated& row : scores()) {
    if (row.capability == capability && row.metric == metric) return &row;
  }
  return nullptr;
}

// tests/fixtures/perf/recorded-errors.csv has the errors when they were last reviewed; `fit . --record` rewrites it.
TEST(MeasuredSpeeds, NoErrorHasGrownByHalf) {
  const std::string path = kRoot + "/tests/fixtures/perf/recorded-errors.csv";
  const Csv csv = *Csv::parse(path, *read_file(path));
  ASSERT_GT(csv.rows().size(), 20u);
  for (const CsvRow& row : csv.rows()) {
    const std::string_view capability = csv.cell(row, "capability"), metric = csv.cell(row, "metric");
    const Validated* now = find(capability, metric);
    ASSERT_NE(now, nullptr) << capability << " " << metric << " is no longer scored";
    EXPECT_GE(now->as_is.n, 0.95 * *parse_number(csv.cell(row, "n"))) << capability << ": rows were lost";
    EXPECT_LE(now->as_is.mean, 1.5 * *parse_number(csv.cell(row, "mean"))) << capability << " " << metric;
    EXPECT_LE(now->as_is.median, 1.5 * *parse_number(csv.cell(row, "median")) + 0.01) << capability << " " << metric;
  }
}

// On rows the constants were fitted to, stated intervals must contain about 80 %; a single capability may be better,
// but never much worse, also if nothing was fitted to its rows.
TEST(MeasuredSpeeds, StatedIntervalsContainAboutFourOfFiveRows) {
  double inside = 0, all = 0;
  for (const Stage& stage : world().stages) {
    // Requests that start together again and again are no load that a job can state.
    if (stage.of_kernels() || stage.capability.starts_with("answers of equal length")) continue;
    const bool fitted = !stage.constants.empty();
    for (const StageMetric& metric : stage.metrics) {
      const Validated* row = find(stage.capability, metric.name);
      if (row == nullptr || row->as_is.n < (fitted ? 20 : 10)) continue;
      EXPECT_GE(row->as_is.inside, fitted ? 0.65 : 0.6) << stage.capability << " " << metric.name;
      if (fitted) inside += row->as_is.inside * row->as_is.n, all += row->as_is.n;
    }
  }
  EXPECT_GE(inside / all, 0.76);
  EXPECT_LE(inside / all, 0.93);
}

// data/stacks.csv lists the runs to which each stack was fitted; `fit . --runs` prints them.
TEST(MeasuredSpeeds, EachStackListsTheRunsItWasFittedTo) {
  const std::string stacks = *read_file(kRoot + "/data/stacks.csv");
  const std::string rows = measured_rows(world().stages, *world().measurements, *world().table.constants());
  std::size_t count = 0;
  for (std::string_view line : split_list(rows, '\n')) {
    const std::string_view facts = line.substr(0, line.find(',', line.find(',', line.find(',') + 1) + 1));
    EXPECT_NE(stacks.find(facts), std::string::npos) << facts;
    ++count;
  }
  EXPECT_EQ(count, 8u * 5u + 5u) << "five facts of each stack, and what each trainer trained in which format";
}

// Most rows of every file can be estimated; the others are counted and reported.
TEST(Measurements, RowsAreReadAndRefusalsHaveReasons) {
  for (const char* file : {"serving-dense.csv", "train-llm-foundry.csv", "train-hf-h200.csv", "kernels-matmul.csv"}) {
    EXPECT_GT(world().measurements->rows(file).size(), 80u) << file;
  }
  EXPECT_TRUE(world().measurements->refused("serving-dense.csv").empty());
  for (const auto& [why, count] : world().measurements->refused("serving-moe.csv")) {
    EXPECT_FALSE(why.empty());
    EXPECT_GT(count, 0);
  }
}

TEST(ConstantTable, SettingAConstantChangesOnlyThatConstant) {
  ConstantTable table = world().table;
  const ConstantName launch{false, "vllm", "layer_launch"};
  table.set(launch, 9.5);
  EXPECT_DOUBLE_EQ(*table.get(launch), 9.5);
  const perf::Constants before = *world().table.constants(), after = *table.constants();
  EXPECT_DOUBLE_EQ(in_milliseconds(after.vllm.layer_launch), 9.5e-3);
  EXPECT_EQ(after.vllm.decode_matmul, before.vllm.decode_matmul);
  const perf::Constants one_row = *table.constants(before, {launch});
  EXPECT_EQ(one_row.vllm.layer_launch, after.vllm.layer_launch);
  EXPECT_FALSE(table.get({false, "vllm", "no_such_constant"}));
  EXPECT_THAT(table.gpus_with("matmul-bf16"), testing::IsSupersetOf({"any", "a100-80gb-sxm", "h100-sxm", "b200-sxm"}));
}

TEST(ConstantTable, WritesBackWhatItRead) {
  const auto folder = std::filesystem::temp_directory_path() / "rightsize-fit-test";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(world().table.write(folder.string()));
  for (const char* file : {"/efficiency.csv", "/stacks.csv"}) {
    EXPECT_EQ(*read_file(folder.string() + file), *read_file(kRoot + "/data" + file)) << file;
  }
  std::filesystem::remove_all(folder);
}

// y = a x^b, with a tenth of the rows three times too large.
TEST(LeastSquares, FindsConstantsUnderOutliers) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<std::pair<double, double>> rows;
  for (int i = 1; i <= 100; ++i) {
    const double y = 3.0 * std::pow(i, 0.7) * std::exp(noise(random)) * (i % 10 == 0 ? 3 : 1);
    rows.emplace_back(i, y);
  }
  const Residuals residuals = [&](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    out.resize(static_cast<Eigen::Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[static_cast<Eigen::Index>(i)] =
          (x[0] + std::exp(x[1]) * std::log(rows[i].first) - std::log(rows[i].second)) / 0.02;
    return true;
  };
  const Solution found = minimize({{0, 0, 10}, {0, 0, 10}}, residuals);
  EXPECT_NEAR(std::exp(found.x[0]), 3.0, 0.15);
  EXPECT_NEAR(std::exp(found.x[1]), 0.7, 0.02);
}

RC_GTEST_PROP(LeastSquaresProperty, StaysInsideItsBoundsAndNeverGetsWorse, ()) {
  const double target = *rc::gen::inRange(-500, 500) / 100.0;
  const Residuals residuals = [&](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
    out.resize(1);
    out[0] = 10 * (x[0] - target);
    return true;
  };
  const Unknown unknown{0, 0, 1, -1, 1};
  Eigen::VectorXd start;
  residuals(Eigen::VectorXd::Zero(1), start);
  const Solution found = minimize({unknown}, residuals);
  RC_ASSERT(found.x[0] >= -1 && found.x[0] <= 1);
  RC_ASSERT(found.loss <= robust_loss(start) + 1e-9);
}

// Rows predicted by the constants of the table are fitted without error, starting from the priors.
TEST(FitStage, RecoversTheConstantsThatGeneratedTheRows) {
  const auto stage = std::find_if(world().stages.begin(), world().stages.end(),
                                  [](const Stage& s) { return s.name == "all-reduce-8"; });
  ASSERT_NE(stage, world().stages.end());
  const perf::Constants truth = *world().table.constants();
  const Rows rows = rows_of(*stage, *world().measurements, truth, "nvlink");
  std::vector<MeasuredRow> made;
  for (const MeasuredRow* row : rows) {
    made.push_back(*row);
    std::get<KernelRow>(made.back().what).measured =
        (*predict(*row, truth, perf::gpu_speed(truth, *row->gpu)))[0].predicted;
  }
  Rows pointers;
  for (const MeasuredRow& row : made) pointers.push_back(&row);
  const ConstantTable fitted = *fit_stage(*stage, "nvlink", pointers, world().table, false);
  EXPECT_LT(score_of(evaluate(*stage, pointers, *fitted.constants())).mean, 0.01);
}

}  // namespace
}  // namespace rightsize::fit
