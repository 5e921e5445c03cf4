#include "rightsize/calibrate/calibration_file.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"

namespace rightsize::app {

using calibration::CalibrationFit;
using perf::CalibrationRow;

std::vector<CalibrationRow> merged(std::vector<CalibrationRow> rows, const std::vector<CalibrationFit>& fits) {
  for (const CalibrationFit& fit : fits) {
    std::erase_if(rows, [&](const CalibrationRow& row) {
      return row.stack == fit.row.stack && row.job == fit.row.job && row.gpu == fit.row.gpu;
    });
    rows.push_back(fit.row);
  }
  return rows;
}

Result<std::string> write_calibrations(const std::string& folder, const std::vector<CalibrationRow>& rows) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return fail(unreadable(fmt::format("cannot make the folder '{}': {}", folder, problem.message())));
  std::string path = (std::filesystem::path(folder) / perf::kCalibrationFile).string();
  if (Result<> written = write_file(path, perf::calibration_csv(rows)); !written) return fail(written.error());
  return path;
}

}  // namespace rightsize::app
