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

Result<std::string> hand_over(Target target, const Request& request, const Plan& plan) {
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
