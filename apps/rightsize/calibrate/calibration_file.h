// calibration.csv in the user's catalogue folder: `calibrate` and `verify` write it, every estimate reads it.
#pragma once

#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "perf/constants/constants.h"

namespace rightsize::app {

// New rows replace those of the same stack, job and GPU.
std::vector<perf::CalibrationRow> merged(std::vector<perf::CalibrationRow> rows,
                                         const std::vector<calibration::CalibrationFit>& fits);

// Creates the folder if needed; returns the path of the file.
Result<std::string> write_calibrations(const std::string& folder, const std::vector<perf::CalibrationRow>& rows);

}  // namespace rightsize::app
