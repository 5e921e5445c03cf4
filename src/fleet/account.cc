// The tallies of one physical GPU -> its rows: who had it when, how long it was idle, what it was partitioned into.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fleet/part_tally.h"

namespace rightsize::fleet {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

std::vector<Interval> intersect(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return subtract(a, subtract(a, b));
}

// When one part was there, and with whom.
struct Presence {
  std::vector<OwnedInterval> owned;
  std::vector<Interval> covered;
  Seconds interval, filled;
  bool duplicated = false;
};

Presence presence_of(const PartTally& part, Seconds fallback) {
  Presence presence;
  std::vector<Interval> all;
  std::vector<Seconds> by_owner(part.owners.size());
  for (const SeriesTally& series : part.series) {
    const Seconds own = series.present.usual_interval();
    presence.filled = std::max(presence.filled, series.present.filled());
    for (const Interval& i : series.present.intervals(own > Seconds{} ? own : fallback)) {
      presence.owned.push_back({i, series.owner});
      by_owner[series.owner] += i.length();
      all.push_back(i);
    }
  }
  presence.covered = unite(std::move(all));
  for (std::size_t owner = 0; owner < by_owner.size(); ++owner) {
    std::vector<Interval> times;
    for (const OwnedInterval& i : presence.owned) {
      if (i.owner == owner) times.push_back(i.time);
    }
    // Two series with the same owner that tell of the same time: replicas, or two scrape jobs.
    if (by_owner[owner] > 1.5 * total(unite(std::move(times)))) presence.duplicated = true;
  }
  for (const std::unique_ptr<Tally>& tally : part.tallies) {
    if (tally) presence.interval = std::max(presence.interval, tally->usual_interval());
  }
  if (presence.interval <= Seconds{}) {
    for (const SeriesTally& s : part.series)
      presence.interval = std::max(presence.interval, s.present.usual_interval());
  }
  if (presence.interval <= Seconds{}) presence.interval = fallback;
  return presence;
}

// Time without activity, and of these with memory held, within times a row of activity covers. A step without a
// reading of its own (a gap that is filled) is as idle as the one before.
struct IdleTime {
  Seconds idle, held;
};

IdleTime idle_within(const CurveRows& curves, std::size_t row, const std::vector<Interval>& known,
                     const IdleRule& rule) {
  IdleTime sum;
  const Cell* before = nullptr;
  for (const Interval& i : known) {
    TimePoint from = i.from;
    for (std::size_t step = curves.step_of(i.from); from < i.until && step < curves.steps(); ++step) {
      const TimePoint until = step + 1 == curves.steps() ? i.until : std::min(i.until, curves.begin_of(step + 1));
      if (const Cell* cell = curves.at(row, step)) before = cell;
      const Seconds idle = before != nullptr && until > from ? before->idle_share() * (until - from) : Seconds{};
      const Cell* memory = curves.at(kMemoryRow, step);
      sum.idle += idle;
      if (memory != nullptr && bytes(static_cast<double>(memory->mean())) > rule.held_above) sum.held += idle;
      from = std::max(from, until);
    }
  }
  return sum;
}

// The best evidence of activity in a step.
const Cell* activity_cell(const CurveRows& curves, std::size_t step) {
  for (std::size_t row = 0; row < kActivityRows; ++row) {
    if (const Cell* cell = curves.at(row, step)) return cell;
  }
  return nullptr;
}

void reserve(Curve& curve, std::size_t steps) {
  curve.mean.reserve(steps);
  curve.max.reserve(steps);
}

void push(Curve& curve, const Cell* cell) {
  curve.mean.push_back(cell != nullptr ? cell->mean() : kNone);
  curve.max.push_back(cell != nullptr ? cell->max : kNone);
}

Profile profile_of(const CurveRows& curves, const std::vector<Interval>& within) {
  Profile profile;
  if (curves.steps() == 0 || within.empty()) return profile;
  const std::size_t begin = curves.step_of(within.front().from);
  const TimePoint last = unix_seconds(std::nextafter(in_unix_seconds(within.back().until), 0.0));
  const std::size_t end = curves.step_of(last) + 1;
  bool activity = false, dram = false, memory = false;
  for (std::size_t i = begin; i < end; ++i) {
    activity = activity || activity_cell(curves, i) != nullptr;
    dram = dram || curves.at(kDramRow, i) != nullptr;
    memory = memory || curves.at(kMemoryRow, i) != nullptr;
  }
  if (activity) reserve(profile.activity, end - begin);
  if (activity) profile.idle.reserve(end - begin);
  if (dram) reserve(profile.dram, end - begin);
  if (memory) reserve(profile.memory, end - begin);
  profile.start = curves.begin_of(begin);
  profile.width = curves.width();
  for (std::size_t i = begin; i < end; ++i) {
    const Cell* cell = activity_cell(curves, i);
    if (activity) push(profile.activity, cell);
    if (activity) profile.idle.push_back(cell != nullptr ? static_cast<float>(cell->idle_share()) : kNone);
    if (dram) push(profile.dram, curves.at(kDramRow, i));
    if (memory) push(profile.memory, curves.at(kMemoryRow, i));
  }
  return profile;
}

// Readings out of order have no time of their own, and several series at once tell of the same time more than once:
// then steps, which have theirs, tell the mean.
double mean_of(const Tally& tally, const PartTally& part, int row, const std::vector<Interval>& within) {
  const bool ordered = tally.loose * 10 < tally.count || tally.loose < 10;
  const bool once = tally.weight <= 1.05 * total(within);
  if (row < 0 || (ordered && once)) return tally.mean();
  double sum = 0;
  Seconds weight;
  for (std::size_t i = 0; i < part.curves.steps(); ++i) {
    const Cell* cell = part.curves.at(static_cast<std::size_t>(row), i);
    if (cell == nullptr) continue;
    const TimePoint begin = part.curves.begin_of(i);
    const Seconds time = total(intersect({{begin, begin + part.curves.width()}}, within));
    sum += static_cast<double>(cell->mean()) * in_seconds(time);
    weight += time;
  }
  return weight > Seconds{} ? sum / in_seconds(weight) : tally.mean();
}

std::optional<MetricUse> metric_use(const PartTally& part, Metric metric, const std::vector<Interval>& within) {
  const std::unique_ptr<Tally>& tally = part.tallies[static_cast<std::size_t>(metric)];
  if (!tally || tally->count == 0) return std::nullopt;
  const MetricKind& kind = kind_of(metric);
  MetricUse use{mean_of(*tally, part, kind.row, within), std::nullopt, std::nullopt, tally->max};
  if (kind.share) {
    use.p50 = tally->quantile(0.5);
    use.p95 = tally->quantile(0.95);
  }
  return use;
}

std::optional<double> quantile_of(std::vector<float> values, double share) {
  std::erase_if(values, [](float v) { return std::isnan(v); });
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return static_cast<double>(
      values[static_cast<std::size_t>(std::round(share * static_cast<double>(values.size() - 1)))]);
}

// What an owner's activity was, from the best metric there is of it.
void describe(Tenancy& tenancy, const OwnerTally& tally) {
  for (std::size_t row = 0; row < kActivityRows; ++row) {
    if (tally.weight[row] <= Seconds{}) continue;
    tenancy.idle = tenancy.time * (tally.idle[row] / tally.weight[row]);
    tenancy.activity_peak = tally.activity_peak;
    double all = 0, below = 0;
    for (float bucket : *tally.histogram[row]) all += static_cast<double>(bucket);
    for (std::size_t i = 0; i < kOwnerBuckets && below < 0.95 * all; ++i) {
      below += static_cast<double>((*tally.histogram[row])[i]);
      tenancy.activity_p95 = std::min((static_cast<double>(i) + 0.5) / kOwnerBuckets, tally.activity_peak);
    }
    break;
  }
  if (tally.memory_peak > Bytes{}) tenancy.memory_peak = tally.memory_peak;
}

std::vector<Tenancy> tenancies_of(const PartTally& part, const Presence& presence, const GpuUse& use,
                                  const std::vector<Interval>& within) {
  std::size_t nobody = part.owners.size();
  for (std::size_t i = 0; i < part.owners.size(); ++i) {
    if (part.owners[i].owner.empty()) nobody = i;
  }
  const std::vector<Seconds> shares = share_time(presence.owned, within, part.owners.size(), nobody);
  std::vector<Tenancy> tenancies;
  Seconds idle;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= Seconds{}) continue;
    Tenancy tenancy;
    tenancy.owner = part.owners[i].owner;
    tenancy.time = shares[i];
    describe(tenancy, part.owners[i]);
    tenancy.first = unix_seconds(std::numeric_limits<double>::infinity());
    for (const OwnedInterval& o : presence.owned) {
      if (o.owner != i) continue;
      tenancy.first = std::min(tenancy.first, o.time.from);
      tenancy.last = std::max(tenancy.last, o.time.until);
    }
    idle += tenancy.idle;
    tenancies.push_back(std::move(tenancy));
  }
  // Owners' idle time is weighed by their readings, the GPU's by the steps they cover: the latter is the sum.
  const double factor = idle > Seconds{} ? use.covered * use.idle_share / idle : 0;
  for (Tenancy& t : tenancies) t.idle = std::min(t.time, t.idle * factor);
  return tenancies;
}

