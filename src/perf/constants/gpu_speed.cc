// Selects the curves of a GPU, and derives those of an unmeasured one from its closest relative.
#include "perf/kernels/gpu_speed.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "perf/constants/constants.h"
#include "perf/constants/sustained_rates.h"
#include "perf/kernels/collectives.h"

namespace rightsize::perf {
namespace {

using catalog::Gpu;
using catalog::NumberFormat;

constexpr const char* kEagerReference = "h200-sxm";  // the eager and image profiles were fitted on it

// A measured chip, with the facts that make it a relative of another GPU. Its large products reach `share` of the
// 16-bit peak (0: its curve's rate) at `watts_per_tflop`: TDP and dense 16-bit peak of data/gpus.csv. Ampere cards with
// GDDR memory have another chip (GA102, an older process) than the A100: 0.62 of peak at the A10's 1.2 W/TFLOP fits
// data/measurements/train-gpus.csv.
struct Chip {
  std::string_view name, vendor, architecture;
  int year;
  bool gddr;
  double watts_per_tflop, share;
};
constexpr Chip kChips[] = {
    {"a100-80gb-sxm", "NVIDIA", "Ampere", 2020, false, 1.28, 0},
    {"a100-80gb-sxm", "NVIDIA", "Ampere", 2020, true, 1.20, 0.62},
    {"l40s", "NVIDIA", "Ada", 2023, true, 0.97, 0},
    {"h100-sxm", "NVIDIA", "Hopper", 2022, false, 0.71, 0},
    {"b200-sxm", "NVIDIA", "Blackwell", 2024, false, 0.44, 0},
    {"rtx-pro-6000", "NVIDIA", "Blackwell", 2025, true, 1.28, 0},
    {"b300-sxm", "NVIDIA", "Blackwell Ultra", 2025, false, 0.49, 0},
    {"mi300x", "AMD", "CDNA3", 2023, false, 0.574, 0.51},
};

bool has_gddr(const Gpu& gpu) { return gpu.memory_type.starts_with("GDDR"); }

// The curves of a chip: its own rates and bandwidths, and the losses that all chips share.
std::optional<MeasuredGpu> find_chip(const Constants& constants, std::string_view name) {
  auto found = constants.measured.find(std::string(name));
  if (found == constants.measured.end()) return std::nullopt;
  if (!found->second.same_chip.empty()) return find_chip(constants, found->second.same_chip);
  MeasuredGpu chip = found->second;
  if (!chip.losses_like.empty()) {
    const MeasuredGpu own = chip;
    const auto like = find_chip(constants, own.losses_like);
    if (!like) return std::nullopt;
    chip = *like;
    chip.scale(own.losses);
    chip.sustained = chip.matmul[static_cast<int>(MatmulFormat::kHalf)].rate = own.sustained;
    chip.losses_like = own.losses_like;
    return chip;
  }
  const MeasuredGpu& any = constants.any_gpu;
  for (std::size_t i = 0; i < kMatmulFormats; ++i) chip.matmul[i].share_losses(any.matmul[i]);
  for (std::size_t i = 0; i < kExpertFormats; ++i) chip.experts[i].share_losses(any.experts[i]);
  chip.prefill = {chip.prefill.rate,     chip.prefill.bandwidth, any.prefill.latency,
                  any.prefill.occupancy, any.prefill.head_gamma, any.prefill.short_sequence};
  chip.decode = {chip.decode.rate,     chip.decode.bandwidth, any.decode.latency,
                 any.decode.occupancy, chip.decode.fp8_kv,    any.decode.short_sequence};
  return chip;
}

// The closest measured chip, in order of preference: same architecture and memory type, same architecture, same vendor
// and memory type, same vendor, same memory type. Among several, the closest in years.
const Chip* relative_of(const Gpu& gpu, const Constants& constants) {
  const Chip* best = nullptr;
  double closest = -10;
  for (const Chip& chip : kChips) {
    if (!constants.measured.contains(std::string(chip.name))) continue;
    const double close = 4 * (chip.architecture == gpu.architecture) + 2 * (chip.vendor == gpu.vendor) +
                         (chip.gddr == has_gddr(gpu)) - 0.05 * std::abs(chip.year - gpu.year.value_or(2020));
    if (close > closest) best = &chip, closest = close;
  }
  return best;
}

FlopsPerSecond rate_of(const Gpu& gpu, NumberFormat format, FlopsPerSecond otherwise) {
  const catalog::Peak& peak = gpu.peak(format);
  return peak.supported ? peak.dense.value_or(otherwise) : otherwise;
}

void fill_peaks(const Gpu& gpu, GpuSpeed& speed) {
  speed.sms = gpu.sms.value_or(128);  // unknown for other accelerators; only affects small products
  speed.bandwidth = gpu.bandwidth;
  speed.half = gpu.half_rate().value_or(FlopsPerSecond{});
  speed.has_bf16 = gpu.peak(NumberFormat::kBf16).supported;
  speed.has_fp8 = gpu.peak(NumberFormat::kFp8).supported;
  speed.has_fp4 = gpu.peak(NumberFormat::kFp4).supported;
  speed.fp8 = rate_of(gpu, NumberFormat::kFp8, speed.half);
  speed.fp4 = rate_of(gpu, NumberFormat::kFp4, speed.fp8);
  speed.fp32 = rate_of(gpu, NumberFormat::kFp32, speed.half / 8.0);
  speed.tf32 = rate_of(gpu, NumberFormat::kTf32, speed.fp32);
  // Blackwell cards with GDDR7 (12.0) fall back to Marlin: vllm issues 30135 (0.12) and 40153 (0.17), and 31085 for
  // NVFP4, read 2026-11-19.
  speed.expands_published_experts = gpu.compute_capability.starts_with("12.");
  speed.hopper_or_later = gpu.vendor == "NVIDIA" && gpu.architecture != "Ampere" && gpu.architecture != "Ada" &&
                          gpu.year.value_or(0) >= 2022;
  // Marlin and similar kernels need Ampere's asynchronous copies; ROCm has its own kernels.
  speed.rocm = gpu.vendor == "AMD";
  speed.weight_only_kernels = gpu.vendor == "NVIDIA" ? speed.has_bf16 : gpu.vendor == "AMD";
}

// Share of the 16-bit peak that a large product reaches. Measured for some GPUs; otherwise it grows with the power per
// TFLOP (exponent 0.5, from the A100s at 250, 300 and 400 W in data/measurements/train-gpus.csv), up to the most that
// any product reaches: GeForce and workstation cards have half the 16-bit rate and are not limited by power.
double scaled_by_power(const Gpu& gpu, double share, double at_watts_per_tflop) {
  constexpr double kPowerExponent = 0.5;
  const auto half = gpu.half_rate();
  if (!gpu.tdp || !half) return share;
  const double watts_per_tflop = in_watts(*gpu.tdp) / in_tflop_per_s(*half);
  return std::min(kMostArithmetic, share * std::pow(watts_per_tflop / at_watts_per_tflop, kPowerExponent));
}

// Architectures without measured curves but with a known share of peak at a known power: MI355X from the product in
// data/gpus.csv; the T4 and Volta by judgement.
struct KnownShare {
  std::string_view architecture;
  double watts_per_tflop, share, most;
};
constexpr KnownShare kKnownShares[] = {
    {"CDNA4", 1400.0 / 2500.0, 0.63, 0.63}, {"Turing", 70.0 / 65.0, 0.45, 0.60}, {"Volta", 300.0 / 125.0, 0.80, 0.80}};

const KnownShare* known_share(const Gpu& gpu) {
  for (const KnownShare& known : kKnownShares) {
    if (gpu.architecture == known.architecture) return &known;
  }
  return nullptr;
}

std::optional<double> measured_share(const Gpu& gpu) {
  const catalog::Peak& bf16 = gpu.peak(NumberFormat::kBf16);
  if (!bf16.measured || !bf16.dense) return std::nullopt;
  return std::min(kMostArithmetic, *bf16.measured / *bf16.dense);
}

// The rate of large 16-bit products, before the penalty for an unmeasured chip.
double transferred_rate(const Gpu& gpu, const Chip& chip, double chip_rate) {
  if (const auto share = measured_share(gpu)) return *share;
  if (const KnownShare* known = known_share(gpu))
    return std::min(known->most, scaled_by_power(gpu, known->share, known->watts_per_tflop));
  const double share = chip.share > 0 ? chip.share : chip_rate;
  return chip.vendor == gpu.vendor ? scaled_by_power(gpu, share, chip.watts_per_tflop) : share;
}

// All GPUs with the same kind of link reach the same share of it, and no message over PCIe starts faster than over
// NVLink.
void fill_links(const Gpu& gpu, const Constants& constants, GpuSpeed& speed) {
  const bool switched = gpu.nvlink && has_switched_links(gpu);
  const LinkShares& shares = switched ? constants.nvlink : constants.pcie;
  const BytesPerSecond link = switched ? *gpu.nvlink : speed.host_link;
  auto curve = [&](const LinkShare& share, const LinkShare& fastest) {
    return LinkCurve{std::max(share.latency, fastest.latency), link * share.share, share.size_loss};
  };
  for (std::size_t i = 0; i < kGroupSizes; ++i) {
    speed.engine_all_reduce[i] = curve(shares.engine_all_reduce[i], constants.nvlink.engine_all_reduce[i]);
    for (std::size_t kind = 0; kind < kCollectives; ++kind)
      speed.collectives[kind][i] = curve(shares.collectives[kind][i], constants.nvlink.collectives[kind][i]);
  }
  speed.fsdp_link = link * shares.sharding;
}

// The same chip at another power limit: data-sheet peaks grow more than achieved rates.
void use_own_product(const Gpu& gpu, MeasuredGpu& chip) {
  const auto share = measured_share(gpu);
  if (!share) return;
  // Kernels that expand weights do not draw full power.
  MatmulCurve& weight_only = chip.matmul[static_cast<std::size_t>(MatmulFormat::kWeightOnly)];
  const MatmulCurve unscaled = weight_only;
  chip.scale({*share / chip.sustained, 1});
  weight_only = unscaled;
  chip.sustained = *share;
}

void use_curves(const MeasuredGpu& chip, GpuSpeed& speed) {
  speed.sustained = chip.sustained;
  speed.matmul = chip.matmul;
  speed.experts = chip.experts;
  speed.prefill = chip.prefill;
  speed.decode = chip.decode;
}

// A format that was not measured on the chip gets the median losses of the chips where it was, scaled like the chip's
// 16-bit products.
template <std::size_t N>
void fill_missing(const Constants& constants, std::array<MatmulCurve, N> MeasuredGpu::*curves, double rate_scale,
                  double bandwidth_scale, std::array<MatmulCurve, N>& to) {
  for (std::size_t i = 0; i < N; ++i) {
    if (to[i].rate > 0) continue;
    std::vector<double> rates, bandwidths;
    for (const auto& [name, gpu] : constants.measured) {
      // Chips with 4-bit arithmetic say little about those that expand MXFP4 because they have none.
      const bool has_fp4 = gpu.matmul[static_cast<std::size_t>(MatmulFormat::kFp4)].rate > 0;
      if (i == kMxExperts && has_fp4) continue;
      const MatmulCurve& curve = (gpu.*curves)[i];
      if (curve.rate > 0) rates.push_back(curve.rate), bandwidths.push_back(curve.bandwidth);
    }
    if (rates.empty()) continue;
    std::sort(rates.begin(), rates.end());
    std::sort(bandwidths.begin(), bandwidths.end());
    to[i] = (constants.any_gpu.*curves)[i];
    const std::size_t middle = (rates.size() - 1) / 2;
    to[i].rate = std::min(kMostArithmetic, rates[middle] * rate_scale);
    to[i].bandwidth = std::min(kMostBandwidth, bandwidths[middle] * bandwidth_scale);
  }
}

void fill_missing_formats(const Constants& constants, double rate_scale, double bandwidth_scale, GpuSpeed& speed) {
  fill_missing(constants, &MeasuredGpu::matmul, rate_scale, bandwidth_scale, speed.matmul);
  fill_missing(constants, &MeasuredGpu::experts, rate_scale, bandwidth_scale, speed.experts);
}

// The penalty for a chip of another architecture, from leaving each measured chip out in turn (docs/speed.md): newer
// chips reach smaller shares of faster units. Within an architecture the power rule is not biased.
constexpr KernelLosses kUnknownArchitecture{0.88, 0.95};

void transfer(const Gpu& gpu, const Constants& constants, GpuSpeed& speed) {
  const Chip* relative = relative_of(gpu, constants);
  if (relative == nullptr) return;
  MeasuredGpu chip = *find_chip(constants, relative->name);
  speed.basis = relative->architecture == gpu.architecture ? Basis::kTransferred : Basis::kSpecification;
  speed.relative = relative->name;
  const KernelLosses penalty = speed.basis == Basis::kSpecification ? kUnknownArchitecture : KernelLosses{};
  const double half = chip.matmul[static_cast<int>(MatmulFormat::kHalf)].rate;
  const double rate = transferred_rate(gpu, *relative, half);
  const bool known = measured_share(gpu) || known_share(gpu) != nullptr;
  const KernelLosses losses{rate / half * (known ? 1 : penalty.rate), penalty.bandwidth};
  // In long runs no chip sustains more than the A100's share, unless its own measurement shows otherwise.
  constexpr double kLongRuns = 0.87;
  const double sustained = known ? rate : std::min(kLongRuns, chip.sustained * losses.rate);
  chip.scale(losses);
  // Expert kernels are tuned for one card at a time, and few with GDDR memory are among them (vllm fused_moe/configs):
  // an unmeasured one reaches the lowest share of the measured ones.
  for (const Chip& other : kChips) {
    const auto measured = find_chip(constants, other.name);
    if (!measured || !other.gddr || !has_gddr(gpu) || other.vendor != gpu.vendor || other.share > 0) continue;
    for (std::size_t i = 0; i < kExpertFormats; ++i) {
      if (const double share = measured->experts[i].rate; share > 0)
        chip.experts[i].rate = std::min(chip.experts[i].rate, share);
    }
  }
  // FlashAttention 2 needs Ampere; older GPUs reach about half as much.
  if (!speed.has_bf16 && gpu.vendor == "NVIDIA") chip.prefill.rate *= 0.5;
  use_curves(chip, speed);
  speed.sustained = std::min(kMostArithmetic, sustained);
  fill_missing_formats(constants, losses.rate, losses.bandwidth, speed);
}

void fill_stacks(const Gpu& gpu, const Constants& constants, GpuSpeed& speed) {
  for (std::size_t slot = 0; slot < kStackSlots; ++slot) {
    const std::vector<std::string>& names = constants.measured_runs[slot].gpus;
    speed.stack_measured[slot] = std::find(names.begin(), names.end(), gpu.name) != names.end();
    for (const std::string& run : constants.measured_runs[slot].training) {
      const std::size_t slash = run.find('/');
      if (run.substr(0, slash) != gpu.name || slash == std::string::npos) continue;
      using model::Precision;
      Precision format = Precision::kBf16;
      for (const Precision other : {Precision::kFp8, Precision::kFp4, Precision::kFp32})
        if (run.substr(slash + 1) == model::name_of(other)) format = other;
      speed.training_measured[slot][arithmetic_of(format)] = true;
    }
  }
  for (const CalibrationRow& row : constants.calibrations) {
    if (row.gpu != gpu.name) continue;
    speed.calibration[static_cast<std::size_t>(slot_of(row.stack))][static_cast<std::size_t>(row.job)] = row.factors;
  }
}

// The GPU with the same chip that was measured; empty for that one itself.
std::string_view twin_of(const Gpu& gpu, const Constants& constants) {
  for (const Chip& chip : kChips) {
    if (chip.name != gpu.name && same_chip(constants, gpu.name, std::string(chip.name))) return chip.name;
  }
  return {};
}

// Every part draws a share of the data sheet's power, and these shares transfer to other GPUs. Without a published idle
// power, the median share is used.
GpuPower gpu_power(const Constants& constants, const Gpu& gpu) {
  constexpr double kIdleShare = 0.12;
  // GDDR interfaces draw power at any load: an A40 that trains ResNet-50 does not go below 100 W, however low its clock
  // (ml-energy/zeus, summary_power_a40.csv, read 2026-11-17).
  constexpr double kGddrShare = 0.14;
  GpuPower power;
  if (!gpu.tdp) return power;
  const PowerConstants& c = constants.power;
  const Watts tdp = *gpu.tdp;
  power.limit = tdp;
  power.idle = gpu.idle_power.value_or(tdp * kIdleShare) + tdp * c.idle;
  if (has_gddr(gpu)) power.idle += tdp * kGddrShare;
  power.kernels = tdp * c.kernels, power.tensor = tdp * c.tensor;
  power.exchange = tdp * c.exchange, power.host = tdp * c.host;
  power.memory = watts(c.memory * 1e-3 * in_gb_per_s(gpu.bandwidth));
  power.held = c.held, power.voltage_floor = c.voltage_floor;
  const bool measured = gpu.name == "h100-sxm" || gpu.name == "h200-sxm" || gpu.name == "b200-sxm";
  power.width = measured ? c.width : c.transfer_width;
  power.served_energy_width = c.served_energy_width;
  return power;
}

}  // namespace

std::string_view name_of(Basis basis) {
  static constexpr std::string_view kNames[] = {"measured", "calibrated", "transferred", "specification"};
  return kNames[static_cast<int>(basis)];
}

void MeasuredGpu::scale(const KernelLosses& by) {
  const auto scaled = [](double& share, double factor, double most) { share = std::min(most, share * factor); };
  const auto products = [&](auto& curves) {
    for (MatmulCurve& curve : curves) {
      scaled(curve.rate, by.rate, kMostArithmetic);
      scaled(curve.bandwidth, by.bandwidth, kMostBandwidth);
    }
  };
  products(matmul);
  products(experts);
  // FlashAttention 2 and 3 reach at most three quarters of peak (arXiv 2307.08691, 2407.08608).
  scaled(prefill.rate, by.rate, 0.75);
  scaled(decode.rate, by.rate, kMostArithmetic);
  scaled(prefill.bandwidth, by.bandwidth, kMostBandwidth);
  scaled(decode.bandwidth, by.bandwidth, kMostBandwidth);
}

bool same_chip(const Constants& constants, const std::string& gpu, const std::string& chip) {
  const auto found = constants.measured.find(gpu);
  return gpu == chip || (found != constants.measured.end() && found->second.same_chip == chip);
}

GpuSpeed gpu_speed(const Constants& constants, const Gpu& gpu) {
  GpuSpeed speed;
  fill_peaks(gpu, speed);
  speed.power = gpu_power(constants, gpu);
  speed.host_link = host_link_rate(gpu).value_or(gb_per_s(31.5));
  if (auto chip = find_chip(constants, gpu.name)) {
    speed.basis = chip->losses_like.empty() ? Basis::kMeasured : Basis::kSpecification;
    if (speed.basis != Basis::kMeasured) speed.relative = twin_of(gpu, constants);
    use_own_product(gpu, *chip);
    use_curves(*chip, speed);
    fill_missing_formats(constants, 1, 1, speed);
  } else {
    transfer(gpu, constants, speed);
  }
  // Expanding weights takes time on top of the 16-bit product.
  MatmulCurve& weight_only = speed.matmul[static_cast<std::size_t>(MatmulFormat::kWeightOnly)];
  const MatmulCurve& half = speed.matmul[static_cast<std::size_t>(MatmulFormat::kHalf)];
  weight_only.rate = std::min(weight_only.rate, half.rate);
  fill_links(gpu, constants, speed);
  fill_stacks(gpu, constants, speed);
  if (const auto reference = find_chip(constants, kEagerReference)) {
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
