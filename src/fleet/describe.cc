// An action in words: what, how risky by the recorded load, how to check, do and undo it. All sentences stand here.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "fleet/commands.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

std::string times(std::optional<double> factor) {
  return factor ? fmt::format("{:.1f}x", *factor) : std::string("unbounded (work piles up)");
}

// What the recorded load says of the new place.
std::string computed_risk(const Forecast& f) {
  std::string text = f.too_small.high <= 0 ? "never too small in the recorded time"
                                           : fmt::format("too small for {} of the recorded time (between {} and {})",
                                                         percent(f.too_small.likely), percent(f.too_small.low),
                                                         percent(f.too_small.high));
  return text + fmt::format("; load {} at p95 and {} at the peak, latency {} and {}", percent(f.load_p95),
                            percent(f.load_peak), times(f.latency_p95), times(f.latency_peak));
}

std::string level(const std::optional<Forecast>& f, bool at_least_medium) {
  // Answers that take more than three times as long are another service.
  const bool slow = f && (!f->latency_p95 || *f->latency_p95 > 3);
  if (slow || (f && f->too_small.likely > 0)) return "high";
  return at_least_medium || (f && f->load_peak > 0.85) ? "medium" : "low";
}

// How many pods or jobs of the same workload run now, all over the fleet.
std::size_t replicas_of(const Owner& owner, const RemedyInput& input) {
  std::set<std::string> instances;
  for (const Running& running : input.running) {
    if (!running.here) continue;
    for (const Tenancy* t : running.owners) {
      if (t->owner.team == owner.team && t->owner.workload == owner.workload) instances.insert(t->owner.instance);
    }
  }
  return std::max<std::size_t>(1, instances.size());
}

// Scales workloads down by the pods that go, and marks these, so that no other pod is taken.
void scale_down(Action& action, const RemedyInput& input) {
  std::map<Owner, std::set<std::string>> leaving;  // workload -> pods
  for (const Move& move : action.moves) {
    if (move.to != "none" || move.owner.empty()) continue;
    Owner workload = move.owner;
    workload.instance.clear();
    leaving[workload].insert(move.owner.instance);
  }
  for (const auto& [workload, pods] : leaving) {
    Owner owner = workload;
    owner.instance = *pods.begin();
    const std::size_t now = replicas_of(owner, input);
    const bool scales =
        orchestrator_of(owner) == Orchestrator::kKubernetes && !kubernetes_object(owner).starts_with("pod/");
    if (!scales) {
      for (const std::string& pod : pods) {
        owner.instance = pod;
        for (std::string& command : stop_commands(owner)) action.commands.push_back(std::move(command));
      }
      continue;
    }
    for (const std::string& pod : pods) {
      if (pods.size() < now) action.commands.push_back(mark_for_removal(owner, pod));
    }
    for (std::string& command : scale_commands(owner, now - std::min(now, pods.size()))) {
      action.commands.push_back(std::move(command));
    }
    action.rollback = scale_back(owner, now);
  }
}

Orchestrator orchestrator_of_fleet(const RemedyInput& input) {
  for (const GpuRow& gpu : input.gpus) {
    const Orchestrator found = orchestrator_of(gpu.owner());
    if (found != Orchestrator::kUnknown) return found;
  }
  return Orchestrator::kUnknown;
}

void describe_stop(Action& a, const RemedyInput& input) {
  a.to = "none";
  a.what = fmt::format("stop what holds {} without working ({})", a.from, a.owner);
  a.risk = fmt::format("low: nothing ran there for {} or longer; the process loses what it keeps only in GPU memory",
                       format_duration(input.thresholds.min_age));
  a.check = "the owner confirms; save notebooks and caches first";
  a.rollback = "start the workload again";
  scale_down(a, input);
}

