#include "diagnose/project.h"

#include <algorithm>
#include <cmath>

namespace rightsize::diagnose {
namespace {

using catalog::Gpu;
using catalog::NumberFormat;

// How many times longer each kind of work takes on the other GPU.
struct Stretch {
  double compute = 1, memory = 1, link = 1;
};

// The format the pipes worked in, as far as the counters tell.
NumberFormat format_of(const Summary& summary) {
  const double tensor = summary.mean(Metric::kTensorActive).value_or(0);
  if (summary.mean(Metric::kImmaActive).value_or(0) > tensor / 2 && tensor > 0.05) return NumberFormat::kInt8;
  if (summary.mean(Metric::kFp32Active).value_or(0) > 2 * tensor && tensor < 0.05) return NumberFormat::kFp32;
  if (summary.mean(Metric::kFp64Active).value_or(0) > 2 * tensor) return NumberFormat::kFp64;
  return NumberFormat::kBf16;
}

std::optional<FlopsPerSecond> rate(const Gpu& gpu, NumberFormat format) {
  if (format == NumberFormat::kBf16 || !gpu.peak(format).dense) return gpu.half_rate();
  return gpu.peak(format).dense;
}

std::optional<Stretch> stretch_to(const Gpu& from, const Gpu& to, NumberFormat format) {
  const auto a = rate(from, format), b = rate(to, format);
  if (!a || !b) return std::nullopt;
  Stretch stretch{*a / *b, from.bandwidth / to.bandwidth, 1};
  const auto here = hardware_of(from).link, there = hardware_of(to).link;
  if (here && there) stretch.link = *here / *there;
  return stretch;
}

// Time of the parts on the other GPU. Where arithmetic and memory overlapped, the hidden one counts again once it is
// the longer. `fixed` is the share of the launch and stall time that does not change with the GPU.
double busy_time(const TimeShares& shares, const Stretch& stretch, double fixed) {
  const bool compute_leads = shares.compute > shares.memory;
  const double compute = shares.compute + (compute_leads ? 0 : shares.overlap);
  const double memory = shares.memory + (compute_leads ? shares.overlap : 0);
  const double work = std::max(compute * stretch.compute + (memory - shares.overlap) * stretch.memory,
                               memory * stretch.memory + (compute - shares.overlap) * stretch.compute);
  const double leading = compute_leads ? stretch.compute : stretch.memory;
  return work + shares.stall * leading + shares.launch * (fixed + (1 - fixed) * leading);
}

bool paced_from_outside(Verdict verdict) {
  return verdict == Verdict::kUnderused || verdict == Verdict::kBursty || verdict == Verdict::kIdle ||
         verdict == Verdict::kIdleHeld;
}

double speed_of(const Diagnosis& diagnosis, const Stretch& stretch, double fixed, double& busy) {
  const TimeShares& shares = diagnosis.shares;
  const double work = busy_time(shares, stretch, fixed) + shares.transfer * stretch.link;
  if (paced_from_outside(diagnosis.verdict)) {
    busy = std::min(1.0, work);
    return work > 0.9 ? 0.9 / work : 1;  // a tenth of head room
  }
  const double total = work + shares.wait;
  busy = total > 0 ? work / total : 0;
  return total > 0 ? 1 / total : 1;
}

std::optional<double> cost_of(double speed, const std::optional<market::GpuQuote>& there,
                              const std::optional<market::GpuQuote>& here) {
  if (!there || !here || speed <= 0) return std::nullopt;
  return there->rate / here->rate / speed;
}

std::optional<market::GpuQuote> price_of(const market::PriceBook* prices, const Gpu& gpu) {
  return prices != nullptr ? prices->gpu(gpu, catalog::Purchase::kOnDemand) : std::nullopt;
}

}  // namespace

std::vector<Projection> project(const ProjectionInput& input, const catalog::Catalog& catalog,
                                const market::PriceBook* prices) {
  std::vector<Projection> projections;
  const auto here = price_of(prices, *input.gpu);
  const auto& held = input.summary->of(Metric::kMemoryUsed);
  const NumberFormat format = format_of(*input.summary);
  for (const Gpu& gpu : catalog.gpus) {
    if (gpu.name == input.gpu->name) continue;
    auto stretch = stretch_to(*input.gpu, gpu, format);
    if (!stretch) continue;
    Projection projection;
    projection.gpu = &gpu;
    double ignored = 0;
    // Launch time is the host's (fixed), or in part the GPU's own; between the two lies the truth.
    const double a = speed_of(*input.diagnosis, *stretch, 1, ignored);
    const double b = speed_of(*input.diagnosis, *stretch, 0, ignored);
    projection.speed = speed_of(*input.diagnosis, *stretch, 0.7, projection.busy);
    constexpr double kSpread = 0.2;  // kernels reach different shares of peak on different GPUs
    projection.low = std::min({a, b, projection.speed}) / (1 + kSpread);
    projection.high = std::max({a, b, projection.speed}) * (1 + kSpread);
    if (paced_from_outside(input.diagnosis->verdict)) projection.high = std::min(projection.high, 1.0);
    projection.fits = !held || bytes(held->max) <= gpu.capacity() * 0.97;
    projection.price = price_of(prices, gpu);
    projection.cost = cost_of(projection.speed, projection.price, here);
    projections.push_back(projection);
  }
  std::stable_sort(projections.begin(), projections.end(), [](const Projection& a, const Projection& b) {
    auto rank = [](const Projection& p) { return (p.fits ? 0 : 2) + (p.cost ? 0 : 1); };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.cost.value_or(0) < b.cost.value_or(0);
  });
  return projections;
}

}  // namespace rightsize::diagnose
