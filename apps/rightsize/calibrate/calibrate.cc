// rightsize calibrate: turns a few of the user's measurements into factors that every later estimate uses.
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "rightsize/calibrate/calibration_file.h"
#include "rightsize/calibrate/report.h"
#include "rightsize/command.h"

namespace rightsize::app {
namespace {

using perf::CalibrationFit;

struct Flags {
  std::string file, catalog;
  bool dry_run = false;
};

Checked<Outcome> run(const Flags& flags) {
  RIGHTSIZE_TRY(std::string folder, catalog::overlay_target(flags.catalog));
  std::error_code ignored;
  const std::string overlay = std::filesystem::is_directory(folder, ignored) ? folder : std::string{};
  RIGHTSIZE_TRY(catalog::Catalog catalog, catalog::load_catalog(overlay));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(overlay));
  RIGHTSIZE_TRY(std::string text, read_file(flags.file, 16u << 20));
  RIGHTSIZE_TRY(std::vector<perf::Measurement> measurements,
                perf::read_measurements(flags.file, std::move(text), catalog));
  RIGHTSIZE_TRY(std::vector<CalibrationFit> fits, perf::fit_calibrations(constants, measurements));

  if (flags.dry_run) return Outcome{calibration_report(fits)};
  RIGHTSIZE_TRY(const std::string path, write_calibrations(folder, merged(constants.calibrations, fits)));
  return Outcome{calibration_report(fits, path)};
}

}  // namespace

Run add_calibrate(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  command.add("FILE", flags->file)->required();
  command.add("dry-run", flags->dry_run);
  command.add("catalog", flags->catalog)
      ->meaning(
          "folder to write calibration.csv to, made if missing (or $RIGHTSIZE_CATALOG, or rightsize/catalog in your "
          "XDG configuration folder)");
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
