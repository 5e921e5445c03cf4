#include "gpu_use/account_cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu_use/account.h"

namespace rightsize::gpu_use {
namespace {

double at(const Cells& cells, std::size_t i) { return i < cells.size() ? static_cast<double>(cells[i]) : 0; }

double sum(const Cells& cells) { return std::accumulate(cells.begin(), cells.end(), 0.0); }

// The mean interval: the time within stretches divided by the readings in them.
Seconds mean_interval(const GpuCells& gpu, const Grain& grain) {
  const double ends = sum(gpu.ends);
  const Seconds within = sum(gpu.present) * grain.step - ends * grain.connected;
  if (gpu.readings - ends < 2 || within <= Seconds{}) return std::max(gpu.interval, grain.step);
  return std::clamp(within / (gpu.readings - ends), seconds(0.5), grain.connected);
}

using Times = std::vector<Seconds>;  // per step

// The covered time of each step. A stretch appears to last `connected` after its last reading, but covers one interval.
Times covered_times(const GpuCells& gpu, const StepAxis& axis, const Grain& grain, Seconds interval) {
  Times covered(axis.count);
  for (std::size_t i = 0; i < axis.count; ++i) covered[i] = at(gpu.present, i) * grain.step;
  for (std::size_t i = 0; i < axis.count; ++i) {
    Seconds surplus = at(gpu.ends, i) * std::max(Seconds{}, grain.connected - interval);
    for (std::size_t cell = i + 1; cell-- > 0 && surplus > Seconds{};) {  // it may begin in an earlier step
      const Seconds taken = std::min(surplus, covered[cell]);
      covered[cell] -= taken;
      surplus -= taken;
    }
  }
  return covered;
}

// `part` divided by `all` in a step, or the value of the previous step if nothing is known.
class Proportion {
 public:
  double of(double part, double all) { return all > 0 ? last_ = std::min(1.0, part / all) : last_; }

 private:
  double last_ = 0;
};

double sum_over_owners(const PartCells& part, Cells OwnerCells::*cells, std::size_t i) {
  double all = 0;
  for (const auto& [owner, seen] : part.owners) all += at(seen.*cells, i);
  return all;
}

// The part of the covered time with known activity, and its idle part. Single readings that are missing or were left
// out lie within five minutes of good ones, so their time counts as known.
StepTimes times_of(Times covered, const GpuCells& gpu, const PartCells& part) {
  StepTimes time(covered.size());
  time.covered = std::move(covered);
  Proportion known, idle;
  for (std::size_t i = 0; i < time.covered.size(); ++i) {
    const double share = known.of(at(gpu.active, i), at(gpu.present, i));
    time.known[i] = time.covered[i] * share;
    const double good = sum_over_owners(part, &OwnerCells::known, i);
    if (share > 0) time.idle[i] = time.known[i] * idle.of(sum_over_owners(part, &OwnerCells::idle, i), good);
  }
  return time;
}

// From the beginning of the first step with covered time to the end of the last. A partly covered first step is covered
// at its end, a partly covered last step at its beginning.
TimeSpan span_of(const Times& covered, const StepAxis& axis) {
  TimeSpan span;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] <= Seconds{}) continue;
    if (span.from == TimePoint{}) span.from = axis.begin_of(i) + axis.width - covered[i];
    span.until = axis.begin_of(i) + covered[i];
  }
  return span;
}

Profile profile_of(const PartCells& part, const StepAxis& axis) {
  return make_profile(axis.from, axis.width, axis.count,
                      [&](Metric metric, std::size_t i) -> std::optional<std::pair<float, float>> {
                        const auto curve = part.curves.find(metric);
                        const double weight = curve == part.curves.end() ? 0 : at(curve->second.weight, i);
                        if (weight <= 0) return std::nullopt;
                        return std::pair(static_cast<float>(at(curve->second.sum, i) / weight), curve->second.max[i]);
                      });
}

