// From the use and price of a GPU to its verdict and its time categories.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "diagnose/observer.h"
#include "fleet/fleet.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

double& share(GpuRow& gpu, Category category) { return gpu.share[static_cast<std::size_t>(category)]; }

// The share of the covered time with reported activity.
double known_share(const GpuUse& use) {
  if (!use.activity()) return 0;
  // Sources without this distinction report activity with every reading.
  return use.known > Seconds{} && use.covered > Seconds{} ? std::min(1.0, use.known / use.covered) : 1;
}

diagnose::MetricStatistics statistics(const MetricUse& use) {
  return {use.mean, use.p50.value_or(use.mean), use.p95.value_or(use.max), use.max};
}

}  // namespace

diagnose::Summary summary_of(const GpuUse& use) {
  diagnose::Summary summary;
  // Only the time with reported activity counts.
  const double known = known_share(use);
  summary.duration = use.covered * known;
  summary.interval = use.interval;
  if (use.interval > Seconds{})
    summary.samples = static_cast<std::uint64_t>(std::round(summary.duration / use.interval));
  for (const auto& [metric, level] : use.metrics) summary.set(metric, statistics(level));
  const std::optional<Metric> activity = use.activity();
  if (!activity) return summary;
  diagnose::OnOff turns;
  const double idle = known > 0 ? std::min(1.0, use.idle_share / known) : 0;
  turns.idle_share = idle;
  // Kernels may fill few SMs, so the engine shows how much of the time anything ran.
  const MetricUse& level =
      *use.metric(use.metric(Metric::kGraphicsActive) != nullptr ? Metric::kGraphicsActive : *activity);
  turns.active_level = idle < 1 ? std::min(1.0, level.mean / (1 - idle)) : 0;
  turns.changes = static_cast<std::uint64_t>(use.changes);
  const double stretches = std::max(1.0, (use.changes + 1) / 2);
  if (idle > 0) turns.idle_run = summary.duration * (idle / stretches);
  if (idle < 1) turns.active_run = summary.duration * ((1 - idle) / stretches);
  summary.on_off = turns;
  return summary;
}

namespace {

// The ledger category for the waste of active time.
Category category_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUnderused:
    case Verdict::kBursty:
      return Category::kOversized;
    case Verdict::kIdle:
      return Category::kIdle;
    case Verdict::kIdleHeld:
      return Category::kIdleHeld;
    default:
      return Category::kInefficient;
  }
}

// `waits`: share of the time without kernels that is still part of the work.
void split_time(GpuRow& gpu, const diagnose::Diagnosis& found, double waits) {
  const double known = known_share(gpu.use);
  const double idle = std::clamp(gpu.use.idle_share - waits, 0.0, known);
  const double held = std::clamp(gpu.use.held_share, 0.0, idle);
  share(gpu, Category::kUnknown) = 1 - known;
  share(gpu, Category::kIdleHeld) = held;
  share(gpu, Category::kIdle) = idle - held;
  const double wasted = std::clamp(found.wasted * (known - waits) - idle, 0.0, known - idle);
  share(gpu, category_of(found.verdict)) += wasted;
  share(gpu, Category::kUseful) = std::max(0.0, known - idle - wasted);
}

// Detects a cycle in the profile, which may have steps of several minutes.
std::optional<diagnose::Cycle> cycle_of(const Profile& profile) {
  const auto value = [](const std::vector<float>& curve, std::size_t i) {
    return i < curve.size() && !std::isnan(curve[i]) ? std::optional(static_cast<double>(curve[i])) : std::nullopt;
  };
  std::vector<diagnose::CycleStep> steps;
  for (std::size_t i = 0; i < profile.steps(); ++i) {
    std::optional<double> activity = value(profile.activity.mean, i);
    if (activity && value(profile.idle, i).value_or(0) >= 0.5) activity = 0;
    const std::optional<double> memory = value(profile.memory.mean, i);
    steps.push_back({profile.width,
                     activity,
                     {},
                     value(profile.dram.mean, i),
                     memory ? std::optional(bytes(*memory)) : std::nullopt});
  }
  return diagnose::find_cycle(steps);
}

// The waits of a cycle as a share of the time.
double waits_of(const std::optional<diagnose::Cycle>& cycle, const GpuUse& use) {
  constexpr double kMost = 0.95;
  if (!cycle || cycle->kind != diagnose::CycleKind::kWaiting) return 0;
  return std::min({cycle->wait_share, use.idle_share, kMost});
}

