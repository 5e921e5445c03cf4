// A plan in the words of the tool that carries it out: a file to run, or to read and change first.
//
//   Result<std::string> task = hand_over(Target::kSkyPilot, request, recommendation.plans.front());
//
// Every file begins with comments: what it is, what it is expected to cost and where that price comes from, and what
// must be filled in (the checkpoint, the data, the user's own script, networks and keys). Its commands carry the plan's
// settings in the flags of the plan's stack. What a tool cannot do is an error that names a tool that can; any plan can
// be handed to Slurm and to Kubernetes, but an engine of TensorRT-LLM over several machines.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace rightsize::plan {

enum class Target {
  kSkyPilot,    // a task (training, offline) or a service (serving), YAML
  kKubernetes,  // an indexed Job and its storage, a Deployment or a LeaderWorkerSet and its Service, YAML
  kKarpenter,   // a NodePool and its EC2NodeClass; AWS only
  kSlurm,       // a batch script
  kTerraform,   // the machines alone; AWS, Google Cloud, Azure
  kTriton,      // config.pbtxt of a model that answers in batches
};
std::string_view name_of(Target target);

// "skypilot", "kubernetes" (or "k8s"), "karpenter", "slurm", "terraform", "triton"; a wrong name gets a suggestion.
Result<Target> parse_target(std::string_view name);

Result<std::string> hand_over(Target target, const Request& request, const Plan& plan);

}  // namespace rightsize::plan
