// Turns the tallies of one physical GPU into its rows: its owners over time, its idle time, and its MIG layouts.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gpu_use/account.h"
#include "gpu_use/part_tally.h"

namespace rightsize::gpu_use {
namespace {

std::vector<TimeSpan> intersect(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b) {
  return subtract(a, subtract(a, b));
}

// The time covered by the series of a set that report any of these metrics.
std::vector<TimeSpan> covered_by(const LabelSet& set, const PartTally& part, std::uint32_t metrics, Seconds fallback) {
  std::vector<TimeSpan> spans;
  for (std::size_t number : set.series) {
    const SeriesTally& series = part.series[number];
    if ((series.metrics & metrics) == 0) continue;
    const Seconds own = series.present.usual_interval();
    append(spans, series.present.intervals(own > Seconds{} ? own : fallback));
  }
  return unite(std::move(spans));
}

std::uint32_t metrics_of(const LabelSet& set, const PartTally& part) {
  std::uint32_t metrics = 0;
  for (std::size_t number : set.series) metrics |= part.series[number].metrics;
  return metrics;
}

// A label that changes, such as a version, leaves an overlap of a few readings at most.
bool at_once(const LabelSet& a, const LabelSet& b, const PartTally& part, Seconds fallback) {
  const std::uint32_t metrics = metrics_of(a, part) & metrics_of(b, part);
  const std::vector<TimeSpan> one = covered_by(a, part, metrics, fallback);
  const std::vector<TimeSpan> other = covered_by(b, part, metrics, fallback);
  const Seconds both = total(intersect(one, other));
  return both > Seconds{} && both >= 0.2 * std::min(total(one), total(other));
}

// When one GPU or MIG instance was present, and its owners.
struct Presence {
  std::vector<OwnedSpan> owned;
  std::vector<TimeSpan> covered;
  Seconds interval, filled;
  bool duplicated = false;
};

Presence presence_of(const PartTally& part, Seconds fallback) {
  Presence presence;
  std::vector<TimeSpan> all;
  std::vector<Seconds> by_owner(part.owners.size());
  for (const SeriesTally& series : part.series) {
    const Seconds own = series.present.usual_interval();
    presence.filled = std::max(presence.filled, series.present.filled());
    for (const TimeSpan& i : series.present.intervals(own > Seconds{} ? own : fallback)) {
      presence.owned.push_back({i, series.owner});
      by_owner[series.owner] += i.length();
      all.push_back(i);
    }
  }
  presence.covered = unite(std::move(all));
  for (std::size_t owner = 0; owner < by_owner.size(); ++owner) {
    std::vector<TimeSpan> times;
    for (const OwnedSpan& i : presence.owned) {
      if (i.owner == owner) times.push_back(i.time);
    }
    // Two series with the same owner at the same time: replicas of a server, or two scrape jobs.
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

// Calls add(step, time) for each step of the curves that the intervals touch.
template <class Add>
void by_step(const CurveRows& curves, const std::vector<TimeSpan>& intervals, const Add& add) {
  for (const TimeSpan& i : intervals) {
    TimePoint from = i.from;
    for (std::size_t step = curves.step_of(i.from); from < i.until && step < curves.steps(); ++step) {
      const TimePoint until = step + 1 == curves.steps() ? i.until : std::min(i.until, curves.begin_of(step + 1));
      add(step, std::max(Seconds{}, until - from));
      from = std::max(from, until);
    }
  }
}

// Readings out of order have no duration, and concurrent series count the same time more than once. The mean is then
// taken over steps, which have a known duration.
double mean_of(const Tally& tally, const PartTally& part, int row, const std::vector<TimeSpan>& within) {
  const bool ordered = tally.loose * 10 < tally.count || tally.loose < 10;
  const bool once = tally.weight <= 1.05 * total(within);
  if (row < 0 || (ordered && once)) return tally.mean();
  double sum = 0;
  Seconds weight;
  by_step(part.curves, within, [&](std::size_t step, Seconds time) {
    const CurveCell* cell = part.curves.at(static_cast<std::size_t>(row), step);
    if (cell == nullptr) return;
    sum += static_cast<double>(cell->mean()) * in_seconds(time);
    weight += time;
  });
  return weight > Seconds{} ? sum / in_seconds(weight) : tally.mean();
}

std::optional<MetricUse> metric_use(const PartTally& part, Metric metric, const std::vector<TimeSpan>& within) {
  const std::unique_ptr<Tally>& tally = part.tallies[static_cast<std::size_t>(metric)];
  if (!tally || tally->count == 0) return std::nullopt;
  const MetricKind& kind = kind_of(metric);
  MetricUse use{mean_of(*tally, part, kind.row, within), std::nullopt, std::nullopt, tally->max};
  if (kind.share) {
    use.p50 = quantile_of(tally->histogram, 0.5, tally->max);
    use.p95 = quantile_of(tally->histogram, 0.95, tally->max);
  }
  return use;
}

std::optional<double> quantile_of_steps(std::vector<float> values, double share) {
  std::erase_if(values, [](float v) { return std::isnan(v); });
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return static_cast<double>(
      values[static_cast<std::size_t>(std::round(share * static_cast<double>(values.size() - 1)))]);
}

// An owner's activity, from the best metric available.
void describe(Tenancy& tenancy, const OwnerTally& tally) {
  for (std::size_t row = 0; row < kActivityRows; ++row) {
    if (tally.weight[row] <= Seconds{}) continue;
    tenancy.idle = tenancy.time * (tally.idle[row] / tally.weight[row]);
    tenancy.activity_peak = tally.activity_peak[row];
    tenancy.activity_p95 = quantile_of(*tally.histogram[row], 0.95, tally.activity_peak[row]);
    break;
  }
  if (tally.memory_peak > Bytes{}) tenancy.memory_peak = tally.memory_peak;
}

std::vector<Tenancy> tenancies_of(const PartTally& part, const Presence& presence, const GpuUse& use,
                                  const std::vector<TimeSpan>& within) {
  const auto unowned =
      static_cast<std::size_t>(std::ranges::find(part.owners, Owner{}, &OwnerTally::owner) - part.owners.begin());
  const std::vector<Seconds> shares = share_time(presence.owned, within, part.owners.size(), unowned);
  std::vector<Tenancy> tenancies;
  Seconds idle;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= Seconds{}) continue;
    Tenancy tenancy;
    tenancy.owner = part.owners[i].owner;
    tenancy.time = shares[i];
    describe(tenancy, part.owners[i]);
    tenancy.first = unix_seconds(std::numeric_limits<double>::infinity());
    for (const OwnedSpan& o : presence.owned) {
      if (o.owner != i) continue;
      tenancy.first = std::min(tenancy.first, o.time.from);
      tenancy.last = std::max(tenancy.last, o.time.until);
    }
    idle += tenancy.idle;
    tenancies.push_back(std::move(tenancy));
  }
  // Owners' idle time is weighted by readings, the GPU's by covered steps. The owners' sum must equal the GPU's.
  const double factor = idle > Seconds{} ? use.covered * use.idle_share / idle : 0;
  for (Tenancy& t : tenancies) t.idle = std::min(t.time, t.idle * factor);
  return tenancies;
}

// At each moment the best evidence of activity counts. A step without a reading (a filled gap) is as idle as the
// previous step.
StepTimes times_of(const PartTally& part, const Presence& presence, const std::vector<TimeSpan>& within,
                   std::size_t begin, std::size_t end) {
  StepTimes times(end - begin);
  std::vector<TimeSpan> seen;
  for (std::size_t row = 0; row < kActivityRows; ++row) {
    std::vector<TimeSpan> known;
    for (const SeriesTally& series : part.series) {
      const Seconds own = series.known[row].usual_interval();
      for (const TimeSpan& i : series.known[row].intervals(own > Seconds{} ? own : presence.interval))
        known.push_back(i);
    }
    const std::vector<TimeSpan> fresh = subtract(intersect(unite(std::move(known)), within), seen);
    const CurveCell* last = nullptr;
    by_step(part.curves, fresh, [&](std::size_t step, Seconds time) {
      if (const CurveCell* cell = part.curves.at(row, step)) last = cell;
      times.known[step - begin] += time;
      if (last != nullptr) times.idle[step - begin] += last->idle_share() * time;
    });
    append(seen, fresh);
    seen = unite(std::move(seen));
  }
  return times;
}

GpuUse use_of(const PartTally& part, const Presence& presence, const std::vector<TimeSpan>& within,
              const IdleRule& rule) {
  GpuUse use = begin_use(part.device, total(within), {within.front().from, within.back().until}, presence.interval);
  use.filled = presence.filled;
  use.dropped = part.dropped;
  use.duplicated = presence.duplicated;
  if (part.device.mig_id.empty()) use.fine = part.fine;
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    if (const std::optional<MetricUse> found = metric_use(part, metric, within)) use.metrics[metric] = *found;
  }
  if (part.curves.steps() > 0) {
    const TimePoint last = unix_seconds(std::nextafter(in_unix_seconds(within.back().until), 0.0));
    const std::size_t begin = part.curves.step_of(within.front().from), end = part.curves.step_of(last) + 1;
    use.profile = make_profile(part.curves.begin_of(begin), part.curves.width(), end - begin,
                               [&](Metric metric, std::size_t step) -> std::optional<std::pair<float, float>> {
                                 const CurveCell* cell =
                                     part.curves.at(static_cast<std::size_t>(kind_of(metric).row), begin + step);
                                 if (cell == nullptr) return std::nullopt;
                                 return std::pair(cell->mean(), cell->max);
                               });
    set_idle(use, times_of(part, presence, within, begin, end), rule);
  }
  if (const std::optional<Metric> activity = use.activity()) {
    use.changes = static_cast<double>(part.changes[static_cast<std::size_t>(kind_of(*activity).row)]);
  }
  if (const auto memory = use.metrics.find(Metric::kMemoryUsed); memory != use.metrics.end()) {
    memory->second.p50 = quantile_of_steps(use.profile.memory.mean, 0.5);
    memory->second.p95 = quantile_of_steps(use.profile.memory.mean, 0.95);
  }
  use.tenancies = tenancies_of(part, presence, use, within);
  std::ranges::stable_sort(use.tenancies, std::ranges::greater(), &Tenancy::time);
  return use;
}

// Which instances existed at the same time, and for how long.
std::vector<MigPeriod> layouts_of(const std::vector<PartTally*>& parts, const std::vector<Presence>& presences) {
  std::vector<OwnedSpan> spans;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i]->device.mig_id.empty()) continue;
    for (const TimeSpan& time : presences[i].covered) spans.push_back({time, i});
  }
  std::map<std::set<std::string>, Seconds> together;
  for_each_period(spans, [&](Seconds length, const std::set<std::size_t>& present) {
    std::set<std::string> names;
    for (std::size_t i : present) names.insert(instance_name(parts[i]->device));
    together[names] += length;
  });
  std::vector<MigPeriod> layouts;
  for (const auto& [instances, time] : together) layouts.push_back({{instances.begin(), instances.end()}, time});
  return layouts;
}

}  // namespace

