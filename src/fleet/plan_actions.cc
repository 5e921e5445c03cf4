// Every cure, and which of them may stand together.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "fleet/candidates.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

constexpr double kLeastUsd = 1;  // a month; less is not worth a line

// What is left of a candidate when GPUs that already have a cure are taken away.
bool without_taken(Candidate& candidate, const std::vector<bool>& taken) {
  Action& action = candidate.action;
  const bool overlaps = std::any_of(action.gpus.begin(), action.gpus.end(), [&](std::size_t i) { return taken[i]; });
  if (!overlaps) return true;
  if (!candidate.separable) return false;
  std::vector<std::size_t> gpus;
  std::vector<double> savings;
  for (std::size_t i = 0; i < action.gpus.size(); ++i) {
    if (taken[action.gpus[i]]) continue;
    gpus.push_back(action.gpus[i]);
    savings.push_back(candidate.saving_each[i]);
  }
  // Its words count the GPUs it began with: such a remainder is found again by itself in the next round.
  action.gpus = std::move(gpus);
  candidate.saving_each = std::move(savings);
  return false;
}

std::vector<Candidate> find_all(const CureInput& input) {
  std::vector<Candidate> all;
  for (auto* find :
       {find_stops, find_replica_cuts, find_consolidations, find_partitions, find_downsizes, find_quantizations}) {
    for (Candidate& candidate : find(input)) all.push_back(std::move(candidate));
  }
  std::erase_if(all, [](const Candidate& c) { return c.action.usd_per_month < kLeastUsd; });
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.action.usd_per_month > b.action.usd_per_month;
  });
  return all;
}

void accept(Candidate candidate, std::vector<Action>& actions, std::vector<bool>& taken) {
  for (std::size_t i : candidate.action.gpus) taken[i] = true;
  actions.push_back(std::move(candidate.action));
}

// A cure that lost: the winner for its first GPU remembers it.
void note_loser(const Candidate& loser, std::vector<Action>& actions) {
  for (Action& action : actions) {
    const bool shared = std::any_of(loser.action.gpus.begin(), loser.action.gpus.end(), [&](std::size_t i) {
      return std::find(action.gpus.begin(), action.gpus.end(), i) != action.gpus.end();
    });
    if (!shared || action.instead_of.size() >= 3) continue;
    action.instead_of.push_back(fmt::format("{}: {} ({} a month)", name_of(loser.action.kind), loser.action.what,
                                            money(loser.action.usd_per_month)));
    return;
  }
}

// The rows a further round may look at: those without a cure. Rows keep their numbers; the taken ones lose their price.
std::vector<GpuRow> remaining(const std::vector<GpuRow>& gpus, const std::vector<bool>& taken) {
  std::vector<GpuRow> rest = gpus;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (!taken[i]) continue;
    rest[i].price.rate.reset();
    rest[i].use.profile = {};
  }
  return rest;
}

}  // namespace

std::vector<Action> plan_actions(const std::vector<GpuRow>& gpus, const PriceBook& book, const Thresholds& thresholds) {
  std::vector<Action> actions;
  std::vector<bool> taken(gpus.size(), false);
  const perf::SpeedTable speeds(book.catalog(), *perf::load_constants(""));
  // A cure that lost some of its GPUs is looked for again among the rest; only then may teams share.
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<GpuRow> rest = round == 0 ? std::vector<GpuRow>{} : remaining(gpus, taken);
    const CureInput input{round == 0 ? gpus : rest, book, thresholds, speeds, round == kRounds - 1};
    for (Candidate& candidate : find_all(input)) {
      if (without_taken(candidate, taken)) {
        accept(std::move(candidate), actions, taken);
      } else {
        if (round == 0) note_loser(candidate, actions);
      }
    }
  }
  const CureInput whole{gpus, book, thresholds, speeds, false};
  for (Candidate& candidate : find_commitments(whole, taken)) {
    if (candidate.action.usd_per_month >= kLeastUsd) accept(std::move(candidate), actions, taken);
  }
  std::stable_sort(actions.begin(), actions.end(),
                   [](const Action& a, const Action& b) { return a.usd_per_month > b.usd_per_month; });
  return actions;
}

bool has_room(const GpuRow& gpu) {
  switch (gpu.verdict) {
    case Verdict::kUnderused:
    case Verdict::kBursty:
    case Verdict::kLaunchBound:
    case Verdict::kInputBound:
      return gpu.price.rate && gpu.use.idle_share < 0.9;
    default:
      return false;
  }
}

double busy_level(const GpuRow& gpu) {
  const std::optional<Metric> activity = gpu.use.activity();
  if (!activity) return 1;
  const MetricUse& use = *gpu.use.metric(*activity);
  return std::min(1.0, use.p95.value_or(use.max));
}

double dram_level(const GpuRow& gpu) {
  const std::optional<MetricUse>& use = gpu.use.metric(Metric::kDramActive);
  if (!use) return busy_level(gpu);
  return std::min(1.0, use->p95.value_or(use->max));
}

std::string money(double dollars) { return format_usd(usd(dollars)); }

std::string count_of(std::size_t count, std::string_view thing) {
  if (thing == "GPU") return fmt::format("{} GPU{}", format_count(static_cast<double>(count)), count == 1 ? "" : "s");
  return fmt::format("{} {}", format_count(static_cast<double>(count)), thing);
}

std::string gpu_name(const GpuRow& gpu) {
  if (gpu.price.gpu != nullptr) return gpu.price.gpu->name;
  return gpu.use.device.name.empty() ? "GPU" : gpu.use.device.name;
}

std::string_view name_of(ActionKind kind) {
  static constexpr std::string_view kNames[] = {"stop",     "consolidate", "mig",   "batch",
                                                "downsize", "quantize",    "commit"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace rightsize::fleet
