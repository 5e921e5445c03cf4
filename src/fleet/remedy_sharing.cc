// Remedies for several GPUs: fewer replicas, workloads side by side, MIG instances.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "fleet/commands.h"
#include "fleet/remedies.h"
#include "mig/hand_over.h"
#include "mig/plan.h"
#include "solve/packing.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

constexpr std::size_t kSharedSteps = 200;   // of the time axis when workloads are packed
constexpr std::size_t kMostTogether = 200;  // GPUs packed at once
constexpr std::size_t kAllSubsets = 10;     // groups up to this size are enumerated
constexpr std::size_t kAllPairs = 40;       // ... and up to this size in pairs, in addition to packing

// Identifies GPUs with workloads that may share. A pod cannot move to another cluster, and prices must be comparable.
struct GroupKey {
  std::string team, gpu, workload, cluster;
  UsdPerGpuSecond rate;
  auto operator<=>(const GroupKey&) const = default;
};
using Groups = std::map<GroupKey, std::vector<std::size_t>>;

GroupKey kind_key(const GpuRow& gpu) {
  const auto cluster = gpu.use.device.labels.find("cluster");
  return {"", gpu_name(gpu), "", cluster == gpu.use.device.labels.end() ? "" : cluster->second, *gpu.price.rate};
}

// Whole GPUs with a price and known load and memory that are not full.
bool may_share(const RemedyInput& input, std::size_t row) {
  const GpuRow& gpu = input.gpus[row];
  return input.running[row].actionable() && has_room(gpu) && gpu.price.share == 1 &&
         gpu.spend_rate() > UsdPerSecond{} && input.running[row].memory_peak > Bytes{} && gpu.use.profile.steps() > 0;
}

template <class AddKey>
Groups group(const RemedyInput& input, AddKey add_key) {
  Groups groups;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    if (!may_share(input, i)) continue;
    GroupKey key = kind_key(input.gpus[i]);
    if (add_key(key, input.running[i].owner())) groups[key].push_back(i);
  }
  std::erase_if(groups, [](const auto& entry) { return entry.second.size() < 2; });
  return groups;
}

// A remedy that keeps `keeps` of the GPUs. Each kept GPU counts at the highest price, so the saving does not depend on
// which one leaves. `certainty` is relative to the verdicts.
Remedy shared_remedy(RemedyKind kind, const RemedyInput& input, std::vector<std::size_t> rows, std::size_t keeps,
                     double certainty) {
  Remedy remedy{.kind = kind, .gpus = std::move(rows), .keeps = keeps};
  UsdPerSecond all, highest;
  for (std::size_t i : remedy.gpus) {
    all += input.gpus[i].spend_rate();
    highest = std::max(highest, input.gpus[i].spend_rate());
    remedy.confidence += input.gpus[i].confidence * certainty / static_cast<double>(remedy.gpus.size());
  }
  remedy.saving = all - highest * static_cast<double>(keeps);
  remedy.gpu = gpu_name(input.gpus[remedy.gpus.front()]);
  return remedy;
}

// Maxima of a curve in at most `steps` equal pieces of the common time axis; missing steps count as 0.
std::vector<double> peaks_of(const std::vector<double>& curve, std::size_t steps) {
  std::vector<double> peaks(steps, 0.0);
  const std::size_t piece = std::max<std::size_t>(1, (curve.size() + steps - 1) / steps);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (!std::isnan(curve[i])) peaks[i / piece] = std::max(peaks[i / piece], curve[i]);
  }
  return peaks;
}

// Memory is held permanently, so only its peak counts. Activity and bandwidth count in every piece of time: workloads
// with coinciding peaks must not share a GPU. 1 is the most that may be used.
std::vector<double> needs_of(const RemedyInput& input, std::size_t row, std::size_t steps) {
  const GpuRow& gpu = input.gpus[row];
  const Thresholds& t = input.thresholds;
  std::vector<double> need = {input.running[row].memory_peak / (gpu.memory_capacity() * t.memory_headroom)};
  for (const LoadCurve& curve : {activity_curve(gpu, input.running[row]), dram_curve(gpu, input.running[row])}) {
    if (curve.max.empty()) continue;
    for (double peak : peaks_of(curve.max, steps)) need.push_back(peak / t.sharing_headroom);
  }
  need.resize(1 + 2 * steps, 0.0);
  return need;
}