std::optional<telemetry::IdentityConflict> conflict_in(const PartTally& part, Seconds fallback) {
  const std::vector<LabelSet>& sets = part.label_sets;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (telemetry::differing(sets[i].labels, sets[j].labels).empty() || !at_once(sets[i], sets[j], part, fallback))
        continue;
      telemetry::IdentityConflict conflict{.device = part.device.key(), .series = sets.size()};
      for (const LabelSet& set : sets) {
        for (const std::string& name :
             telemetry::differing(set.labels, sets[set.labels == sets[i].labels ? j : i].labels))
          conflict.labels[name].insert(set.labels.at(name));
      }
      return conflict;
    }
  }
  return std::nullopt;
}

std::vector<GpuUse> account(const std::vector<PartTally*>& parts, const IdleRule& rule, Seconds fallback) {
  std::vector<Presence> presences;
  std::vector<TimeSpan> partitioned;
  for (PartTally* part : parts) {
    presences.push_back(presence_of(*part, fallback));
    // A step shorter than the interval between readings would often be empty.
    while (part->curves.steps() > 1 && part->curves.width() < presences.back().interval) part->curves.coarsen();
    if (part->device.mig_id.empty()) continue;
    append(partitioned, presences.back().covered);
  }
  partitioned = unite(std::move(partitioned));
  std::vector<GpuUse> uses;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool whole = parts[i]->device.mig_id.empty();
    // While instances exist, the GPU's own series report their work a second time.
    const std::vector<TimeSpan> within = whole ? subtract(presences[i].covered, partitioned) : presences[i].covered;
    if (!within.empty()) uses.push_back(use_of(*parts[i], presences[i], within, rule));
  }
  if (!partitioned.empty()) {
    add_free_part(uses, total(partitioned), {partitioned.front().from, partitioned.back().until},
                  layouts_of(parts, presences));
  }
  return uses;
}

}  // namespace rightsize::gpu_use
