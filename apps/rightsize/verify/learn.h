// Calibrates the speed model with the measured speeds of decisions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decisions/ledger.h"
#include "perf/calibration/calibration.h"

namespace rightsize::app {

struct Learned {
  std::vector<perf::CalibrationFit> fits;
  std::vector<std::string> decisions;  // whose measurements were used
  std::string why_not = {};            // where nothing could be learned
};

// Fits from this decision and every other measured one with the same stack and GPU. Training speeds are used as
// measured. A service's plan has percentiles under load, so the ratio of measured to predicted is applied to the
// model's estimate of the same configuration.
Checked<Learned> learn_from(const decisions::Decision& decision, decisions::Ledger& ledger,
                            const catalog::Catalog& catalog, const perf::Constants& constants);

}  // namespace rightsize::app
