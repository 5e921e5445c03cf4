// Karpenter on AWS: a NodePool that may make exactly the plan's machines (karpenter.sh/v1).
#include <fmt/format.h>

#include "plan/hand_over/parts.h"

namespace rightsize::plan {
namespace {

// Image, role and disk of the nodes. The default disk of 20 GB holds no model.
std::string node_class(const Request& request, const Plan& plan, const std::string& name) {
  return fmt::format(
      "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: {0}\nspec:\n"
      "  role: KarpenterNodeRole-REPLACE-BY-YOUR-CLUSTER\n  amiSelectorTerms:\n    - alias: al2023@latest\n"
      "  subnetSelectorTerms:\n    - tags:\n        karpenter.sh/discovery: REPLACE-BY-YOUR-CLUSTER\n"
      "  securityGroupSelectorTerms:\n    - tags:\n        karpenter.sh/discovery: REPLACE-BY-YOUR-CLUSTER\n"
      "  blockDeviceMappings:\n    - deviceName: /dev/xvda\n      ebs:\n        volumeSize: {1}Gi\n"
      "        volumeType: gp3\n---\n",
      name, disk_gb(request, plan));
}

}  // namespace

Result<std::string> to_karpenter(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  if (machine.provider != "aws") {
    return fail(bad_input(fmt::format("Karpenter makes AWS nodes here, the plan's machines are {}'s", machine.provider))
                    .with_hint("'--providers aws' plans on AWS alone")
                    .with_hint("kubernetes and slurm take machines of any provider"));
  }
  const std::string name = object_name(request);
  std::string out = header(
      request, plan, "A Karpenter NodePool. Start: kubectl apply -f THIS_FILE",
      {"EC2NodeClass: your cluster's name in role and selectors", "the work itself: hand the same plan to kubernetes"});
  out += node_class(request, plan, name);
  out += fmt::format("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: {}\n", name);
  out += fmt::format(
      "spec:\n  template:\n    metadata:\n      labels:\n        rightsize/plan: {0}\n    spec:\n"
      "      nodeClassRef:\n        group: karpenter.k8s.aws\n        kind: EC2NodeClass\n        name: {0}\n"
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
