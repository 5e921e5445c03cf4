// The use and price of a GPU -> its verdict, and where its time went.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "fleet/fleet.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

double& share(GpuRow& gpu, Category category) { return gpu.share[static_cast<std::size_t>(category)]; }

// The share of the covered time of which activity was reported.
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
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (use.metrics[i]) summary.set(static_cast<Metric>(i), statistics(*use.metrics[i]));
  }
  const std::optional<Metric> activity = use.activity();
  if (!activity) return summary;
  diagnose::OnOff turns;
  const double idle = known > 0 ? std::min(1.0, use.idle_share / known) : 0;
  turns.idle_share = idle;
  turns.active_level = idle < 1 ? std::min(1.0, use.metric(*activity)->mean / (1 - idle)) : 0;
  turns.changes = static_cast<std::uint64_t>(use.changes);
  const double stretches = std::max(1.0, (use.changes + 1) / 2);
  if (idle > 0) turns.idle_run = summary.duration * (idle / stretches);
  if (idle < 1) turns.active_run = summary.duration * ((1 - idle) / stretches);
  summary.on_off = turns;
  return summary;
}

namespace {

// Which part of the ledger the waste of active time belongs to.
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

void split_time(GpuRow& gpu, const diagnose::Diagnosis& found) {
  const double known = known_share(gpu.use);
  const double idle = std::clamp(gpu.use.idle_share, 0.0, known);
  const double held = std::clamp(gpu.use.held_share, 0.0, idle);
  share(gpu, Category::kUnknown) = 1 - known;
  share(gpu, Category::kIdleHeld) = held;
  share(gpu, Category::kIdle) = idle - held;
  const double wasted = std::clamp(found.wasted * known - idle, 0.0, known - idle);
  share(gpu, category_of(found.verdict)) += wasted;
  share(gpu, Category::kUseful) = std::max(0.0, known - idle - wasted);
}

GpuRow judge_one(GpuUse use, const DevicePrices& prices) {
  GpuRow row;
  row.price = prices.price(use.device);
  const diagnose::Hardware hardware =
      row.price.gpu != nullptr ? diagnose::hardware_of(*row.price.gpu) : diagnose::Hardware{};
  const diagnose::Diagnosis found = diagnose::classify(summary_of(use), hardware);
  row.verdict = found.verdict;
  row.confidence = found.confidence;
  row.evidence = found.evidence;
  row.time = found.shares;
  row.use = std::move(use);
  row.set_cost();
  split_time(row, found);
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
    if (!owner.workload.empty() && has_room(gpus[i])) groups[{owner.shown(), gpu_name(gpus[i])}].push_back(i);
  }
  for (const auto& [key, members] : groups) {
    if (members.size() < 2) continue;
    std::vector<double> sum;
    for (std::size_t i : members) {
      const std::vector<float>& curve = gpus[i].use.profile.activity.max;
      sum.resize(std::max(sum.size(), curve.size()), 0.0);
      for (std::size_t s = 0; s < curve.size(); ++s)
        sum[s] += std::isnan(curve[s]) ? 0.0 : static_cast<double>(curve[s]);
    }
    if (sum.empty()) continue;
    const double peak = *std::max_element(sum.begin(), sum.end());
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

std::string_view name_of(Category category) {
  static constexpr std::string_view kNames[] = {"useful",          "idle",   "idle-held", "inefficient", "oversized",
                                                "overprovisioned", "unknown"};
  return kNames[static_cast<std::size_t>(category)];
}

std::string_view rule_of(Category category) {
  static constexpr std::string_view kRules[] = {
      "work at the rate the limiting resource allows",
      "no activity, and no memory in use beyond the driver's own",
      "no activity while a process held memory",
      "active, but waiting for launches, input, copies or memory most of the time",
      "active so little that a smaller GPU or a share of this one would be enough",
      "replicas that are not needed even at the busiest moment of all of them",
      "the source reported no activity: neither useful nor wasted",
  };
  return kRules[static_cast<std::size_t>(category)];
}

void GpuRow::set_cost() {
  gpu_time = price.gpu_time(use.covered);
  spend = price.cost(use.covered);
}

std::optional<Usd> GpuRow::spend_on(Category category) const {
  if (!spend) return std::nullopt;
  return *spend * share_of(category);
}

std::optional<Usd> GpuRow::waste() const {
  if (!spend) return std::nullopt;
  return *spend * waste_share();
}

UsdPerSecond GpuRow::spend_rate() const {
  if (!price.rate) return {};
  return *price.rate * gpus(price.share) * presence;
}

const Owner& GpuRow::owner() const {
  static const Owner kNone;
  return use.tenancies.empty() ? kNone : use.tenancies.front().owner;
}

Bytes GpuRow::memory_capacity() const {
  if (const std::optional<MetricUse>& total = use.metric(Metric::kMemoryTotal)) return bytes(total->max);
  return price.gpu != nullptr ? price.gpu->capacity() * price.share : bytes(0);
}

Bytes GpuRow::memory_peak() const {
  const std::optional<MetricUse>& used = use.metric(Metric::kMemoryUsed);
  return bytes(used ? used->max : 0);
}

}  // namespace rightsize::fleet
