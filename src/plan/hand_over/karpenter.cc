// Karpenter on AWS: a NodePool that may make exactly the plan's machines (karpenter.sh/v1).
#include <fmt/format.h>

#include "plan/hand_over/parts.h"

namespace rightsize::plan {

Result<std::string> to_karpenter(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  if (machine.provider != "aws") {
    return fail(bad_input(fmt::format("Karpenter makes AWS nodes here, the plan's machines are {}'s", machine.provider))
                    .with_hint("'--providers aws' plans on AWS alone")
                    .with_hint("kubernetes and slurm take machines of any provider"));
  }
  const std::string name = object_name(request);
  std::string out = header(request, plan, "A Karpenter NodePool. Start: kubectl apply -f THIS_FILE",
                           {"nodeClassRef.name: an EC2NodeClass of your cluster (image, subnets, role)",
                            "the work itself: hand the same plan to kubernetes"});
  out += fmt::format("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: {}\n", name);
  out += fmt::format(
      "spec:\n  template:\n    metadata:\n      labels:\n        rightsize/plan: {}\n    spec:\n"
      "      nodeClassRef:\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: gpu\n"
      "      requirements:\n",
      name);
  const auto require = [&](const char* key, std::string_view value) {
    out += fmt::format("        - key: {}\n          operator: In\n          values: [{}]\n", key, quoted(value));
  };
  require("node.kubernetes.io/instance-type", machine.instance);
  require("karpenter.sh/capacity-type", is_spot(plan) ? "spot" : "on-demand");
  if (plan.offer.price->region != "any") require("topology.kubernetes.io/region", plan.offer.price->region);
  out += fmt::format("      taints:\n        - key: {}\n          value: \"true\"\n          effect: NoSchedule\n",
                     resource(plan));
  out += fmt::format("  limits:\n    {}: {}  # {} machines\n", resource(plan), plan.machines * machine.gpus,
                     plan.machines);
  // Moving a training job to a smaller machine would restart it.
  out += fmt::format("  disruption:\n    consolidationPolicy: {}\n    consolidateAfter: 5m\n",
                     is_served(request) ? "WhenEmptyOrUnderutilized" : "WhenEmpty");
  return out;
}

}  // namespace rightsize::plan