void describe_give_back(Action& a, const RemedyInput& input) {
  a.to = "none";
  a.what = fmt::format("give back {} that nothing uses", a.from);
  a.risk = "low: no process holds memory; queued jobs may wait longer at a peak";
  a.check = "no job was pending for these GPUs in the window; drain the node and watch the queue for a day";
  const Orchestrator orchestrator = orchestrator_of_fleet(input);
  // A machine can be given back when all of its GPUs are free.
  std::map<std::string, std::size_t> here, free;
  for (const GpuRow& gpu : input.gpus) ++here[gpu.use.device.host];
  for (std::size_t i : a.gpus) ++free[input.gpus[i].use.device.host];
  std::size_t whole = 0;
  for (const auto& [host, count] : free) {
    if (count < here[host]) continue;
    ++whole;
    for (std::string& command : drain_commands(host, orchestrator)) a.commands.push_back(std::move(command));
    a.rollback = undrain(host, orchestrator);
  }
  if (whole < free.size()) {
    a.risk += "; some share a machine with GPUs in use: money is saved once the machine is emptied or refilled";
  }
  if (a.rollback.empty()) a.rollback = "leave the machine in service";
}

void describe_park(Action& a, const RemedyInput& input) {
  a.what = fmt::format("park {} of {} while idle for {} and longer", a.from, a.owner,
                       format_duration(input.thresholds.park_after));
  a.from = "always on";
  a.to = "scaled to zero when idle";
  a.risk = "medium: the first request after a pause waits for a cold start (image, weights)";
  a.check = "the idle hours repeat next week; measure a cold start";
  a.rollback =
      a.manifest.empty() ? "set the minimum number of replicas back" : "kubectl delete scaledobject of the manifest";
  if (!a.manifest.empty()) a.commands.push_back("kubectl apply -f schedule.yaml   # the manifest; needs KEDA");
}

void describe_replicas(Action& a, const RemedyInput& input, std::size_t keeps, bool batching) {
  const std::string replicas = fmt::format("{} replica{}", keeps, keeps == 1 ? "" : "s");
  a.what = batching ? fmt::format("batch the requests of {}: {} do the work of {}", a.owner, replicas, a.gpus.size())
                    : fmt::format("run {} of {} instead of {}", replicas, a.owner, a.gpus.size());
  a.risk = level(a.forecast, true) + ": " + computed_risk(*a.forecast) +
           (keeps == 1 ? "; one replica is a single point of failure" : "") +
           "; only for replicas that share requests, not for the workers of one training job";
  a.check = batching ? "'rightsize batch' says what delay batching adds; take one replica away, watch latency, repeat"
                     : "take one away, watch latency, repeat";
  a.rollback = "scale the workload back up";
  scale_down(a, input);
}

void describe_side_by_side(Action& a) {
  a.what = fmt::format("run the jobs of {} side by side on {} instead of {}", a.owner, a.to, a.from);
  a.risk = (a.owner == "several teams" ? "high: jobs of different or unknown teams share memory protection and faults; "
                                       : level(a.forecast, true) + ": jobs on one GPU share its faults; ") +
           computed_risk(*a.forecast);
  a.check = "memory peaks add up below the limit in this window; watch latency for a day with two jobs on one GPU";
  a.rollback = "one job a GPU again: take the sharing out of the device plugin's configuration";
  if (!a.manifest.empty()) {
    a.commands.push_back(
        "kubectl create configmap gpu-sharing -n gpu-operator --from-file=shared=sharing.yaml   # the manifest");
    std::set<std::string> hosts;
    for (const Move& move : a.moves) hosts.insert(move.to.substr(0, move.to.rfind('/')));
    for (const std::string& host : hosts) {
      a.commands.push_back(
          fmt::format("kubectl label node {} nvidia.com/device-plugin.config=shared --overwrite", host));
    }
  }
}

void describe_mig(Action& a) {
  a.what = fmt::format("cut {} into MIG slices for the {} jobs of {}", a.to, a.gpus.size(), a.owner);
  a.risk = level(a.forecast, false) +
           ": slices do not disturb each other, but cannot borrow at a peak and have no NVLink; " +
           computed_risk(*a.forecast);
  a.check = "run one job in its slice for a day and compare latency and memory";
  a.rollback = "drain the node, destroy the instances (nvidia-smi mig -dci; -dgi) and set MIG mode to 0";
  a.commands.push_back("sh slices.sh   # the manifest, on the drained node");
}

