// Commands that carry out an action with the tools that run the workload: kubectl, Slurm, nvidia-smi. The controller of
// a pod is inferred from its name. Every command names the object, so a wrong guess fails without harm.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/fleet.h"

namespace rightsize::fleet {

// Hours of the day in UTC.
struct DailyHours {
  int from = 0, until = 24;    // 0-24
  bool weekdays_only = false;  // Monday to Friday

  bool valid() const { return from >= 0 && from < until && until <= 24 && until - from < 24; }
};

enum class Orchestrator { kUnknown, kKubernetes, kSlurm };
Orchestrator orchestrator_of(const Owner& owner);

// "deployment/chat", "statefulset/train", "pod/notebook-alice". A pod without the hash of a ReplicaSet in its name may
// belong to any controller, so it is handled alone.
std::string kubernetes_object(const Owner& owner);

// A pod of a training job: "train-worker-0".
bool is_worker(const Owner& owner);
// A pod that a controller (Kubeflow, Ray, a Job) creates again if only the pod is deleted; what all pods of a job have
// in common ("train" of "train-worker-0"); and the name of the file that keeps what stop_commands() deletes.
bool is_controlled(const Owner& owner);
std::string job_of_pod(const std::string& pod);
std::string saved_name(const Owner& owner);

// Whether a Kubernetes controller runs the workload, which allows setting its replicas.
bool is_scalable(const Owner& owner);
std::string scale_command(const Owner& owner, std::size_t replicas);
// Stops the owner's workload: scales to zero, saves and deletes a bare pod or what created it, saves and cancels a job.
// Empty if the workload has no name.
std::vector<std::string> stop_commands(const Owner& owner);
// The command that starts again what stop_commands() saved.
std::string restart_command(const Owner& owner);
// Runs work without replicas only in these hours; the second is the command that undoes it.
std::pair<std::vector<std::string>, std::string> hours_commands(const Owner& owner, DailyHours hours);
// Lists the processes on a host's GPUs; switches the host off.
std::string process_list(std::string_view columns, std::string_view host);
std::string shut_down(const std::string& host);
// Takes a host out of service; without a scheduler, it has to be empty first.
std::vector<std::string> drain_commands(const std::string& host, Orchestrator orchestrator);
std::string undrain(const std::string& host, Orchestrator orchestrator);
// Makes a Deployment remove these pods first when it scales down (controller.kubernetes.io/pod-deletion-cost). A
// StatefulSet always removes the highest numbers first.
std::vector<std::string> mark_for_removal(const Owner& owner, const std::set<std::string>& pods);
// Whether scaling down to `remaining` replicas removes these pods and no others.
bool removes_only(const Owner& owner, const std::set<std::string>& pods, std::size_t remaining);
// Runs the workload on another kind of GPU, by the instance type of its nodes or the GPU's product name. If only some
// of its replicas move, they need a separate object. `gpus`: of the job.
std::vector<std::string> reselect_commands(const Owner& owner, const Replacement& other, std::size_t gpus,
                                           bool all_replicas);

// Runs the workload on a shared GPU or a slice of this host: a pod requests it as `resource` (empty: a GPU as before),
// a job as `gres`.
struct SharedPlace {
  std::string host, resource, gres;
};
std::vector<std::string> place_commands(const Owner& owner, const SharedPlace& place, bool all_replicas);

std::string undo_command(const Owner& owner);  // of a patch
std::string get_command(const Owner& owner);   // fails if the object does not exist

// A KEDA ScaledObject with more replicas in these hours of the day (UTC). Empty for workloads that cannot be scaled,
// and for hours that cover the whole day or none of it.
struct ScheduledReplicas {
  std::size_t always = 0, in_hours = 1;
};
std::string keda_schedule(const Owner& owner, DailyHours hours, ScheduledReplicas replicas);
// The device plugin's configuration for GPUs with this many sharers.
std::string time_slicing_config(std::size_t sharers);

}  // namespace rightsize::fleet
