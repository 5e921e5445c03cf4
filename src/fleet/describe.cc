// An action in words: the change, its risk under the recorded load, and how to check, apply and undo it.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "fleet/commands.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

// Templates by kind of remedy. {who} is the owner, {now} and {then} the GPUs before and after, {count} how many are
// involved, {keeps} how many replicas stay, {gpu} the new GPU, {load} the forecast, {level} the risk it implies.
struct ActionText {
  RemedyKind remedy;
  ActionKind kind;
  const char *what, *from, *to, *risk, *check, *rollback;
};
constexpr ActionText kTexts[] = {
    {RemedyKind::kStop, ActionKind::kStop, "stop the idle processes that hold {now} ({who})", "{now}", "none",
     "low: nothing ran there for {min_age} or longer; data kept only in GPU memory is lost",
     "ask the owner; save notebooks and caches first", "start the workload again"},
    {RemedyKind::kGiveBack, ActionKind::kStop, "release {now} that nothing uses", "{now}", "none",
     "low: no process holds memory; queued jobs may wait longer at a peak",
     "no job was pending for these GPUs in the window; drain the node and watch the queue for a day",
     "leave the machine in service"},
    {RemedyKind::kPark, ActionKind::kStop, "park {now} of {who} while idle for {park_after} or longer", "always on",
     "scaled down when idle", "medium: the first request after a pause waits for a cold start (image, weights)",
     "the idle hours repeat next week; measure a cold start", "restore the minimum number of replicas"},
    {RemedyKind::kReplicas, ActionKind::kConsolidate, "run {keeps} of {who} instead of {replicas}", "{now}", "{then}",
     "{level}: {load}; only for replicas that share requests, not for the workers of one training job",
     "remove one replica, watch latency, repeat", "scale the workload back up"},
    {RemedyKind::kBatch, ActionKind::kBatch, "batch the requests of {who}: {keeps} instead of {replicas}", "{now}",
     "{then}", "{level}: {load}; only for replicas that share requests, not for the workers of one training job",
     "'rightsize batch' shows the delay that batching adds; remove one replica, watch latency, repeat",
     "scale the workload back up"},
    {RemedyKind::kSideBySide, ActionKind::kConsolidate, "run the jobs of {who} side by side on {then} instead of {now}",
     "{now}", "{then}", "{level}: jobs on one GPU share its faults; {load}",
     "memory peaks add up below the limit in this window; watch latency for a day with two jobs on one GPU",
     "remove sharing from the device plugin's configuration"},
    {RemedyKind::kMig, ActionKind::kMig, "split {then} into MIG slices for the {count} jobs of {who}", "{now}",
     "{then}", "{level}: slices are isolated, but cannot borrow at a peak and have no NVLink; {load}",
     "run one job in its slice for a day and compare latency and memory",
     "drain the node, destroy the instances (nvidia-smi mig -dci; -dgi) and set MIG mode to 0"},
    {RemedyKind::kDownsize, ActionKind::kDownsize, "move {who} from {now} to {gpu}", "{now}", "{count} {place}",
     "{level}: {load}", "run the workload on one {gpu} for a day: latency, memory peak, errors, number formats",
     "keep one {old} node for a week to move back"},
    {RemedyKind::kQuantize, ActionKind::kQuantize, "quantize {who} to 8 bits to fit {gpu}", "{now}",
     "8-bit weights on {count} {place}", "{level}: {load}; answers change slightly: only for inference",
     "score the quantized model on your own evaluation set, and measure tokens/s on one GPU",
     "keep one {old} node for a week to move back"},
    {RemedyKind::kWatch, ActionKind::kWatch, "keep watching {now} of {who}: idle so far", "{now}",
     "none yet; act once it has been idle for {min_age}",
     "low: nothing changes yet; the recording is too short or has too few readings to stop anything",
     "record at least {min_age} (--min-age) and run this again", "nothing to undo"},
    {RemedyKind::kReview, ActionKind::kWatch, "ask whether {who} still needs {now}: almost idle", "{now}",
     "none, if it is not needed",
     "low: nothing changes yet; it used at most {nearly} of the GPU in 95 % of the time, which may be real traffic",
     "look for its requests or users of the last week; stop it only if there were none", "nothing to undo"},
    {RemedyKind::kCommit, ActionKind::kCommit, "commit to {now}, which were always busy", "on demand",
     "1 year at {rate}/GPU-h ({offer})",
     "medium: paid for a year whether used or not; do the other actions first, then commit to the remaining GPUs",
     "the load was as steady in the last three months as in this window",
     "not possible before the term ends; start with half of them"},
};