void describe_smaller(Action& a, const Remedy& first, bool quantized) {
  const std::string name = first.instead->gpu->name;
  a.to = fmt::format("{}{}", quantized ? "8-bit weights on " : "", count_of(a.gpus.size(), first.to));
  a.what = quantized ? fmt::format("quantize {} to 8 bits: it then fits {}", a.owner, name)
                     : fmt::format("move {} from {} to {}", a.owner, a.from, name);
  a.risk = level(a.forecast, true) + ": " + computed_risk(*a.forecast);
  if (quantized) a.risk += "; answers change a little: only for inference";
  if (first.instead->moves_provider) a.risk += "; at another provider than today's: data and network have to move";
  a.check = quantized ? "score the quantized model on your own evaluation set, and measure tokens a second on one GPU"
                      : fmt::format(
                            "run the workload on one {} for a day: latency, memory peak, errors, number formats", name);
  a.rollback = fmt::format("keep one {} node until the week is over; move back by node selector", first.gpu);
  if (first.instead->moves_provider) return;  // another cluster: no command of this one does it
  std::set<Owner> workloads;
  for (Move move : a.moves) {
    const Owner whole = move.owner;
    if (orchestrator_of(whole) == Orchestrator::kKubernetes) move.owner.instance.clear();
    if (!workloads.insert(move.owner).second) continue;
    for (std::string& command : reselect_commands(whole, *first.instead)) a.commands.push_back(std::move(command));
  }
}

void describe_commit(Action& a, const Remedy& first) {
  a.what = fmt::format("commit to {} that were busy all the time", a.from);
  a.from = "on demand";
  a.to = fmt::format("1 year at {}/GPU-h ({})", format_usd_per_hour(first.instead->rate), first.instead->source);
  a.risk = "medium: paid for a year whether used or not; do the other actions first, then commit to what is left";
  a.check = "the load was as steady in the last three months as in this window";
  a.rollback = "none before the term ends; begin with half of them";
}

}  // namespace

Action describe(const std::vector<const Remedy*>& remedies, const RemedyInput& input) {
  const Remedy& first = *remedies.front();
  Action a;
  a.kind = kind_of(first.kind);
  a.owner = first.owner;
  std::size_t keeps = 0;
  std::set<std::string> manifests;
  for (const Remedy* remedy : remedies) {
    a.saving += remedy->saving;
    a.confidence += remedy->confidence / static_cast<double>(remedies.size());
    a.gpus.insert(a.gpus.end(), remedy->gpus.begin(), remedy->gpus.end());
    a.moves.insert(a.moves.end(), remedy->moves.begin(), remedy->moves.end());
    if (remedy->forecast) a.forecast = a.forecast ? worse_of(*a.forecast, *remedy->forecast) : *remedy->forecast;
    if (manifests.insert(remedy->manifest).second) a.manifest += remedy->manifest;
    keeps += remedy->keeps;
  }
  std::sort(a.gpus.begin(), a.gpus.end());
  a.from = count_of(a.gpus.size(), first.gpu);
  a.to = count_of(keeps, first.gpu);
  switch (first.kind) {
    case RemedyKind::kStop:
      describe_stop(a, input);
      break;
    case RemedyKind::kGiveBack:
      describe_give_back(a, input);
      break;
    case RemedyKind::kPark:
      describe_park(a, input);
      break;
    case RemedyKind::kReplicas:
    case RemedyKind::kBatch:
      describe_replicas(a, input, keeps, first.kind == RemedyKind::kBatch);
      break;
    case RemedyKind::kSideBySide:
      describe_side_by_side(a);
      break;
    case RemedyKind::kMig:
      describe_mig(a);
      break;
    case RemedyKind::kDownsize:
    case RemedyKind::kQuantize:
      describe_smaller(a, first, first.kind == RemedyKind::kQuantize);
      break;
    case RemedyKind::kCommit:
      describe_commit(a, first);
      break;
  }
  return a;
}

}  // namespace rightsize::fleet