bool fits_together(const std::vector<std::vector<double>>& needs, const std::vector<std::size_t>& members) {
  std::vector<double> sum(needs.front().size(), 0.0);
  for (std::size_t m : members) {
    for (std::size_t d = 0; d < sum.size(); ++d) {
      sum[d] += needs[m][d];
      if (sum[d] > 1 + 1e-9) return false;
    }
  }
  return true;
}

// Sets of members (indices into `needs`) that fit one GPU.
std::set<std::vector<std::size_t>> sets_that_fit(const std::vector<std::vector<double>>& needs) {
  std::set<std::vector<std::size_t>> sets;
  const std::size_t n = needs.size();
  if (n <= kAllSubsets) {
    for (std::size_t mask = 1; mask < (std::size_t{1} << n); ++mask) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < n; ++i) {
        if ((mask >> i & 1U) != 0) members.push_back(i);
      }
      if (members.size() > 1 && fits_together(needs, members)) sets.insert(std::move(members));
    }
    return sets;
  }
  for (std::size_t i = 0; i < n && n <= kAllPairs; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (fits_together(needs, {i, j})) sets.insert({i, j});
    }
  }
  std::vector<solve::Item> items;
  for (const std::vector<double>& need : needs) items.push_back({{need}, -1});
  const solve::BinType bin{1, std::vector<double>(needs.front().size(), 1.0), 0};
  if (const Result<solve::Packing> packing = solve::pack(items, {bin})) {
    for (const solve::Bin& b : packing->bins) {
      if (b.items.size() > 1) sets.insert(b.items);
    }
  }
  return sets;
}

// The GPU that stays: the one with the most memory in use, to move as little as possible.
std::size_t host_of(const RemedyInput& input, const std::vector<std::size_t>& rows) {
  return *std::ranges::max_element(
      rows, [&](std::size_t a, std::size_t b) { return input.running[a].memory_peak < input.running[b].memory_peak; });
}

Seconds longest_interval(const RemedyInput& input, const std::vector<std::size_t>& rows) {
  Seconds longest;
  for (std::size_t i : rows) longest = std::max(longest, input.gpus[i].use.interval);
  return longest;
}

Forecast shared_forecast(const RemedyInput& input, const std::vector<std::size_t>& rows) {
  LoadCurve load;
  double p95 = 0, lightest_p95 = 1, lightest_peak = 1;
  for (std::size_t i : rows) {
    const Running& running = input.running[i];
    LoadCurve one = activity_curve(input.gpus[i], running);
    one.at_least(dram_curve(input.gpus[i], running));
    load.add(one);
    p95 += std::max(running.busy_p95, running.dram_p95);
    lightest_p95 = std::min(lightest_p95, running.busy_p95);
    lightest_peak = std::min(lightest_peak, running.busy_peak);
  }
  const double peak = load.peak();
  // Percentiles do not add up: the percentile of the sum is at most the sum of the percentiles, and at most the peak.
  return make_forecast(load, {.p95 = std::min(p95, peak),
                              .peak = peak,
                              .now_p95 = lightest_p95,  // the workload with the lightest load is affected most
                              .now_peak = lightest_peak,
                              .reading = longest_interval(input, rows)});
}

// Whether nothing else uses the node of a GPU: sharing is set for a whole node, and slices need it drained.
bool have_the_node(const RemedyInput& input, const std::vector<std::size_t>& gpus, std::size_t host) {
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const bool beside = input.running[i].here && input.gpus[i].use.device.host == input.gpus[host].use.device.host;
    if (beside && input.running[i].busy_p95 > 0 && std::ranges::find(gpus, i) == gpus.end()) return false;
  }
  return true;
}

Remedy side_by_side(const RemedyInput& input, const GroupKey& key, std::vector<std::size_t> rows) {
  Remedy remedy = shared_remedy(RemedyKind::kSideBySide, input, std::move(rows), 1, key.team.empty() ? 0.5 : 0.7);
  const std::size_t host = host_of(input, remedy.gpus);
  remedy.owner = key.team.empty() ? kSeveralTeams : key.team;
  for (std::size_t i : remedy.gpus) append(remedy.moves, moves_of(input, i, place_of(input.gpus[host])));
  remedy.forecast = shared_forecast(input, remedy.gpus);
  remedy.counted = !is_too_slow(*remedy.forecast, input.thresholds);
  remedy.counted = remedy.counted && have_the_node(input, remedy.gpus, host);
  remedy.manifest = orchestrator_of(input.running[host].owner()) == Orchestrator::kKubernetes
                        ? time_slicing_config(remedy.gpus.size())
                        : "";
  return remedy;
}

