// The rows of data/measurements/: jobs (calibration/calibration.h documents the format) and single kernels.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/csv.h"
#include "calibration/calibration.h"

namespace rightsize::fit {

struct MatmulRow {
  perf::Matmul size;
  perf::WeightFormat format = perf::WeightFormat::kHalf;
};
struct CollectiveRow {
  bool engine = false;  // the engine's own all-reduce
  perf::Collective kind = perf::Collective::kAllReduce;
  int gpus = 2;
  Bytes message;
};
// The experts of one layer: gate and up as one grouped product, then down.
struct ExpertRow {
  double groups = 1;  // experts that have tokens
  perf::Matmul up, down;
  perf::WeightFormat format = perf::WeightFormat::kHalf;
};
using Kernel = std::variant<MatmulRow, perf::PrefillAttention, perf::DecodeAttention, CollectiveRow, ExpertRow>;

struct KernelRow {
  Kernel kernel;
  Seconds measured;
};

struct MeasuredRow {
  const Csv* csv = nullptr;
  const CsvRow* row = nullptr;
  const catalog::Gpu* gpu = nullptr;
  std::string model;  // empty for kernels
  std::variant<calibration::Measurement, KernelRow> what;

  std::string_view cell(std::string_view column) const { return csv->cell(*row, column); }
};

// Rows of one file that could not be used: the reason and their number.
using Refusals = std::map<std::string, int>;

class Measurements {
 public:
  // `root` is the repository. Fails if a file cannot be read; rows that the program does not support yet are refused.
  static Checked<std::unique_ptr<Measurements>> read(const std::string& root, const std::vector<std::string>& files);

  const std::vector<MeasuredRow>& rows(const std::string& file) const { return rows_.at(file); }
  const Refusals& refused(const std::string& file) const { return refused_.at(file); }
  const catalog::Catalog& catalog() const { return catalog_; }

 private:
  Checked<> read_file_rows(const std::string& root, const std::string& file);
  Checked<calibration::Measurement> read_job(const std::string& root, const Csv& csv, const CsvRow& row);

  catalog::Catalog catalog_;
  std::deque<Csv> files_;
  std::map<std::string, std::vector<MeasuredRow>> rows_;
  std::map<std::string, Refusals> refused_;
  std::map<std::string, Checked<model::ModelShape>> models_;
};

// Compares every measured value of the row with the model.
Result<calibration::Predictions> predict(const MeasuredRow& row, const perf::Constants& constants,
                                         const perf::GpuSpeed& gpu);

}  // namespace rightsize::fit
