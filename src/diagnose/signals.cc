#include "diagnose/signals.h"

#include <algorithm>
#include <cmath>

#include "perf/constants/sustained_rates.h"

namespace rightsize::diagnose {
namespace {

std::optional<double> largest(std::initializer_list<std::optional<double>> values) {
  std::optional<double> most;
  for (const auto& value : values) {
    if (value && (!most || *value > *most)) most = value;
  }
  return most;
}

// If the link is unknown: the slowest PCIe generation at 16 lanes that could carry the observed rate.
BytesPerSecond link_for(BytesPerSecond seen) {
  BytesPerSecond rate = gb_per_s(15.8);
  while (rate < seen) rate = rate * 2;
  return rate;
}

// The multiply-adds of a tensor core per cycle are a power of two, so they follow from the peak without knowing the
// clock it is quoted at: the power of two nearest to peak / (SMs x 1.8 GHz).
std::optional<double> flop_per_cycle(const Hardware& hardware) {
  if (!hardware.matrix || !hardware.sms || *hardware.sms <= 0) return std::nullopt;
  constexpr double kTypicalClock = 1.8e9;
  const double each = in_flop_per_s(*hardware.matrix) / (*hardware.sms * kTypicalClock);
  return std::exp2(std::round(std::log2(each))) * *hardware.sms;
}

}  // namespace

Hardware hardware_of(const catalog::Gpu& gpu) {
  return {gpu.name, gpu.half_rate(), gpu.bandwidth, perf::host_link_rate(gpu), gpu.tdp, gpu.capacity(), gpu.sms};
}

Signals read_signals(const Summary& summary, const Hardware& hardware) {
  Signals signals;
  signals.engine = summary.mean(Metric::kGraphicsActive);
  signals.reported = summary.mean(Metric::kGpuUtil);
  signals.sm = summary.mean(Metric::kSmActive);
  signals.dram = summary.mean(Metric::kDramActive);
  signals.tensor = largest({summary.mean(Metric::kTensorActive), summary.mean(Metric::kHmmaActive),
                            summary.mean(Metric::kImmaActive), summary.mean(Metric::kDfmaActive)});
  signals.pipes = largest({signals.tensor, summary.mean(Metric::kFp32Active), summary.mean(Metric::kFp16Active),
                           summary.mean(Metric::kFp64Active)});
  // Every kernel computes addresses with integers; only a lot of integer work is a load.
  if (auto integer = summary.mean(Metric::kIntegerActive); integer && *integer > 0.6) {
    signals.pipes = largest({signals.pipes, integer});
  }
  signals.memory_util = summary.mean(Metric::kMemoryUtil);
  if (auto held = summary.mean(Metric::kMemoryUsed)) signals.memory_held = bytes(*held);
  const auto in = summary.mean(Metric::kPcieRx), out = summary.mean(Metric::kPcieTx);
  if (in || out) {
    const BytesPerSecond larger = bytes_per_s(std::max(in.value_or(0), out.value_or(0)));
    signals.link = larger / hardware.link.value_or(link_for(larger));
  }
  std::optional<double> limit = summary.mean(Metric::kPowerLimit);
  if (!limit && hardware.power) limit = in_watts(*hardware.power);
  if (auto watts = summary.mean(Metric::kPower); watts && limit && *limit > 0) signals.power = *watts / *limit;
  signals.busy = signals.engine.value_or(signals.sm.value_or(signals.reported.value_or(0)));
  if (in && *in > 0) {
    const Seconds period = kBytesPerLaunch / bytes_per_s(*in);
    // More launches than a host can make are data.
    if (signals.busy > kNeverWaits || period * (1 - signals.busy) >= kShortestGap) signals.launch_period = period;
  }
  return signals;
}

TimeShares split_time(const Signals& signals) {
  TimeShares shares;
  const double busy = std::clamp(signals.busy, 0.0, 1.0);
  double compute = std::min(busy, signals.pipes.value_or(0) / kFullPipe);
  double memory = std::min(busy, signals.dram.value_or(0) / kFullDram);
  shares.overlap = std::max(0.0, compute + memory - busy);
  (compute > memory ? memory : compute) -= shares.overlap;
  const double rest = busy - compute - memory;
  // SMs without a warp while the engine is busy: kernels start or drain. If unknown, half of the rest.
  shares.launch = signals.sm ? std::min(rest, std::max(0.0, busy - *signals.sm)) : rest / 2;
  shares.stall = rest - shares.launch;
  shares.compute = compute;
  shares.memory = memory;
  shares.transfer = std::min(1 - busy, std::max(0.0, signals.link.value_or(0)));
  shares.wait = 1 - busy - shares.transfer;
  return shares;
}

Roofline place_on_roofline(const Summary& summary, const Signals& signals, const Hardware& hardware) {
  Roofline roofline;
  std::optional<FlopsPerSecond> peak = hardware.matrix;
  const auto clock = summary.mean(Metric::kSmClock);
  // The tensor counter counts cycles, which do less work at a lower clock.
  if (auto each = flop_per_cycle(hardware); each && clock && *clock > 0) peak = flop_per_s(*each * *clock);
  if (signals.tensor && peak) roofline.achieved = *signals.tensor * *peak;
  if (signals.dram && hardware.bandwidth) roofline.traffic = *signals.dram * *hardware.bandwidth;
  if (hardware.matrix && hardware.bandwidth) roofline.ridge = in_flop_per_byte(*hardware.matrix / *hardware.bandwidth);
  if (roofline.achieved && roofline.traffic && in_bytes_per_s(*roofline.traffic) > 1e9) {
    roofline.intensity = in_flop_per_byte(*roofline.achieved / *roofline.traffic);
    const double limit =
        std::min(in_flop_per_s(*hardware.matrix), *roofline.intensity * in_bytes_per_s(*hardware.bandwidth));
    if (limit > 0) roofline.of_limit = in_flop_per_s(*roofline.achieved) / limit;
  }
  return roofline;
}

}  // namespace rightsize::diagnose