void consolidate(const RemedyInput& input, const GroupKey& key, const std::vector<std::size_t>& rows,
                 std::vector<Remedy>& found) {
  const std::size_t steps = std::min(kSharedSteps, input.gpus[rows[0]].use.profile.steps());
  std::vector<std::vector<double>> needs;
  for (std::size_t i : rows) needs.push_back(needs_of(input, i, steps));
  for (const std::vector<std::size_t>& members : sets_that_fit(needs)) {
    std::vector<std::size_t> chosen;
    for (std::size_t m : members) chosen.push_back(rows[m]);
    found.push_back(side_by_side(input, key, std::move(chosen)));
  }
}

// Calls use(part) for parts of at most `most` rows.
template <class Use>
void in_parts(const std::vector<std::size_t>& rows, std::size_t most, Use use) {
  for (std::size_t from = 0; from < rows.size(); from += most) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(from);
    const std::vector<std::size_t> part(begin, begin + static_cast<std::ptrdiff_t>(std::min(most, rows.size() - from)));
    if (part.size() > 1) use(part);
  }
}

}  // namespace

std::vector<Remedy> find_consolidations(const RemedyInput& input) {
  std::vector<Remedy> found;
  auto look = [&](const Groups& groups) {
    for (const auto& [key, rows] : groups) {
      in_parts(rows, kMostTogether,
               [&, &shared = key](const std::vector<std::size_t>& part) { consolidate(input, shared, part, found); });
    }
  };
  look(group(input, [](GroupKey& key, const Owner& owner) {
    key.team = owner.team;
    // The workers of one training job cannot share a GPU: NCCL refuses it.
    return !owner.team.empty() && !is_worker(owner);
  }));
  if (input.thresholds.across_teams)
    look(group(input, [](GroupKey&, const Owner& owner) { return !is_worker(owner); }));
  return found;
}

namespace {

// The pods of a workload with their GPUs, the busiest first. Only pods with all of their GPUs in `rows` and the same
// number of GPUs each: a pod can only be removed as a whole. Empty if they differ.
std::vector<std::vector<std::size_t>> whole_pods(const RemedyInput& input, const std::vector<std::size_t>& rows) {
  std::map<std::string, std::vector<std::size_t>> pods;
  for (std::size_t row : rows) pods[input.running[row].owner().instance].push_back(row);
  std::vector<std::vector<std::size_t>> whole;
  for (auto& [name, gpus] : pods) {
    if (are_whole_instances(input, gpus)) whole.push_back(std::move(gpus));
  }
  if (std::ranges::any_of(whole, [&](const auto& pod) { return pod.size() != whole.front().size(); })) return {};
  const auto load = [&](const std::vector<std::size_t>& pod) {
    double sum = 0;
    for (std::size_t row : pod) sum += input.running[row].busy_p95;
    return sum;
  };
  std::ranges::stable_sort(whole, std::ranges::greater(), load);
  return whole;
}

}  // namespace

SharedLoad shared_load(const std::vector<const GpuRow*>& gpus, TimePoint since) {
  std::vector<const FinePeaks*> fine;
  Seconds interval;
  for (const GpuRow* gpu : gpus) {
    fine.push_back(&gpu->use.fine);
    interval = std::max(interval, gpu->use.interval);
  }
  if (std::ranges::none_of(fine, [](const FinePeaks* one) { return one->empty(); })) {
    std::vector<double> sums = FinePeaks::sum(fine, since, interval);
    if (sums.empty()) return {};
    std::ranges::sort(sums);
    return {sums.back(), sums[static_cast<std::size_t>(0.95 * static_cast<double>(sums.size() - 1))]};
  }
  // A metrics server returns only the maximum of each step, and peaks within one step may coincide.
  std::vector<double> sums;
  for (const GpuRow* gpu : gpus) {
    const std::vector<float>& curve = gpu->use.profile.activity.max;
    sums.resize(std::max(sums.size(), curve.size()), 0.0);
    for (std::size_t s = 0; s < curve.size(); ++s)
      sums[s] += std::isnan(curve[s]) ? 0.0 : static_cast<double>(curve[s]);
  }
  return {sums.empty() ? 0 : *std::ranges::max_element(sums), std::nullopt};
}