// The waits of a cycle do not justify a smaller GPU, so the GPU is judged by the rest of its time.
GpuUse without_waits(GpuUse use, double waits, int cycles) {
  use.idle_share = (use.idle_share - waits) / (1 - waits);
  use.held_share = std::min(use.held_share, use.idle_share);
  use.changes = std::max(0.0, use.changes - 2.0 * cycles);
  for (const Metric metric : {Metric::kGpuUtil, Metric::kGraphicsActive, Metric::kSmActive, Metric::kSmOccupancy,
                              Metric::kTensorActive, Metric::kDramActive, Metric::kFp32Active}) {
    const auto found = use.metrics.find(metric);
    if (found == use.metrics.end()) continue;
    found->second.mean = std::min(found->second.max, found->second.mean / (1 - waits));
  }
  return use;
}

struct Means {
  double mean = 0, max = 0;
  std::size_t steps = 0;
};

Means means_of(const MetricCurve& curve, std::size_t from, std::size_t to) {
  Means found;
  for (std::size_t i = from; i < std::min(to, curve.mean.size()); ++i) {
    if (std::isnan(curve.mean[i])) continue;
    found.mean += static_cast<double>(curve.mean[i]);
    found.max = std::max(found.max, static_cast<double>(i < curve.max.size() ? curve.max[i] : curve.mean[i]));
    ++found.steps;
  }
  if (found.steps > 0) found.mean /= static_cast<double>(found.steps);
  return found;
}

// Changes between idle and active from step to step; those within a step are not visible.
double changes_between(const Profile& profile, std::size_t from, std::size_t to) {
  double changes = 0;
  std::optional<bool> before;
  for (std::size_t i = from; i < std::min(to, profile.idle.size()); ++i) {
    if (std::isnan(profile.idle[i])) continue;
    const bool idle = profile.idle[i] > 0.5F;
    if (before && *before != idle) ++changes;
    before = idle;
  }
  return changes;
}

// The use of the GPU in these steps only.
std::optional<GpuUse> part_of(const GpuUse& whole, std::size_t from, std::size_t to) {
  const Profile& profile = whole.profile;
  const std::optional<Metric> shown = whole.activity();
  const Means activity = means_of(profile.activity, from, to);
  if (!shown || activity.steps == 0) return std::nullopt;
  GpuUse part = whole;
  part.covered = profile.width * static_cast<double>(activity.steps);
  part.known = part.covered;
  const double mean = whole.metric(*shown)->mean;
  for (auto& [metric, level] : part.metrics) {
    if (!telemetry::is_share(metric)) continue;
    const double scale = mean > 0 ? activity.mean / mean : 0;
    level.mean = std::min(1.0, level.mean * scale);
    level.p50.reset(), level.p95.reset();
  }
  const auto take = [&](Metric metric, const Means& found) {
    if (found.steps > 0) part.metrics[metric] = MetricUse{found.mean, {}, {}, found.max};
  };
  take(*shown, activity);
  take(Metric::kDramActive, means_of(profile.dram, from, to));
  take(Metric::kMemoryUsed, means_of(profile.memory, from, to));
  MetricCurve idle;
  idle.mean = profile.idle;
  part.idle_share = means_of(idle, from, to).mean;
  part.changes = changes_between(profile, from, to);
  return part;
}

// A recording of a single run, at most an hour long, is judged by its work, as in 'profile': without the time before
// and after it. In a longer window such time is idleness.
std::optional<GpuUse> working_part(const GpuUse& use) {
  constexpr Seconds kLongestRun = hours(1);
  const Profile& profile = use.profile;
  const std::optional<Metric> shown = use.activity();
  if (!shown || use.covered > kLongestRun) return std::nullopt;
  std::vector<telemetry::Sample> samples;
  std::vector<std::size_t> steps;
  for (std::size_t i = 0; i < profile.steps(); ++i) {
    if (std::isnan(profile.activity.mean[i])) continue;
    telemetry::Sample& sample = samples.emplace_back();
    steps.push_back(i);
    sample.time = profile.begin_of(i);
    sample.set(*shown, static_cast<double>(profile.activity.mean[i]));
    if (i < profile.memory.mean.size() && !std::isnan(profile.memory.mean[i]))
      sample.set(Metric::kMemoryUsed, static_cast<double>(profile.memory.mean[i]));
  }
  std::size_t first = samples.size(), last = 0;
  for (const diagnose::Phase& phase : diagnose::find_phases(samples, false)) {
    if (phase.kind != diagnose::PhaseKind::kSteady) continue;
    first = std::min(first, phase.first);
    last = std::max(last, phase.last);
  }
  if (first >= last || (first == 0 && last == samples.size())) return std::nullopt;
  return part_of(use, steps[first], steps[last - 1] + 1);
}