// Means over the time covered, not over readings, because intervals may change.
void set_means(GpuUse& use, const PartCells& part, const StepTimes& time) {
  use.metrics = part.metrics;
  for (const auto& [metric, curve] : part.curves) {
    Seconds sum, weight;  // `sum` is time times value
    double most = 0;
    for (std::size_t i = 0; i < curve.weight.size(); ++i) {
      if (at(curve.weight, i) <= 0 || time.covered[i] <= Seconds{}) continue;
      sum += at(curve.sum, i) / at(curve.weight, i) * time.covered[i];
      weight += time.covered[i];
      most = std::max(most, at(curve.max, i));
    }
    if (weight <= Seconds{}) {
      use.metrics.erase(metric);
      continue;
    }
    MetricUse& slot = use.metrics[metric];
    slot.mean = sum / weight;
    slot.max = most;
  }
}

std::vector<Tenancy> tenancies_of(const GpuCells& gpu, const PartCells& part, const StepTimes& time,
                                  const StepAxis& axis, Seconds interval) {
  Cells OwnerCells::*measure = gpu.is_shared ? &OwnerCells::share : &OwnerCells::seen;
  std::vector<Tenancy> tenancies;
  std::vector<Times> times(part.owners.size(), Times(axis.count));
  std::size_t last = axis.count;  // the last step with a known owner
  for (std::size_t i = 0; i < axis.count; ++i) {
    if (sum_over_owners(part, measure, i) > 0) last = i;
    if (last == axis.count) continue;
    const double all = sum_over_owners(part, measure, last);
    std::size_t number = 0;
    for (const auto& [owner, cells] : part.owners)
      times[number++][i] = time.covered[i] * at(cells.*measure, last) / all;
  }
  Seconds given;
  std::size_t number = 0;
  for (const auto& [owner, cells] : part.owners) {
    const Times& mine = times[number++];
    Tenancy tenancy;
    tenancy.owner = owner;
    Proportion idle;
    for (std::size_t i = 0; i < axis.count; ++i) {
      tenancy.time += mine[i];
      const double known = time.covered[i] > Seconds{} ? time.known[i] / time.covered[i] : 0;
      tenancy.idle += mine[i] * known * idle.of(at(cells.idle, i), at(cells.known, i));
    }
    if (tenancy.time <= Seconds{}) continue;
    const TimeSpan span = span_of(mine, axis);
    tenancy.first = span.from;
    tenancy.last = std::max(span.from + interval, span.until);
    tenancy.activity_p95 = cells.p95;
    if (cells.peak > 0) tenancy.activity_peak = cells.peak;
    if (cells.memory_peak > Bytes{}) tenancy.memory_peak = cells.memory_peak;
    given += tenancy.time;
    tenancies.push_back(std::move(tenancy));
  }
  if (const Seconds rest = total(time.covered) - given; rest > interval) {
    const TimeSpan span = span_of(time.covered, axis);
    tenancies.push_back(
        {.owner = {}, .time = rest, .first = span.from, .last = std::max(span.from, span.until - interval)});
  }
  return tenancies;
}

GpuUse use_of(const GpuCells& gpu, const PartCells& part, const StepTimes& time, const StepAxis& axis,
              const Grain& grain, Seconds interval, const IdleRule& rule) {
  GpuUse use = begin_use(part.device, total(time.covered), span_of(time.covered, axis), interval);
  use.changes = part.changes;
  use.duplicated = gpu.duplicated;
  set_means(use, part, time);
  use.profile = profile_of(part, axis);
  set_idle(use, time, rule);
  if (grain.dirty) {
    double seen = 0, good = 0;
    for (std::size_t i = 0; i < axis.count; ++i) {
      seen += sum_over_owners(part, &OwnerCells::seen, i);
      good += sum_over_owners(part, &OwnerCells::known, i);
    }
    if (seen > good) use.dropped = static_cast<std::uint64_t>(std::round(gpu.readings * (1 - good / seen)));
  }
  use.tenancies = tenancies_of(gpu, part, time, axis, interval);
  std::ranges::stable_sort(use.tenancies, std::ranges::greater(), &Tenancy::time);
  return use;
}