const ActionText& text_of(RemedyKind kind) { return *std::ranges::find(kTexts, kind, &ActionText::remedy); }

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

// What latency does: "grows 1.4x"
std::string change_of(std::optional<double> factor) {
  if (!factor) return "grows without bound (work piles up)";
  if (std::abs(*factor - 1) < 0.05) return "stays the same";
  return fmt::format("{} {:.1f}x", *factor < 1 ? "falls to" : "grows", *factor);
}

// The effect of the recorded load on the new GPU.
std::string load_text(const Forecast& f) {
  std::string text = f.too_small.high <= 0
                         ? "it always fits"
                         : fmt::format("too small for {} of the recorded time ({} to {})", percent(f.too_small.likely),
                                       percent(f.too_small.low), percent(f.too_small.high));
  return text + fmt::format("; p95 load {}, peak load {}; latency {} at p95 and {} at the peak", percent(f.load_p95),
                            percent(f.load_peak), change_of(f.latency_p95), change_of(f.latency_peak));
}

std::string level_of(const Forecast& f, RemedyKind kind, const Thresholds& t) {
  if (is_different_service(f) || is_too_slow(f, t) || f.too_small.likely > 0) return "high";
  return kind != RemedyKind::kMig || f.load_peak > 0.85 ? "medium" : "low";
}

// Names the limit that an action breaks, the reason why it does not count.
std::string broken_limit(const Forecast& f, const Thresholds& t) {
  if (f.too_small.high > t.most_overload)
    return fmt::format("too small for up to {} of the time (--max-overload {})", percent(f.too_small.high),
                       percent(t.most_overload));
  const bool at_p95 = !f.latency_p95 || *f.latency_p95 > t.most_slowdown;
  return fmt::format("latency {} at {} (--max-slowdown {:g})", change_of(at_p95 ? f.latency_p95 : f.latency_peak),
                     at_p95 ? "p95" : "the peak", t.most_slowdown);
}

// How many pods or jobs of the same workload run now in the whole fleet. The pods of a StatefulSet are numbered from 0,
// so one with a high number has others before it, even if they report no GPU.
std::size_t replicas_of(const Owner& owner, const RemedyInput& input) {
  std::set<std::string> instances;
  const bool stateful = kubernetes_object(owner).starts_with("statefulset/");
  std::size_t last = 1;
  for (const Running& running : input.running) {
    if (!running.here) continue;
    for (const Tenancy* t : running.owners) {
      if (t->owner.team != owner.team || t->owner.workload != owner.workload) continue;
      const std::string& name = t->owner.instance;
      instances.insert(name);
      const Result<std::int64_t> number = parse_integer(std::string_view(name).substr(name.rfind('-') + 1));
      if (stateful && number && *number >= 0) last = std::max(last, static_cast<std::size_t>(*number) + 1);
    }
  }
  return std::max(instances.size(), last);
}

// Whether the pod leads a group of others: "chat-0" of "chat-0-1". Such groups cannot be scaled by their parts.
bool is_in_group(const Owner& owner, const RemedyInput& input) {
  return std::ranges::any_of(input.running, [&](const Running& running) {
    return running.here && std::ranges::any_of(running.owners, [&](const Tenancy* t) {
             return t->owner.team == owner.team && t->owner.workload == owner.instance &&
                    t->owner.instance != owner.instance;
           });
  });
}

