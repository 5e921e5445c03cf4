// Finds all remedies, chooses the best set of them, and turns it into actions.
#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/format.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

constexpr UsdPerSecond kLeastSaving = usd_per_month(1);  // less is not worth a line
constexpr std::size_t kMostOther = 3;                    // other remedies named with an action

// One reading says what a GPU did at one instant, which is no reason to move or stop its work.
bool is_seen_once(const Remedy& remedy, const RemedyInput& input) {
  return remedy.kind != RemedyKind::kWatch && remedy.kind != RemedyKind::kReview &&
         std::ranges::any_of(remedy.gpus, [&](std::size_t gpu) { return input.gpus[gpu].use.is_one_reading(); });
}

std::vector<Remedy> find_all(const RemedyInput& input) {
  std::vector<Remedy> all;
  for (auto* find :
       {find_stops, find_replica_cuts, find_consolidations, find_partitions, find_downsizes, find_commitments}) {
    for (Remedy& remedy : find(input)) {
      const bool usable = !remedy.forecast || !is_different_service(*remedy.forecast, input.thresholds.most_slowdown);
      if (remedy.saving >= kLeastSaving && usable && !is_seen_once(remedy, input)) all.push_back(std::move(remedy));
    }
  }
  return all;
}

using ActionKey = std::tuple<bool, RemedyKind, std::string, std::string, std::string>;

// A workload is stopped or parked as a whole, whatever GPUs it has: two numbers of replicas for it would contradict
// each other. Unused GPUs are given back with their machine.
ActionKey key_of(const Remedy& remedy) {
  const bool whole =
      remedy.kind == RemedyKind::kGiveBack ||
      ((remedy.kind == RemedyKind::kStop || remedy.kind == RemedyKind::kPark) && remedy.owner != kUnowned);
  return {remedy.counted, remedy.kind, remedy.owner, whole ? "" : remedy.gpu, remedy.to};
}

// Of remedies that do not count, those that slow work down too much come last, the smallest slowdown first: someone who
// accepts one of them does so for the saving, but chooses by what users notice.
std::vector<std::size_t> choose_unslowed(const std::vector<Remedy>& remedies, std::size_t gpus,
                                         const Thresholds& thresholds) {
  std::vector<Remedy> fast;
  std::vector<std::size_t> numbers, slow, chosen;
  for (std::size_t r = 0; r < remedies.size(); ++r) {
    if (remedies[r].forecast && is_too_slow(*remedies[r].forecast, thresholds)) {
      slow.push_back(r);
    } else {
      fast.push_back(remedies[r]);
      numbers.push_back(r);
    }
  }
  std::vector<bool> taken(gpus);
  const auto take = [&](std::size_t r) {
    chosen.push_back(r);
    for (std::size_t gpu : remedies[r].gpus) taken[gpu] = true;
  };
  for (std::size_t r : choose_remedies(fast, gpus).remedies) take(numbers[r]);
  std::ranges::stable_sort(slow, {}, [&](std::size_t r) {
    const Forecast& f = *remedies[r].forecast;
    return std::pair(f.latency_p95.value_or(kDifferentService), -in_usd_per_month(remedies[r].saving));
  });
  for (std::size_t r : slow) {
    if (std::ranges::none_of(remedies[r].gpus, [&](std::size_t gpu) { return taken[gpu]; })) take(r);
  }
  return chosen;
}

// First the best choice among the remedies that count, then among the others for the remaining GPUs. Only the first
// choice counts as saving.
Choice choose_all(const std::vector<Remedy>& remedies, std::size_t gpus, const Thresholds& thresholds) {
  std::vector<std::size_t> numbers[2];
  std::vector<Remedy> counted, rest;
  for (std::size_t r = 0; r < remedies.size(); ++r) {
    if (!remedies[r].counted) continue;
    counted.push_back(remedies[r]);
    numbers[0].push_back(r);
  }
  Choice choice = choose_remedies(counted, gpus);
  std::vector<bool> taken(gpus);
  for (std::size_t r : choice.remedies) {
    for (std::size_t gpu : counted[r].gpus) taken[gpu] = true;
  }
  for (std::size_t r = 0; r < remedies.size(); ++r) {
    if (remedies[r].counted || std::ranges::any_of(remedies[r].gpus, [&](std::size_t gpu) { return taken[gpu]; }))
      continue;
    rest.push_back(remedies[r]);
    numbers[1].push_back(r);
  }
  for (std::size_t& r : choice.remedies) r = numbers[0][r];
  for (std::size_t r : choose_unslowed(rest, gpus, thresholds)) choice.remedies.push_back(numbers[1][r]);
  std::ranges::sort(choice.remedies);
  return choice;
}

// Whether an action says how to do it. A commitment is bought, and watching needs no step.
bool has_step(const FleetAction& action) {
  if (action.kind == ActionKind::kCommit || action.kind == ActionKind::kWatch || !action.manifest.empty()) return true;
  return std::ranges::any_of(action.commands, [](const std::string& command) { return !command.starts_with('#'); });
}

