#include "perf/constants/sustained_rates.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/parse_units.h"

namespace rightsize::perf {
namespace {

using catalog::Gpu;
using catalog::NumberFormat;

// Share of a format's peak that large products reach in long runs. `sustained` was measured in 16 bits; other formats
// reach the rate of the format's curve, lowered by the same clocks.
double share_of_peak(const GpuSpeed& speed, NumberFormat format) {
  const auto curve = [&](MatmulFormat f) { return speed.matmul[static_cast<std::size_t>(f)].rate; };
  const double clocks = curve(MatmulFormat::kHalf) > 0 ? speed.sustained / curve(MatmulFormat::kHalf) : 1;
  switch (format) {
    case NumberFormat::kFp8:
    case NumberFormat::kInt8:  // not measured; same pipes and operand widths as fp8
      return curve(MatmulFormat::kFp8) * clocks;
    case NumberFormat::kFp4:
      return curve(MatmulFormat::kFp4) * clocks;
    default:
      return speed.sustained;
  }
}

FlopsPerSecond rate_of(const Gpu& gpu, const GpuSpeed& speed, NumberFormat format) {
  const catalog::Peak& peak = gpu.peak(format);
  if (peak.supported && peak.dense) return *peak.dense * share_of_peak(speed, format);
  const bool wide = format == NumberFormat::kFp64 || format == NumberFormat::kFp32 || format == NumberFormat::kTf32;
  return (wide ? speed.fp32 : speed.half) * speed.sustained;
}

}  // namespace

std::optional<BytesPerSecond> host_link_rate(const Gpu& gpu) {
  const std::string_view pcie = gpu.pcie;
  const std::size_t x = pcie.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto lanes = parse_number(pcie.substr(x + 1));
  const auto generation = parse_number(pcie.substr(0, x));
  if (!lanes || !generation || *generation < 1 || *generation > 7) return std::nullopt;
  constexpr double kThirdGeneration = 0.985;  // GB/s per lane; every generation doubles it
  return gb_per_s(kThirdGeneration * std::exp2(*generation - 3) * *lanes);
}

SustainedRates sustained_rates(const Constants& constants, const Gpu& gpu) {
  const GpuSpeed speed = gpu_speed(constants, gpu);
  const MatmulCurve& half = speed.matmul[static_cast<std::size_t>(MatmulFormat::kHalf)];
  SustainedRates rates;
  rates.gpu = &gpu;
  rates.basis = speed.basis;
  for (int i = 0; i < catalog::kNumberFormats; ++i)
    rates.arithmetic[static_cast<std::size_t>(i)] = rate_of(gpu, speed, static_cast<NumberFormat>(i));
  rates.memory = speed.bandwidth * half.bandwidth;
  rates.launch = half.latency;
  rates.host_link = host_link_rate(gpu);
  rates.power = speed.power;
  return rates;
}

SpeedTable::SpeedTable(const catalog::Catalog& catalog, const Constants& constants) : catalog_(catalog) {
  rates_.reserve(catalog.gpus.size());
  for (const Gpu& gpu : catalog.gpus) rates_.push_back(sustained_rates(constants, gpu));
}

const SustainedRates* SpeedTable::find(const Gpu& gpu) const {
  // Most callers pass a row of this catalogue; its position is then the index.
  const Gpu* first = catalog_.gpus.data();
  if (std::greater_equal<>{}(&gpu, first) && std::less<>{}(&gpu, first + rates_.size()))
    return &rates_[static_cast<std::size_t>(&gpu - first)];
  for (const SustainedRates& rates : rates_) {
    if (rates.gpu->name == gpu.name) return &rates;
  }
  return nullptr;
}

// Even between two measured GPUs the same kernels differ by 10 %, as do the errors of engines and trainers
// (docs/speed.md). An unmeasured GPU adds its usual width.
double width_between(const SustainedRates& from, const SustainedRates& to) {
  constexpr double kMeasuredPair = 0.10;
  if (from.gpu->name == to.gpu->name) return 0;
  return std::hypot(kMeasuredPair, width_of(from.basis), width_of(to.basis));
}

std::optional<Slowdown> slowdown(const SustainedRates& from, const SustainedRates& to, NumberFormat format) {
  const auto index = static_cast<std::size_t>(format);
  if (!(from.arithmetic[index] > FlopsPerSecond{}) || !(to.arithmetic[index] > FlopsPerSecond{})) return std::nullopt;
  Slowdown slow;
  if (from.gpu->name == to.gpu->name) return slow;
  slow.arithmetic = from.arithmetic[index] / to.arithmetic[index];
  slow.memory = from.memory / to.memory;
  slow.launch = to.launch / from.launch;
  if (from.host_link && to.host_link) slow.host_link = *from.host_link / *to.host_link;
  slow.width = width_between(from, to);
  slow.basis = std::max(from.basis, to.basis);
  return slow;
}

}  // namespace rightsize::perf
