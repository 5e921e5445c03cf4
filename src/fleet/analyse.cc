// The stages in order: judge, ledger, owners, actions.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "fleet/fleet.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

FleetTotals make_totals(const std::vector<GpuRow>& gpus) {
  FleetTotals totals;
  for (const GpuRow& gpu : gpus) {
    ++totals.gpus;
    totals.gpu_time += gpu.gpu_time;
    totals.idle += gpu.gpu_time * std::min(1.0, gpu.use.idle_share);
    totals.measured = totals.measured || gpu.use.activity().has_value();
    if (const std::optional<Joules> energy = gpu.energy()) {
      totals.energy = totals.energy.value_or(Joules{}) + *energy;
      totals.powered += gpu.gpu_time;
    }
    if (!gpu.spend) continue;
    ++totals.priced;
    totals.spend += *gpu.spend;
    totals.waste += *gpu.waste();
    totals.spend_rate += gpu.spend_rate();
  }
  totals.window = window_of(gpus).length();
  return totals;
}

std::vector<std::string> make_notes(const std::vector<GpuRow>& gpus) {
  std::vector<std::string> notes;
  // `detail` is what the note lists of the GPUs it is about, each text once.
  const auto note = [&](const char* text, auto applies, auto detail) {
    std::set<std::string> details;
    std::size_t count = 0;
    for (const GpuRow& gpu : gpus) {
      if (!applies(gpu)) continue;
      ++count;
      details.insert(detail(gpu));
    }
    if (count > 0) notes.push_back(fmt::format(fmt::runtime(text), count_of(count, "GPU"), fmt::join(details, "; ")));
  };
  const auto no_example = [](const GpuRow&) { return ""; };
  note(
      "{} without a price, counted in hours only; give dollars per GPU-hour: {}",
      [](const GpuRow& gpu) { return !gpu.spend; },
      [](const GpuRow& gpu) {
        const std::string& name = gpu.use.device.name;
        return name.empty() ? "--price USD (these have no model name)" : fmt::format("--price '{}=USD'", name);
      });
  note(
      "the price of {} is assumed from the cheapest on-demand offer ({}): set yours with --price",
      [](const GpuRow& gpu) { return gpu.price.basis == PriceBasis::kAssumed; },
      [](const GpuRow& gpu) { return gpu.price.source; });
  note(
      "{} without an activity metric: their waste is unknown",
      [](const GpuRow& gpu) { return gpu.verdict == Verdict::kUnknown && !gpu.use.from_job_log; }, no_example);
  note(
      "{} with one reading: it counts as {} of use, and no work is moved because of one instant",
      [](const GpuRow& gpu) { return gpu.use.is_one_reading(); },
      [](const GpuRow& gpu) { return format_duration(gpu.use.covered); });
  note(
      "{} reported by several series at once (replicas, two scrape jobs), counted once",
      [](const GpuRow& gpu) { return gpu.use.duplicated; }, no_example);
  return notes;
}

// Idleness is observed, not inferred, so it is as certain as the verdict of diagnose on an idle GPU, which needs ten
// readings.
double sure_of_idleness(const GpuRow& gpu) {
  const bool few = gpu.use.interval > Seconds{} && gpu.use.covered < 10 * gpu.use.interval;
  return std::max(gpu.confidence, few ? 0.63 : 0.9);
}

