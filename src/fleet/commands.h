// How an action is done with the tools that run the workload: kubectl, Slurm, nvidia-smi. What owns a pod is read from
// how its name ends, which is a convention: every command names the object, so that a wrong guess fails and harms
// nothing.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace rightsize::fleet {

enum class Orchestrator { kUnknown, kKubernetes, kSlurm };
Orchestrator orchestrator_of(const Owner& owner);

// "deployment/chat", "statefulset/train", "pod/notebook-alice".
std::string kubernetes_object(const Owner& owner);

std::vector<std::string> scale_commands(const Owner& owner, std::size_t replicas);
std::string scale_back(const Owner& owner, std::size_t replicas);  // one command, or a sentence
// Ends what the owner runs: scales to nothing, deletes a bare pod, cancels a job.
std::vector<std::string> stop_commands(const Owner& owner);
// Takes a host out of service.
std::vector<std::string> drain_commands(const std::string& host, Orchestrator orchestrator);
std::string undrain(const std::string& host, Orchestrator orchestrator);
// Makes a controller remove this pod first when it scales down (controller.kubernetes.io/pod-deletion-cost).
std::string mark_for_removal(const Owner& owner, const std::string& pod);
// Runs the workload on another kind of GPU, by the instance type of its nodes or the GPU's product name.
std::vector<std::string> reselect_commands(const Owner& owner, const Alternative& other);

// KEDA's ScaledObject that runs it in these hours of the day (UTC) only; empty for what cannot be scaled.
std::string keda_schedule(const Owner& owner, int from_hour, int until_hour);
// The device plugin's configuration for GPUs shared by so many.
std::string time_slicing_config(std::size_t sharers);

}  // namespace rightsize::fleet
