#include "measured.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "presets/presets.h"

namespace rightsize::fit {
namespace {

using perf::WeightFormat;

// Columns of job files that are neither settings nor measured values.
constexpr std::string_view kAbout[] = {"model", "gpu", "group", "version", "date", "also"};

double number(const Csv& csv, const CsvRow& row, std::string_view column) {
  return parse_number(csv.cell(row, column)).value_or(0);
}

std::optional<WeightFormat> format_of(std::string_view name) {
  if (name == "bf16") return WeightFormat::kHalf;
  if (name == "fp8" || name == "fp8-block") return WeightFormat::kFp8;
  if (name == "fp4" || name == "fp4-fp8") return WeightFormat::kFp4;
  if (name == "int4") return WeightFormat::kInt4;
  if (name == "int4-mx") return WeightFormat::kMx4;
  return std::nullopt;
}

Result<Kernel> matmul_row(const Csv& csv, const CsvRow& row) {
  const auto format = format_of(csv.cell(row, "format"));
  if (!format || csv.cell(row, "format") == "fp8-block")
    return fail(bad_input(fmt::format("products in {}", csv.cell(row, "format"))));
  return MatmulRow{{number(csv, row, "m"), number(csv, row, "n"), number(csv, row, "k")}, *format};
}

Result<Kernel> prefill_row(const Csv& csv, const CsvRow& row) {
  if (number(csv, row, "window") > 0) return fail(bad_input("attention windows in kernels"));
  if (number(csv, row, "cached") > 0) return fail(bad_input("prompts after a cached prefix in kernels"));
  if (csv.cell(row, "format") != "bf16") return fail(bad_input("8-bit attention arithmetic"));
  return perf::PrefillAttention{number(csv, row, "batch"),    number(csv, row, "tokens"),   number(csv, row, "heads"),
                                number(csv, row, "kv_heads"), number(csv, row, "head_dim"), true};
}

Result<Kernel> decode_row(const Csv& csv, const CsvRow& row) {
  if (number(csv, row, "window") > 0) return fail(bad_input("attention windows in kernels"));
  perf::DecodeAttention a;
  a.batch = number(csv, row, "batch"), a.context = number(csv, row, "cached") + 1;
  a.heads = number(csv, row, "heads"), a.kv_heads = number(csv, row, "kv_heads");
  a.head_dim = number(csv, row, "head_dim"), a.kv_bytes = csv.cell(row, "cache") == "fp8" ? 1 : 2;
  return a;
}

// DeepSeek-V3: 512 compressed and 64 rotated elements per token; heads of 128 + 64 if a prompt is expanded.
Result<Kernel> latent_row(const Csv& csv, const CsvRow& row) {
  if (csv.cell(row, "phase") == "prefill") {
    if (number(csv, row, "cached") > 0) return fail(bad_input("prompts after a cached prefix in kernels"));
    const double heads = number(csv, row, "heads");
    return perf::PrefillAttention{number(csv, row, "batch"), number(csv, row, "tokens"), heads, heads, 160, true};
  }
  perf::DecodeAttention a;
  a.batch = number(csv, row, "batch"), a.context = number(csv, row, "cached") + 1;
  a.heads = number(csv, row, "heads"), a.kv_heads = 1, a.head_dim = 512, a.latent_width = 576;
  a.kv_bytes = csv.cell(row, "cache") == "fp8" ? 1 : 2;
  return a;
}

Result<Kernel> collective_row(const Csv& csv, const CsvRow& row) {
  static const std::map<std::string_view, perf::Collective> kKinds = {
      {"all-reduce", perf::Collective::kAllReduce},
      {"engine-all-reduce", perf::Collective::kAllReduce},
      {"all-gather", perf::Collective::kAllGather},
      {"reduce-scatter", perf::Collective::kReduceScatter},
      {"all-to-all", perf::Collective::kAllToAll}};
  const std::string_view kind = csv.cell(row, "kind");
  const auto found = kKinds.find(kind);
  if (found == kKinds.end()) return fail(bad_input(fmt::format("collective {}", kind)));
  return CollectiveRow{kind == "engine-all-reduce", found->second, static_cast<int>(number(csv, row, "gpus")),
                       bytes(number(csv, row, "bytes"))};
}

// A balanced load visits experts in turn: the number of experts read is the number of visits, or all experts on this
// GPU.
Result<Kernel> expert_row(const Csv& csv, const CsvRow& row) {
  const auto format = format_of(csv.cell(row, "format"));
  if (!format) return fail(bad_input(fmt::format("experts in {}", csv.cell(row, "format"))));
  if (csv.cell(row, "load") != "balanced") return fail(bad_input("experts under an uneven load"));
  const double tokens = number(csv, row, "tokens"), experts = number(csv, row, "experts"),
               topk = number(csv, row, "topk");
  const double here = experts / number(csv, row, "ep");
  const double visits = tokens * topk / number(csv, row, "ep");
  const double hit = std::clamp(visits, 1.0, here);
  const double each = std::max(1.0, visits / hit);
  const double width = number(csv, row, "intermediate") / number(csv, row, "tp"), hidden = number(csv, row, "hidden");
  return ExpertRow{hit, {each, 2 * width, hidden}, {each, hidden, width}, *format};
}

Result<Kernel> kernel_of(const std::string& file, const Csv& csv, const CsvRow& row) {
  if (file == "kernels-matmul.csv") return matmul_row(csv, row);
  if (file == "kernels-prefill-attention.csv") return prefill_row(csv, row);
  if (file == "kernels-decode-attention.csv") return decode_row(csv, row);
  if (file == "kernels-latent-attention.csv") return latent_row(csv, row);
  if (file == "kernels-collectives.csv") return collective_row(csv, row);
  if (file == "kernels-experts.csv") return expert_row(csv, row);
  return fail(bad_input("no function of the model for kernels of " + file));
}

// A column that is not yet a setting of a job; its rows are refused until it is.
std::optional<std::string> unknown_setting(const Csv& csv, const CsvRow& row) {
  for (const std::string& column : csv.header()) {
    if (csv.cell(row, column).empty() || column.find('_') != std::string::npos) continue;  // '_' marks measured values
    if (std::find(std::begin(kAbout), std::end(kAbout), column) != std::end(kAbout)) continue;
    const auto& known = model::job_settings();
    if (std::none_of(known.begin(), known.end(), [&](const auto& name) { return name == column; })) return column;
  }
  return std::nullopt;
}

}  // namespace

Checked<calibration::Measurement> Measurements::read_job(const std::string& root, const Csv& csv, const CsvRow& row) {
  if (const auto column = unknown_setting(csv, row)) return fail(Errors{bad_input("setting " + *column)});
  const std::string name(csv.cell(row, "model"));
  // The size of images and videos is part of the model.
  const std::string size(csv.cell(row, "resolution")),
      key = fmt::format("{} {} {}", name, size, csv.cell(row, "frames"));
  auto model = models_.find(key);
  if (model == models_.end()) {
    model::ReadOptions options;
    if (const std::size_t x = size.find('x'); x != std::string::npos) {
      const auto side = [](const std::string& text) {
        return static_cast<std::int64_t>(parse_number(text).value_or(0));
      };
      options.resolution = model::ImageSize{side(size.substr(0, x)), side(size.substr(x + 1))};
    }
    if (const double frames = number(csv, row, "frames"); frames > 0) options.frames = static_cast<int>(frames);
    std::string path = name;  // a preset, unless it names a file
    for (const char* folder : {"/tests/fixtures/memory/models/", "/data/measurements/models/"}) {
      const std::string file = fmt::format("{}{}{}", root, folder, name);
      if (name.ends_with(".json") && std::filesystem::exists(file)) path = file;
    }
    model = models_.emplace(key, model::find_model(path, options)).first;
  }
  if (!model->second) return fail(Errors{bad_input("model " + name + ": " + model->second.error().front().message)});
  return calibration::read_measurement(csv, row, *model->second, catalog_);
}

Checked<> Measurements::read_file_rows(const std::string& root, const std::string& file) {
  const std::string path = root + "/data/measurements/" + file;
  Result<std::string> text = read_file(path);
  if (!text) return fail(Errors{std::move(text).error()});
  RIGHTSIZE_TRY(Csv parsed, Csv::parse(path, *std::move(text)));
  const Csv& csv = files_.emplace_back(std::move(parsed));
  std::vector<MeasuredRow>& rows = rows_[file];
  Refusals& refused = refused_[file];
  for (const CsvRow& row : csv.rows()) {
    const Result<const catalog::Gpu*> gpu = catalog_.find_gpu(csv.cell(row, "gpu"));
    if (!gpu) return fail(Errors{Error(gpu.error()).at(csv.place(row, "gpu"))});
    MeasuredRow measured{&csv, &row, *gpu, std::string(csv.cell(row, "model")), {}};
    if (file.starts_with("kernels-")) {
      const Result<Kernel> kernel = kernel_of(file, csv, row);
      if (!kernel) {
        ++refused[kernel.error().message];
        continue;
      }
      measured.what = KernelRow{*kernel, microseconds(number(csv, row, "us"))};
    } else {
      Checked<calibration::Measurement> job = read_job(root, csv, row);
      if (!job) {
        ++refused[job.error().front().message];
        continue;
      }
      measured.what = *std::move(job);
    }
    rows.push_back(std::move(measured));
  }
  return {};
}

Checked<std::unique_ptr<Measurements>> Measurements::read(const std::string& root,
                                                          const std::vector<std::string>& files) {
  auto all = std::make_unique<Measurements>();
  RIGHTSIZE_TRY(all->catalog_, catalog::load_catalog(root + "/data/measurements/catalog"));
  for (const std::string& file : files) {
    if (all->rows_.contains(file)) continue;
    if (Checked<> read = all->read_file_rows(root, file); !read) return fail(Errors(read.error()));
  }
  return all;
}

namespace {

Seconds kernel_time(const Kernel& kernel, const perf::GpuSpeed& gpu, const catalog::Gpu& row) {
  if (const auto* m = std::get_if<MatmulRow>(&kernel)) return perf::matmul_time(gpu, m->size, m->format).time;
  if (const auto* p = std::get_if<perf::PrefillAttention>(&kernel)) return perf::prefill_attention_time(gpu, *p).time;
  if (const auto* d = std::get_if<perf::DecodeAttention>(&kernel)) return perf::decode_attention_time(gpu, *d).time;
  if (const auto* e = std::get_if<ExpertRow>(&kernel)) {
    return perf::grouped_matmul_time(gpu, e->groups, e->up, e->format).time +
           perf::grouped_matmul_time(gpu, e->groups, e->down, e->format).time;
  }
  const auto& c = std::get<CollectiveRow>(kernel);
  const perf::Cluster cluster = perf::default_cluster(row);
  return c.engine ? perf::engine_all_reduce_time(gpu, cluster, c.gpus, c.message)
                  : perf::collective_time(gpu, cluster, c.kind, c.gpus, c.message);
}

}  // namespace

Result<calibration::Predictions> predict(const MeasuredRow& row, const perf::Constants& constants,
                                         const perf::GpuSpeed& gpu) {
  if (const auto* job = std::get_if<calibration::Measurement>(&row.what))
    return calibration::predict(constants, *job, gpu, true);
  const auto& kernel = std::get<KernelRow>(row.what);
  calibration::Predictions one;
  one.push_back({"kernel", kernel.measured, kernel_time(kernel.kernel, gpu, *row.gpu), {}, perf::Bound::kCompute});
  return one;
}

}  // namespace rightsize::fit
