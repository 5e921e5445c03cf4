// The evidence for a verdict, and the suggested actions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "diagnose/signals.h"

namespace rightsize::diagnose {
namespace {

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

// "DRAM 66 %, tensor 7 %, SM 72 %", as far as known.
std::string counters(const Signals& signals) {
  std::string text;
  auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, percent(*value));
  };
  add("DRAM", signals.dram);
  add("tensor", signals.tensor);
  if (signals.pipes && signals.pipes != signals.tensor) add("busiest other pipe", signals.pipes);
  add("SM", signals.sm);
  add("engine", signals.engine);
  if (!signals.engine) add("utilization", signals.reported);
  if (!signals.dram) add("memory controller busy", signals.memory_util);
  if (!signals.counters()) add("power", signals.power);
  return text;
}

std::string memory_reading(const Signals& signals) {
  if (signals.sm && *signals.sm > 0 && signals.dram) {
    return fmt::format("while SMs hold work, memory runs at {} of peak bandwidth",
                       percent(std::min(1.0, *signals.dram / *signals.sm)));
  }
  return "memory is closest to its limit";
}

std::string gap_reading(const Signals& signals) {
  if (!signals.launch_period || *signals.launch_period > seconds(1)) return "";
  return fmt::format("about {} kernels per second by PCIe traffic, with {} between them",
                     format_magnitude(seconds(1) / *signals.launch_period),
                     format_duration(*signals.launch_period * (1 - signals.busy)));
}

std::string reading(Verdict verdict, const Summary& summary, const Signals& signals) {
  switch (verdict) {
    case Verdict::kComputeBound:
      return "arithmetic is closest to its limit";
    case Verdict::kMemoryBound:
      return memory_reading(signals);
    case Verdict::kLaunchBound:
      return "the engine runs kernels that fill little of the GPU";
    case Verdict::kInputBound:
      if (summary.on_off && summary.on_off->idle_share > 0.1) {
        return fmt::format("nothing runs in {} of the samples, {} at a time", percent(summary.on_off->idle_share),
                           format_duration(summary.on_off->idle_run));
      }
      return "the work fills the GPU, but runs only part of the time";
    case Verdict::kTransferBound:
      return "the PCIe link is the busiest resource";
    case Verdict::kUnderused:
      return "every counter is evenly low";
    case Verdict::kBursty:
      return fmt::format("idle for {} at a time, {} of the time", format_duration(summary.on_off->idle_run),
                         percent(summary.on_off->idle_share));
    case Verdict::kIdleHeld:
    case Verdict::kIdle:
      return "nothing ran";
    case Verdict::kUnknown:
      return "no activity counter";
  }
  return "";
}

void add_memory(std::vector<std::string>& evidence, const Summary& summary, const Hardware& hardware) {
  const auto& used = summary.of(Metric::kMemoryUsed);
  if (!used) return;
  std::optional<double> total = summary.mean(Metric::kMemoryTotal);
  if (!total && hardware.memory) total = in_bytes(*hardware.memory);
  std::string text = fmt::format("memory used: {}", format_bytes(bytes(used->max)));
  if (total && *total > 0) text += fmt::format(" of {} ({})", format_bytes(bytes(*total)), percent(used->max / *total));
  evidence.push_back(std::move(text));
}

void add_link(std::vector<std::string>& evidence, const Summary& summary, const Signals& signals) {
  if (!signals.link || *signals.link < 0.05) return;
  const double in = summary.mean(Metric::kPcieRx).value_or(0), out = summary.mean(Metric::kPcieTx).value_or(0);
  evidence.push_back(fmt::format("PCIe carries {} to the GPU and {} from it, {} of its bandwidth",
                                 format_bandwidth(bytes_per_s(in)), format_bandwidth(bytes_per_s(out)),
                                 percent(*signals.link)));
}

void add_power(std::vector<std::string>& evidence, const Summary& summary, const Signals& signals) {
  const auto& power = summary.of(Metric::kPower);
  if (!power) return;
  std::string text = fmt::format("power {}", format_power(watts(power->mean)));
  if (signals.power) text += fmt::format(" ({} of the limit)", percent(*signals.power));
  if (auto clock = summary.mean(Metric::kSmClock)) text += fmt::format(", SM clock {:.0f} MHz", *clock / 1e6);
  if (summary.power_capped && *summary.power_capped > 0.1) {
    text += fmt::format("; the power limit lowered clocks in {} of the samples", percent(*summary.power_capped));
  } else if (signals.power && *signals.power > 1.05) {
    text += ": more than this GPU may draw; check that it is the right one (--gpu)";
  } else if (!summary.power_capped && signals.power && *signals.power > 0.96) {
    text += ": at the power limit, which lowers clocks";
  }
  if (summary.thermally_capped && *summary.thermally_capped > 0.05) {
    text += fmt::format("; heat lowered clocks in {} of the samples", percent(*summary.thermally_capped));
  }
  evidence.push_back(std::move(text));
}

