#include "fleet/commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "hand_over/template.h"

namespace rightsize::fleet {
namespace {

bool is_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// "-n team " if the namespace is known.
std::string in_namespace(const Owner& owner) { return owner.team.empty() ? "" : "-n " + owner.team + " "; }

// Slurm's ids: "4001", "4001_3", "4001+0".
bool is_job_id(std::string_view id) {
  return is_digits(id.substr(0, id.find_first_of("_+"))) && id.find_first_not_of("0123456789_+") == id.npos;
}

}  // namespace

Orchestrator orchestrator_of(const Owner& owner) {
  if (owner.instance.empty()) return Orchestrator::kUnknown;
  return is_job_id(owner.instance) ? Orchestrator::kSlurm : Orchestrator::kKubernetes;
}

std::string kubernetes_object(const Owner& owner) {
  // If a label named the workload (Ray, SkyPilot), there is no object of that name.
  if (owner.workload == owner.instance || owner.workload != workload_of_pod(owner.instance))
    return "pod/" + owner.instance;
  const std::string_view end =
      std::string_view(owner.instance).substr(std::min(owner.instance.size(), owner.workload.size()));
  // Operators of training jobs name pods like those of a StatefulSet: "train-worker-0".
  // "chat-0-2" is a worker of the group "chat-0", which a LeaderWorkerSet scales back.
  const bool in_group = is_digits(std::string_view(owner.workload).substr(owner.workload.rfind('-') + 1)) &&
                        owner.workload.find('-') != std::string::npos;
  if (end.size() > 1 && is_digits(end.substr(1)) && !is_worker(owner) && !in_group)
    return "statefulset/" + owner.workload;
  return (std::ranges::count(end, '-') == 2 ? "deployment/" + owner.workload : "pod/" + owner.instance);
}

bool is_scalable(const Owner& owner) {
  return orchestrator_of(owner) == Orchestrator::kKubernetes && !kubernetes_object(owner).starts_with("pod/");
}

std::string process_list(std::string_view columns, std::string_view host) {
  return fmt::format("nvidia-smi --query-compute-apps=gpu_uuid,{} --format=csv   # on {}", columns,
                     host.empty() ? "this machine" : host);
}
std::string shut_down(const std::string& host) {
  return fmt::format("sudo shutdown -h now   # on {}, once nothing else runs there", host);
}

namespace {
// The object that created a pod, as kubectl names it; an error, and no deletion, if there is none.
std::string find_controller(const Owner& owner) {
  return fmt::format(
      "kubectl {}get pod/{} -o jsonpath='{{.metadata.ownerReferences[0].kind}}/{{.metadata.ownerReferences[0].name}}'",
      in_namespace(owner), owner.instance);
}
// Slurm keeps the script of a job.
std::string script_of(const Owner& owner) { return fmt::format("job-{}.sh", owner.instance); }
std::string save_script(const Owner& owner) {
  return fmt::format("scontrol write batch_script {} {}", owner.instance, script_of(owner));
}
// Jobs of Kubernetes, Kubeflow, Ray and JobSet; fields that a kind does not have are dropped. The pods of a suspended
// job are gone, so its name is kept in a file.
std::string suspend_command(const Owner& owner, bool suspended) {
  return fmt::format(
      "kubectl {}patch \"$(cat {}.name)\" --type=merge -p "
      "'{{\"spec\":{{\"suspend\":{},\"runPolicy\":{{\"suspend\":{}}}}}}}'",
      in_namespace(owner), saved_name(owner), suspended, suspended);
}
bool is_stateful(const Owner& owner) { return kubernetes_object(owner).starts_with("statefulset/"); }
}  // namespace

bool is_worker(const Owner& owner) {
  return owner.workload.ends_with("-worker") || owner.workload.ends_with("-master");
}

bool is_controlled(const Owner& owner) {
  return orchestrator_of(owner) == Orchestrator::kKubernetes && workload_of_pod(owner.instance) != owner.instance;
}

std::string job_of_pod(const std::string& pod) {
  for (const char* role : {"-worker", "-master", "-head", "-launcher"}) {
    if (const std::size_t at = pod.find(role); at != std::string::npos && at > 0) return pod.substr(0, at);
  }
  return workload_of_pod(pod);
}

std::string saved_name(const Owner& owner) {
  return is_controlled(owner) ? job_of_pod(owner.instance) : owner.instance;
}

std::string scale_command(const Owner& owner, std::size_t replicas) {
  return fmt::format("kubectl {}scale {} --replicas={}", in_namespace(owner), kubernetes_object(owner), replicas);
}

std::vector<std::string> stop_commands(const Owner& owner) {
  if (owner.instance.empty()) return {};
  if (orchestrator_of(owner) == Orchestrator::kSlurm) return {save_script(owner), "scancel " + owner.instance};
  if (is_scalable(owner)) return {scale_command(owner, 0)};
  // A controller would create the pod again, so the controller is what is saved and deleted.
  const std::string object =
      is_controlled(owner) ? fmt::format("\"$({})\"", find_controller(owner)) : kubernetes_object(owner);
  const std::string space = in_namespace(owner);
  return {fmt::format("kubectl {}get {} -o yaml > {}.yaml", space, object, saved_name(owner)),
          fmt::format("kubectl {}delete {}", space, object)};
}

std::string restart_command(const Owner& owner) {
  if (orchestrator_of(owner) == Orchestrator::kSlurm) return "sbatch " + script_of(owner);
  return fmt::format("kubectl apply -f {}.yaml", saved_name(owner));
}

std::pair<std::vector<std::string>, std::string> hours_commands(const Owner& owner, DailyHours hours) {
  if (!hours.valid() || owner.instance.empty()) return {};
  const std::string script = script_of(owner);
  if (orchestrator_of(owner) == Orchestrator::kSlurm) {
    return {
        {save_script(owner),
         fmt::format("{{ scrontab -l; echo '0 {} * * {} sbatch --time={}:00:00 {}'; }} | scrontab -   # UTC; scrontab "
                     "has the time zone of the cluster",
                     hours.from, hours.weekdays_only ? "1-5" : "*", hours.until - hours.from, script),
         fmt::format("scancel {}   # after its hours", owner.instance)},
        fmt::format("scrontab -l | grep -v {0} | scrontab -; sbatch {0}", script)};
  }
  if (is_controlled(owner)) {
    return {{find_controller(owner) + fmt::format(" > {}.name", saved_name(owner)),
             suspend_command(owner, true) + fmt::format("   # at {}:00 UTC", hours.until % 24),
             suspend_command(owner, false) + fmt::format("   # at {}:00 UTC", hours.from)},
            suspend_command(owner, false)};
  }
  std::vector<std::string> commands = stop_commands(owner);
  commands.push_back(restart_command(owner) + fmt::format("   # at {}:00 UTC", hours.from));
  return {commands, restart_command(owner)};
}

std::vector<std::string> drain_commands(const std::string& host, Orchestrator orchestrator) {
  if (host.empty()) return {};
  if (orchestrator == Orchestrator::kSlurm) {
    return {fmt::format("scontrol update nodename={} state=drain reason=unused-gpus", host)};
  }
  if (orchestrator == Orchestrator::kKubernetes) {
    return {fmt::format("kubectl cordon {}", host),
            fmt::format("kubectl drain {} --ignore-daemonsets --delete-emptydir-data", host)};
  }
  return {process_list("pid,process_name", host) + "; must list nothing", shut_down(host)};
}

std::string undrain(const std::string& host, Orchestrator orchestrator) {
  if (orchestrator == Orchestrator::kSlurm) return fmt::format("scontrol update nodename={} state=resume", host);
  if (orchestrator == Orchestrator::kKubernetes) return fmt::format("kubectl uncordon {}", host);
  return "start the machine again";
}

std::vector<std::string> mark_for_removal(const Owner& owner, const std::set<std::string>& pods) {
  std::vector<std::string> commands;
  if (is_stateful(owner)) return commands;
  for (const std::string& pod : pods)
    commands.push_back(
        fmt::format("kubectl {}annotate pod {} controller.kubernetes.io/pod-deletion-cost=-1000 --overwrite",
                    in_namespace(owner), pod));
  return commands;
}

bool removes_only(const Owner& owner, const std::set<std::string>& pods, std::size_t remaining) {
  const auto is_last = [&](const std::string& pod) {
    const std::string number = pod.substr(pod.rfind('-') + 1);
    return is_digits(number) && std::stoul(number) >= remaining;
  };
  return !is_stateful(owner) || std::ranges::all_of(pods, is_last);
}

namespace {
// Moves the pods of a workload to nodes with this label; a comment where no command can.
std::vector<std::string> select_node(const Owner& owner, const std::string& label, const std::string& value,
                                     bool all_replicas) {
  const std::string object = kubernetes_object(owner);
  if (!is_scalable(owner))
    return {fmt::format("# {}: set nodeSelector {}: {} and create it again", object, label, value)};
  if (!all_replicas)
    return {fmt::format("# {}: only some of its replicas move; run them as a copy with nodeSelector {}: {}", object,
                        label, value)};
  return {
      fmt::format("kubectl {}patch {} -p "
                  "'{{\"spec\":{{\"template\":{{\"spec\":{{\"nodeSelector\":{{\"{}\":\"{}\"}}}}}}}}}}'",
                  in_namespace(owner), object, label, value)};
}
}  // namespace

std::vector<std::string> reselect_commands(const Owner& owner, const Replacement& other, std::size_t gpus,
                                           bool all_replicas) {
  // "NVIDIA L4" is nvidia.com/gpu.product=NVIDIA-L4.
  std::string label = "nvidia.com/gpu.product", value = other.gpu->name;
  for (const std::string& alias : other.gpu->aliases) {
    if (alias.starts_with("NVIDIA ") && value == other.gpu->name) value = alias;
  }
  std::ranges::replace(value, ' ', '-');
  if (other.machine != nullptr) {
    label = "node.kubernetes.io/instance-type";
    value = other.machine->instance;
  }
  if (owner.instance.empty()) return {};
  if (orchestrator_of(owner) == Orchestrator::kSlurm) {
    // "h100-sxm" is usually "h100"; "rtx-pro-6000" has no shorter name.
    const std::string& name = other.gpu->name;
    const std::string first = name.substr(0, name.find('-'));
    std::vector<std::string> commands = stop_commands(owner);
    commands.push_back(fmt::format("sbatch --gpus={}:{} {}   # 'sinfo -o %G' lists the names of types",
                                   first.find_first_of("0123456789") == std::string::npos ? name : first, gpus,
                                   script_of(owner)));
    return commands;
  }
  std::vector<std::string> commands = select_node(owner, label, value, all_replicas);
  if (!commands.front().starts_with('#'))
    commands.insert(
        commands.begin(),
        fmt::format("kubectl get nodes -l {}={}   # must list a node with room; otherwise add a node pool first", label,
                    value));
  return commands;
}

std::vector<std::string> place_commands(const Owner& owner, const SharedPlace& place, bool all_replicas) {
  if (owner.instance.empty() || place.host.empty()) return {};
  if (orchestrator_of(owner) == Orchestrator::kSlurm)
    return {save_script(owner), fmt::format("scancel {}   # after its next checkpoint", owner.instance),
            fmt::format("sbatch --nodelist={} --gres={} {}   # without its own --gpus and --gres", place.host,
                        place.gres, script_of(owner))};
  std::vector<std::string> commands = select_node(owner, "kubernetes.io/hostname", place.host, all_replicas);
  if (place.resource.empty()) return commands;
  if (commands.front().starts_with('#'))
    commands.front() += fmt::format("; its limit is {}: 1 instead of nvidia.com/gpu", place.resource);
  else
    commands.push_back(
        fmt::format("kubectl {}set resources {} --limits=nvidia.com/gpu=0,{}=1   # -c NAME if its pods "
                    "have several containers",
                    in_namespace(owner), kubernetes_object(owner), place.resource));
  return commands;
}

std::string undo_command(const Owner& owner) {
  return fmt::format("kubectl {}rollout undo {}", in_namespace(owner), kubernetes_object(owner));
}

std::string get_command(const Owner& owner) {
  return fmt::format("kubectl {}get {}", in_namespace(owner), kubernetes_object(owner));
}

std::string keda_schedule(const Owner& owner, DailyHours hours, ScheduledReplicas replicas) {
  if (!is_scalable(owner) || !hours.valid() || replicas.always >= replicas.in_hours) return {};
  // Cron has no hour 24: it is the next day's midnight.
  const bool midnight = hours.until == 24;
  const auto at = [&](int hour, bool next_day) {
    return fmt::format("0 {} * * {}", hour, !hours.weekdays_only ? "*" : next_day ? "2-6" : "1-5");
  };
  const hand_over::Facts daily = hand_over::Facts()
                                     .set("start", at(hours.from, false))
                                     .set("end", at(hours.until % 24, midnight))
                                     .set("replicas", replicas.in_hours);
  hand_over::Facts facts;
  facts.set("name", owner.workload)
      .set("namespace", owner.team)
      .set("only_in_hours", true)
      .set("target_kind", is_stateful(owner) ? "StatefulSet" : "Deployment")
      .set("min_replicas", replicas.always)
      .set("hours", std::vector{daily});
  return hand_over::fill_in("kubernetes/scaled_object.yaml", facts);
}

std::string time_slicing_config(std::size_t sharers) {
  return hand_over::fill_in("kubernetes/time_slicing.yaml", hand_over::Facts().set("sharers", sharers));
}

}  // namespace rightsize::fleet