// Whether no other pod of the same job runs, so that its controller may be deleted.
bool are_all_of_job(const Owner& owner, const std::set<std::string>& pods, const RemedyInput& input) {
  const std::string job = job_of_pod(owner.instance);
  if (is_in_group(owner, input)) return false;
  return std::ranges::none_of(input.running, [&](const Running& running) {
    return running.here && std::ranges::any_of(running.owners, [&](const Tenancy* t) {
             const std::string& other = t->owner.instance;
             // A pod with the name of the workload leads its group, which a LeaderWorkerSet would create again.
             return t->owner.team == owner.team &&
                    ((job_of_pod(other) == job && !pods.contains(other)) || other == owner.workload);
           });
  });
}

constexpr const char* kLastFirst =
    "; no command: a StatefulSet removes its last pods first, and those are busy; move their load to the first pods";

// Work without labels is found by its processes.
void list_processes(FleetAction& action) {
  std::map<std::string, std::string> unlabelled;  // host -> GPUs
  for (const Move& move : action.moves) {
    if (move.owner.empty()) (unlabelled[move.from.substr(0, move.from.rfind('/'))] += " ") += move.gpu;
  }
  for (const auto& [host, gpus] : unlabelled)
    action.commands.push_back(
        fmt::format("{}; stop what runs on{}", process_list("pid,process_name,used_memory", host), gpus));
}

// Scales workloads down by the pods that leave, and marks these pods to be removed first.
void scale_down(FleetAction& action, const RemedyInput& input, bool idle) {
  std::map<Owner, std::set<std::string>> leaving;  // workload -> pods
  std::string restart;
  for (const Move& move : action.moves) {
    if (move.to != "none" || move.owner.empty()) continue;
    Owner workload = move.owner;
    workload.instance.clear();
    leaving[workload].insert(move.owner.instance);
  }
  if (idle) list_processes(action);
  for (const auto& [workload, pods] : leaving) {
    Owner owner = workload;
    owner.instance = *pods.begin();
    if (!is_scalable(owner) || is_in_group(owner, input)) {
      if (is_controlled(owner) && !are_all_of_job(owner, pods, input)) {
        action.risk += "; no command: it is part of a job or group that is in use, which would start it again";
        continue;
      }
      for (const std::string& pod : pods) {
        owner.instance = pod;
        append(action.commands, stop_commands(owner));
        restart += (restart.empty() ? "" : "; ") + restart_command(owner);
        if (is_controlled(owner)) break;  // all of one controller
      }
      continue;
    }
    const std::size_t now = replicas_of(owner, input), remaining = now - std::min(now, pods.size());
    // Replicas that share requests can be exchanged; idle and busy ones cannot.
    if (idle && !removes_only(owner, pods, remaining)) {
      action.risk += kLastFirst;
      continue;
    }
    if (remaining > 0) append(action.commands, mark_for_removal(owner, pods));
    action.commands.push_back(scale_command(owner, remaining));
    action.rollback = scale_command(owner, now);
  }
  if (!restart.empty()) action.rollback = restart;
}

// The orchestrator of a host: that of any of its owners, or else that of the rest of the fleet if it is the only one.
Orchestrator orchestrator_of_host(const std::string& host, const RemedyInput& input) {
  std::set<Orchestrator> here, anywhere;
  for (const GpuRow& gpu : input.gpus) {
    for (const Tenancy& t : gpu.use.tenancies) {
      const Orchestrator found = orchestrator_of(t.owner);
      if (found == Orchestrator::kUnknown) continue;
      anywhere.insert(found);
      if (gpu.use.device.host == host) here.insert(found);
    }
  }
  const std::set<Orchestrator>& known = here.empty() ? anywhere : here;
  return known.size() == 1 ? *known.begin() : Orchestrator::kUnknown;
}