void add_roofline(std::vector<std::string>& evidence, const Roofline& roofline) {
  if (!roofline.achieved || !roofline.traffic) return;
  std::string text =
      fmt::format("about {} and {}", format_flops(*roofline.achieved), format_bandwidth(*roofline.traffic));
  if (roofline.intensity && roofline.ridge) {
    text += fmt::format(": {} FLOP/byte, {} this GPU's ridge at {:.0f}", format_number(*roofline.intensity),
                        *roofline.intensity < *roofline.ridge ? "left of" : "right of", *roofline.ridge);
    if (roofline.of_limit) text += fmt::format("; {} of the roofline at that intensity", percent(*roofline.of_limit));
  }
  evidence.push_back(std::move(text));
}

double fill_of(const Signals& signals) {
  return std::max({signals.sm.value_or(0), signals.dram.value_or(0), signals.pipes.value_or(0), 0.01});
}

std::string how_many_fit(const Summary& summary, const Signals& signals, const Hardware& hardware) {
  const double by_time = signals.busy > 0 ? 0.8 / std::max(signals.busy, fill_of(signals)) : 1;
  double fit = std::min(by_time, 64.0);
  std::string limit = "time";
  std::optional<double> total = summary.mean(Metric::kMemoryTotal);
  if (!total && hardware.memory) total = in_bytes(*hardware.memory);
  if (const auto& used = summary.of(Metric::kMemoryUsed); used && total && used->max > 0 && *total / used->max < fit) {
    fit = *total / used->max;
    limit = "memory";
  }
  return fit < 2 ? ""
                 : fmt::format("about {:.0f} such workloads fit on this GPU (limited by {})", std::floor(fit), limit);
}

// The gain of faster arithmetic, if the counters show how much of the time it takes.
std::vector<Action> compute_actions(const TimeShares& shares, const Summary& summary, const Signals& signals) {
  std::string quantize = "8-bit matrix products (fp8, int8) double the arithmetic rate";
  if (signals.pipes) {
    quantize += fmt::format(": up to {:.2f}x, because they are {} of the time", 1 / (1 - shares.compute / 2),
                            percent(shares.compute));
  }
  std::vector<Action> actions = {
      {"quantize", std::move(quantize)},
      {"smaller-gpu", "look for more FLOP/s per dollar; memory and bandwidth will not help"}};
  if (summary.power_capped.value_or(0) > 0.3 || (signals.power.value_or(0) > 0.96 && *signals.power <= 1.05)) {
    actions.push_back({"power", "it runs at the power limit: a higher limit or better cooling raises clocks"});
  }
  return actions;
}

std::vector<Action> memory_actions(const TimeShares& shares, const Signals& signals) {
  std::string batch = "increase the batch: weights are read once for all of it";
  if (signals.pipes && signals.dram) {
    const double room = 0.8 * *signals.dram / std::max(0.01, *signals.pipes);
    if (room >= 2) {
      batch += fmt::format(". Arithmetic is at {}, so the batch can grow about {:.0f}x before it becomes the limit",
                           percent(*signals.pipes), std::floor(room));
    }
  }
  std::vector<Action> actions = {{"batch", std::move(batch)}};
  std::string quantize = "8-bit weights halve memory traffic";
  if (signals.dram) quantize += fmt::format(": up to {:.2f}x", 1 / (1 - shares.memory / 2));
  actions.push_back({"quantize", std::move(quantize)});
  if (signals.sm && shares.launch > 0.2) {
    actions.push_back(
        {"graphs", fmt::format("SMs are empty between kernels {} of the time: CUDA graphs, torch.compile or larger "
                               "kernels gain up to {:.1f}x",
                               percent(shares.launch), 1 / (1 - shares.launch))});
  }
  actions.push_back({"smaller-gpu", "look for more bandwidth per dollar; more FLOP/s will not help"});
  return actions;
}

}  // namespace