// A commitment makes waste cheaper but does not remove it.
std::vector<UnplannedWaste> find_unplanned(const std::vector<GpuRow>& gpus, const std::vector<FleetAction>& actions) {
  constexpr double kOfAllWaste = 0.05, kOfItsSpend = 0.1;  // less is not worth a line
  std::vector<bool> planned(gpus.size());
  for (const FleetAction& action : actions) {
    if (action.kind == ActionKind::kCommit) continue;
    for (const std::size_t gpu : action.gpus) planned[gpu] = true;
  }
  struct OwnerWaste {
    UnplannedWaste waste;
    UsdPerSecond spend;
    std::map<Verdict, UsdPerSecond> by_verdict;
  };
  std::map<std::string, OwnerWaste> sums;
  UsdPerSecond all;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const UsdPerSecond rate = gpus[i].spend_rate() * gpus[i].waste_share();
    all += rate;
    // The jobs of a log have ended, so there is nothing to act on; one reading is no reason to act.
    const bool passed = gpus[i].use.from_job_log || gpus[i].use.is_one_reading();
    if (planned[i] || passed || !(rate > UsdPerSecond{})) continue;
    OwnerWaste& sum = sums[gpus[i].owner().shown()];
    ++sum.waste.gpus;
    sum.waste.memory_known = sum.waste.memory_known && gpus[i].use.metric(Metric::kMemoryUsed) != nullptr;
    sum.waste.rate += rate;
    sum.spend += gpus[i].spend_rate();
    sum.by_verdict[gpus[i].verdict] += rate;
  }
  std::vector<UnplannedWaste> found;
  for (auto& [owner, sum] : sums) {
    if (sum.waste.rate < all * kOfAllWaste || sum.waste.rate < sum.spend * kOfItsSpend) continue;
    sum.waste.owner = owner;
    sum.waste.verdict =
        std::ranges::max_element(sum.by_verdict, {}, [](const auto& entry) { return entry.second; })->first;
    found.push_back(std::move(sum.waste));
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &UnplannedWaste::rate);
  return found;
}

}  // namespace

std::vector<LedgerLine> make_ledger(const std::vector<GpuRow>& gpus) {
  std::vector<LedgerLine> ledger(kCategories);
  for (std::size_t c = 0; c < kCategories; ++c) {
    LedgerLine& line = ledger[c];
    line.category = static_cast<Category>(c);
    double weight = 0;
    for (const GpuRow& gpu : gpus) {
      if (gpu.share[c] <= 0) continue;
      ++line.gpus;
      const Usd dollars = gpu.spend.value_or(Usd{}) * gpu.share[c];
      line.gpu_time += gpu.gpu_time * gpu.share[c];
      line.spend += dollars;
      const bool seen = line.category == Category::kIdle || line.category == Category::kIdleHeld;
      const double by = gpu.spend ? in_usd(dollars) : in_gpu_hours(gpu.gpu_time) * gpu.share[c];
      line.confidence += by * (seen ? sure_of_idleness(gpu) : gpu.confidence);
      weight += by;
    }
    line.confidence = weight > 0 ? line.confidence / weight : 0;
  }
  Usd all;
  for (const LedgerLine& line : ledger) all += line.spend;
  for (LedgerLine& line : ledger) line.share = all > Usd{} ? std::optional(line.spend / all) : std::nullopt;
  return ledger;
}

namespace {

// A job log does not record which GPU of a host a job used, so the waste of active GPUs of one type is split by how
// little each owner's jobs used them.
struct JobLogWaste {
  Usd all;
  struct Use {
    Seconds slack, active;
  } total;
  std::map<std::string, Use> by_owner;

  void add(const std::string& owner, Seconds slack, Seconds active) {
    for (Use* use : {&total, &by_owner[owner]}) use->slack += slack, use->active += active;
  }
  double share(const Use& of) const {
    return total.slack > Seconds{} ? of.slack / total.slack : total.active > Seconds{} ? of.active / total.active : 0;
  }
};

}  // namespace

