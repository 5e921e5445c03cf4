// Reads the input file of `rightsize calibrate`.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "calibration/calibration.h"
#include "memory/memory.h"
#include "model/serve_settings.h"
#include "presets/presets.h"

namespace rightsize::calibration {
namespace {

using model::Job;
using model::Setting;

constexpr std::string_view kMeasured[] = {"tokens_per_second",
                                          "tokens_per_second_per_gpu",
                                          "samples_per_second_per_gpu",
                                          "step_ms",
                                          "batch_ms",
                                          "ttft_ms",
                                          "tpot_ms",
                                          "prefill_ms",
                                          "decode_ms",
                                          "output_per_second_per_gpu"};

void check_columns(const Csv& csv, const FileFacts& facts, Errors& errors) {
  std::vector<std::string> names{"model", "gpu", "rate"};
  names.insert(names.end(), model::job_settings().begin(), model::job_settings().end());
  names.insert(names.end(), std::begin(kMeasured), std::end(kMeasured));
  const auto known = [&](const std::string& column) {
    return std::find(names.begin(), names.end(), column) != names.end();
  };
  const auto unknown = std::ranges::count_if(csv.header(), std::not_fn(known));
  if (unknown > 2 && 2 * unknown > std::ssize(csv.header())) {
    errors.push_back(
        bad_input(fmt::format("this is not a table of measurements: {} of its {} columns are unknown", unknown,
                              csv.header().size()))
            .at(csv.header_place(0))
            .with_hint(fmt::format("columns: model, gpu, settings such as isl, osl, batch, concurrency, and "
                                   "at least one of {}",
                                   fmt::join(kMeasured, ", "))));
    return;
  }
  for (std::size_t i = 0; i < csv.header().size(); ++i) {
    if (known(csv.header()[i])) continue;
    const auto is_near = [&, column = fold_name(csv.header()[i])](const std::string& name) {
      constexpr int kErrors = 2;
      return edit_distance(column, fold_name(name)) <= kErrors;
    };
    if (facts.unused && std::ranges::none_of(names, is_near)) {
      facts.unused(csv.header()[i]);
      continue;
    }
    errors.push_back(bad_input(fmt::format("unknown column '{}'", csv.header()[i]))
                         .at(csv.header_place(i))
                         .with_hint(did_you_mean(csv.header()[i], names)));
  }
  for (const char* needed : {"model", "gpu"}) {
    if (!csv.column(needed) && !facts.given.contains(needed))
      errors.push_back(bad_input(fmt::format("column '{}' is missing", needed))
                           .with_hint(fmt::format("add the column, or --{} NAME", needed)));
  }
}

// Reads one row and collects mistakes with their location.
class RowReader {
 public:
  RowReader(const Csv& csv, const CsvRow& row, const FileFacts& facts, Errors& errors)
      : csv_(csv), row_(row), facts_(facts), errors_(errors) {}

  // The file's value, else the user's.
  std::string_view cell(std::string_view column) const {
    if (const std::string_view own = csv_.cell(row_, column); !own.empty()) return own;
    const auto given = facts_.given.find(std::string(column));
    return given == facts_.given.end() ? std::string_view{} : given->second;
  }

  void wrong(std::string_view column, Error error) { errors_.push_back(std::move(error).at(csv_.place(row_, column))); }

  std::vector<Setting> settings() const {
    std::vector<Setting> list;
    for (const std::string& name : model::job_settings()) {
      if (!cell(name).empty()) list.push_back({name, std::string(cell(name)), csv_.place(row_, name)});
    }
    return list;
  }

  // A positive number, or empty.
  std::optional<double> measured(std::string_view column) {
    const std::string_view text = cell(column);
    if (text.empty()) return std::nullopt;
    Result<double> value = parse_number(text);
    if (!value) {
      wrong(column, std::move(value).error());
      return std::nullopt;
    }
    if (!(*value > 1e-9 && *value < 1e12)) {
      wrong(column, bad_input(fmt::format("{} of {} is not plausible", column, text)));
      return std::nullopt;
    }
    return value.value();
  }

