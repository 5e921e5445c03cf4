#include "fleet/shard_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rightsize::fleet {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

double at(const Cells& cells, std::size_t i) { return i < cells.size() ? static_cast<double>(cells[i]) : 0; }

double sum(const Cells& cells) {
  double all = 0;
  for (float c : cells) all += static_cast<double>(c);
  return all;
}

// A mean interval, from the time within stretches and the readings in them.
double mean_interval(const GpuCells& gpu, const Grain& grain) {
  const double ends = sum(gpu.ends);
  const double within = sum(gpu.present) * grain.step - ends * grain.connected;
  if (gpu.readings - ends < 2 || within <= 0) return std::max(gpu.interval, grain.step);
  return std::clamp(within / (gpu.readings - ends), 0.5, grain.connected);
}

// Seconds covered by cell. A stretch seems to last `connected` after its last reading; one interval of it is true.
std::vector<double> covered_seconds(const GpuCells& gpu, const CellAxis& axis, const Grain& grain, double interval) {
  std::vector<double> seconds(axis.count, 0.0);
  for (std::size_t i = 0; i < axis.count; ++i) seconds[i] = at(gpu.present, i) * grain.step;
  for (std::size_t i = 0; i < axis.count; ++i) {
    double surplus = at(gpu.ends, i) * std::max(0.0, grain.connected - interval);
    for (std::size_t cell = i + 1; cell-- > 0 && surplus > 0;) {  // it may have begun in a cell before
      const double taken = std::min(surplus, seconds[cell]);
      seconds[cell] -= taken;
      surplus -= taken;
    }
  }
  return seconds;
}

// Proportions of a cell: `part` of `all`, or what the cell before had where nobody tells.
class Proportion {
 public:
  double of(double part, double all) { return all > 0 ? last_ = std::min(1.0, part / all) : last_; }

 private:
  double last_ = 0;
};

struct PartTime {
  std::vector<double> covered, known, idle;
};

double sum_over_owners(const PartCells& part, Cells OwnerCells::*cells, std::size_t i) {
  double all = 0;
  for (const auto& [owner, seen] : part.owners) all += at(seen.*cells, i);
  return all;
}

// How much of a part's time its activity is known for, and how much of that is idle.
// Single readings that are missing or had to be left out lie within five minutes of good ones: their time is known.
void measure_idle(PartTime& time, const GpuCells& gpu, const PartCells& part) {
  Proportion known, idle;
  for (std::size_t i = 0; i < time.covered.size(); ++i) {
    const double share = known.of(at(gpu.active, i), at(gpu.present, i));
    time.known.push_back(time.covered[i] * share);
    const double good = sum_over_owners(part, &OwnerCells::known, i);
    time.idle.push_back(time.known[i] * (share > 0 ? idle.of(sum_over_owners(part, &OwnerCells::idle, i), good) : 0));
  }
}

void set_ends(const std::vector<double>& covered, const CellAxis& axis, double interval, double& first, double& last) {
  first = last = 0;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] <= 0) continue;
    const double begin = axis.from + static_cast<double>(i) * axis.width;
    // A first cell that is covered in part is so at its end, a last one at its beginning.
    if (first == 0) first = begin + axis.width - covered[i];
    last = std::max(first, begin + covered[i] - interval);
  }
}

Curve curve_of(const PartCells& part, Metric metric, const CellAxis& axis) {
  Curve curve;
  const auto found = part.curves.find(metric);
  if (found == part.curves.end() || found->second.weight.empty()) return curve;
  for (std::size_t i = 0; i < axis.count; ++i) {
    const double weight = at(found->second.weight, i);
    curve.mean.push_back(weight > 0 ? static_cast<float>(at(found->second.sum, i) / weight) : kNone);
    curve.max.push_back(weight > 0 ? found->second.max[i] : kNone);
  }
  return curve;
}

void overlay(Curve& curve, const Curve& better) {
  if (curve.empty()) {
    curve = better;
    return;
  }
  for (std::size_t i = 0; i < better.mean.size(); ++i) {
    if (std::isnan(better.mean[i])) continue;
    curve.mean[i] = better.mean[i];
    curve.max[i] = better.max[i];
  }
}

Profile profile_of(const PartCells& part, const PartTime& time, const CellAxis& axis) {
  Profile profile;
  profile.start = axis.from;
  profile.width = axis.width;
  for (std::size_t i = std::size(kActivityMetrics); i-- > 0;) {
    overlay(profile.activity, curve_of(part, kActivityMetrics[i], axis));
  }
  profile.dram = curve_of(part, Metric::kDramActive, axis);
  profile.memory = curve_of(part, Metric::kMemoryUsed, axis);
  for (std::size_t i = 0; i < profile.activity.mean.size(); ++i) {
    const bool known = !std::isnan(profile.activity.mean[i]) && time.known[i] > 0;
    profile.idle.push_back(known ? static_cast<float>(time.idle[i] / time.known[i]) : kNone);
  }
  return profile;
}