// The GPUs that nothing uses after the action: work leaves them, and none comes.
std::vector<std::size_t> freed_gpus(const FleetAction& a, const RemedyInput& input) {
  std::set<std::string> left, taken;
  for (const Move& move : a.moves) {
    const std::string to = move.to.substr(0, move.to.find(' '));
    (to == move.from ? taken : left).insert(move.from);
    taken.insert(to);
  }
  std::vector<std::size_t> freed;
  for (std::size_t gpu : a.gpus) {
    const std::string place = place_of(input.gpus[gpu]);
    if (left.contains(place) && !taken.contains(place)) freed.push_back(gpu);
  }
  return freed;
}

// The machines of which the action frees every GPU, and the number of those that keep GPUs in use.
std::pair<std::vector<std::string>, std::size_t> whole_machines(const std::vector<std::size_t>& gpus,
                                                                const RemedyInput& input) {
  std::map<std::string, std::size_t> here, free;
  for (const GpuRow& gpu : input.gpus) ++here[gpu.use.device.host];
  for (std::size_t i : gpus) ++free[input.gpus[i].use.device.host];
  std::vector<std::string> whole;
  for (const auto& [host, count] : free) {
    if (count >= here[host]) whole.push_back(host);
  }
  return {whole, free.size() - whole.size()};
}
constexpr const char* kSharedMachine =
    "; some share a machine with GPUs in use: this saves money once the machine is emptied or refilled";

// A machine can be released if all of its GPUs are free.
void drain_machines(FleetAction& a, const RemedyInput& input) {
  const std::vector<std::string> whole = whole_machines(a.gpus, input).first;
  for (const std::string& host : whole) {
    const Orchestrator orchestrator = orchestrator_of_host(host, input);
    append(a.commands, drain_commands(host, orchestrator));
    a.rollback = undrain(host, orchestrator);
  }
  // Other work keeps the rest in use; it has to move before anyone saves.
  std::set<std::string> shared;
  for (std::size_t i : a.gpus) shared.insert(input.gpus[i].use.device.host);
  for (const std::string& host : whole) shared.erase(host);
  for (const std::string& host : shared) {
    const Orchestrator orchestrator = orchestrator_of_host(host, input);
    a.commands.push_back(
        orchestrator == Orchestrator::kKubernetes
            ? fmt::format(
                  "kubectl get pods -A -o wide --field-selector spec.nodeName={}   # what keeps the machine in use",
                  host)
        : orchestrator == Orchestrator::kSlurm
            ? fmt::format("squeue -w {}   # what keeps the machine in use", host)
            : process_list("pid,process_name", host) + ": what keeps the machine in use");
  }
}

