// Cures of several GPUs together: fewer replicas, jobs side by side, MIG slices.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "fleet/candidates.h"
#include "mig/plan.h"
#include "solve/packing.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

constexpr std::size_t kSharedSteps = 200;   // of the time axis when jobs are packed, at most
constexpr std::size_t kMostTogether = 400;  // GPUs packed at once

struct GroupKey {
  std::string team, gpu, workload;
  auto operator<=>(const GroupKey&) const = default;
};

double rate_per_month(const GpuRow& gpu) { return gpu.usd_per_month(); }

// GPUs of one team and one kind that are whole, priced and not full.
std::map<GroupKey, std::vector<std::size_t>> groups_of(const CureInput& input, bool by_workload) {
  std::map<GroupKey, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    if (!has_room(gpu) || gpu.price.share < 1 || gpu.usd_per_month() <= 0 || gpu.memory_peak() <= 0) continue;
    if (by_workload && gpu.owner().workload.empty()) continue;
    const std::string team = input.across_teams ? "" : gpu.owner().team;
    groups[{team, gpu_name(gpu), by_workload ? gpu.owner().workload : ""}].push_back(i);
  }
  std::erase_if(groups, [](const auto& entry) { return entry.second.size() < 2; });
  return groups;
}

// Largest values of a curve in at most `steps` equal pieces of the common time axis; missing steps count as nothing.
std::vector<double> peaks_of(const std::vector<float>& curve, std::size_t steps) {
  std::vector<double> peaks(steps, 0.0);
  const std::size_t piece = (curve.size() + steps - 1) / steps;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (std::isnan(curve[i])) continue;
    double& peak = peaks[i / piece];
    peak = std::max(peak, static_cast<double>(curve[i]));
  }
  return peaks;
}

// Memory is held for good, so its peak counts once; activity and bandwidth count in every piece of time, so that jobs
// whose peaks meet do not share a GPU.
solve::Item item_of(const GpuRow& gpu, const Thresholds& t, std::size_t steps) {
  std::vector<double> need = {gpu.memory_peak() / (in_bytes(gpu.memory_capacity()) * t.memory_headroom)};
  for (const std::vector<float>* curve : {&gpu.use.profile.activity.max, &gpu.use.profile.dram.max}) {
    if (curve->empty()) continue;
    for (double peak : peaks_of(*curve, steps)) need.push_back(peak / t.sharing_headroom);
  }
  need.resize(1 + 2 * steps, 0.0);
  return {{std::move(need)}, -1};
}

// The cheapest GPUs of a group go: what is left are `keep` of them.
Candidate shared_candidate(ActionKind kind, const CureInput& input, const std::vector<std::size_t>& gpus,
                           std::size_t keep) {
  Candidate c;
  c.separable = false;
  c.action.kind = kind;
  c.action.gpus = gpus;
  double all = 0, certainty = 0;
  for (std::size_t i : gpus) {
    all += rate_per_month(input.gpus[i]);
    certainty += input.gpus[i].confidence;
  }
  const double share = 1 - static_cast<double>(keep) / static_cast<double>(gpus.size());
  for (std::size_t i : gpus) c.saving_each.push_back(rate_per_month(input.gpus[i]) * share);
  c.action.usd_per_month = all * share;
  c.action.confidence = certainty / static_cast<double>(gpus.size());
  const std::string name = gpu_name(input.gpus[gpus.front()]);
  c.action.from = count_of(gpus.size(), name);
  c.action.to = count_of(keep, name);
  c.action.owner = input.gpus[gpus.front()].owner().team;
  if (c.action.owner.empty()) c.action.owner = input.gpus[gpus.front()].owner().shown();
  if (input.across_teams) c.action.owner = "several teams";
  return c;
}

void describe_consolidation(Action& action, bool across_teams) {
  action.what =
      fmt::format("run the jobs of {} side by side on {} instead of {}", action.owner, action.to, action.from);
  action.risk =
      across_teams
          ? "high: jobs of different teams on one GPU share its memory protection and its failures; ask them first"
          : "medium: jobs on one GPU slow each other at peaks and share a failure; use MPS or time slicing";
  action.check = "memory peaks add up below the limit in this window; watch latency for a day with two jobs on one GPU";
  action.rollback = "one job a GPU again: remove the sharing from the node's device plugin configuration";
}

}  // namespace

std::vector<Candidate> find_consolidations(const CureInput& input) {
  std::vector<Candidate> found;
  for (auto& [key, gpus] : groups_of(input, false)) {
    for (std::size_t from = 0; from < gpus.size(); from += kMostTogether) {
      const std::vector<std::size_t> part(
          gpus.begin() + static_cast<std::ptrdiff_t>(from),
          gpus.begin() + static_cast<std::ptrdiff_t>(std::min(gpus.size(), from + kMostTogether)));
      const std::size_t steps =
          std::min(kSharedSteps, std::max<std::size_t>(1, input.gpus[part[0]].use.profile.steps()));
      std::vector<solve::Item> items;
      for (std::size_t i : part) items.push_back(item_of(input.gpus[i], input.thresholds, steps));
      const solve::BinType bin{1, std::vector<double>(1 + 2 * steps, 1.0), 0};
      const solve::Packing packing = solve::pack(items, {bin}, {.exact_items = 60, .seconds = 1});
      const std::size_t keep = packing.bins.size() + packing.homeless.size();
      if (keep >= part.size()) continue;
      // GPUs that stay alone in their bin are not part of the action.
      std::vector<std::size_t> together;
      std::size_t kept = 0;
      for (const solve::Bin& b : packing.bins) {
        if (b.items.size() < 2) continue;
        ++kept;
        for (std::size_t item : b.items) together.push_back(part[item]);
      }
      std::sort(together.begin(), together.end());
      Candidate c = shared_candidate(ActionKind::kConsolidate, input, together, kept);
      describe_consolidation(c.action, input.across_teams);
      c.action.confidence *= input.across_teams ? 0.5 : 0.7;
      found.push_back(std::move(c));
    }
  }
  return found;
}