 private:
  const Csv& csv_;
  const CsvRow& row_;
  const FileFacts& facts_;
  Errors& errors_;
};

// Converts rates to the time of a step.
std::optional<Seconds> step_of(RowReader& reader, const Job& job, bool image) {
  if (auto ms = reader.measured("step_ms")) return milliseconds(*ms);
  const model::Parallelism& p = job.parallel;
  const double replica = static_cast<double>(p.tensor) * p.pipeline * p.context;
  const double samples = static_cast<double>(job.batch) * job.train.accumulation / replica;  // per GPU
  const double tokens = image ? 0 : samples * static_cast<double>(job.sequence);
  if (auto rate = reader.measured("samples_per_second_per_gpu")) return seconds(samples / *rate);
  if (auto rate = reader.measured("tokens_per_second_per_gpu")) return seconds(tokens / *rate);
  if (auto rate = reader.measured("tokens_per_second")) return seconds(tokens * p.gpus / *rate);
  return std::nullopt;
}

void read_measured(RowReader& reader, Measurement& m) {
  if (auto drawn = reader.measured("power_watts")) m.power = watts(*drawn);
  auto time = [&](const char* column) -> std::optional<Seconds> {
    if (auto ms = reader.measured(column)) return milliseconds(*ms);
    return std::nullopt;
  };
  if (m.job.kind == model::JobKind::kTrain) {
    m.step = step_of(reader, m.job, m.work.image);
    if (m.step && !(*m.step > Seconds{})) m.step.reset();
  } else if (perf::serves_batches(m.work)) {
    m.batch = time("batch_ms");
    if (auto rate = reader.measured("samples_per_second_per_gpu"); rate && !m.batch)
      m.batch = seconds(static_cast<double>(m.job.batch) / m.job.parallel.tensor / *rate);
  } else {
    m.ttft = time("ttft_ms");
    m.tpot = time("tpot_ms");
    m.prefill = time("prefill_ms");
    m.decode = time("decode_ms");
    if (auto rate = reader.measured("output_per_second_per_gpu")) m.output = seconds(1 / *rate);
  }
  if (m.step || m.batch || m.ttft || m.tpot || m.prefill || m.decode || m.output) return;
  reader.wrong("model", bad_input("this row has no measured value for its job")
                            .with_hint(m.job.kind == model::JobKind::kTrain
                                           ? "for training use tokens_per_second_per_gpu or step_ms"
                                           : "for serving use ttft_ms and tpot_ms, or batch_ms"));
}

// The model of a row; "-" would be standard input.
Checked<model::ModelShape> model_of(const Csv& csv, const CsvRow& row, const FileFacts& facts) {
  Errors none;
  const std::string_view name = RowReader(csv, row, facts, none).cell("model");
  Checked<model::ModelShape> model =
      name == "-" ? fail(bad_input("a row cannot read its model from standard input")) : model::find_model(name);
  if (model) return model;
  Errors errors = std::move(model).error();
  for (Error& error : errors) {
    if (error.place.line <= 0) error.place = csv.place(row, "model");
  }
  return fail(std::move(errors));
}

}  // namespace

Checked<Measurement> read_measurement(const Csv& csv, const CsvRow& row, const model::ModelShape& model,
                                      const catalog::Catalog& catalog, const FileFacts& facts) {
  Errors errors;
  RowReader reader(csv, row, facts, errors);
  const std::string name(reader.cell("gpu"));
  Result<const catalog::Gpu*> gpu = facts.gpu_named ? facts.gpu_named(name) : catalog.find_gpu(name);
  if (!gpu) reader.wrong("gpu", gpu.error());
  Checked<Job> job = model::parse_job(reader.settings());
  if (!job) errors.insert(errors.end(), job.error().begin(), job.error().end());
  if (!errors.empty()) return fail(std::move(errors));

  Measurement m;
  m.line = row.line;
  m.model = model.name;
  m.gpu = *gpu;
  m.job = *job;
  // The defaults of `estimate`.
  if (m.job.kind == model::JobKind::kServe && reader.cell("precision").empty())
    m.job.precision = model::default_precision(model, m.job.stack);
  if (m.job.sequence == 0) m.job.sequence = memory::default_sequence(model);
  for (Error& error : memory::check_job(model, m.job)) reader.wrong("model", std::move(error));
  if (!errors.empty()) return fail(std::move(errors));
  m.work = perf::work_of(model);
  m.job = perf::fitted_to(m.work, m.job);
  m.cluster = perf::default_cluster(**gpu);
  if (m.job.kind == model::JobKind::kServe && !perf::serves_batches(m.work))
    m.load.kv_tokens = perf::kv_token_capacity(model, m.job, **gpu);
  if (const auto rate = reader.measured("rate")) m.load.rate = requests_per_s(*rate);
  read_measured(reader, m);
  if (!errors.empty()) return fail(std::move(errors));
  return m;
}

Checked<std::vector<Measurement>> read_measurements(const std::string& file, std::string text,
                                                    const catalog::Catalog& catalog, const FileFacts& facts) {
  Errors errors;
  if (is_benchmark(text)) {
    RIGHTSIZE_TRY(text, benchmark_rows(file, text, facts.given));
  }
  RIGHTSIZE_TRY(Csv csv, Csv::parse(file, std::move(text)));
  check_columns(csv, facts, errors);
  if (!errors.empty()) return fail(std::move(errors));
  if (csv.rows().empty() || csv.rows().size() > kMostMeasurements) {
    errors.push_back(bad_input(
        fmt::format("'{}' has {} measurements; 1 to {} are taken", file, csv.rows().size(), kMostMeasurements)));
    return fail(std::move(errors));
  }
  std::vector<Measurement> measurements;
  for (const CsvRow& row : csv.rows()) {
    const Checked<model::ModelShape> model = model_of(csv, row, facts);
    Checked<Measurement> measurement =
        model ? read_measurement(csv, row, *model, catalog, facts) : Checked<Measurement>(fail(Errors(model.error())));
    if (measurement) {
      measurements.push_back(*std::move(measurement));
    } else {
      errors.insert(errors.end(), measurement.error().begin(), measurement.error().end());
    }
  }
  if (!errors.empty()) return fail(std::move(errors));
  return measurements;
}

}  // namespace rightsize::calibration