GpuRow judge_one(GpuUse use, const DevicePrices& prices) {
  GpuRow row;
  row.cycle = cycle_of(use.profile);
  const double waits = waits_of(row.cycle, use);
  row.price = prices.price(use.device);
  const diagnose::Hardware hardware =
      row.price.gpu != nullptr ? diagnose::hardware_of(*row.price.gpu) : diagnose::Hardware{};
  const std::optional<GpuUse> part = waits > 0 ? without_waits(use, waits, row.cycle->cycles) : working_part(use);
  diagnose::Diagnosis found = diagnose::classify(summary_of(part ? *part : use), hardware);
  if (row.cycle) diagnose::explain_cycle(*row.cycle, found);
  row.verdict = found.verdict;
  row.confidence = found.confidence;
  row.evidence = found.evidence;
  row.time = found.shares;
  row.use = std::move(use);
  row.set_cost();
  split_time(row, found, waits);
  return row;
}

}  // namespace

std::vector<GpuRow> judge(std::vector<GpuUse> gpus, const DevicePrices& prices) {
  align(gpus);
  std::vector<GpuRow> rows;
  rows.reserve(gpus.size());
  for (GpuUse& gpu : gpus) rows.push_back(judge_one(std::move(gpu), prices));
  const TimeSpan window = window_of(rows);
  for (GpuRow& row : rows) {
    if (window.length() > Seconds{}) row.presence = std::min(1.0, row.use.covered / window.length());
  }
  settle_partitioned(rows);
  return rows;
}

// Replicas of one workload that together never need all of their GPUs: the surplus share of the active time that was
// counted as oversized or inefficient counts as overprovisioned.
void mark_overprovisioned(std::vector<GpuRow>& gpus, const Thresholds& thresholds) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Owner& owner = gpus[i].owner();
    if (!owner.workload.empty() && gpus[i].price.rate && has_room(gpus[i]))
      groups[{owner.shown(), gpu_name(gpus[i])}].push_back(i);
  }
  for (const auto& [key, members] : groups) {
    if (members.size() < 2) continue;
    std::vector<const GpuRow*> replicas;
    for (std::size_t i : members) replicas.push_back(&gpus[i]);
    const double peak = shared_load(replicas, TimePoint{}).peak;
    if (peak <= 0) continue;
    const double needed = std::max(1.0, std::ceil(peak / thresholds.sharing_headroom));
    const double surplus = 1 - needed / static_cast<double>(members.size());
    if (surplus <= 0) continue;
    for (std::size_t i : members) {
      GpuRow& gpu = gpus[i];
      for (Category from : {Category::kOversized, Category::kInefficient}) {
        const double moved = share(gpu, from) * surplus;
        share(gpu, from) -= moved;
        share(gpu, Category::kOverprovisioned) += moved;
      }
    }
  }
}

namespace {

constexpr std::pair<std::string_view, std::string_view> kCategoryTexts[kCategories] = {
    {"useful", "work at the rate the limiting resource allows"},
    {"idle", "no activity, and no memory in use beyond the driver's own"},
    {"idle-held", "no activity while a process held memory"},
    {"inefficient", "active, but waiting for launches, input, copies or memory most of the time"},
    {"oversized", "active so little that a smaller GPU or a share of this one would be enough"},
    {"overprovisioned", "replicas that are not needed even at the busiest moment of all of them"},
    {"unknown", "the source reported no activity: neither useful nor wasted"},
};

}  // namespace

std::string_view name_of(Category category) { return kCategoryTexts[static_cast<std::size_t>(category)].first; }
std::string_view rule_of(Category category) { return kCategoryTexts[static_cast<std::size_t>(category)].second; }

void GpuRow::set_cost() {
  gpu_time = price.gpu_time(use.covered);
  spend = price.cost(use.covered);
}

std::optional<Usd> GpuRow::waste() const { return spend ? std::optional(*spend * waste_share()) : std::nullopt; }