// The MIG layouts of one step. Instances with the same lifetime existed together. If such groups fit one after the
// other into the step, each is a layout; otherwise the shorter-lived instances existed alongside the longer-lived ones.
void add_layouts(std::map<std::vector<std::string>, Seconds>& layouts,
                 const std::vector<std::pair<std::string, Seconds>>& instances, Seconds partitioned, Seconds slack) {
  std::vector<std::pair<Seconds, std::vector<std::string>>> groups;
  for (const auto& [name, time] : instances) {
    if (time <= slack / 2) continue;
    const auto same = std::ranges::find_if(
        groups, [&, time = time](const auto& g) { return g.first - time <= slack && time - g.first <= slack; });
    if (same == groups.end()) {
      groups.push_back({time, {name}});
    } else {
      same->second.push_back(name);
    }
  }
  if (groups.empty()) return;
  std::ranges::sort(groups);
  Seconds all;
  for (const auto& [time, names] : groups) all += time;
  if (groups.size() > 1 && all <= partitioned + slack) {
    for (const auto& [time, names] : groups) layouts[names] += time * (partitioned / all);
    return;
  }
  Seconds before;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::string> names;
    for (std::size_t j = i; j < groups.size(); ++j) {
      names.insert(names.end(), groups[j].second.begin(), groups[j].second.end());
    }
    std::ranges::sort(names);
    const Seconds until = i + 1 == groups.size() ? std::max(groups[i].first, partitioned) : groups[i].first;
    layouts[names] += until - before;
    before = until;
  }
}

}  // namespace

bool has_breaks(const GpuCells& gpu, const StepAxis& axis, const Grain& grain) {
  const double full = axis.width / grain.step;
  bool begun = false;
  for (std::size_t i = 0; i < axis.count; ++i) {
    const double moments = at(gpu.present, i);
    if (begun && moments < full - 0.5) return true;
    begun = begun || moments > 0;
  }
  return false;
}

bool has_overlaps(const GpuCells& gpu, const StepAxis& axis, const Grain& grain) {
  for (const auto& [name, part] : gpu.parts) {
    if (part.owners.size() < 2) continue;
    for (std::size_t i = 0; i < axis.count; ++i) {
      const double there = name.empty() && !gpu.is_partitioned() ? at(gpu.present, i) : at(part.seen, i);
      std::size_t owners = 0;
      for (const auto& [owner, cells] : part.owners) owners += at(cells.seen, i) > 0 ? 1 : 0;
      // Successive owners overlap by at most the lookback.
      const double slack = static_cast<double>(owners) * grain.lookback / grain.step;
      if (owners > 1 && sum_over_owners(part, &OwnerCells::seen, i) > there + slack) return true;
    }
  }
  return false;
}

std::vector<GpuUse> account(const GpuCells& gpu, const StepAxis& axis, const Grain& grain, const IdleRule& rule) {
  const Seconds interval = mean_interval(gpu, grain);
  const Times covered = covered_times(gpu, axis, grain, interval);
  std::map<std::vector<std::string>, Seconds> layouts;
  Times partitioned(axis.count);
  std::map<std::string, Times> by_part;
  std::map<std::string, Proportion> proportions;
  Proportion all_instances;
  if (!gpu.is_partitioned()) by_part[""] = covered;
  for (std::size_t i = 0; i < axis.count && gpu.is_partitioned(); ++i) {
    partitioned[i] = covered[i] * all_instances.of(at(gpu.partitioned, i), at(gpu.seen, i));
    std::vector<std::pair<std::string, Seconds>> instances;
    for (const auto& [name, part] : gpu.parts) {
      const double share = name.empty() ? 0 : proportions[name].of(at(part.seen, i), at(gpu.seen, i));
      by_part[name].push_back(name.empty() ? covered[i] - partitioned[i] : covered[i] * share);
      if (!name.empty()) instances.emplace_back(name, by_part[name].back());
    }
    if (partitioned[i] > Seconds{}) add_layouts(layouts, instances, partitioned[i], 2 * grain.step + grain.lookback);
  }
  std::vector<GpuUse> uses;
  for (const auto& [name, part] : gpu.parts) {
    const Seconds least = name.empty() && gpu.is_partitioned() ? grain.lookback : Seconds{};
    if (total(by_part[name]) <= least) continue;
    uses.push_back(use_of(gpu, part, times_of(by_part[name], gpu, part), axis, grain, interval, rule));
  }
  if (!layouts.empty()) {
    std::vector<MigPeriod> list;
    for (const auto& [names, time] : layouts) list.push_back({names, time});
    add_free_part(uses, total(partitioned), span_of(partitioned, axis), std::move(list));
  }
  return uses;
}

}  // namespace rightsize::gpu_use
