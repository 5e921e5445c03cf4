// Any bytes as a file of measurements for `rightsize calibrate`: rows with places, or errors. Valid rows can be fitted.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "calibration/calibration.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  static const perf::Constants kConstants = *perf::load_constants("");
  std::string text(reinterpret_cast<const char*>(data), size);
  auto rows = calibration::read_measurements("fuzz.csv", text, kCatalog, {.given = {{"gpu", "h100-sxm"}}});
  if (!rows) {
    if (rows.error().empty() || describe(rows.error()).empty()) std::abort();
    return 0;
  }
  if (rows->size() > 4) return 0;  // a fit takes milliseconds
  auto fits = calibration::fit_calibrations(kConstants, *rows);
  if (!fits && describe(fits.error()).empty()) std::abort();
  return 0;
}