// A schedule for the workload: all replicas while any of the parked ones works, and otherwise only the others. Without
// such hours, or for pods without a controller, there is no file.
void park(FleetAction& a, const std::vector<const Remedy*>& remedies, const RemedyInput& input) {
  std::set<std::string> pods;
  const DailyHours hours = remedies.front()->hours;
  for (const Remedy* remedy : remedies) {
    for (const Tenancy* t : input.running[remedy->gpus.front()].owners) pods.insert(t->owner.instance);
  }
  const Owner& owner = input.running[remedies.front()->gpus.front()].owner();
  if (!is_scalable(owner)) {
    const Orchestrator by = orchestrator_of(owner);
    a.to = "released when idle";
    a.rollback = "start the workload again";
    a.risk = "medium: it must be started again after each pause, and data kept only in memory is lost" +
             a.risk.substr(std::min(a.risk.find(';'), a.risk.size()));
    a.check = "ask its owner; the idle hours repeat next week";
    list_processes(a);
    std::string undo;
    for (const std::string& pod : pods) {
      Owner one = owner;
      one.instance = pod;
      // The controller of a job is suspended once, and only with all of its pods.
      if (is_controlled(one) && (pod != *pods.begin() || !are_all_of_job(one, pods, input))) continue;
      const auto [commands, back] = hours_commands(one, hours);
      append(a.commands, commands);
      if (!back.empty()) undo += (undo.empty() ? "" : "; ") + back;
    }
    if (!undo.empty()) a.rollback = undo;
    // Pods of JupyterHub: jupyter-ann.
    if (by == Orchestrator::kKubernetes && owner.instance.starts_with("jupyter-")) {
      a.manifest = fmt::format("cull:\n  enabled: true\n  timeout: {:.0f}\n  every: 600\n",
                               in_seconds(input.thresholds.park_after));
      const std::string hub = fmt::format("-n {0} upgrade \"$(helm -n {0} list --short --filter hub)\"", owner.team);
      a.commands = {fmt::format("helm {} jupyterhub/jupyterhub --reuse-values -f cull.yaml   # the manifest", hub)};
      a.to = "ended by JupyterHub when idle";
      a.check =
          "tell the users: unsaved cells are lost, files stay; the hub sees activity of the browser, not of the GPU";
      a.rollback = fmt::format("helm -n {0} rollback \"$(helm -n {0} list --short --filter hub)\"", owner.team);
    }
    return;
  }
  const std::size_t now = replicas_of(owner, input), parked = std::min(now, pods.size());
  a.to = parked < now && parked > 0 ? fmt::format("{} of {} replicas when idle", now - parked, now)
                                    : "scaled to zero when idle";
  const bool removable = removes_only(owner, pods, now - parked);
  if (removable) a.manifest = keda_schedule(owner, hours, {.always = now - parked, .in_hours = now});
  if (a.manifest.empty()) {
    if (!removable)
      a.risk += kLastFirst;
    else
      a.risk += "; its idle hours do not fit one schedule: scale it on requests, not by the clock";
    return;
  }
  if (parked < now) append(a.commands, mark_for_removal(owner, pods));
  a.commands.push_back(get_command(owner) + "   # must exist");
  a.commands.push_back("kubectl apply --dry-run=server -f schedule.yaml   # the manifest; needs KEDA");
  a.commands.push_back("kubectl apply -f schedule.yaml");
  a.rollback = "kubectl delete -f schedule.yaml; " + scale_command(owner, now);
}

// Where work moves to.
std::set<std::string> hosts_of(const FleetAction& a) {
  std::set<std::string> hosts;
  for (const Move& move : a.moves) hosts.insert(move.to.substr(0, move.to.rfind('/')));
  return hosts;
}

// The commands that move the work to its GPU or slice.
void place_workloads(FleetAction& a, const RemedyInput& input) {
  std::map<Owner, std::vector<const Move*>> workloads;
  for (const Move& move : a.moves) {
    Owner workload = move.owner;
    if (orchestrator_of(workload) == Orchestrator::kKubernetes) workload.instance.clear();
    if (!move.owner.empty()) workloads[workload].push_back(&move);
  }
  std::string undo;
  for (const auto& [workload, moves] : workloads) {
    const Owner& owner = moves.front()->owner;
    std::set<std::string> pods;
    bool together = true;  // to one host, and slices of one size
    const auto shared_place = [](const Move& move) {
      constexpr std::string_view kSlice = " slice ";
      SharedPlace place{move.to.substr(0, move.to.rfind('/')), {}, "shard:1"};
      if (const std::size_t at = move.to.find(kSlice); at != std::string::npos) {
        const std::size_t from = at + kSlice.size();
        const std::string profile = move.to.substr(from, move.to.find(' ', from) - from);
        place.resource = "nvidia.com/mig-" + profile, place.gres = fmt::format("gpu:{}:1", profile);
      }
      return place;
    };
    const SharedPlace place = shared_place(*moves.front());
    for (const Move* move : moves) {
      const SharedPlace other = shared_place(*move);
      together = together && other.host == place.host && other.resource == place.resource;
      pods.insert(move->owner.instance);
    }
    const bool all = together && pods.size() >= replicas_of(owner, input);
    append(a.commands, place_commands(owner, place, all));
    if (all && is_scalable(owner)) undo += undo_command(owner) + "; ";
    if (orchestrator_of(owner) == Orchestrator::kSlurm) undo += restart_command(owner) + "; ";
  }
  a.rollback = undo + a.rollback;
}