GpuUse use_of(const PartTally& part, const Presence& presence, const std::vector<Interval>& within,
              const IdleRule& rule) {
  GpuUse use;
  use.device = part.device;
  use.covered = total(within);
  use.interval = presence.interval;
  use.first = within.front().from;
  use.last = std::max(use.first, within.back().until - use.interval);
  use.filled = presence.filled;
  use.dropped = part.dropped;
  use.duplicated = presence.duplicated;
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    use.metrics[i] = metric_use(part, static_cast<Metric>(i), within);
  }
  // At every moment the best evidence of activity that there is counts.
  std::vector<Interval> seen;
  IdleTime idle;
  for (std::size_t row = 0; row < kActivityRows; ++row) {
    std::vector<Interval> known;
    for (const SeriesTally& series : part.series) {
      const Seconds own = series.known[row].usual_interval();
      for (const Interval& i : series.known[row].intervals(own > Seconds{} ? own : presence.interval))
        known.push_back(i);
    }
    const std::vector<Interval> fresh = subtract(intersect(unite(std::move(known)), within), seen);
    const IdleTime here = idle_within(part.curves, row, fresh, rule);
    idle.idle += here.idle;
    idle.held += here.held;
    seen.insert(seen.end(), fresh.begin(), fresh.end());
    seen = unite(std::move(seen));
  }
  use.known = total(seen);
  use.idle_share = use.covered > Seconds{} ? idle.idle / use.covered : 0;
  use.held_share = use.covered > Seconds{} ? std::min(idle.held, idle.idle) / use.covered : 0;
  if (const std::optional<Metric> activity = use.activity()) {
    use.changes = static_cast<double>(part.changes[static_cast<std::size_t>(kind_of(*activity).row)]);
  }
  use.profile = profile_of(part.curves, within);
  if (std::optional<MetricUse>& memory = use.metrics[static_cast<std::size_t>(Metric::kMemoryUsed)]) {
    memory->p50 = quantile_of(use.profile.memory.mean, 0.5);
    memory->p95 = quantile_of(use.profile.memory.mean, 0.95);
  }
  use.tenancies = tenancies_of(part, presence, use, within);
  finish_tenancies(use);
  return use;
}

