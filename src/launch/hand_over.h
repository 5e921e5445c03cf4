// A plan as a file for the tool that carries it out.
//
//   Result<std::string> task = hand_over(Target::kSkyPilot, request, recommendation.plans.front());
//
// Every file begins with comments: its purpose, the expected cost with the source of the price, and what the user must
// fill in (checkpoint, data, scripts, networks, keys). Its commands carry the plan's settings as flags of the plan's
// software. If a tool cannot run a plan, the error names one that can. Every plan can be written for Slurm and
// Kubernetes, except a TensorRT-LLM engine over several machines.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/plan.h"

namespace rightsize::launch {

using capacity::RequestSize;
using plan::Plan;
using plan::Request;
using plan::WorkKind;

enum class Target {
  kSkyPilot,    // a task (training, offline) or a service (serving), YAML
  kKubernetes,  // an indexed Job and its storage, a Deployment or a LeaderWorkerSet and its Service, YAML
  kKarpenter,   // a NodePool and its EC2NodeClass; AWS only
  kSlurm,       // a batch script
  kTerraform,   // only the machines; AWS, Google Cloud, Azure
  kTriton,      // config.pbtxt of a model that answers in one pass
};
std::string_view name_of(Target target);

// By name; "k8s" is Kubernetes. An unknown name gets a suggestion.
Result<Target> parse_target(std::string_view name);

Result<std::string> hand_over(Target target, const Request& request, const Plan& plan);

}  // namespace rightsize::launch