std::vector<std::string> evidence_for(Verdict verdict, const Summary& summary, const Signals& signals,
                                      const Hardware& hardware) {
  std::vector<std::string> evidence;
  const std::string numbers = counters(signals);
  const std::string says = reading(verdict, summary, signals);
  evidence.push_back(numbers.empty() ? says : numbers + ": " + says);
  if (verdict == Verdict::kLaunchBound || verdict == Verdict::kUnderused || verdict == Verdict::kInputBound) {
    if (std::string gap = gap_reading(signals); !gap.empty()) evidence.push_back(std::move(gap));
  }
  add_link(evidence, summary, signals);
  if (verdict == Verdict::kComputeBound || verdict == Verdict::kMemoryBound) {
    add_roofline(evidence, place_on_roofline(summary, signals, hardware));
  }
  add_memory(evidence, summary, hardware);
  add_power(evidence, summary, signals);
  if (summary.clock_jumps > 0) {
    evidence.push_back(fmt::format("the clock jumped {} times; these intervals are left out", summary.clock_jumps));
  }
  return evidence;
}

std::vector<Action> actions_for(const Diagnosis& diagnosis, const Summary& summary, const Signals& signals,
                                const Hardware& hardware) {
  const TimeShares& shares = diagnosis.shares;
  const std::string fit = how_many_fit(summary, signals, hardware);
  auto consolidate = [&]() -> Action {
    return {"consolidate", fit.empty() ? "share the GPU with other work, or partition it with MIG ('rightsize mig')"
                                       : fit + "; 'rightsize mig' plans the layout"};
  };
  switch (diagnosis.verdict) {
    case Verdict::kComputeBound:
      return compute_actions(shares, summary, signals);
    case Verdict::kMemoryBound:
      return memory_actions(shares, signals);
    case Verdict::kLaunchBound:
      return {{"graphs", fmt::format("CUDA graphs or torch.compile remove the launches: up to {:.1f}x",
                                     std::min(20.0, 1 / std::max(0.05, fill_of(signals))))},
              {"batch", "larger batches do more work per launch"},
              {"smaller-gpu", "a faster GPU does not help; a faster CPU core does"},
              consolidate()};
    case Verdict::kInputBound:
      return {{"data-loading",
               fmt::format("feed it faster (more loader workers, decoding on the GPU, prefetch): up to {:.1f}x, "
                           "because nothing runs {} of the time",
                           1 / std::max(0.05, 1 - shares.wait), percent(shares.wait))},
              {"smaller-gpu", "until then a slower, cheaper GPU does the same work"},
              consolidate()};
    case Verdict::kTransferBound:
      return {{"transfer",
               "use pinned memory and overlap copies with work; keep data on the GPU; send it compressed or in fewer "
               "bits"},
              {"smaller-gpu", "a faster GPU changes nothing; a faster link (newer PCIe, NVLink-C2C) helps"}};
    case Verdict::kUnderused:
      return {consolidate(),
              {"smaller-gpu", "a smaller GPU is enough for this load"},
              {"batch", "batch requests if latency allows ('rightsize batch')"}};
    case Verdict::kBursty:
      return {{"stop", fmt::format("nothing runs {} of the time: scale to zero, or queue the work and run it in one go",
                                   percent(shares.wait))},
              consolidate()};
    case Verdict::kIdleHeld:
      return {{"stop", fmt::format("stop the process that holds {}, or release the GPU",
                                   format_bytes(signals.memory_held.value_or(Bytes{})))}};
    case Verdict::kIdle:
      return {{"stop", "release the GPU"}};
    case Verdict::kUnknown:
      return {};
  }
  return {};
}

std::optional<RuleOfThumb> article_rule(Verdict verdict, const Signals& signals) {
  if (!signals.sm) return std::nullopt;
  RuleOfThumb rule;
  const double sm = *signals.sm;
  Verdict means = Verdict::kUnknown;
  if (sm < 0.6) {
    rule.says = "memory-bound";
    means = Verdict::kMemoryBound;
  } else if (sm > 0.85) {
    rule.says = "compute-bound";
    means = Verdict::kComputeBound;
  } else {
    rule.says = "in the optimal zone";
  }
  rule.agrees = means == verdict;
  if (rule.agrees) return rule;
  const std::string dram = signals.dram ? percent(*signals.dram) : "unknown";
  switch (verdict) {
    case Verdict::kMemoryBound:
      rule.why = fmt::format("warps that wait for memory count as active SMs; DRAM is at {}", dram);
      break;
    case Verdict::kComputeBound:
      rule.why = "the arithmetic pipes are closest to their limit, regardless of SM activity";
      break;
    case Verdict::kLaunchBound:
      rule.why = fmt::format("SMs are idle because no kernels run; memory ({}) is not the limit", dram);
      break;
    case Verdict::kTransferBound:
      rule.why = "the SMs wait for the link, not for device memory";
      break;
    default:
      rule.why = fmt::format("SMs are empty because nothing runs; they do not wait for memory ({})", dram);
  }
  return rule;
}

}  // namespace rightsize::diagnose