std::vector<Remedy> find_replica_cuts(const RemedyInput& input) {
  std::vector<Remedy> found;
  const Groups groups = group(input, [](GroupKey& key, const Owner& owner) {
    key.team = owner.team;
    key.workload = owner.workload;
    // The parts of a Slurm job are not replicas.
    return !owner.workload.empty() && orchestrator_of(owner) != Orchestrator::kSlurm;
  });
  const TimeSpan window = window_of(input.gpus);
  for (const auto& [key, all_rows] : groups) {
    const std::vector<std::vector<std::size_t>> pods = whole_pods(input, all_rows);
    if (pods.size() < 2) continue;
    std::vector<std::size_t> rows;
    for (const std::vector<std::size_t>& pod : pods) append(rows, pod);
    LoadCurve all;
    double p95 = 0;
    TimePoint since;
    std::vector<const GpuRow*> gpus;
    for (std::size_t i : rows) {
      all.add(activity_curve(input.gpus[i], input.running[i]));
      p95 += input.running[i].busy_p95;
      since = std::max(since, input.running[i].since);
      gpus.push_back(&input.gpus[i]);
    }
    // The time in which all of them were there.
    const bool together = since <= window.from + 0.5 * window.length();
    const SharedLoad load = together ? shared_load(gpus, since) : SharedLoad{all.peak(), std::nullopt};
    const double peak = std::min(all.peak(), load.peak > 0 ? load.peak : all.peak());
    const auto per_pod = static_cast<double>(pods.front().size());
    constexpr std::size_t kFewest = 2;  // lets a service survive the loss of one
    const auto keep = std::max(
        kFewest, static_cast<std::size_t>(std::ceil(peak / input.thresholds.sharing_headroom / per_pod - 1e-9)));
    if (keep >= pods.size()) continue;
    const bool batching =
        std::ranges::any_of(rows, [&](std::size_t i) { return input.gpus[i].verdict == Verdict::kLaunchBound; });
    const std::size_t keep_gpus = keep * pods.front().size();
    Remedy remedy = shared_remedy(batching ? RemedyKind::kBatch : RemedyKind::kReplicas, input, rows, keep_gpus,
                                  batching ? 0.5 : 0.7);
    if (remedy.saving <= UsdPerSecond{}) continue;
    // Pods of jobs are rarely replicas, and nothing would keep them away.
    remedy.counted = is_scalable(input.running[rows[0]].owner());
    const auto many = static_cast<double>(rows.size()), few = static_cast<double>(keep_gpus);
    remedy.owner = input.running[rows[0]].owner().shown();
    remedy.to = fmt::format("{} replica{}", keep, keep == 1 ? "" : "s");
    remedy.replicas = {pods.size(), keep};
    for (std::size_t r = 0; r < rows.size(); ++r) {
      // The busiest come first and stay where they are.
      append(remedy.moves, moves_of(input, rows[r], r < keep_gpus ? place_of(input.gpus[rows[r]]) : "none"));
    }
    all.scale(1 / few);
    const double shared_p95 = std::min(load.p95.value_or(p95), peak);
    remedy.forecast = make_forecast(all, {.p95 = shared_p95 / few,
                                          .peak = peak / few,
                                          .now_p95 = shared_p95 / many,
                                          .now_peak = peak / many,
                                          .reading = longest_interval(input, rows)});
    // The curve sums the maxima of its steps, but no moment exceeded the peak.
    if (peak / few <= 1) remedy.forecast->too_small = {};
    found.push_back(std::move(remedy));
  }
  return found;
}

