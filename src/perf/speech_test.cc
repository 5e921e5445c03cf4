// Whisper as measured on an H200: audio features and the steps of generate() take host time.
#include <cmath>

#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/parse_units.h"
#include "catalog/test_catalog.h"
#include "perf/perf.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

BatchEstimate transcribe(const std::string& model, const char* gpu, std::int64_t batch) {
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.stack = model::Stack::kHf;
  job.batch = batch;
  job.serve.isl = 4, job.serve.osl = 100;
  const ModelWork work = work_of(*model::find_model(model));
  return *estimate_batch(built_in_constants(), work, job,
                         gpu_speed(built_in_constants(), **built_in_catalog().find_gpu(gpu)));
}

TEST(Speech, MeasuredWindowsAreWithinTheInterval) {
  constexpr double kFeatures = 4.4;  // ms per window, measured separately from the model
  const std::string file = std::string(RIGHTSIZE_SOURCE_DIR) + "/data/measurements/speech.csv";
  const Csv csv = *Csv::parse(file, *read_file(file));
  int rows = 0;
  for (const CsvRow& row : csv.rows()) {
    if (csv.cell(row, "group") == "published") continue;
    const auto batch = static_cast<std::int64_t>(*parse_number(csv.cell(row, "batch")));
    const double measured = *parse_number(csv.cell(row, "batch_ms")) + kFeatures * static_cast<double>(batch);
    const BatchEstimate estimate = transcribe(std::string(csv.cell(row, "model")), "h200-sxm", batch);
    const double ratio = in_milliseconds(estimate.batch) / measured;
    EXPECT_LT(std::abs(std::log(ratio)), std::log(estimate.interval.high)) << csv.cell(row, "model") << " " << batch;
    ++rows;
  }
  EXPECT_EQ(rows, 18);
}

// No GPU has a benchmark of a whole transcription, so no estimate has the basis "measured".
TEST(Speech, EstimatesAreNotMarkedAsMeasured) {
  for (const char* gpu : {"h200-sxm", "h100-sxm", "a100-80gb-sxm"}) {
    const BatchEstimate estimate = transcribe("whisper-large-v3-turbo", gpu, 32);
    EXPECT_GE(estimate.basis, Basis::kTransferred) << gpu;
    EXPECT_GT(estimate.interval.high / estimate.interval.low, 3) << gpu;
  }
}

}  // namespace
}  // namespace rightsize::perf