// Means over the time covered, not over readings: intervals may change.
void set_means(GpuUse& use, const PartCells& part, const PartTime& time) {
  use.metrics = part.metrics;
  for (const auto& [metric, curve] : part.curves) {
    double total = 0, weight = 0, most = 0;
    for (std::size_t i = 0; i < curve.weight.size(); ++i) {
      if (at(curve.weight, i) <= 0 || time.covered[i] <= 0) continue;
      total += at(curve.sum, i) / at(curve.weight, i) * time.covered[i];
      weight += time.covered[i];
      most = std::max(most, at(curve.max, i));
    }
    std::optional<MetricUse>& slot = use.metrics[static_cast<std::size_t>(metric)];
    if (weight <= 0) {
      slot.reset();
      continue;
    }
    if (!slot) slot = MetricUse{};
    slot->mean = total / weight;
    slot->max = most;
  }
}

std::vector<Tenancy> tenancies_of(const GpuCells& gpu, const PartCells& part, const PartTime& time,
                                  const CellAxis& axis, double interval) {
  Cells OwnerCells::*measure = gpu.is_shared ? &OwnerCells::share : &OwnerCells::seen;
  std::vector<Tenancy> tenancies;
  std::vector<std::vector<double>> seconds(part.owners.size(), std::vector<double>(axis.count, 0.0));
  std::size_t last = axis.count;  // the last cell that tells whose it was
  for (std::size_t i = 0; i < axis.count; ++i) {
    if (sum_over_owners(part, measure, i) > 0) last = i;
    if (last == axis.count) continue;
    const double all = sum_over_owners(part, measure, last);
    std::size_t number = 0;
    for (const auto& [owner, cells] : part.owners)
      seconds[number++][i] = time.covered[i] * at(cells.*measure, last) / all;
  }
  double given = 0, total = 0;
  for (double s : time.covered) total += s;
  std::size_t number = 0;
  for (const auto& [owner, cells] : part.owners) {
    const std::vector<double>& mine = seconds[number++];
    Tenancy tenancy;
    tenancy.owner = owner;
    Proportion idle;
    for (std::size_t i = 0; i < axis.count; ++i) {
      tenancy.seconds += mine[i];
      const double known = time.covered[i] > 0 ? time.known[i] / time.covered[i] : 0;
      tenancy.idle_seconds += mine[i] * known * idle.of(at(cells.idle, i), at(cells.known, i));
    }
    if (tenancy.seconds <= 0) continue;
    set_ends(mine, axis, interval, tenancy.first, tenancy.last);
    tenancy.last += interval;
    tenancy.activity_p95 = cells.p95;
    if (cells.peak > 0) tenancy.activity_peak = cells.peak;
    if (cells.memory_peak > 0) tenancy.memory_peak_bytes = cells.memory_peak;
    given += tenancy.seconds;
    tenancies.push_back(std::move(tenancy));
  }
  if (total - given > interval) {
    Tenancy nobody;
    nobody.seconds = total - given;
    set_ends(time.covered, axis, interval, nobody.first, nobody.last);
    tenancies.push_back(std::move(nobody));
  }
  return tenancies;
}

double total(const std::vector<double>& values) {
  double all = 0;
  for (double v : values) all += v;
  return all;
}

GpuUse use_of(const GpuCells& gpu, const PartCells& part, PartTime time, const CellAxis& axis, const Grain& grain,
              double interval, const IdleRule& rule) {
  measure_idle(time, gpu, part);
  GpuUse use;
  use.device = part.device;
  use.seconds = total(time.covered);
  use.known_seconds = total(time.known);
  use.step = interval;
  use.changes = part.changes;
  use.duplicated = gpu.duplicated;
  set_ends(time.covered, axis, interval, use.first, use.last);
  set_means(use, part, time);
  use.profile = profile_of(part, time, axis);
  double held = 0, seen = 0, good = 0;
  for (std::size_t i = 0; i < axis.count; ++i) {
    const bool memory = i < use.profile.memory.mean.size() && !std::isnan(use.profile.memory.mean[i]);
    if (memory && static_cast<double>(use.profile.memory.mean[i]) > rule.held_above_bytes) held += time.idle[i];
    seen += sum_over_owners(part, &OwnerCells::seen, i);
    good += sum_over_owners(part, &OwnerCells::known, i);
  }
  if (grain.dirty && seen > good) use.dropped = static_cast<std::uint64_t>(gpu.readings * (1 - good / seen) + 0.5);
  use.idle_share = use.seconds > 0 ? total(time.idle) / use.seconds : 0;
  use.held_share = use.seconds > 0 ? held / use.seconds : 0;
  use.tenancies = tenancies_of(gpu, part, time, axis, interval);
  finish_tenancies(use);
  return use;
}

