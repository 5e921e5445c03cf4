// Fitted calibrations as sentences, tables and JSON, and in calibration.csv of the user's catalogue folder: `calibrate`
// and `verify` write it, every estimate reads it.
#pragma once

#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "perf/constants/constants.h"
#include "report/report.h"

namespace rightsize::app {

// Each fit, with the error of every value before and after it. `written`: the file's path; empty after --dry-run.
report::Report calibration_report(const std::vector<calibration::CalibrationFit>& fits,
                                  const std::string& written = {});

// "vllm serving on l4: the mean error over 6 values falls from 31 % to 4 % (GPU time x 1.20, ...)."
std::string sentence_about(const calibration::CalibrationFit& fit);

// New rows replace those of the same stack, job and GPU.
std::vector<perf::CalibrationRow> merged(std::vector<perf::CalibrationRow> rows,
                                         const std::vector<calibration::CalibrationFit>& fits);

// Creates the folder if needed; returns the path of the file.
Result<std::string> write_calibrations(const std::string& folder, const std::vector<perf::CalibrationRow>& rows);

}  // namespace rightsize::app
