#include "plan/hand_over.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "plan/hand_over/parts.h"

namespace rightsize::plan {

std::string_view name_of(Target target) {
  static constexpr std::string_view kNames[] = {"skypilot", "kubernetes", "karpenter", "slurm", "terraform", "triton"};
  return kNames[static_cast<int>(target)];
}

Result<Target> parse_target(std::string_view name) {
  const std::string lower = to_lower(trim(name));
  std::vector<std::string> known;
  for (Target target : {Target::kSkyPilot, Target::kKubernetes, Target::kKarpenter, Target::kSlurm, Target::kTerraform,
                        Target::kTriton}) {
    if (lower == name_of(target)) return target;
    known.emplace_back(name_of(target));
  }
  if (lower == "k8s") return Target::kKubernetes;
  return fail(bad_input(fmt::format("'{}' is nothing a plan can be handed to", name))
                  .with_hint(did_you_mean(lower, known))
                  .with_hint(fmt::format("known are {}", fmt::join(known, ", "))));
}

// What an engine over several machines cannot be handed to.
static Result<> check_span(Target target, const Request& request, const Plan& plan) {
  const int machines = replica_machines(request, plan);
  if (machines == 1) return {};
  if (plan.job.stack == model::Stack::kTrtLlm && target != Target::kTerraform && target != Target::kKarpenter)
    return fail(
        bad_input(fmt::format("TensorRT-LLM over {} machines is started by MPI, which no file here does", machines))
            .with_hint("use --stack vllm or --stack sglang, or --emit terraform for the machines"));
  if (target == Target::kSkyPilot)
    return fail(bad_input(fmt::format("a copy of {} spans {} machines, which SkyPilot's services do not",
                                      request.model.name, machines))
                    .with_hint("use --emit kubernetes (a LeaderWorkerSet) or --emit slurm"));
  return {};
}

Result<std::string> hand_over(Target target, const Request& request, const Plan& plan) {
  if (Result<> span = check_span(target, request, plan); !span) return fail(span.error());
  switch (target) {
    case Target::kSkyPilot:
      return to_skypilot(request, plan);
    case Target::kKubernetes:
      return to_kubernetes(request, plan);
    case Target::kKarpenter:
      return to_karpenter(request, plan);
    case Target::kSlurm:
      return to_slurm(request, plan);
    case Target::kTerraform:
      return to_terraform(request, plan);
    case Target::kTriton:
      return to_triton(request, plan);
  }
  return fail(bug("a target without a writer"));
}

}  // namespace rightsize::plan