// The instances of one cell as layouts: those that were there as long as each other were there together. When the
// groups follow one another in the cell they are layouts of their own; else the shorter ones were there beside the
// longer.
void add_layouts(std::map<std::vector<std::string>, double>& layouts,
                 const std::vector<std::pair<std::string, double>>& instances, double partitioned, double slack) {
  std::vector<std::pair<double, std::vector<std::string>>> groups;
  for (const auto& [name, seconds] : instances) {
    if (seconds <= slack / 2) continue;
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return std::abs(g.first - seconds) <= slack; });
    if (same == groups.end()) {
      groups.push_back({seconds, {name}});
    } else {
      same->second.push_back(name);
    }
  }
  if (groups.empty()) return;
  std::sort(groups.begin(), groups.end());
  double all = 0;
  for (const auto& [seconds, names] : groups) all += seconds;
  if (groups.size() > 1 && all <= partitioned + slack) {
    for (const auto& [seconds, names] : groups) layouts[names] += seconds * partitioned / all;
    return;
  }
  double before = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::vector<std::string> names;
    for (std::size_t j = i; j < groups.size(); ++j) {
      names.insert(names.end(), groups[j].second.begin(), groups[j].second.end());
    }
    std::sort(names.begin(), names.end());
    const double until = i + 1 == groups.size() ? std::max(groups[i].first, partitioned) : groups[i].first;
    layouts[names] += until - before;
    before = until;
  }
}

}  // namespace

bool has_breaks(const GpuCells& gpu, const CellAxis& axis, const Grain& grain) {
  const double full = axis.width / grain.step;
  bool begun = false;
  for (std::size_t i = 0; i < axis.count; ++i) {
    const double moments = at(gpu.present, i);
    if (begun && moments < full - 0.5) return true;
    begun = begun || moments > 0;
  }
  return false;
}

bool has_overlaps(const GpuCells& gpu, const CellAxis& axis, const Grain& grain) {
  for (const auto& [name, part] : gpu.parts) {
    if (part.owners.size() < 2) continue;
    for (std::size_t i = 0; i < axis.count; ++i) {
      const double there = name.empty() && !gpu.is_partitioned() ? at(gpu.present, i) : at(part.seen, i);
      std::size_t owners = 0;
      for (const auto& [owner, cells] : part.owners) owners += at(cells.seen, i) > 0 ? 1 : 0;
      // Following one another, each goes on for the look back at most.
      const double slack = static_cast<double>(owners) * grain.lookback / grain.step;
      if (owners > 1 && sum_over_owners(part, &OwnerCells::seen, i) > there + slack) return true;
    }
  }
  return false;
}

std::vector<GpuUse> account(const GpuCells& gpu, const CellAxis& axis, const Grain& grain, const IdleRule& rule) {
  const double interval = mean_interval(gpu, grain);
  const std::vector<double> covered = covered_seconds(gpu, axis, grain, interval);
  std::vector<GpuUse> uses;
  std::map<std::vector<std::string>, double> layouts;
  std::vector<double> partitioned(axis.count, 0.0);
  std::map<std::string, std::vector<double>> by_part;
  std::map<std::string, Proportion> proportions;
  Proportion all_instances;
  for (std::size_t i = 0; i < axis.count; ++i) {
    if (!gpu.is_partitioned()) {
      by_part[""].push_back(covered[i]);
      continue;
    }
    partitioned[i] = covered[i] * all_instances.of(at(gpu.partitioned, i), at(gpu.seen, i));
    std::vector<std::pair<std::string, double>> instances;
    for (const auto& [name, part] : gpu.parts) {
      const double share = name.empty() ? 0 : proportions[name].of(at(part.seen, i), at(gpu.seen, i));
      by_part[name].push_back(name.empty() ? covered[i] - partitioned[i] : covered[i] * share);
      if (!name.empty()) instances.emplace_back(name, by_part[name].back());
    }
    if (partitioned[i] > 0) add_layouts(layouts, instances, partitioned[i], 2 * grain.step + grain.lookback);
  }
  for (const auto& [name, part] : gpu.parts) {
    PartTime time{by_part[name], {}, {}};
    if (total(time.covered) > (name.empty() && gpu.is_partitioned() ? grain.lookback : 0)) {
      uses.push_back(use_of(gpu, part, std::move(time), axis, grain, interval, rule));
    }
  }
  if (!layouts.empty() && !uses.empty()) {
    GpuUse free;
    free.device = uses.front().device;
    free.device.mig_id = kFreePart;
    free.device.mig_profile.clear();
    free.seconds = free.known_seconds = total(partitioned);
    free.step = interval;
    free.idle_share = 1;
    set_ends(partitioned, axis, interval, free.first, free.last);
    for (const auto& [names, seconds] : layouts) free.layouts.push_back({names, seconds});
    uses.push_back(std::move(free));
  }
  return uses;
}

}  // namespace rightsize::fleet