std::vector<Candidate> find_replica_cuts(const CureInput& input) {
  std::vector<Candidate> found;
  if (input.across_teams) return found;
  for (const auto& [key, gpus] : groups_of(input, true)) {
    // What all replicas do together, at the busiest time.
    const std::size_t steps = std::max<std::size_t>(1, input.gpus[gpus[0]].use.profile.steps());
    std::vector<double> sum(steps, 0.0);
    for (std::size_t i : gpus) {
      const std::vector<double> peaks = peaks_of(input.gpus[i].use.profile.activity.max, steps);
      for (std::size_t s = 0; s < steps; ++s) sum[s] += peaks[s];
    }
    const double peak = *std::max_element(sum.begin(), sum.end());
    const auto keep =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(peak / input.thresholds.sharing_headroom)));
    if (keep >= gpus.size()) continue;
    const bool batching = std::any_of(gpus.begin(), gpus.end(),
                                      [&](std::size_t i) { return input.gpus[i].verdict == Verdict::kLaunchBound; });
    Candidate c = shared_candidate(batching ? ActionKind::kBatch : ActionKind::kConsolidate, input, gpus, keep);
    Action& a = c.action;
    a.owner = input.gpus[gpus[0]].owner().shown();
    const std::string replicas = fmt::format("{} replica{}", keep, keep == 1 ? "" : "s");
    a.what = batching ? fmt::format("batch the requests of {}: {} do the work of {}", a.owner, replicas, gpus.size())
                      : fmt::format("run {} of {} instead of {}", replicas, a.owner, gpus.size());
    a.risk =
        batching
            ? "medium: every request waits for its batch, up to the delay you allow ('rightsize batch' says how long)"
            : "medium: less room for a sudden peak and for a node that fails; never below two where it matters";
    a.check = fmt::format(
        "together they never used more than {:.1f} GPUs in this window; take one away, watch latency, repeat", peak);
    a.rollback = "scale the deployment back up";
    c.action.confidence *= batching ? 0.5 : 0.7;
    found.push_back(std::move(c));
  }
  return found;
}

std::vector<Candidate> find_partitions(const CureInput& input) {
  std::vector<Candidate> found;
  for (const auto& [key, gpus] : groups_of(input, false)) {
    const GpuRow& first = input.gpus[gpus.front()];
    if (first.price.gpu == nullptr || first.price.gpu->mig_instances == 0) continue;
    std::optional<mig::Geometry> geometry = mig::Geometry::of(input.book.catalog(), *first.price.gpu);
    if (!geometry) continue;
    mig::WorkloadFile file;
    std::vector<std::size_t> members;
    for (std::size_t i : gpus) {
      const GpuRow& gpu = input.gpus[i];
      mig::Workload w;
      w.name = fmt::format("gpu-{}", i);
      w.memory = bytes(gpu.memory_peak() * 1.05);
      w.load = Ratio::fraction(busy_level(gpu));
      w.bandwidth = Ratio::fraction(dram_level(gpu));
      w.headroom = Ratio::fraction(1 - input.thresholds.sharing_headroom);
      // What fills half a GPU or more gains nothing from a slice.
      if (w.load.fraction() > 0.5 || w.memory > gpu.memory_capacity() * 0.5) continue;
      file.workloads.push_back(std::move(w));
      members.push_back(i);
    }
    if (members.size() < 2) continue;
    const mig::GpuType type{first.price.gpu, std::move(geometry), *first.price.rate, ""};
    const mig::Plan plan = mig::plan_slices(file, {type}, input.book.catalog(), {.share = false, .seconds = 2});
    if (!plan.unplaceable.empty() || plan.gpus.empty() || plan.gpus.size() >= members.size()) continue;
    Candidate c = shared_candidate(ActionKind::kMig, input, members, plan.gpus.size());
    Action& a = c.action;
    a.what = fmt::format("cut {} into MIG slices for the {} jobs of {}", a.to, members.size(), a.owner);
    a.risk = "low: slices do not disturb each other, but a job cannot borrow at a peak, and slices have no NVLink";
    a.check = "'rightsize mig' shows the layout; run one job in its slice for a day and compare latency and memory";
    a.rollback = "drain the node and set its MIG configuration to all-disabled";
    c.action.confidence *= 0.8;
    found.push_back(std::move(c));
  }
  return found;
}

}  // namespace rightsize::fleet