std::vector<GroupLine> make_owners(const std::vector<GpuRow>& gpus, const OwnerKey& key) {
  std::map<std::string, GroupLine> lines;
  std::map<std::string, JobLogWaste> job_logs;  // by GPU type
  for (const GpuRow& gpu : gpus) {
    const Tenancy whole{{}, gpu.use.covered, gpu.use.covered * gpu.use.idle_share};
    const std::span<const Tenancy> tenancies =
        gpu.use.tenancies.empty() ? std::span(&whole, 1) : std::span(gpu.use.tenancies);
    Seconds all, idle;
    for (const Tenancy& t : tenancies) {
      all += t.time;
      idle += std::min(t.idle, t.time);
    }
    const Seconds active = all - idle;
    if (all <= Seconds{}) continue;
    const double idle_waste = gpu.share_of(Category::kIdle) + gpu.share_of(Category::kIdleHeld);
    const double active_waste = gpu.waste_share() - idle_waste;
    std::map<std::string, bool> counted;
    JobLogWaste* job_log = gpu.use.from_job_log && gpu.spend ? &job_logs[gpu.use.device.name] : nullptr;
    if (job_log != nullptr) job_log->all += *gpu.spend * active_waste;
    for (const Tenancy& t : tenancies) {
      std::string name = key(t.owner, gpu.use.device);
      if (name.empty()) name = Owner{}.shown();
      GroupLine& line = lines[name];
      line.name = name;
      line.team = t.owner.team;
      // A job log does not record which GPU of a host a job used.
      if (!gpu.use.from_job_log && !std::exchange(counted[name], true)) ++line.gpus;
      const Seconds resting = std::min(t.idle, t.time);
      // Idle waste belongs to the owners who were idle, the rest to those who were active.
      const bool here = job_log == nullptr && active > Seconds{};
      const double waste = idle_waste * (idle > Seconds{} ? resting / idle : t.time / all) +
                           (here ? active_waste * ((t.time - resting) / active) : 0);
      if (job_log != nullptr) job_log->add(name, t.slack, t.time - resting);
      line.gpu_time += gpu.gpu_time * (t.time / all);
      line.idle = line.idle.value_or(GpuTime{}) + gpu.gpu_time * (resting / all);
      line.priced = line.priced || gpu.spend;
      line.spend += gpu.spend.value_or(Usd{}) * (t.time / all);
      line.waste += gpu.spend.value_or(Usd{}) * waste;
      if (const std::optional<Joules> energy = gpu.energy())
        line.energy = line.energy.value_or(Joules{}) + *energy * (t.time / all);
    }
  }
  for (const auto& [model, job_log] : job_logs) {
    for (const auto& [name, use] : job_log.by_owner) lines[name].waste += job_log.all * job_log.share(use);
  }
  std::vector<GroupLine> owners;
  owners.reserve(lines.size());
  for (auto& [name, line] : lines) owners.push_back(std::move(line));
  std::ranges::stable_sort(owners, std::ranges::greater(),
                           [](const GroupLine& line) { return std::tuple(line.waste, line.spend, line.gpu_time); });
  return owners;
}

std::vector<GroupLine> make_owners(const std::vector<GpuRow>& gpus) {
  return make_owners(gpus, [](const Owner& owner, const Device&) { return owner.shown(); });
}

FleetAnalysis analyse(std::vector<GpuUse> gpus, const FleetAssumptions& assumptions) {
  FleetAnalysis analysis;
  analysis.gpus = judge(std::move(gpus), assumptions.prices);   // the verdict and cost of each GPU
  mark_overprovisioned(analysis.gpus, assumptions.thresholds);  // surplus replicas
  analysis.ledger = make_ledger(analysis.gpus);                 // where the dollars went
  analysis.owners = make_owners(analysis.gpus);                 // and who spent them
  analysis.totals = make_totals(analysis.gpus);
  analysis.caps = find_caps(analysis.gpus, assumptions);       // what power caps would save
  ActionPlan plan = plan_actions(analysis.gpus, assumptions);  // what to do; no dollar is saved twice
  analysis.actions = std::move(plan.actions);
  analysis.unplanned = find_unplanned(analysis.gpus, analysis.actions);  // and the remaining waste
  analysis.totals.saving = plan.saving;
  analysis.totals.saving_bound = plan.bound;
  for (const FleetAction& action : analysis.actions) {
    if (!action.counted) analysis.totals.not_counted += action.saving;
  }
  analysis.totals.remedies = plan.considered;
  analysis.notes = make_notes(analysis.gpus);
  return analysis;
}

}  // namespace rightsize::fleet
