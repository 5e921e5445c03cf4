// Selects the curves of a GPU, and derives those of an unmeasured one.
#include "perf/kernels/gpu_speed.h"

#include <algorithm>
#include <cmath>

#include "perf/calibration/constants.h"
#include "perf/calibration/sustained_rates.h"

namespace rightsize::perf {
namespace {

using catalog::Gpu;
using catalog::NumberFormat;

constexpr const char* kEagerReference = "h200-sxm";  // the eager and image profiles were fitted on it

const MeasuredGpu* find_measured(const Constants& constants, std::string_view name) {
  auto found = constants.measured.find(std::string(name));
  if (found == constants.measured.end()) return nullptr;
  if (found->second.same_chip.empty()) return &found->second;
  found = constants.measured.find(found->second.same_chip);
  return found == constants.measured.end() || !found->second.same_chip.empty() ? nullptr : &found->second;
}

// The measured GPU of an architecture. Its curves apply to its siblings, with arithmetic scaled from a known share of
// peak at a known power: `share` at `watts_per_tflop`, from TDP and dense 16-bit peak in data/gpus.csv (0: the curve's
// own rate). Cards with GDDR memory have other chips: for Ampere (GA102, an older process) 0.62 of peak at the
// A10's 1.2 W/TFLOP fits data/measurements/train-gpus.csv; for Blackwell the RTX PRO 6000 was measured.
struct Sibling {
  std::string_view architecture, name;
  double watts_per_tflop, share;
};
constexpr Sibling kSiblings[] = {
    {"Ampere", "a100-80gb-sxm", 1.28, 0},
    {"Ada", "l40s", 0.97, 0},
    {"Hopper", "h100-sxm", 0.71, 0},
    {"Blackwell", "b200-sxm", 0.44, 0},
    {"Blackwell Ultra", "b200-sxm", 0.44, 0},
    {"Ampere, GDDR", "a100-80gb-sxm", 1.20, 0.62},
    {"Blackwell, GDDR", "rtx-pro-6000", 1.28, 0},
};

bool has_gddr(const Gpu& gpu) { return gpu.memory_type.starts_with("GDDR"); }

// The closest measured GPU: prefers another card with GDDR over another chip of the architecture.
const Sibling* sibling_of(const Gpu& gpu, const Constants& constants) {
  const std::string wanted[] = {gpu.architecture + (has_gddr(gpu) ? ", GDDR" : ""), gpu.architecture};
  for (const std::string& architecture : wanted) {
    for (const Sibling& sibling : kSiblings) {
      if (sibling.architecture == architecture && find_measured(constants, sibling.name) != nullptr) return &sibling;
    }
  }
  return nullptr;
}

FlopsPerSecond rate_of(const Gpu& gpu, NumberFormat format, FlopsPerSecond otherwise) {
  const catalog::Peak& peak = gpu.peak(format);
  return peak.supported ? peak.dense.value_or(otherwise) : otherwise;
}

void fill_peaks(const Gpu& gpu, GpuSpeed& speed) {
  speed.sms = gpu.sms.value_or(128);  // unknown for other accelerators; only affects small products
  speed.bandwidth = gpu.bandwidth;
  speed.half = gpu.half_rate().value_or(FlopsPerSecond{});
  speed.has_half = speed.half > FlopsPerSecond{};
  speed.has_bf16 = gpu.peak(NumberFormat::kBf16).supported;
  speed.has_fp8 = gpu.peak(NumberFormat::kFp8).supported;
  speed.has_fp4 = gpu.peak(NumberFormat::kFp4).supported;
  speed.fp8 = rate_of(gpu, NumberFormat::kFp8, speed.half);
  speed.fp4 = rate_of(gpu, NumberFormat::kFp4, speed.fp8);
  speed.fp32 = rate_of(gpu, NumberFormat::kFp32, speed.half / 8.0);
  speed.tf32 = rate_of(gpu, NumberFormat::kTf32, speed.fp32);
  speed.hopper_or_later = gpu.vendor == "NVIDIA" && gpu.architecture != "Ampere" && gpu.architecture != "Ada" &&
                          gpu.year.value_or(0) >= 2022;
  // Marlin and similar kernels need Ampere's asynchronous copies; ROCm has its own kernels.
  speed.weight_only_kernels = gpu.vendor == "NVIDIA" ? speed.has_bf16 : gpu.vendor == "AMD";
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// The median of the measured GPUs, for each constant.
MatmulCurve median_matmul(const Constants& constants, MatmulFormat format) {
  std::vector<double> rate, bandwidth, latency, q, occupancy, ramp;
  for (const auto& [name, gpu] : constants.measured) {
    const MatmulCurve& curve = gpu.matmul[static_cast<std::size_t>(format)];
    if (!(curve.rate > 0)) continue;
    rate.push_back(curve.rate);
    bandwidth.push_back(curve.bandwidth);
    latency.push_back(in_seconds(curve.latency));
    q.push_back(curve.q);
    occupancy.push_back(curve.occupancy);
    ramp.push_back(curve.k_ramp);
  }
  MatmulCurve curve;
  curve.rate = median(rate);
  curve.bandwidth = median(bandwidth);
  curve.latency = seconds(median(latency));
  curve.q = std::max(1.0, median(q));
  curve.occupancy = median(occupancy);
  curve.k_ramp = median(ramp);
  return curve;
}

// Share of the 16-bit peak that a large product reaches. Measured for some GPUs; otherwise it grows with the power per
// TFLOP (exponent 0.5, from the A100s at 250, 300 and 400 W in data/measurements/train-gpus.csv), up to the value seen
// when power is not the limit: GeForce and workstation cards, whose 16-bit rate is halved (an L20 reaches 0.92 of its
// peak, DefTruth/CUDA-Learn-Notes hgemm; an RTX 4090 exceeds its peak, mag-/gpu_benchmark).
constexpr double kPowerExponent = 0.5, kIssueLimit = 0.95;

double scaled_by_power(const Gpu& gpu, double share, double at_watts_per_tflop) {
  const auto half = gpu.half_rate();
  if (!gpu.tdp || !half) return share;
  const double watts_per_tflop = in_watts(*gpu.tdp) / in_tflop_per_s(*half);
  return std::min(kIssueLimit, share * std::pow(watts_per_tflop / at_watts_per_tflop, kPowerExponent));
}

// Architectures without measured curves but with a known share of peak at a known power: MI300X and MI355X from the
// products in data/gpus.csv, the T4 by judgement.
struct KnownShare {
  std::string_view architecture;
  double watts_per_tflop, share;
};
constexpr KnownShare kKnownShares[] = {
    {"CDNA3", 750.0 / 1307.0, 0.51}, {"CDNA4", 1400.0 / 2500.0, 0.63}, {"Turing", 70.0 / 65.0, 0.45}};

double transferred_rate(const Gpu& gpu, const Sibling* sibling, double sibling_rate) {
  const catalog::Peak& bf16 = gpu.peak(NumberFormat::kBf16);
  if (bf16.measured && bf16.dense) return *bf16.measured / *bf16.dense;
  if (sibling != nullptr)
    return scaled_by_power(gpu, sibling->share > 0 ? sibling->share : sibling_rate, sibling->watts_per_tflop);
  for (const KnownShare& known : kKnownShares) {
    if (gpu.architecture == known.architecture) return scaled_by_power(gpu, known.share, known.watts_per_tflop);
  }
  // A judgement (docs/speed.md): other accelerators are assumed to be as far from their peak as AMD's measured
  // products.
  if (gpu.architecture == "Volta") return 0.80;
  return 0.6;
}

// PCIe links of cards without a switch, one direction. 12 GB/s per pair is about 40 % of the Gen 4 lane rate, less in
// larger groups that share the root. A judgement; the measured L40S has its own rows.
void fill_pcie_links(const Gpu& gpu, GpuSpeed& speed) {
  const double generation = gpu.pcie.empty() ? 4.0 : gpu.pcie[0] - '0';
  const BytesPerSecond pair = gb_per_s(12.0 * std::pow(2.0, generation - 4.0));
  const double shared[kGroupSizes] = {1.0, 0.7, 0.5};
  for (std::size_t i = 0; i < kGroupSizes; ++i) {
    const LinkCurve curve{microseconds(10.0 + 6.0 * static_cast<double>(i)), pair * shared[i], 0.3};
    speed.engine_all_reduce[i] = curve;
    for (LinkCurves& curves : speed.collectives) curves[i] = curve;
  }
  speed.fsdp_link = pair * shared[kGroupSizes - 1];
}

// Links of a measured GPU, scaled by the nominal rates.
void fill_scaled_links(const MeasuredGpu& measured, double scale, GpuSpeed& speed) {
  speed.engine_all_reduce = measured.engine_all_reduce;
  speed.collectives = measured.collectives;
  for (LinkCurve& curve : speed.engine_all_reduce) curve.bus = curve.bus * scale;
  for (LinkCurves& curves : speed.collectives) {
    for (LinkCurve& curve : curves) curve.bus = curve.bus * scale;
  }
  const BytesPerSecond gather = measured.collectives[static_cast<std::size_t>(Collective::kAllGather)].back().bus;
  speed.fsdp_link = (measured.fsdp_link > BytesPerSecond{} ? measured.fsdp_link : gather) * scale;
}

bool has_switched_links(const Gpu& gpu) {
  return gpu.nvlink && (gpu.nvlink_kind == "switch" || gpu.nvlink_kind == "fabric" || gpu.nvlink_kind == "mesh");
}

void fill_links(const Gpu& gpu, const Constants& constants, GpuSpeed& speed) {
  const MeasuredGpu* h100 = find_measured(constants, "h100-sxm");
  if (!has_switched_links(gpu) || h100 == nullptr) return fill_pcie_links(gpu, speed);
  constexpr double kH100Links = 900.0;  // GB/s, NVLink of data/gpus.csv
  fill_scaled_links(*h100, in_gb_per_s(*gpu.nvlink) / kH100Links, speed);
}

void use_measured(const MeasuredGpu& measured, GpuSpeed& speed) {
  speed.sustained = measured.sustained;
  speed.matmul = measured.matmul;
  speed.experts = measured.experts;
  speed.prefill = measured.prefill;
  speed.decode = measured.decode;
  fill_scaled_links(measured, 1.0, speed);
}

// Unmeasured grouped products use the curve of single ones, except that experts do not stay in the cache: a bandwidth
// share above that of large reads (0.85; fitted ones are 0.7 to 1) comes from cached weights.
void fill_missing_experts(GpuSpeed& speed) {
  constexpr double kStreaming = 0.85;
  for (std::size_t i = 0; i < kMatmulFormats; ++i) {
    if (speed.experts[i].rate > 0) continue;
    speed.experts[i] = speed.matmul[i];
    speed.experts[i].bandwidth = std::min(kStreaming, speed.matmul[i].bandwidth);
  }
  MatmulCurve& narrow = speed.experts[kIntegerExperts];
  if (!(narrow.rate > 0)) narrow = speed.experts[static_cast<std::size_t>(MatmulFormat::kHalf)];
  if (!(speed.experts[kMxExperts].rate > 0)) speed.experts[kMxExperts] = narrow;
}

// Formats without a measurement on the sibling use the median of the measured ones, scaled the same way.
void fill_missing_formats(const Constants& constants, double scale, GpuSpeed& speed) {
  for (int i = 0; i < kMatmulFormats; ++i) {
    MatmulCurve& curve = speed.matmul[static_cast<std::size_t>(i)];
    if (curve.rate > 0) continue;
    curve = median_matmul(constants, static_cast<MatmulFormat>(i));
    curve.rate *= scale;
  }
}

// Bandwidth share of HBM and of GDDR: the means over measured GPUs in 16-bit products (`bandwidth` of the matmul-bf16
// rows in data/efficiency.csv).
double memory_share(const Gpu& gpu) { return has_gddr(gpu) ? 0.81 : 0.80; }

void transfer(const Gpu& gpu, const Constants& constants, GpuSpeed& speed) {
  const Sibling* sibling = sibling_of(gpu, constants);
  const MeasuredGpu* measured = sibling != nullptr ? find_measured(constants, sibling->name) : nullptr;
  speed.basis = measured != nullptr ? Basis::kTransferred : Basis::kSpecification;
  MatmulCurve& half = speed.matmul[static_cast<int>(MatmulFormat::kHalf)];
  double rate = 0, scale = 1;
  if (measured != nullptr) {
    use_measured(*measured, speed);
    rate = transferred_rate(gpu, sibling, half.rate);
    scale = rate / half.rate;
  } else {
    half = median_matmul(constants, MatmulFormat::kHalf);
    rate = transferred_rate(gpu, nullptr, half.rate);
    scale = rate / half.rate;
    if (const MeasuredGpu* older = find_measured(constants, "a100-80gb-sxm")) {
      speed.prefill = older->prefill;
      speed.decode = older->decode;
    }
    half.bandwidth = memory_share(gpu);
    // FlashAttention 2 needs Ampere; older GPUs reach about half as much.
    if (!speed.has_bf16) speed.prefill.rate *= 0.5;
  }
  const bool of_a_card = measured != nullptr && (sibling->name == "l40s" || sibling->name == "rtx-pro-6000");
  const bool other_memory = measured != nullptr && has_gddr(gpu) && !of_a_card;
  if (other_memory) half.bandwidth = memory_share(gpu);
  for (MatmulCurve& curve : speed.matmul) curve.rate *= scale;
  for (MatmulCurve& curve : speed.experts) curve.rate *= scale;
  // FlashAttention 2 and 3 reach at most three quarters of peak (arXiv 2307.08691, 2407.08608).
  constexpr double kAttentionLimit = 0.75;
  speed.prefill.rate = std::min(kAttentionLimit, speed.prefill.rate * scale);
  fill_missing_formats(constants, scale, speed);
  const catalog::Peak& bf16 = gpu.peak(NumberFormat::kBf16);
  speed.sustained = bf16.measured && bf16.dense ? *bf16.measured / *bf16.dense
                    : measured != nullptr       ? measured->sustained * scale
                                                : rate * 0.95;  // judgement
  fill_links(gpu, constants, speed);
}

void fill_stacks(const Gpu& gpu, const Constants& constants, GpuSpeed& speed) {
  for (std::size_t slot = 0; slot < kStackSlots; ++slot) {
    const std::vector<std::string>& names = constants.measured_runs[slot].gpus;
    speed.stack_measured[slot] = std::find(names.begin(), names.end(), gpu.name) != names.end();
  }
  for (const CalibrationRow& row : constants.calibrations) {
    if (row.gpu != gpu.name) continue;
    speed.calibration[static_cast<std::size_t>(slot_of(row.stack))][static_cast<std::size_t>(row.job)] = row.factors;
  }
}

}  // namespace

std::string_view name_of(Basis basis) {
  static constexpr std::string_view kNames[] = {"measured", "calibrated", "transferred", "specification"};
  return kNames[static_cast<int>(basis)];
}

GpuSpeed gpu_speed(const Constants& constants, const Gpu& gpu) {
  GpuSpeed speed;
  fill_peaks(gpu, speed);
  speed.host_link = host_link_rate(gpu).value_or(gb_per_s(31.5));
  if (const MeasuredGpu* measured = find_measured(constants, gpu.name)) {
    speed.basis = Basis::kMeasured;
    use_measured(*measured, speed);
    fill_missing_formats(constants, 1.0, speed);
  } else {
    transfer(gpu, constants, speed);
  }
  fill_missing_experts(speed);
  fill_stacks(gpu, constants, speed);
  if (const MeasuredGpu* reference = find_measured(constants, kEagerReference)) {
    speed.rate_scale = speed.sustained / reference->sustained;
    speed.attention_scale = speed.prefill.rate / reference->prefill.rate;
    // Fourth root of the FLOP/s per multiprocessor relative to the reference's 7.5 TFLOP/s: a compromise between no
    // effect and the square root, from ResNet-50 on V100, A10, A100 and RTX 4090.
    constexpr double kReferencePerSm = 989.4 / 132;
    if (speed.sms > 0) speed.conv_scale = std::pow(in_tflop_per_s(speed.half) / speed.sms / kReferencePerSm, 0.25);
  }
  return speed;
}

}  // namespace rightsize::perf
