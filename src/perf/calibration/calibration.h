// Calibration: fits the speed model to the user's own measurements.
//
// A file has one row per measurement: model, gpu, any of the job's settings as columns (job, stack, precision, method,
// batch, seq, recompute, gpus, tp, isl, osl, concurrency ...), and what was measured: tokens_per_second_per_gpu,
// tokens_per_second (all GPUs), samples_per_second_per_gpu, output_per_second_per_gpu (serving at full load), step_ms,
// batch_ms, ttft_ms, tpot_ms, prefill_ms, decode_ms. A row needs at least one measured value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "model/model_shape.h"
#include "perf/perf.h"

namespace rightsize::perf {

struct Measurement {
  int line = 0;
  std::string model;
  const catalog::Gpu* gpu = nullptr;
  ModelWork work;
  model::Job job;
  Cluster cluster;
  ServeLoad load;                                                           // serving
  std::optional<Seconds> step, ttft, tpot, prefill, decode, batch, output;  // the measured ones; output: GPU time per
                                                                            // output token
  std::optional<Watts> power;                                               // mean of each GPU
};

// A measured value and its prediction.
struct Prediction {
  const char* metric = "";  // "step", "batch", "ttft", "tpot", "prefill", "decode", "output", "power", "energy"
                            // (both as seconds at the data sheet's power)
  Seconds measured, predicted;
  Interval interval;  // around the prediction
  Bound bound = Bound::kCompute;
};
using Predictions = FixedList<Prediction, 7>;

// Compares every measured value of a row with the model; power only on request. Fails if the job cannot be estimated.
Result<Predictions> predict(const Constants& constants, const Measurement& measurement, const GpuSpeed& gpu,
                            bool with_power = false);

inline constexpr std::size_t kMostMeasurements = 1000;

// Results of a load generator in JSON, as rows. `given` has settings by name that the file lacks, such as "gpu".
bool is_benchmark(std::string_view text);
Checked<std::string> benchmark_rows(const std::string& file, const std::string& text,
                                    const std::map<std::string, std::string>& given);

// Reads the rows, or the results of a load generator with the settings `given` about it. Reports every mistake with its
// location. `catalog` must outlive the result.
Checked<std::vector<Measurement>> read_measurements(const std::string& file, std::string text,
                                                    const catalog::Catalog& catalog,
                                                    const std::map<std::string, std::string>& given = {});

// A measured value and its prediction.
struct CalibrationPoint {
  int line = 0;
  std::string model;
  std::string metric;  // "step", "ttft" ...
  Seconds measured, before, after;
};

// The result for one stack and kind of job on one GPU.
struct CalibrationFit {
  CalibrationRow row;
  std::vector<CalibrationPoint> points;
  double error_before = 0, error_after = 0;  // mean |predicted / measured - 1|
  double width_before = 0;
};

// One row of such a file, for a known model. Columns that are not settings are ignored.
Checked<Measurement> read_measurement(const Csv& csv, const CsvRow& row, const model::ModelShape& model,
                                      const catalog::Catalog& catalog);

// Fits factors on device, host and prefill time for every stack, job and GPU among the measurements. The fit is robust:
// outliers have little weight, and with few points the factors stay near 1. Fails on a row with a job that cannot be
// estimated.
Checked<std::vector<CalibrationFit>> fit_calibrations(const Constants& constants,
                                                      const std::vector<Measurement>& measurements);

}  // namespace rightsize::perf