UsdPerSecond GpuRow::spend_rate() const {
  return price.rate ? *price.rate * gpus(price.share) * presence : UsdPerSecond{};
}

std::optional<Joules> GpuRow::energy() const {
  const MetricUse* power = use.metric(Metric::kPower);
  if (power == nullptr) return std::nullopt;
  return watts(power->mean) * (gpu_time / gpus(1));
}

const Owner& GpuRow::owner() const {
  static const Owner kNone;
  return use.tenancies.empty() ? kNone : use.tenancies.front().owner;
}

Bytes GpuRow::memory_capacity() const {
  if (const MetricUse* total = use.metric(Metric::kMemoryTotal)) return bytes(total->max);
  return price.gpu != nullptr ? price.gpu->capacity() * price.share : bytes(0);
}

Bytes GpuRow::memory_peak() const {
  const MetricUse* used = use.metric(Metric::kMemoryUsed);
  return bytes(used != nullptr ? used->max : 0);
}

// The shares of the parts of a partitioned GPU, which at every moment add up to one GPU.
namespace {

void set_share(GpuRow& row, double share) {
  row.price.share = share;
  row.set_cost();
}

void describe_free(GpuRow& row) {
  row.verdict = diagnose::Verdict::kIdle;
  row.confidence = 0.8;
  row.evidence = {"no MIG instance uses this part of the GPU"};
  row.share = {};
  row.share[static_cast<std::size_t>(Category::kIdle)] = 1;
}

// The shares of instances that exist at the same time may exceed one GPU (4/7 + 1/2); they are then scaled down.
void settle(GpuRow& free, std::map<std::string, GpuRow*>& instances) {
  std::map<std::string, Seconds> whole;  // in time of a whole GPU
  Seconds rest;
  for (const MigPeriod& layout : free.use.layouts) {
    double sum = 0;
    for (const std::string& name : layout.instances) {
      if (instances.contains(name)) sum += instances[name]->price.share;
    }
    rest += std::max(0.0, 1 - sum) * layout.time;
    for (const std::string& name : layout.instances) {
      if (instances.contains(name)) whole[name] += instances[name]->price.share / std::max(1.0, sum) * layout.time;
    }
  }
  for (const auto& [name, row] : instances) {
    if (row->use.covered > Seconds{} && whole.contains(name)) set_share(*row, whole[name] / row->use.covered);
  }
  set_share(free, free.use.covered > Seconds{} ? rest / free.use.covered : 0);
  describe_free(free);
}

}  // namespace

void settle_partitioned(std::vector<GpuRow>& gpus) {
  std::map<std::string, std::map<std::string, GpuRow*>> instances;  // by GPU, then by instance
  for (GpuRow& row : gpus) {
    if (!row.use.device.mig_id.empty() && !row.use.is_free_part()) {
      instances[whole_key(row.use.device)][instance_name(row.use.device)] = &row;
    }
  }
  for (GpuRow& row : gpus) {
    if (row.use.is_free_part()) settle(row, instances[whole_key(row.use.device)]);
  }
  constexpr double kRounding = 0.01;
  std::erase_if(gpus, [&](const GpuRow& row) { return row.use.is_free_part() && row.price.share < kRounding; });
}

namespace {

constexpr std::size_t kFewestParts = 12;  // of a window shorter than two days

std::size_t steps_per_part(const Profile& profile) {
  const double day = hours(24) / profile.width;
  const auto steps = static_cast<double>(profile.steps());
  if (steps >= 2 * day && day >= 1) return static_cast<std::size_t>(std::llround(day));
  return std::max<std::size_t>(1, profile.steps() / kFewestParts);
}

}  // namespace

VerdictsOverTime verdicts_over_time(const GpuRow& gpu) {
  const Profile& profile = gpu.use.profile;
  VerdictsOverTime found;
  if (profile.steps() == 0) return found;
  const std::size_t together = steps_per_part(profile);
  found.width = profile.width * static_cast<double>(together);
  const diagnose::Hardware hardware =
      gpu.price.gpu != nullptr ? diagnose::hardware_of(*gpu.price.gpu) : diagnose::Hardware{};
  for (std::size_t from = 0; from < profile.steps(); from += together) {
    const std::optional<GpuUse> part = part_of(gpu.use, from, from + together);
    found.verdicts.push_back(part ? std::optional(diagnose::classify(summary_of(*part), hardware).verdict)
                                  : std::nullopt);
  }
  return found;
}

}  // namespace rightsize::fleet
