#include "rightsize/gpus/report.h"

#include "base/format.h"
#include "report/fields.h"
#include "report/filter.h"
#include "rightsize/gpus/select.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using catalog::MigProfile;
using catalog::NumberFormat;
using catalog::Peak;
using report::Fields;
using report::kTableOnly;
using report::renamed;
using report::spare;

struct GpuView {
  const Gpu& gpu;
  const catalog::Catalog& catalog;
  std::optional<UsdPerGpuSecond> price = {};
  operator const Gpu&() const { return gpu; }
};

struct MigView {
  int instances;
  std::vector<const MigProfile*> profiles;
};

std::optional<MigView> mig_of(const GpuView& v) {
  if (v.gpu.mig_instances == 0) return std::nullopt;
  MigView mig{v.gpu.mig_instances, {}};
  for (const MigProfile& profile : v.catalog.mig) {
    if (profile.gpu == v.gpu.name) mig.profiles.push_back(&profile);
  }
  return mig;
}

using Rates = std::vector<std::pair<std::string_view, std::optional<FlopsPerSecond>>>;

// The rates of the formats that the hardware supports. A dense rate may be unknown; other rates are listed if known.
template <std::optional<FlopsPerSecond> Peak::*kRate>
Rates rates(const GpuView& v) {
  Rates rates;
  for (int i = 0; i < catalog::kNumberFormats; ++i) {
    const auto format = static_cast<NumberFormat>(i);
    const Peak& peak = v.gpu.peak(format);
    if (peak.supported && (kRate == &Peak::dense || peak.*kRate))
      rates.emplace_back(catalog::name_of(format), peak.*kRate);
  }
  return rates;
}

// Zero if the hardware lacks the format.
template <NumberFormat kFormat>
std::optional<FlopsPerSecond> dense_rate(const GpuView& v) {
  const Peak& peak = v.gpu.peak(kFormat);
  return peak.supported ? peak.dense : FlopsPerSecond{};
}
std::string in_tflops(FlopsPerSecond rate) {
  return rate == FlopsPerSecond{} ? "no" : format_number(in_tflop_per_s(rate), 4);
}
std::string link_speed(BytesPerSecond rate) { return rate == BytesPerSecond{} ? "no" : format_bandwidth(rate); }

const Fields<MigProfile> kMigProfileFields = {
    {"profile", "the profile's name", &MigProfile::profile},
    {"id", "the profile's number for nvidia-smi", &MigProfile::id},
    {"instances", "how many fit on one GPU", &MigProfile::instances},
    {"memory_bytes", "memory of one instance", &MigProfile::memory},
    {"compute_slices", "compute slices of one instance", &MigProfile::compute_slices},
    {"memory_slices", "memory slices of one instance", &MigProfile::memory_slices},
    {"sms", "streaming multiprocessors of one instance", &MigProfile::sms},
    {"placements", "memory slices an instance can start at", &MigProfile::placements},
    {"media", "has media engines", &MigProfile::media},
    {"unverified", "facts without a second source", [](const MigProfile& p) { return p.provenance.unverified; }},
};

const Fields<MigView> kMigFields = {
    {"instances", "the most instances of one GPU", &MigView::instances},
    {"profiles", "the profiles", kMigProfileFields, &MigView::profiles},
};

