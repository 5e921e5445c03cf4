// calibration.csv in the user's catalogue folder: what `calibrate` and `verify` write, and every estimate reads.
#pragma once

#include <string>
#include <vector>

#include "perf/calibration/calibration.h"

namespace rightsize::app {

// New rows take the place of those of the same stack, job and GPU.
std::vector<perf::CalibrationRow> merged(std::vector<perf::CalibrationRow> rows,
                                         const std::vector<perf::CalibrationFit>& fits);

// Makes the folder where it is missing; the file's path.
Result<std::string> write_calibrations(const std::string& folder, const std::vector<perf::CalibrationRow>& rows);

}  // namespace rightsize::app
