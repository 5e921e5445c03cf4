// The sentences behind a verdict, and what to do about it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "diagnose/signals.h"

namespace rightsize::diagnose {
namespace {

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

// "DRAM 66 %, tensor 7 %, SM 72 %", of what is known.
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
  if (!signals.engine) add("utilisation", signals.reported);
  if (!signals.dram) add("memory touched", signals.memory_util);
  if (!signals.counters()) add("power", signals.power);
  return text;
}

std::string memory_reading(const Signals& signals) {
  if (signals.sm && *signals.sm > 0 && signals.dram) {
    return fmt::format("while SMs hold work, memory runs at {} of its peak",
                       percent(std::min(1.0, *signals.dram / *signals.sm)));
  }
  return "memory is nearest to its limit";
}

std::string gap_reading(const Signals& signals) {
  if (!signals.launch_period || *signals.launch_period > seconds(1)) return "";
  return fmt::format("about {} kernels a second by PCIe traffic, {} without work for each",
                     format_magnitude(seconds(1) / *signals.launch_period),
                     format_duration(*signals.launch_period * (1 - signals.busy)));
}

std::string reading(Verdict verdict, const Summary& summary, const Signals& signals) {
  switch (verdict) {
    case Verdict::kComputeBound:
      return "arithmetic is nearest to its limit";
    case Verdict::kMemoryBound:
      return memory_reading(signals);
    case Verdict::kLaunchBound:
      return "the engine is busy with kernels that fill little of the GPU";
    case Verdict::kInputBound:
      if (summary.on_off && summary.on_off->idle_share > 0.1) {
        return fmt::format("nothing runs in {} of the samples, {} at a time", percent(summary.on_off->idle_share),
                           format_duration(summary.on_off->idle_run));
      }
      return "the work fills the GPU while it runs, but it runs part of the time";
    case Verdict::kTransferBound:
      return "the link is the busiest part";
    case Verdict::kUnderused:
      return "everything is low, evenly";
    case Verdict::kBursty:
      return fmt::format("idle for {} at a time, {} of the time", format_duration(summary.on_off->idle_run),
                         percent(summary.on_off->idle_share));
    case Verdict::kIdleHeld:
    case Verdict::kIdle:
      return "nothing ran";
    case Verdict::kUnknown:
      return "no counter of activity";
  }
  return "";
}

void add_memory(std::vector<std::string>& evidence, const Summary& summary, const Hardware& hardware) {
  const auto& used = summary.of(Metric::kMemoryUsed);
  if (!used) return;
  std::optional<double> total = summary.mean(Metric::kMemoryTotal);
  if (!total && hardware.memory) total = in_bytes(*hardware.memory);
  std::string text = fmt::format("memory held: {}", format_bytes(bytes(used->max)));
  if (total && *total > 0) text += fmt::format(" of {} ({})", format_bytes(bytes(*total)), percent(used->max / *total));
  evidence.push_back(std::move(text));
}

void add_link(std::vector<std::string>& evidence, const Summary& summary, const Signals& signals) {
  if (!signals.link || *signals.link < 0.05) return;
  const double in = summary.mean(Metric::kPcieRx).value_or(0), out = summary.mean(Metric::kPcieTx).value_or(0);
  evidence.push_back(fmt::format("PCIe carries {} to the GPU and {} from it, {} of the link",
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
    text += fmt::format("; the power limit held clocks down in {} of the samples", percent(*summary.power_capped));
  } else if (!summary.power_capped && signals.power && *signals.power > 0.96) {
    text += ": at the power limit, so clocks are held down";
  }
  if (summary.thermally_capped && *summary.thermally_capped > 0.05) {
    text += fmt::format("; heat held clocks down in {}", percent(*summary.thermally_capped));
  }
  evidence.push_back(std::move(text));
}

void add_roofline(std::vector<std::string>& evidence, const Roofline& roofline) {
  if (!roofline.achieved || !roofline.traffic) return;
  std::string text =
      fmt::format("about {} and {}", format_flops(*roofline.achieved), format_bandwidth(*roofline.traffic));
  if (roofline.intensity && roofline.ridge) {
    text +=
        fmt::format(": {} FLOP for each byte, {} the ridge of this GPU at {:.0f}", format_number(*roofline.intensity),
                    *roofline.intensity < *roofline.ridge ? "left of" : "right of", *roofline.ridge);
    if (roofline.of_limit) text += fmt::format("; {} of what the roofline allows there", percent(*roofline.of_limit));
  }
  evidence.push_back(std::move(text));
}

double fill_of(const Signals& signals) {
  return std::max({signals.sm.value_or(0), signals.dram.value_or(0), signals.pipes.value_or(0), 0.01});
}

std::string how_many_fit(const Summary& summary, const Signals& signals, const Hardware& hardware) {
  const double by_time = signals.busy > 0 ? 0.8 / std::max(signals.busy, fill_of(signals)) : 1;
  double fit = std::min(by_time, 64.0);
  std::string limit = "by time";
  std::optional<double> total = summary.mean(Metric::kMemoryTotal);
  if (!total && hardware.memory) total = in_bytes(*hardware.memory);
  if (const auto& used = summary.of(Metric::kMemoryUsed); used && total && used->max > 0 && *total / used->max < fit) {
    fit = *total / used->max;
    limit = "by memory";
  }
  return fit < 2 ? "" : fmt::format("about {:.0f} such loads fit on this GPU ({})", std::floor(fit), limit);
}

// What faster arithmetic brings, where the counters say how much of the time it is.
std::vector<Action> compute_actions(const TimeShares& shares, const Summary& summary, const Signals& signals) {
  std::string quantize = "8-bit matrix products (fp8, int8) double the arithmetic rate";
  if (signals.pipes) {
    quantize += fmt::format(": up to {:.2f}x where products are {} of the time", 1 / (1 - shares.compute / 2),
                            percent(shares.compute));
  }
  std::vector<Action> actions = {
      {"quantize", std::move(quantize)},
      {"smaller-gpu", "a GPU with more arithmetic a dollar is worth a look; more memory or bandwidth is not"}};
  if (summary.power_capped.value_or(0) > 0.3 || signals.power.value_or(0) > 0.96) {
    actions.push_back({"power", "it runs at the power limit: a higher limit or a cooler GPU raises clocks"});
  }
  return actions;
}

std::vector<Action> memory_actions(const TimeShares& shares, const Signals& signals) {
  std::string batch = "serve more at once: weights are read once for all";
  if (signals.pipes && signals.dram) {
    const double room = 0.8 * *signals.dram / std::max(0.01, *signals.pipes);
    if (room >= 2) {
      batch += fmt::format(". Arithmetic is used to {}, so the batch can grow about {:.0f}x before that is the limit",
                           percent(*signals.pipes), std::floor(room));
    }
  }
  std::vector<Action> actions = {{"batch", std::move(batch)}};
  std::string quantize = "8-bit weights halve what is read";
  if (signals.dram) quantize += fmt::format(": up to {:.2f}x", 1 / (1 - shares.memory / 2));
  actions.push_back({"quantize", std::move(quantize)});
  if (signals.sm && shares.launch > 0.2) {
    actions.push_back(
        {"graphs", fmt::format("between kernels SMs are empty {} of the time: CUDA graphs, torch.compile or fewer, "
                               "larger kernels bring up to {:.1f}x",
                               percent(shares.launch), 1 / (1 - shares.launch))});
  }
  actions.push_back({"smaller-gpu", "look for bandwidth a dollar; a GPU with more arithmetic changes nothing"});
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
    evidence.push_back(fmt::format("the clock jumped {} times; those intervals are left out", summary.clock_jumps));
  }
  return evidence;
}

std::vector<Action> actions_for(const Diagnosis& diagnosis, const Summary& summary, const Signals& signals,
                                const Hardware& hardware) {
  const TimeShares& shares = diagnosis.shares;
  const std::string fit = how_many_fit(summary, signals, hardware);
  auto consolidate = [&]() -> Action {
    return {"consolidate", fit.empty() ? "share the GPU with other work, or cut it with MIG ('rightsize mig')"
                                       : fit + "; 'rightsize mig' plans it"};
  };
  switch (diagnosis.verdict) {
    case Verdict::kComputeBound:
      return compute_actions(shares, summary, signals);
    case Verdict::kMemoryBound:
      return memory_actions(shares, signals);
    case Verdict::kLaunchBound:
      return {{"graphs", fmt::format("CUDA graphs or torch.compile take the launches away: up to {:.1f}x",
                                     std::min(20.0, 1 / std::max(0.05, fill_of(signals))))},
              {"batch", "larger batches make larger kernels at the same number of launches"},
              {"smaller-gpu", "a faster GPU changes nothing; a faster CPU core does"},
              consolidate()};
    case Verdict::kInputBound:
      return {{"data-loading",
               fmt::format("feed it faster (more loader workers, decoding on the GPU, prefetch): up to {:.1f}x, as "
                           "{} of the time nothing runs",
                           1 / std::max(0.05, 1 - shares.wait), percent(shares.wait))},
              {"smaller-gpu", "until then a slower GPU is as fast"},
              consolidate()};
    case Verdict::kTransferBound:
      return {{"transfer",
               "pinned memory and copies that overlap with work; keep data on the GPU; send it compressed or in fewer "
               "bits"},
              {"smaller-gpu", "a faster GPU changes nothing; a faster link (PCIe generation, NVLink-C2C) does"}};
    case Verdict::kUnderused:
      return {consolidate(),
              {"smaller-gpu", "a smaller GPU carries this load"},
              {"batch", "collect requests into batches where latency allows ('rightsize batch')"}};
    case Verdict::kBursty:
      return {{"stop",
               fmt::format("nothing runs {} of the time: scale to zero, or queue the work and run it in one stretch",
                           percent(shares.wait))},
              consolidate()};
    case Verdict::kIdleHeld:
      return {{"stop", fmt::format("end the process that holds {}, or give the GPU back",
                                   format_bytes(signals.memory_held.value_or(Bytes{})))}};
    case Verdict::kIdle:
      return {{"stop", "give the GPU back"}};
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
      rule.why = "the pipes are what is nearest to its limit, whatever the SMs show";
      break;
    case Verdict::kLaunchBound:
      rule.why = fmt::format("SMs are empty for want of kernels, and memory ({}) is not in use", dram);
      break;
    case Verdict::kTransferBound:
      rule.why = "the SMs wait for the link, not for device memory";
      break;
    default:
      rule.why = fmt::format("SMs are empty because nothing runs; memory ({}) is not what they wait for", dram);
  }
  return rule;
}

}  // namespace rightsize::diagnose