// Whether the last action sets a number of replicas that another one sets, too: only one of them can be carried out.
bool scales_again(const std::vector<FleetAction>& actions) {
  const auto target = [](const FleetAction& action) {
    for (const std::string& command : action.commands) {
      if (const std::size_t at = command.find(" --replicas="); at != std::string::npos) return command.substr(0, at);
    }
    return std::string();
  };
  const std::string last = target(actions.back());
  return !last.empty() && std::any_of(actions.begin(), actions.end() - 1,
                                      [&](const FleetAction& other) { return other.counted && target(other) == last; });
}

// For each other kind of remedy, the most it would have saved on the GPUs of an action.
void note_others(FleetAction& action, const std::vector<Remedy>& remedies, const std::set<std::size_t>& taken,
                 const std::map<std::size_t, std::vector<std::size_t>>& of_gpu) {
  std::map<ActionKind, UsdPerSecond> saved;
  std::set<std::size_t> counted;
  for (std::size_t gpu : action.gpus) {
    std::map<ActionKind, UsdPerSecond> best;
    for (std::size_t r : of_gpu.at(gpu)) {
      const ActionKind kind = kind_of(remedies[r].kind);
      if (taken.contains(r) || kind == action.kind) continue;
      const UsdPerSecond each = remedies[r].saving / static_cast<double>(remedies[r].gpus.size());
      best[kind] = std::max(best[kind], each);
    }
    for (const auto& [kind, each] : best) saved[kind] += each;
  }
  std::vector<std::pair<UsdPerSecond, ActionKind>> order;
  for (const auto& [kind, all] : saved) order.emplace_back(-all, kind);
  std::ranges::sort(order);
  for (std::size_t i = 0; i < std::min(kMostOther, order.size()); ++i) {
    action.instead_of.push_back(fmt::format("{}: at most {}/month for these GPUs", name_of(order[i].second),
                                            format_usd(-order[i].first * kMonth)));
  }
}

}  // namespace

std::vector<Running> all_running(const std::vector<GpuRow>& gpus, const Thresholds& thresholds) {
  const TimeSpan window = window_of(gpus);
  std::vector<Running> running;
  for (const GpuRow& gpu : gpus) running.push_back(running_on(gpu, window, thresholds));
  return running;
}

ActionPlan plan_actions(const std::vector<GpuRow>& gpus, const FleetAssumptions& assumptions) {
  const std::vector<Running> running = all_running(gpus, assumptions.thresholds);
  const RemedyInput input{gpus, running, assumptions.prices, assumptions.thresholds, assumptions.speeds};
  std::vector<Remedy> remedies = find_all(input);
  Choice choice;
  std::vector<FleetAction> actions;
  // Advice without a step is no action: such remedies do not count, and others may take their GPUs.
  for (bool again = true; again;) {
    choice = choose_all(remedies, gpus.size(), assumptions.thresholds);
    std::map<ActionKey, std::vector<Remedy*>> joined;
    for (std::size_t r : choice.remedies) joined[key_of(remedies[r])].push_back(&remedies[r]);
    again = false;
    actions.clear();
    for (const auto& [key, parts] : joined) {
      actions.push_back(describe({parts.begin(), parts.end()}, input));
      if (!actions.back().counted || (has_step(actions.back()) && !scales_again(actions))) continue;
      for (Remedy* remedy : parts) remedy->counted = remedy->has_step = false;
      again = true;
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> of_gpu;
  for (std::size_t r = 0; r < remedies.size(); ++r) {
    for (std::size_t gpu : remedies[r].gpus) of_gpu[gpu].push_back(r);
  }
  const std::set<std::size_t> taken(choice.remedies.begin(), choice.remedies.end());
  ActionPlan plan{std::move(actions), choice.saving, choice.bound, remedies.size()};
  for (FleetAction& action : plan.actions) note_others(action, remedies, taken, of_gpu);
  std::ranges::stable_sort(plan.actions, std::ranges::greater(),
                           [](const FleetAction& a) { return std::pair(a.counted, a.saving); });
  for (std::size_t i = 0; i < plan.actions.size(); ++i) plan.actions[i].rank = i + 1;
  return plan;
}

std::vector<Move> moves_of(const RemedyInput& input, std::size_t gpu, const std::string& to) {
  const std::string from = place_of(input.gpus[gpu]), id = input.gpus[gpu].use.device.key();
  std::vector<Move> moves;
  for (const Tenancy* owner : input.running[gpu].owners) moves.push_back({id, owner->owner, from, to});
  if (moves.empty()) moves.push_back({id, {}, from, to});
  return moves;
}

std::string place_of(const GpuRow& gpu) {
  const Device& device = gpu.use.device;
  const std::string place =
      device.host.empty() ? fmt::format("GPU {}", device.index) : fmt::format("{}/{}", device.host, device.index);
  return device.mig_id.empty() ? place : place + " MIG " + device.mig_id;
}

std::string gpu_name(const GpuRow& gpu) {
  if (gpu.price.gpu != nullptr) return gpu.price.gpu->name;
  return gpu.use.device.name.empty() ? "GPU" : gpu.use.device.name;
}

std::string_view name_of(ActionKind kind) {
  static constexpr std::string_view kNames[] = {"stop",     "consolidate", "mig",    "batch",
                                                "downsize", "quantize",    "commit", "watch"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace rightsize::fleet