void slice_gpus(FleetAction& a, const RemedyInput& input) {
  std::vector<std::string> afterwards = {"sh slices.sh   # the manifest, on the drained node"};
  for (const std::string& host : hosts_of(a)) {
    const Orchestrator by = orchestrator_of_host(host, input);
    std::vector<std::string> first = drain_commands(host, by);
    if (by == Orchestrator::kUnknown) first.resize(std::min<std::size_t>(first.size(), 1));  // the list of processes
    if (by == Orchestrator::kSlurm)
      afterwards.push_back(
          fmt::format("sudo systemctl restart slurmd   # on {}; needs AutoDetect=nvml in gres.conf", host));
    if (by != Orchestrator::kUnknown) afterwards.push_back(undrain(host, by));
    append(a.commands, first);
  }
  append(a.commands, afterwards);
  place_workloads(a, input);
}

// Slurm shares GPUs as shards, which are set for a whole node.
void shard_gpus(FleetAction& a, std::size_t sharers, const RemedyInput& input) {
  const std::set<std::string> hosts = hosts_of(a);
  for (const std::string& host : hosts) {
    const auto gpus = std::ranges::count(input.gpus, host, [](const GpuRow& g) { return g.use.device.host; });
    a.manifest += fmt::format("NodeName={} Name=shard Count={}\n", host, sharers * static_cast<std::size_t>(gpus));
  }
  a.risk += "; Slurm keeps jobs with whole GPUs off a GPU with shards, and does not limit the memory of a shard";
  a.commands.emplace_back("cat shards.conf >> /etc/slurm/gres.conf   # the manifest");
  a.commands.emplace_back(
      "scontrol show config | grep GresTypes   # must list shard; slurm.conf names the shards in Gres= of the nodes, "
      "too");
  a.commands.emplace_back("sudo systemctl restart slurmctld   # then slurmd on the nodes");
  a.rollback = "remove the shards from gres.conf and slurm.conf";
}

void share_gpus(FleetAction& a) {
  a.risk += "; the setting applies to every GPU of the node, so cordon it or move its other pods first";
  a.commands.push_back(
      "kubectl create configmap gpu-sharing -n gpu-operator --from-file=shared=sharing.yaml   # the manifest");
  // Another name would replace the settings of other nodes, which only someone who knows them can do.
  a.commands.emplace_back(
      "kubectl get clusterpolicies.nvidia.com/cluster-policy -o jsonpath='{.spec.devicePlugin.config.name}'   # must "
      "print gpu-sharing");
  a.rollback.clear();
  for (const std::string& host : hosts_of(a)) {
    a.commands.push_back(fmt::format("kubectl label node {} nvidia.com/device-plugin.config=shared --overwrite", host));
    a.rollback +=
        fmt::format("{}kubectl label node {} nvidia.com/device-plugin.config-", a.rollback.empty() ? "" : "; ", host);
  }
}

void move_workloads(FleetAction& a, const Replacement& to, const RemedyInput& input) {
  std::map<Owner, std::set<std::string>> workloads;  // -> pods
  std::map<Owner, std::size_t> gpus;
  for (const Move& move : a.moves) {
    Owner workload = move.owner;
    if (orchestrator_of(workload) == Orchestrator::kKubernetes) workload.instance.clear();
    workloads[workload].insert(move.owner.instance);
    ++gpus[workload];
  }
  if (to.moves_provider) {  // to another cluster: no command here can do it
    a.risk += fmt::format("; data and network must move, unless {} is your provider",
                          to.machine != nullptr ? to.machine->provider : "it");
    return;
  }
  for (const auto& [workload, pods] : workloads) {
    Owner owner = workload;
    owner.instance = *pods.begin();
    const bool all = pods.size() >= replicas_of(owner, input);
    append(a.commands, reselect_commands(owner, to, gpus[workload], all));
    if (all && is_scalable(owner)) a.rollback = undo_command(owner) + "; " + a.rollback;
  }
}