const Fields<GpuView> kGpuFields = {
    {"name", "GPU", "the name in the catalogue", &Gpu::name},
    {"usd_per_gpu_hour?", "$/GPU-h", "lowest on-demand price per GPU, with --sort price",
     [](const GpuView& v) { return v.price; }},
    {"vendor", "who makes it", &Gpu::vendor},
    {"architecture", "the vendor's architecture name", &Gpu::architecture},
    {"year", "year of release", &Gpu::year},
    {"memory_bytes", "memory", "memory on the data sheet", &Gpu::memory},
    {"usable_memory_bytes", "memory the driver reports", &Gpu::usable_memory},
    {"memory_type", "HBM3, GDDR6 and so on", &Gpu::memory_type},
    {"bandwidth_bytes_per_second", "bandwidth", "memory bandwidth", &Gpu::bandwidth},
    {"flops", "dense peak rate per number format in FLOP/s; absent: not supported, null: unknown", rates<&Peak::dense>},
    {"sparse_flops", "peak rate with structured sparsity in FLOP/s", rates<&Peak::sparse>},
    {"measured_flops", "measured matrix multiplication rate in FLOP/s", rates<&Peak::measured>},
    {"nvlink_bytes_per_second", "bandwidth to other GPUs, both ways", &Gpu::nvlink},
    {"nvlink_kind", "the link between GPUs, or none", &Gpu::nvlink_kind},
    {"pcie", "PCIe generation and lanes", &Gpu::pcie},
    {"tdp_watts", "TDP", "power limit", &Gpu::tdp},
    {"idle_watts", "power when idle", &Gpu::idle_power},
    {"sms", "streaming multiprocessors or compute units", &Gpu::sms},
    {"compute_capability", "CUDA compute capability", &Gpu::compute_capability},
    {"mig", "Multi-Instance GPU; null: not supported", kMigFields, mig_of},
    {"aliases", "other names that are understood", &Gpu::aliases},
    {"source", "where the facts come from", [](const GpuView& v) { return v.gpu.provenance.sources; }},
    {"date", "when they were read", [](const GpuView& v) { return v.gpu.provenance.date; }},
    {"unverified", "facts without a second source", [](const GpuView& v) { return v.gpu.provenance.unverified; }},
    {"note", "remarks", [](const GpuView& v) { return v.gpu.provenance.note; }},
    {"file", "the catalogue file with the facts", [](const GpuView& v) { return v.gpu.provenance.file; }},
    {"fp32_flops", "fp32", "dense fp32", dense_rate<NumberFormat::kFp32>, in_tflops, kTableOnly},
    {"fp16_flops", "fp16", "dense fp16", dense_rate<NumberFormat::kFp16>, in_tflops, kTableOnly},
    {"bf16_flops", "bf16", "dense bf16", dense_rate<NumberFormat::kBf16>, in_tflops, kTableOnly},
    {"fp8_flops", "fp8", "dense fp8", dense_rate<NumberFormat::kFp8>, in_tflops, kTableOnly},
    {"int8_flops", "int8", "dense int8", dense_rate<NumberFormat::kInt8>, in_tflops, kTableOnly},
    {"fp4_flops", "fp4", "dense fp4", dense_rate<NumberFormat::kFp4>, in_tflops, kTableOnly},
    {"nvlink", "GPU link", "0 where there is none",
     [](const GpuView& v) { return v.gpu.nvlink_kind == "none" ? BytesPerSecond{} : v.gpu.nvlink; }, link_speed,
     kTableOnly},
    {"mig_instances", "MIG", "0 where there are none", &Gpu::mig_instances,
     [](int count) { return count > 0 ? std::to_string(count) : "no"; }, kTableOnly},
};

struct GpusView {
  const std::vector<GpuView>& gpus;
};
const Fields<GpusView> kDocumentFields = {
    {"gpus", "the GPUs", kGpuFields, [](const GpusView& v) { return std::cref(v.gpus); }},
};
const report::Document<GpusView> kGpusDocument("gpus", "The GPUs of the catalogue", kDocumentFields);

}  // namespace

std::vector<std::string> gpu_columns() { return report::filter_columns(kGpuFields); }

Result<> keep_matching(std::vector<const Gpu*>& gpus, const catalog::Catalog& catalog,
                       const std::vector<std::string>& conditions) {
  std::vector<GpuView> views;
  for (const Gpu* gpu : gpus) views.push_back({*gpu, catalog});
  RIGHTSIZE_TRY(const std::vector<bool> kept, report::matching(kGpuFields, views, conditions));
  std::erase_if(gpus, [&](const Gpu*& gpu) { return !kept[static_cast<std::size_t>(&gpu - gpus.data())]; });
  return {};
}

report::Report gpus_report(const std::vector<const Gpu*>& gpus, const catalog::Catalog& catalog,
                           const market::PriceBook* book) {
  std::vector<GpuView> views;
  for (const Gpu* gpu : gpus) views.push_back({*gpu, catalog, price_of(*gpu, book)});
  report::Report report{.title = "GPUs", .document = kGpusDocument.of({views})};
  if (gpus.empty()) {
    report.say("No GPU of the catalogue meets all conditions.");
    return report;
  }
  std::vector<report::ColumnOf> columns({renamed("name", "gpu"), "memory_bytes", "bandwidth_bytes_per_second",
                                         spare("fp32_flops"), "fp16_flops", "bf16_flops", "fp8_flops",
                                         spare("int8_flops"), "fp4_flops", renamed("nvlink", "nvlink_bytes_per_second"),
                                         spare("tdp_watts"), "mig_instances"});
  if (book != nullptr) columns.insert(columns.begin() + 1, "usd_per_gpu_hour");
  report.blocks.emplace_back(report::table_of(kGpuFields, views, columns));
  report.say(
      "Rates are dense peaks in TFLOP/s, on tensor cores where there are any. 'no': not supported by the hardware; "
      "'-': "
      "unknown. --format json adds sparse and measured rates, MIG profiles, sources and unverified facts.");
  return report;
}

}  // namespace rightsize::app
