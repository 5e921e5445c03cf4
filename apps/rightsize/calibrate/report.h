// Fitted calibrations as sentences, tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "report/report.h"

namespace rightsize::app {

// Each fit, with the error of every value before and after it. `written`: the file's path; empty after --dry-run.
report::Report calibration_report(const std::vector<calibration::CalibrationFit>& fits,
                                  const std::string& written = {});

// "vllm serving on l4: the mean error over 6 values falls from 31 % to 4 % (GPU time x 1.20, ...)."
std::string sentence_about(const calibration::CalibrationFit& fit);

}  // namespace rightsize::app
