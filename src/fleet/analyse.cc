// The stages in order: judge, ledger, owners, actions.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "fleet/fleet.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

Totals make_totals(const std::vector<GpuRow>& gpus) {
  Totals totals;
  double first = 0, last = 0;
  for (const GpuRow& gpu : gpus) {
    ++totals.gpus;
    totals.gpu_hours += gpu.gpu_hours;
    totals.idle_gpu_hours += gpu.gpu_hours * std::min(1.0, gpu.use.idle_share);
    if (gpu.use.seconds > 0) {
      first = first == 0 ? gpu.use.first : std::min(first, gpu.use.first);
      last = std::max(last, gpu.use.last + gpu.use.step);
    }
    if (!gpu.spend_usd) continue;
    ++totals.priced;
    totals.spend_usd += *gpu.spend_usd;
    totals.waste_usd += *gpu.waste_usd();
    totals.usd_per_month += gpu.usd_per_month();
  }
  totals.window_seconds = last - first;
  return totals;
}

std::vector<std::string> make_notes(const std::vector<GpuRow>& gpus) {
  std::size_t unpriced = 0, assumed = 0, silent = 0, doubled = 0;
  std::map<std::string, std::size_t> names;
  std::string example;
  for (const GpuRow& gpu : gpus) {
    if (!gpu.spend_usd) {
      ++unpriced;
      ++names[gpu.use.device.name.empty() ? "(no model name)" : gpu.use.device.name];
    }
    if (gpu.price.basis == PriceBasis::kAssumed) {
      ++assumed;
      example = gpu.price.source;
    }
    if (gpu.verdict == Verdict::kUnknown && !gpu.use.from_job_log) ++silent;
    if (gpu.use.duplicated) ++doubled;
  }
  std::vector<std::string> notes;
  if (unpriced > 0) {
    notes.push_back(fmt::format("{} have no price and count in hours only ({}): give one with --price NAME=USD",
                                count_of(unpriced, "GPU"), names.begin()->first));
  }
  if (assumed > 0) {
    notes.push_back(
        fmt::format("the price of {} is assumed from the cheapest on-demand offer ({}): give yours with --price",
                    count_of(assumed, "GPU"), example));
  }
  if (silent > 0) {
    notes.push_back(
        fmt::format("{} report no activity metric: nothing can be said about their waste", count_of(silent, "GPU")));
  }
  if (doubled > 0) {
    notes.push_back(fmt::format("{} are reported by several series at once (replicas, two scrape jobs): counted once",
                                count_of(doubled, "GPU")));
  }
  return notes;
}

}  // namespace

namespace {

// Idleness is seen, not inferred, whatever else the verdict rests on: as sure as diagnose is of an idle GPU, which
// needs ten readings for it.
double sure_of_idleness(const GpuRow& gpu) {
  const bool few = gpu.use.step > 0 && gpu.use.seconds < 10 * gpu.use.step;
  return std::max(gpu.confidence, few ? 0.63 : 0.9);
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
      line.gpu_hours += gpu.gpu_hours * gpu.share[c];
      const double dollars = gpu.usd(line.category).value_or(0);
      line.usd += dollars;
      const bool seen = line.category == Category::kIdle || line.category == Category::kIdleHeld;
      const double by = gpu.spend_usd ? dollars : gpu.gpu_hours * gpu.share[c];
      line.confidence += by * (seen ? sure_of_idleness(gpu) : gpu.confidence);
      weight += by;
    }
    line.confidence = weight > 0 ? line.confidence / weight : 0;
  }
  return ledger;
}

std::vector<OwnerLine> make_owners(const std::vector<GpuRow>& gpus, const OwnerKey& key) {
  std::map<std::string, OwnerLine> lines;
  for (const GpuRow& gpu : gpus) {
    std::vector<Tenancy> tenancies = gpu.use.tenancies;
    if (tenancies.empty()) tenancies.push_back({{}, gpu.use.seconds, gpu.use.seconds * gpu.use.idle_share, 0, 0});
    double all = 0, idle = 0, active = 0;
    for (const Tenancy& t : tenancies) {
      all += t.seconds;
      idle += std::min(t.idle_seconds, t.seconds);
      active += t.seconds - std::min(t.idle_seconds, t.seconds);
    }
    if (all <= 0) continue;
    const double idle_waste = gpu.share_of(Category::kIdle) + gpu.share_of(Category::kIdleHeld);
    const double active_waste = gpu.waste_share() - idle_waste;
    std::map<std::string, bool> counted;
    for (const Tenancy& t : tenancies) {
      std::string name = key(t.owner, gpu.use.device);
      if (name.empty()) name = Owner{}.shown();
      OwnerLine& line = lines[name];
      line.owner = name;
      line.team = t.owner.team;
      if (!std::exchange(counted[name], true)) ++line.gpus;
      const double resting = std::min(t.idle_seconds, t.seconds);
      // Idle waste goes to whoever was idle, the rest to whoever was active.
      const double waste = (idle > 0 ? idle_waste * resting / idle : idle_waste * t.seconds / all) +
                           (active > 0 ? active_waste * (t.seconds - resting) / active : 0);
      line.gpu_hours += gpu.gpu_hours * t.seconds / all;
      line.idle_gpu_hours += gpu.gpu_hours * resting / all;
      line.usd += gpu.spend_usd.value_or(0) * t.seconds / all;
      line.waste_usd += gpu.spend_usd.value_or(0) * waste;
    }
  }
  std::vector<OwnerLine> owners;
  for (auto& [name, line] : lines) owners.push_back(std::move(line));
  std::stable_sort(owners.begin(), owners.end(),
                   [](const OwnerLine& a, const OwnerLine& b) { return a.waste_usd > b.waste_usd; });
  return owners;
}

std::vector<OwnerLine> make_owners(const std::vector<GpuRow>& gpus) {
  return make_owners(gpus, [](const Owner& owner, const Device&) { return owner.shown(); });
}

FleetAnalysis analyse(std::vector<GpuUse> gpus, const PriceBook& book, const Thresholds& thresholds) {
  FleetAnalysis analysis;
  analysis.gpus = judge(std::move(gpus), book);     // what each GPU did, and what it cost
  mark_overprovisioned(analysis.gpus, thresholds);  // replicas too many
  analysis.ledger = make_ledger(analysis.gpus);     // where the dollars went
  analysis.owners = make_owners(analysis.gpus);     // and whose they are
  analysis.totals = make_totals(analysis.gpus);
  ActionPlan plan = plan_actions(analysis.gpus, book, thresholds);  // what to do, no dollar twice
  analysis.actions = std::move(plan.actions);
  analysis.totals.savings_usd_per_month = plan.usd_per_month;
  analysis.totals.savings_bound_usd_per_month = plan.bound_usd_per_month;
  analysis.totals.remedies = plan.considered;
  analysis.notes = make_notes(analysis.gpus);
  return analysis;
}

}  // namespace rightsize::fleet
