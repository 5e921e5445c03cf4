// rightsize calibrate: turns a few of the user's measurements into factors that every later estimate uses.
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "rightsize/calibrate/report.h"
#include "rightsize/command.h"
#include "rightsize/input/named_gpu.h"

namespace rightsize::app {
namespace {

using calibration::CalibrationFit;

struct CalibrateFlags {
  std::vector<std::string> files;
  std::string catalog;
  std::map<std::string, std::string> given;  // facts that the file lacks
  bool dry_run = false;
};

// Other names of columns.
constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
    {"tokens_per_s tok/s tok_per_s tps tokens/s tokens/sec tokens_per_sec tokens/second throughput",
     "tokens_per_second"},
    {"tokens_per_s_per_gpu tok/s/gpu tokens/s/gpu tokens_per_sec_per_gpu tgs", "tokens_per_second_per_gpu"},
    {"step_time_ms ms_per_step iteration_ms", "step_ms"},
    {"mean_ttft_ms median_ttft_ms", "ttft_ms"},
    {"mean_tpot_ms median_tpot_ms itl_ms", "tpot_ms"},
    {"gpu_type gpu_name accelerator device hardware", "gpu"},
    {"num_gpus n_gpus gpu_count world_size", "gpus"},
    {"batch_size micro_batch micro_batch_size bs per_device_batch_size", "batch"},
    {"seq_len seq_length sequence_length", "seq"},
    {"input_len input_tokens prompt_len", "isl"},
    {"output_len output_tokens", "osl"},
    {"request_rate requests_per_second qps rps", "rate"},
    {"max_concurrency num_concurrent", "concurrency"},
    {"framework engine backend", "stack"},
    {"dtype", "precision"},
    {"model_name model_id", "model"},
};

// The table with our names of its columns.
std::string with_our_columns(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string header;
  for (const std::string_view column : split_list(std::string_view(text).substr(0, end), ',')) {
    std::string name(trim(column));
    for (const auto& [others, ours] : kColumns) {
      for (const std::string_view other : split_list(others, ' ')) {
        if (fold_name(other) != fold_name(name) || name == ours) continue;
        note(fmt::format("column '{}' is {}", name, ours));
        name = ours;
      }
    }
    header += (header.empty() ? "" : ",") + name;
  }
  return header + text.substr(end);
}

Checked<std::vector<calibration::Measurement>> read_rows(const std::string& file, const CalibrateFlags& flags,
                                                         const catalog::Catalog& catalog) {
  RIGHTSIZE_TRY(std::string text, read_file(file, 16u << 20));
  if (!calibration::is_benchmark(text) && !text.starts_with('[') && !text.starts_with('#'))
    text = with_our_columns(text);
  // Many rows name the same GPU: one note for each name.
  std::map<std::string, Result<const catalog::Gpu*>> gpus;
  const auto gpu_named = [&](const std::string& name) {
    if (const auto known = gpus.find(name); known != gpus.end()) return known->second;
    return gpus.emplace(name, named_gpu(catalog, name)).first->second;
  };
  const auto unused = [](const std::string& column) { note(fmt::format("column '{}' is not used", column)); };
  return calibration::read_measurements(file, std::move(text), catalog, {flags.given, gpu_named, unused});
}

Checked<Outcome> run_calibrate(const CalibrateFlags& flags) {
  RIGHTSIZE_TRY(std::string folder, catalog::overlay_target(flags.catalog));
  std::error_code ignored;
  const std::string overlay = std::filesystem::is_directory(folder, ignored) ? folder : std::string{};
  RIGHTSIZE_TRY(catalog::Catalog catalog, catalog::load_catalog(overlay));
  RIGHTSIZE_TRY(perf::Constants constants, perf::load_constants(overlay));
  std::vector<calibration::Measurement> measurements;
  for (const std::string& file : flags.files) {
    RIGHTSIZE_TRY(const auto rows, read_rows(file, flags, catalog));
    measurements.insert(measurements.end(), rows.begin(), rows.end());
  }
  RIGHTSIZE_TRY(std::vector<CalibrationFit> fits, calibration::fit_calibrations(constants, measurements));

  if (flags.dry_run) return Outcome{calibration_report(fits)};
  RIGHTSIZE_TRY(const std::string path, write_calibrations(folder, merged(constants.calibrations, fits)));
  return Outcome{calibration_report(fits, path)};
}

}  // namespace

Run add_calibrate(FlagSet& command) {
  auto flags = std::make_shared<CalibrateFlags>();
  command.add("FILE", flags->files)->required();
  for (const char* name : {"model", "gpu", "gpus", "tp", "stack", "precision", "kv-precision", "max-batch",
                           "concurrency", "rate", "isl", "osl"}) {
    command
        .add(name,
             [flags, name](const settings::Value& value) -> Result<> {
               const bool rate = std::string_view(name) == "rate";  // a row has it per second, without a unit
               flags->given[name] = rate ? fmt::format("{}", value.number) : value.text;
               return {};
             })
        ->one_value();
  }
  command.find("--rate")->meaning("rate at which requests arrived, instead of --concurrency requests in flight");
  command.add("dry-run", flags->dry_run);
  command.add("catalog", flags->catalog)
      ->meaning(
          "folder to write calibration.csv to, made if missing (or $RIGHTSIZE_CATALOG, or rightsize/catalog in your "
          "XDG configuration folder)");
  return [flags] { return run_calibrate(*flags); };
}

}  // namespace rightsize::app
