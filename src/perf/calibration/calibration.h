// The user's own measurements, and what they say about the constants.
//
// A file has one row a measurement: model, gpu, any of the job's settings as columns (job, stack, precision, method,
// batch, seq, recompute, gpus, tp, isl, osl, concurrency ...), and what was measured: tokens_per_second_per_gpu,
// tokens_per_second (all GPUs), samples_per_second_per_gpu, output_per_second_per_gpu (serving at full load), step_ms,
// batch_ms, ttft_ms, tpot_ms, prefill_ms, decode_ms. A row needs one measured value at least.
#pragma once

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
  std::optional<Seconds> step, ttft, tpot, prefill, decode, batch, output;  // whichever were measured; output: one
                                                                            // token's share of a GPU's second
};

// One measured value and what the model says of it.
struct Prediction {
  const char* metric = "";  // "step", "batch", "ttft", "tpot", "prefill", "decode", "output"
  Seconds measured, predicted;
  Interval interval;  // around the prediction
  Bound bound = Bound::kCompute;
};
using Predictions = FixedList<Prediction, 5>;

// Every measured value of a row against the model. Fails where the job cannot be estimated.
Result<Predictions> predict(const Constants& constants, const Measurement& measurement, const GpuSpeed& gpu);

inline constexpr std::size_t kMostMeasurements = 1000;

// Reads the rows; every mistake is reported with its place. `catalog` must outlive the result.
Checked<std::vector<Measurement>> read_measurements(const std::string& file, std::string text,
                                                    const catalog::Catalog& catalog);

// One measured value against its prediction.
struct CalibrationPoint {
  int line = 0;
  std::string model;
  std::string metric;  // "step", "ttft" ...
  Seconds measured, before, after;
};

// What was found for one stack and kind of job on one GPU.
struct CalibrationFit {
  CalibrationRow row;
  std::vector<CalibrationPoint> points;
  double error_before = 0, error_after = 0;  // mean |predicted / measured - 1|
  double width_before = 0;
};

// One row of such a file whose model is already known; columns that are no settings are not looked at.
Checked<Measurement> read_measurement(const Csv& csv, const CsvRow& row, const model::ModelShape& model,
                                      const catalog::Catalog& catalog);

// Factors on device, host and prefill time of every stack, job and GPU among the measurements, fitted robustly:
// outliers count little, and with few points factors stay near one unless the points disagree with that. Fails on a row
// whose job cannot be estimated.
Checked<std::vector<CalibrationFit>> fit_calibrations(const Constants& constants,
                                                      const std::vector<Measurement>& measurements);

}  // namespace rightsize::perf
