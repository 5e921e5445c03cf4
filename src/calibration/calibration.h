// Calibration: fits the speed model to the user's own measurements.
//
// A file has one row per measurement: model, gpu, any of the job's settings as columns (job, stack, precision, method,
// batch, seq, recompute, gpus, tp, isl, osl, concurrency ...), `rate` (requests per second: open loop, as in `estimate
// --rate`), and what was measured: tokens_per_second_per_gpu, tokens_per_second (all GPUs), samples_per_second_per_gpu,
// output_per_second_per_gpu (serving at full load), step_ms, batch_ms, ttft_ms, tpot_ms, prefill_ms, decode_ms. A row
// needs at least one measured value.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "model/model_shape.h"
#include "perf/perf.h"

namespace rightsize::calibration {

struct Measurement {
  int line = 0;
  std::string model;
  const catalog::Gpu* gpu = nullptr;
  perf::ModelWork work;
  model::Job job;
  perf::Cluster cluster;
  perf::ServeLoad load;                                                     // serving
  std::optional<Seconds> step, ttft, tpot, prefill, decode, batch, output;  // the measured ones; output: GPU time per
                                                                            // output token
  std::optional<Watts> power;                                               // mean of each GPU
};

// A measured value and its prediction.
struct Prediction {
  const char* metric = "";  // "step", "batch", "ttft", "tpot", "prefill", "decode", "output", "power", "energy"
                            // (both as seconds at the data sheet's power)
  Seconds measured, predicted;
  perf::Interval interval;  // around the prediction
  perf::Bound bound = perf::Bound::kCompute;
};
using Predictions = perf::FixedList<Prediction, 7>;

// Compares every measured value of a row with the model; power only on request. Fails if the job cannot be estimated.
Result<Predictions> predict(const perf::Constants& constants, const Measurement& measurement, const perf::GpuSpeed& gpu,
                            bool with_power = false);

inline constexpr std::size_t kMostMeasurements = 1000;

// What the user says about a file, and how names of GPUs are read; by default they are exact.
struct FileFacts {
  std::map<std::string, std::string> given = {};  // values of columns that the file lacks, such as "gpu"
  std::function<Result<const catalog::Gpu*>(const std::string&)> gpu_named = {};
  std::function<void(const std::string& column)> unused =
      {};  // of a column with another name than ours; empty: refused
};

// Results of a load generator, as rows.
bool is_benchmark(std::string_view text);
Checked<std::string> benchmark_rows(const std::string& file, const std::string& text,
                                    const std::map<std::string, std::string>& given);

// Reads the rows, or the results of a load generator. Reports every mistake with its location. `catalog` must outlive
// the result.
Checked<std::vector<Measurement>> read_measurements(const std::string& file, std::string text,
                                                    const catalog::Catalog& catalog, const FileFacts& facts = {});

// A measured value and its prediction.
struct CalibrationPoint {
  int line = 0;
  std::string model;
  std::string metric;  // "step", "ttft" ...
  Seconds measured, before, after;
};

// The result for one stack and kind of job on one GPU.
struct CalibrationFit {
  perf::CalibrationRow row;
  std::vector<CalibrationPoint> points;
  double error_before = 0, error_after = 0;  // mean |predicted / measured - 1|
  double width_before = 0;
};

// One row of such a file, for a known model. Columns that are not settings are ignored.
Checked<Measurement> read_measurement(const Csv& csv, const CsvRow& row, const model::ModelShape& model,
                                      const catalog::Catalog& catalog, const FileFacts& facts = {});

// Fits factors on device, host and prefill time for every stack, job and GPU among the measurements. The fit is robust:
// outliers have little weight, and with few points the factors stay near 1. Factors that make the mean error of any
// metric larger than now and than 10 % are not used: the present ones stay.
// Fails on a row with a job that cannot be estimated.
Checked<std::vector<CalibrationFit>> fit_calibrations(const perf::Constants& constants,
                                                      const std::vector<Measurement>& measurements);

}  // namespace rightsize::calibration
