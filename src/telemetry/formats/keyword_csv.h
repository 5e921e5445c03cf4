// Tables of experiment trackers (Weights & Biases, MLflow, nvitop ...): one row per time, and columns that contain the
// number of the GPU and the metric: "system/gpu.0.powerWatts", "system/gpu_1_utilization_percentage". Columns are
// recognized by the words in their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {

// How the columns of a header are read: "gpu_util from system/gpu.0.gpu, ...". Empty without a time and a utilization.
std::string keyword_columns(std::string_view header);
std::unique_ptr<LineReader> make_keyword_reader(Intake& intake);

}  // namespace rightsize::telemetry
