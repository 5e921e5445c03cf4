// The rules. Each asks one physical question; docs/profile.md derives the thresholds from measurements.
#include <algorithm>

#include "diagnose/diagnose.h"
#include "diagnose/signals.h"

namespace rightsize::diagnose {
namespace {

struct Ruling {
  Verdict verdict = Verdict::kUnknown;
  double margin = 1;  // 0-1: how far from the next verdict
};

// The driver holds up to about 600 MiB, an open context about 500 MiB more.
constexpr Bytes kDriverMemory = mib(900);

double clamp01(double value) { return std::clamp(value, 0.0, 1.0); }

// Is the GPU idle?
std::optional<Ruling> idle_rule(const Summary& summary, const Signals& signals) {
  const bool known = signals.engine || signals.sm || signals.reported || signals.link;
  if (!known) return Ruling{Verdict::kUnknown, 0};
  const double working = std::max({signals.busy, signals.link.value_or(0) > 0.05 ? *signals.link : 0.0,
                                   signals.engine ? 0.0 : signals.dram.value_or(0)});
  constexpr double kNothing = 0.003;
  const bool never = summary.on_off ? summary.on_off->idle_share > 0.97 && working < 0.01 : working < kNothing;
  // nvidia-smi counts copies; the engine counter does not.
  const bool copying = signals.reported.value_or(0) > 0.2 && signals.link.value_or(0) > 0.02;
  if (!(never || working < kNothing) || copying) return std::nullopt;
  if (signals.memory_held && *signals.memory_held > kDriverMemory) return Ruling{Verdict::kIdleHeld, 1};
  return Ruling{Verdict::kIdle, signals.memory_held ? 1.0 : 0.4};
}

// Is the link the busiest resource?
std::optional<Ruling> transfer_rule(const Signals& signals) {
  const double other = std::max({signals.dram.value_or(0) / kFullDram, signals.pipes.value_or(0) / kFullPipe});
  if (signals.link && *signals.link >= 0.25 && *signals.link > other) {
    return Ruling{Verdict::kTransferBound, clamp01((*signals.link - other) / 0.5)};
  }
  // Busy according to nvidia-smi, which counts copies, while the engine does nothing.
  if (signals.engine && signals.reported.value_or(0) >= 0.5 && *signals.engine < 0.05 && !signals.link) {
    return Ruling{Verdict::kTransferBound, 0.5};
  }
  return std::nullopt;
}

// How full the GPU is while the engine is busy.
double filling(const Signals& signals) {
  if (signals.busy <= 0) return 0;
  if (signals.sm) return *signals.sm / signals.busy;
  // Kernels that fill the SMs move data or compute: for this question, 30 % of either while busy counts as full.
  const double used = std::max(signals.dram.value_or(0), signals.pipes.value_or(0)) / signals.busy;
  return std::min(1.0, used * 2);
}
constexpr double kFilled = 0.6;  // the work is large enough for this GPU while it runs

// Do periods of work and idleness alternate?
std::optional<Ruling> on_off_rule(const Summary& summary, const Signals& signals) {
  if (!summary.on_off) return std::nullopt;
  const OnOff& on_off = *summary.on_off;
  const bool often = on_off.idle_share >= 0.3 || (on_off.idle_share >= 0.1 && signals.busy <= 0.6);
  if (!often || on_off.changes < 1) return std::nullopt;
  // Work fills little of the time and of the GPU: occasional small requests.
  constexpr double kLight = 0.3;
  const double fill = filling(signals);
  const bool small = signals.counters() ? fill < kFilled : on_off.active_level < 0.25;
  if (small && on_off.active_level < kLight) {
    return Ruling{Verdict::kUnderused, clamp01((kLight - on_off.active_level) / 0.15)};
  }
  constexpr Seconds kBurst = seconds(1);  // longer than any data loader's step, shorter than any burst
  if (on_off.idle_run >= kBurst) return Ruling{Verdict::kBursty, clamp01(on_off.idle_run / kBurst - 0.5)};
  return Ruling{Verdict::kInputBound, clamp01(on_off.idle_share / 0.5)};
}

// Whether the host does nothing but launch: the kernels between launches are so short that the host sets the pace.
// Unknown without PCIe counters.
std::optional<bool> only_launches(const Signals& signals) {
  if (!signals.launch_period) return std::nullopt;
  const Seconds gap = *signals.launch_period * (1 - signals.busy), kernel = *signals.launch_period * signals.busy;
  return (gap < kLaunchGap && kernel < kShortKernel) || (gap < kSlowLaunchGap && kernel < kTinyKernel);
}

// The engine is often free, evenly over the samples: does the host launch continuously, or does it wait?
Ruling part_time_rule(const Signals& signals) {
  const double fill = filling(signals);
  const double tiny = signals.sm ? 0.2 : 0.1;  // of the SMs
  if (auto launching = only_launches(signals)) {
    if (*launching) return {Verdict::kLaunchBound, clamp01(1.2 - fill)};
  } else if (fill < tiny && signals.busy > 0.12) {
    return {Verdict::kLaunchBound, 0.5};
  }
  // Work that fills the GPU while it runs waits for data; other work is too small for the GPU.
  if (fill >= kFilled && signals.busy >= 0.05) return {Verdict::kInputBound, clamp01((fill - kFilled) / 0.3 + 0.2)};
  return {Verdict::kUnderused, clamp01((kFilled - fill) / 0.3 + 0.3)};
}

// The engine is busy: which limit is nearest?
Ruling full_time_rule(const Signals& signals) {
  const double compute = signals.pipes.value_or(0) / kFullPipe, memory = signals.dram.value_or(0) / kFullDram;
  const double most = std::max(compute, memory);
  // Neither is near its limit and few SMs hold work: the kernels are too small for the GPU.
  constexpr double kLow = 0.25;
  if (most < kLow && signals.sm && *signals.sm < 0.4)
    return {Verdict::kLaunchBound, clamp01((kLow - most) / kLow + 0.2)};
  if (!signals.sm && most < kLow && signals.power.value_or(0) > 0.8) {
    return {Verdict::kComputeBound, 0.4};  // so much power must come from a pipe that is not reported
  }
  if (most < 0.05 && !signals.sm) return {Verdict::kLaunchBound, 0.4};
  // The host launches continuously, and a third of the time is lost between launches.
  if (most < 0.35 && signals.busy < 0.75 && only_launches(signals).value_or(false)) return {Verdict::kLaunchBound, 0.6};
  const double margin = most > 0 ? clamp01(std::abs(compute - memory) / most) * clamp01(most / 0.4) : 0;
  return {compute >= memory ? Verdict::kComputeBound : Verdict::kMemoryBound, margin};
}

// nvidia-smi alone: utilization, memory controller utilization, power.
Ruling bare_rule(const Signals& signals) {
  const double busy = signals.busy;
  const double touched = busy > 0 ? signals.memory_util.value_or(0) / busy : 0;
  const bool cool = signals.power && *signals.power < 0.35;
  if (busy < 0.6) {
    if (signals.memory_util && touched < 0.02 && busy > 0.12) return {Verdict::kLaunchBound, 0.5};
    return {busy < 0.3 ? Verdict::kUnderused : Verdict::kInputBound, 0.5};
  }
  if (!signals.memory_util && !signals.power) return {Verdict::kComputeBound, 0};
  if (signals.memory_util && touched < 0.06 && (cool || !signals.power)) {
    return {touched < 0.01 ? Verdict::kLaunchBound : Verdict::kTransferBound, 0.4};
  }
  if (touched >= 0.75) return {Verdict::kMemoryBound, 0.8};
  if (signals.power && *signals.power >= 0.85) return {Verdict::kComputeBound, 0.7};
  if (touched >= 0.45) return {Verdict::kMemoryBound, 0.5};
  return {Verdict::kComputeBound, 0.3};
}

Ruling rule(const Summary& summary, const Signals& signals) {
  if (auto ruling = idle_rule(summary, signals)) return *ruling;
  if (auto ruling = transfer_rule(signals)) return *ruling;
  if (auto ruling = on_off_rule(summary, signals)) return *ruling;
  if (!signals.counters()) return bare_rule(signals);
  constexpr double kMostly = 0.6;  // of the time
  return signals.busy < kMostly ? part_time_rule(signals) : full_time_rule(signals);
}

bool about_idleness(Verdict verdict) {
  return verdict == Verdict::kIdle || verdict == Verdict::kIdleHeld || verdict == Verdict::kBursty;
}

double confidence_of(const Ruling& ruling, const Summary& summary, const Signals& signals) {
  if (ruling.verdict == Verdict::kUnknown) return 0;
  double ceiling = 0.55;
  if (signals.dram && signals.pipes) ceiling = signals.sm ? 0.97 : 0.85;
  if (about_idleness(ruling.verdict)) ceiling = std::max(ceiling, 0.9);
  double confidence = ceiling * (0.55 + 0.45 * ruling.margin);
  if (summary.samples < 10 || summary.duration < seconds(2)) confidence *= 0.7;
  return confidence;
}

std::vector<std::string> surer(const Ruling& ruling, const Summary& summary, const Signals& signals) {
  std::vector<std::string> ways;
  if (!signals.dram || !signals.pipes) {
    ways.emplace_back(
        "DRAM and tensor activity (DCGM fields 1004 and 1005, or 'rightsize profile' on the machine itself: NVML's GPM "
        "on Hopper and later)");
  } else if (!signals.sm && !about_idleness(ruling.verdict)) {
    ways.emplace_back("SM activity (DCGM field 1002, off by default in dcgm-exporter)");
  }
  if (!signals.link)
    ways.emplace_back("PCIe traffic (DCGM fields 1009 and 1010), which shows copies and kernel launches");
  if (summary.samples < 10 || summary.duration < seconds(2)) ways.emplace_back("a longer recording");
  if (summary.interval > seconds(1) && ruling.verdict != Verdict::kIdle) {
    ways.emplace_back("ten samples per second: shorter waits do not show at this interval");
  }
  return ways;
}

// The share of the time without useful work.
void measure_waste(Diagnosis& diagnosis, const Signals& signals) {
  const TimeShares& shares = diagnosis.shares;
  switch (diagnosis.verdict) {
    case Verdict::kIdle:
    case Verdict::kIdleHeld:
      diagnosis.wasted = 1;
      diagnosis.wasted_why = "nothing runs";
      return;
    case Verdict::kLaunchBound:
      diagnosis.wasted = clamp01(1 - signals.sm.value_or(shares.compute + shares.memory + shares.stall));
      diagnosis.wasted_why = "SMs are empty between small kernels";
      return;
    case Verdict::kTransferBound:
      diagnosis.wasted = clamp01(1 - signals.busy);
      diagnosis.wasted_why = "the GPU waits while data is copied";
      return;
    case Verdict::kUnknown:
      return;
    default:
      diagnosis.wasted = clamp01(shares.wait + shares.transfer);
      diagnosis.wasted_why = "nothing runs";
  }
}

}  // namespace

// By verdict, in the order of the enumeration.
struct VerdictText {
  std::string_view name, meaning;
};
constexpr VerdictText kTexts[] = {
    {"compute-bound", "the arithmetic units are the limit"},
    {"memory-bound", "reading and writing device memory is the limit"},
    {"launch-bound", "most of the time is spent launching small kernels"},
    {"input-bound", "the GPU waits for data between pieces of work"},
    {"transfer-bound", "copies between host and GPU are the limit"},
    {"underused", "the GPU has steady but little work"},
    {"bursty", "it works for seconds, then does nothing for seconds"},
    {"idle-held", "memory is held, but nothing runs"},
    {"idle", "nothing runs and no memory is held"},
    {"unknown", "the source reports no activity"},
};

std::string_view name_of(Verdict verdict) { return kTexts[static_cast<std::size_t>(verdict)].name; }
std::string_view explain(Verdict verdict) { return kTexts[static_cast<std::size_t>(verdict)].meaning; }

Diagnosis classify(const Summary& summary, const Hardware& hardware) {
  const Signals signals = read_signals(summary, hardware);
  const Ruling ruling = rule(summary, signals);
  Diagnosis diagnosis;
  diagnosis.verdict = ruling.verdict;
  diagnosis.confidence = confidence_of(ruling, summary, signals);
  diagnosis.shares = split_time(signals);
  diagnosis.roofline = place_on_roofline(summary, signals, hardware);
  diagnosis.surer = surer(ruling, summary, signals);
  measure_waste(diagnosis, signals);
  diagnosis.evidence = evidence_for(ruling.verdict, summary, signals, hardware);
  diagnosis.article = article_rule(ruling.verdict, signals);
  diagnosis.actions = actions_for(diagnosis, summary, signals, hardware);
  return diagnosis;
}

}  // namespace rightsize::diagnose
