// Measured speeds of decisions -> the calibration that every later estimate uses.
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

// Fits from this decision and every other of the ledger with the same stack and GPU that was measured. Training speeds
// are taken as measured; of a service, whose plan speaks of a percentile under load, the ratio of measured to predicted
// is applied to what the model says of the same configuration.
Checked<Learned> learn_from(const decisions::Decision& decision, decisions::Ledger& ledger,
                            const catalog::Catalog& catalog, const perf::Constants& constants);

}  // namespace rightsize::app