// `others`: replicas of the workload on other kinds of GPU.
void fill_texts(FleetAction& a, const Remedy& first, const std::string& now, std::size_t keeps, std::size_t others,
                const Thresholds& thresholds) {
  const ActionText& text = text_of(first.kind);
  const std::optional<Replacement>& instead = first.instead;
  auto filled = [&](const char* pattern) {
    return fmt::format(
        fmt::runtime(pattern), fmt::arg("who", a.owner == kUnowned ? "the unlabelled work" : a.owner),
        fmt::arg("now", now), fmt::arg("then", count_of(keeps, first.gpu)), fmt::arg("count", a.gpus.size()),
        fmt::arg("keeps", fmt::format("{} replica{}", first.replicas.second + others,
                                      first.replicas.second + others == 1 ? "" : "s")),
        fmt::arg("replicas", first.replicas.first + others), fmt::arg("old", first.gpu), fmt::arg("place", first.to),
        fmt::arg("gpu", instead ? instead->gpu->name : ""),
        fmt::arg("rate", instead ? format_usd_per_hour(instead->rate) : ""),
        fmt::arg("offer", instead ? instead->source : ""),
        fmt::arg("load", a.forecast    ? load_text(*a.forecast)
                         : first.speed ? fmt::format("it runs at {:.2f}x the speed", *first.speed)
                                       : ""),
        fmt::arg("level", a.forecast ? level_of(*a.forecast, first.kind, thresholds) : "medium"),
        fmt::arg("min_age", format_duration(thresholds.min_age)), fmt::arg("nearly", percent(kNearlyIdle)),
        fmt::arg("park_after", format_duration(thresholds.park_after)));
  };
  a.what = filled(text.what);
  a.from = filled(text.from);
  a.to = filled(text.to);
  a.risk = filled(text.risk);
  a.check = filled(text.check);
  a.rollback = filled(text.rollback);
}

}  // namespace

ActionKind kind_of(RemedyKind kind) { return text_of(kind).kind; }