namespace {

// The planner's model grows with the number of distinct needs, so similar needs are rounded up to the same value.
double round_up(double value, double step) { return std::ceil(value / step - 1e-9) * step; }

// A workload for the planner of slices, sized for a slice that is too small for at most the allowed share of the time,
// with the headroom of other sharing.
mig::Workload slice_workload(const RemedyInput& input, std::size_t row) {
  const GpuRow& gpu = input.gpus[row];
  const Running& running = input.running[row];
  const Seconds interval = gpu.use.interval;
  const double overload = input.thresholds.most_overload;
  mig::Workload w;
  w.name = fmt::format("gpu-{}", row);
  constexpr double kShare = 0.02;
  w.memory = gib(round_up(in_gib(running.memory_peak * 1.05), 0.5));
  w.load =
      Ratio::fraction(round_up(level_for(activity_curve(gpu, running), overload, interval, running.busy_p95), kShare));
  w.bandwidth =
      Ratio::fraction(round_up(level_for(dram_curve(gpu, running), overload, interval, running.dram_p95), kShare));
  w.headroom = Ratio::fraction(1 - input.thresholds.sharing_headroom);
  return w;
}

Forecast slice_forecast(const RemedyInput& input, std::size_t row, const mig::Geometry& geometry, int profile) {
  const double sms = 1 / geometry.sm_share(profile), bandwidth = 1 / geometry.bandwidth_share(profile);
  const double latency = std::max(1.0, std::min(sms * input.running[row].busy_p95, sms));
  return forecast_on({sms, bandwidth, latency}, input.gpus[row], input.running[row]);
}

// Empty if fewer than two workloads share the GPU.
std::optional<Remedy> cut_into_slices(const RemedyInput& input, const std::vector<std::size_t>& members,
                                      const mig::PlannedGpu& planned, const mig::GpuType& type) {
  std::vector<std::size_t> rows;
  for (const mig::PlannedInstance& instance : planned.instances) {
    for (const mig::ReplicaId& replica : instance.replicas) rows.push_back(members[replica.workload]);
  }
  if (rows.size() < 2) return std::nullopt;
  Remedy remedy = shared_remedy(RemedyKind::kMig, input, std::move(rows), 1, 0.8);
  const std::size_t host = host_of(input, remedy.gpus);
  mig::Layout layout;
  for (const mig::PlannedInstance& instance : planned.instances) {
    layout.push_back(instance.where);
    for (const mig::ReplicaId& replica : instance.replicas) {
      const std::size_t row = members[replica.workload];
      const std::string slice =
          fmt::format("{} slice {} at {}", place_of(input.gpus[host]),
                      type.geometry->profile(instance.where.profile).profile, instance.where.start);
      append(remedy.moves, moves_of(input, row, slice));
      const Forecast forecast = slice_forecast(input, row, *type.geometry, instance.where.profile);
      remedy.forecast = remedy.forecast ? worse_of(*remedy.forecast, forecast) : forecast;
    }
  }
  remedy.counted = !is_too_slow(*remedy.forecast, input.thresholds) && have_the_node(input, remedy.gpus, host);
  std::set<std::string> owners;
  for (std::size_t i : remedy.gpus) owners.insert(input.running[i].owner().team);
  remedy.owner = owners.size() > 1 ? kSeveralTeams : owners.begin()->empty() ? kUnowned : *owners.begin();
  const std::size_t device = static_cast<std::size_t>(std::max(0, input.gpus[host].use.device.index));
  remedy.manifest = fmt::format("# on {}\nnvidia-smi -i {} -mig 1\n{}\n", input.gpus[host].use.device.host, device,
                                mig::create_command(*type.geometry, layout, device));
  return remedy;
}

void partition(const RemedyInput& input, const std::vector<std::size_t>& rows, const mig::Geometry& geometry,
               std::vector<Remedy>& found) {
  mig::WorkloadFile file;
  std::vector<std::size_t> members;
  for (std::size_t i : rows) {
    mig::Workload w = slice_workload(input, i);
    // A workload that fills half a GPU or more gains nothing from a slice.
    if (w.load.fraction() > 0.5 || w.memory > input.gpus[i].memory_capacity() * 0.5) continue;
    file.workloads.push_back(std::move(w));
    members.push_back(i);
  }
  if (members.size() < 2) return;
  const GpuPrice& price = input.gpus[rows.front()].price;
  // All GPUs are of one type and price, so any price gives the same plan.
  const mig::GpuType type{price.gpu, geometry, usd_per_gpu_hour(1), price.source};
  const Result<mig::SlicePlan> plan =
      mig::plan_slices(file, {type}, input.speeds, {.share = false, .limit = seconds(2)});
  if (!plan || !plan->unplaceable.empty()) return;
  for (const mig::PlannedGpu& planned : plan->gpus) {
    if (std::optional<Remedy> remedy = cut_into_slices(input, members, planned, type))
      found.push_back(*std::move(remedy));
  }
}

}  // namespace

// MIG instances isolate memory, caches and faults, so workloads of different teams may share a GPU.
std::vector<Remedy> find_partitions(const RemedyInput& input) {
  std::vector<Remedy> found;
  for (const auto& [key, rows] : group(input, [](GroupKey&, const Owner&) { return true; })) {
    const catalog::Gpu* gpu = input.gpus[rows.front()].price.gpu;
    if (gpu == nullptr || gpu->mig_instances == 0) continue;
    const std::optional<mig::Geometry> geometry = mig::Geometry::of(input.prices.catalog(), *gpu);
    if (!geometry) continue;
    in_parts(rows, kMostTogether,
             [&](const std::vector<std::size_t>& part) { partition(input, part, *geometry, found); });
  }
  return found;
}

}  // namespace rightsize::fleet