// Which instances there were at the same time, and how long.
std::vector<MigLayout> layouts_of(const std::vector<PartTally*>& parts, const std::vector<Presence>& presences) {
  struct Event {
    TimePoint time;
    std::string instance;
    bool begins = false;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i]->device.mig_id.empty()) continue;
    for (const Interval& time : presences[i].covered) {
      events.push_back({time.from, instance_name(parts[i]->device), true});
      events.push_back({time.until, instance_name(parts[i]->device), false});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  std::map<std::set<std::string>, Seconds> together;
  std::set<std::string> now;
  TimePoint before;
  for (const Event& event : events) {
    if (!now.empty() && event.time > before) together[now] += event.time - before;
    before = event.time;
    if (event.begins) {
      now.insert(event.instance);
    } else {
      now.erase(event.instance);
    }
  }
  std::vector<MigLayout> layouts;
  for (const auto& [instances, time] : together) layouts.push_back({{instances.begin(), instances.end()}, time});
  return layouts;
}

}  // namespace

std::vector<GpuUse> account(const std::vector<PartTally*>& parts, const IdleRule& rule, Seconds fallback) {
  std::vector<Presence> presences;
  std::vector<Interval> partitioned;
  for (PartTally* part : parts) {
    presences.push_back(presence_of(*part, fallback));
    // Every step has a reading, or nobody read.
    while (part->curves.steps() > 1 && part->curves.width() < presences.back().interval) part->curves.coarsen();
    if (part->device.mig_id.empty()) continue;
    const std::vector<Interval>& covered = presences.back().covered;
    partitioned.insert(partitioned.end(), covered.begin(), covered.end());
  }
  partitioned = unite(std::move(partitioned));
  std::vector<GpuUse> uses;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool whole = parts[i]->device.mig_id.empty();
    // While there are instances, the GPU's own series see their work again.
    const std::vector<Interval> within = whole ? subtract(presences[i].covered, partitioned) : presences[i].covered;
    if (!within.empty()) uses.push_back(use_of(*parts[i], presences[i], within, rule));
  }
  if (!partitioned.empty() && !uses.empty()) {
    GpuUse free = free_part(uses.front(), total(partitioned));
    free.first = partitioned.front().from;
    free.last = std::max(free.first, partitioned.back().until - free.interval);
    free.layouts = layouts_of(parts, presences);
    uses.push_back(std::move(free));
  }
  return uses;
}

}  // namespace rightsize::fleet