FleetAction describe(const std::vector<const Remedy*>& remedies, const RemedyInput& input) {
  const Remedy& first = *remedies.front();
  FleetAction a;
  a.kind = kind_of(first.kind);
  a.counted = first.counted;
  a.owner = first.owner;
  std::size_t keeps = 0;
  std::set<std::string> manifests;
  std::map<std::string, std::size_t> kinds;  // GPUs by name
  for (const Remedy* remedy : remedies) {
    kinds[remedy->gpu] += remedy->gpus.size();
    a.saving += remedy->saving;
    a.confidence += remedy->confidence / static_cast<double>(remedies.size());
    append(a.gpus, remedy->gpus);
    append(a.moves, remedy->moves);
    if (remedy->forecast) a.forecast = a.forecast ? worse_of(*a.forecast, *remedy->forecast) : *remedy->forecast;
    // One setting for all nodes: the one with the most sharers.
    if (first.kind == RemedyKind::kSideBySide)
      a.manifest = std::max(a.manifest, remedy->manifest, [](const std::string& x, const std::string& y) {
        return std::pair(x.size(), x) < std::pair(y.size(), y);
      });
    else if (manifests.insert(remedy->manifest).second)
      a.manifest += remedy->manifest;
    keeps += remedy->keeps;
  }
  std::ranges::sort(a.gpus);
  for (std::size_t gpu : a.gpus) a.gpu_ids.push_back(input.gpus[gpu].use.device.key());
  std::string now;
  for (const auto& [gpu, count] : kinds) now += (now.empty() ? "" : " and ") + count_of(count, gpu);
  const Owner& owner = input.running[first.gpus.front()].owner();
  const std::size_t all = is_scalable(owner) ? replicas_of(owner, input) : 0;
  fill_texts(a, first, now, keeps, all - std::min(all, first.replicas.first), input.thresholds);
  if (!a.counted && a.kind != ActionKind::kWatch)
    a.risk +=
        "; not in the total: " +
        (first.kind == RemedyKind::kCommit
             ? std::string("a year is bought for whole machines that were busy for at least a week")
         : first.kind == RemedyKind::kQuantize ? std::string("only the owner of the model can quantize it")
         : first.kind == RemedyKind::kGiveBack ? std::string("a GPU cannot be given back without its machine")
         : !first.has_step || (first.kind == RemedyKind::kPark && !first.hours.valid())
             ? std::string("no command does this")
         : (first.kind == RemedyKind::kReplicas || first.kind == RemedyKind::kBatch) &&
                 !is_scalable(input.running[first.gpus.front()].owner())
             ? std::string("no controller is known that could scale it")
         : (first.kind == RemedyKind::kSideBySide || first.kind == RemedyKind::kMig) &&
                 !is_too_slow(*a.forecast, input.thresholds)
             ? std::string("other work on the node would have to move for it")
         : first.loses_link ? fmt::format("the work spans several GPUs, and {} has no NVLink", first.instead->gpu->name)
         : first.moves_provider ? fmt::format("a change of provider; if {0} is yours, pass --provider {0}",
                                              first.instead->machine->provider)
         : a.forecast           ? broken_limit(*a.forecast, input.thresholds)
         : is_scalable(input.running[first.gpus.front()].owner())
             ? "too few working days to find regular hours"
             : "nothing scales it, so its owner has to agree that it ends every day");
  switch (first.kind) {
    case RemedyKind::kReplicas:
    case RemedyKind::kBatch:
      scale_down(a, input, false);
      break;
    case RemedyKind::kStop:
      scale_down(a, input, true);
      for (const std::string& host : whole_machines(a.gpus, input).first) {
        // Without a scheduler nothing else removes the machine, which costs as much when it is idle.
        if (orchestrator_of_host(host, input) == Orchestrator::kUnknown && !host.empty())
          a.commands.push_back(shut_down(host));
      }
      break;
    case RemedyKind::kGiveBack:
      if (!std::ranges::all_of(
              a.gpus, [&](std::size_t gpu) { return input.gpus[gpu].use.metric(Metric::kMemoryUsed) != nullptr; }))
        a.risk =
            "medium: the readings do not show whether a process holds memory; queued jobs may wait longer at a peak";
      drain_machines(a, input);
      break;
    case RemedyKind::kPark:
      park(a, remedies, input);
      break;
    case RemedyKind::kSideBySide:
      if (a.owner == kSeveralTeams) {
        a.risk =
            "high: jobs of different or unknown teams share memory protection and faults; " + load_text(*a.forecast);
      }
      if (!a.manifest.empty()) {
        share_gpus(a);
      } else if (orchestrator_of(input.running[first.gpus.front()].owner()) == Orchestrator::kSlurm) {
        std::size_t sharers = 0;
        for (const Remedy* remedy : remedies) sharers = std::max(sharers, remedy->gpus.size());
        shard_gpus(a, sharers, input);
      }
      place_workloads(a, input);
      break;
    case RemedyKind::kMig:
      slice_gpus(a, input);
      break;
    case RemedyKind::kDownsize:
    case RemedyKind::kQuantize:
      move_workloads(a, *first.instead, input);
      break;
    case RemedyKind::kCommit:
    case RemedyKind::kWatch:
    case RemedyKind::kReview:
      break;
  }
  // Work that moves to other GPUs may leave a part of a machine, too.
  const bool frees = first.kind != RemedyKind::kGiveBack && first.kind != RemedyKind::kPark;
  if (frees && whole_machines(freed_gpus(a, input), input).second > 0) a.risk += kSharedMachine;
  const auto ends_jobs = [](const std::string& command) { return command.starts_with("scancel "); };
  if (first.kind != RemedyKind::kStop && std::ranges::any_of(a.commands, ends_jobs))
    a.risk += "; jobs end and start again from their last checkpoint, or from the beginning if they save none";
  return a;
}

}  // namespace rightsize::fleet
