// Forms of clouds' own templates and services, for test_forms.h.
#pragma once

#include <vector>

#include <fmt/format.h>

#include "manifests/test_form.h"

namespace rightsize::manifests {

inline std::vector<Form> cloud_forms() {
  return {
      // Azure's templates, Databricks, batch services of clouds, machines as Kubernetes objects.
      {"aks.bicep",
       [](const Wish& w) {
         return fmt::format(
             "@description('it''s the size')\nparam size string = 'Standard_NC24ads_A100_v4'\n@allowed([\n  1\n  "
             "2\n])\nparam nodes int = {}\nvar pool = {{\n  name: 'gpu'\n  count: nodes\n}}\nresource aks "
             "'Microsoft.ContainerService/managedClusters@2024-01-01' = if (nodes > 0) {{\n  name: "
             "'aks-${{uniqueString('x')}}'\n  properties: {{\n    agentPoolProfiles: [\n      {{\n        name: "
             "'system'\n        count: 1\n        vmSize: 'Standard_DS2_v2'\n      }}\n      {{\n        name: "
             "pool.name\n        count: pool.count\n        vmSize: size // not 'Standard_NC6s_v3'\n      }}\n    "
             "]\n  }}\n}}\n",
             w.copies);
       },
       nodes},
      {"loop.bicep",
       [](const Wish& w) {
         return fmt::format(
             "param copies int = {}\nresource vms 'Microsoft.Compute/virtualMachines@2023-03-01' = [for i in range(0, "
             "copies): {{\n  name: 'vm${{i}}'\n  properties: {{\n    hardwareProfile: {{\n      vmSize: "
             "'Standard_ND96isr_H100_v5'\n    }}\n  }}\n}}]\n",
             w.copies);
       },
       nodes},
      {"azuredeploy.json",
       [](const Wish& w) {
         return fmt::format(
             "{{\"$schema\": \"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#\",\n"
             "\"parameters\": {{\"size\": {{\"defaultValue\": \"Standard_NC6s_v3\"}},\n \"n\": "
             "{{\"defaultValue\": {}}}}},\n\"variables\": {{\"on\": true}},\n\"resources\": [{{\"type\": "
             "\"Microsoft.Compute/virtualMachineScaleSets\", \"name\": \"[concat('a', 'b')]\",\n \"condition\": "
             "\"[variables('on')]\",\n \"sku\": {{\"name\": \"[parameters('size')]\",\n \"capacity\": "
             "\"[parameters('n')]\"}}}}]}}\n",
             w.copies);
       },
       nodes},
      {"nested.json",
       [](const Wish& w) {
         return fmt::format(
             "{{\"$schema\": \"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#\",\n"
             "\"resources\": {{\"a\": {{\"type\": \"Microsoft.Resources/deployments\", \"properties\": "
             "{{\"template\": {{\"resources\": [{{\"type\": \"Microsoft.Compute/virtualMachines\", \"copy\": "
             "{{\"count\": {}}},\n\"properties\": {{\"hardwareProfile\": {{\"vmSize\": "
             "\"Standard_NC6s_v3\"}}}}}}]}}}}}}}}}}\n",
             w.copies);
       },
       nodes},
      {"databricks.yml",
       [](const Wish& w) {
         return fmt::format(
             "variables:\n  size:\n    default: {}\nresources:\n  jobs:\n    a:\n      job_clusters:\n      - "
             "new_cluster:\n          node_type_id: ${{var.size}}\n  "
             "        driver_node_type_id: m5.large\n          autoscale:\n            min_workers: {}\n            "
             "max_workers: 40\n",
             w.machine, w.copies);
       },
       nodes},
      {"cluster.json",
       [](const Wish& w) {
         return fmt::format("{{\"cluster_name\": \"a\",\n \"node_type_id\": \"{}\",\n \"num_workers\": {}}}\n",
                            w.machine, w.copies);
       },
       [](const Wish& w) { return w.copies + 1.0; }},
      {"pool-of-databricks.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"databricks_instance_pool\" \"a\" {{\n  node_type_id = \"{}\"\n  min_idle_instances = "
             "{}\n}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"batch.json",
       [](const Wish& w) {
         return fmt::format(
             "{{\"taskGroups\": [{{\"taskCount\": 100,\n \"parallelism\": {}}}],\n\"allocationPolicy\": "
             "{{\"instances\": [{{\"policy\": {{\"machineType\": \"n1-standard-8\",\n \"accelerators\": "
             "[{{\"type\": \"nvidia-tesla-t4\",\n \"count\": {}}}]}}}}]}}}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"environment.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"aws_batch_compute_environment\" \"a\" {{\n  compute_resources {{\n    instance_type = "
             "[\"{}\"]\n    min_vcpus = 0\n    max_vcpus = {}\n  }}\n}}\nresource \"aws_batch_job_definition\" "
             "\"a\" {{\n  container_properties = jsonencode({{\n    resourceRequirements = [{{ type = \"GPU\", "
             "value = \"{}\" }}]\n  }})\n}}\n",
             w.machine, 64 * w.copies, w.gpus);
       },
       gpus_alone},
      {"crossplane.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: eks.aws.upbound.io/v1beta1\nkind: NodeGroup\nmetadata: {{name: a}}\nspec:\n  "
             "forProvider:\n    instanceTypes:\n    - {}\n    scalingConfig:\n    - desiredSize: {}\n      maxSize: "
             "40\n",
             w.machine, w.copies);
       },
       nodes},
      {"template.json",
       [](const Wish& w) {
         return fmt::format(
             "{{\"Parameters\": {{\"Stage\": {{\"Default\": \"prod\"}}}},\n\"Mappings\": {{\"Sizes\": "
             "{{\"prod\": {{\"Type\": \"{}\",\n \"Nodes\": {}}}}}}},\n\"Resources\": {{\"Group\": {{\"Type\": "
             "\"AWS::EKS::Nodegroup\", \"Properties\": {{\"InstanceTypes\": [{{\"Fn::FindInMap\": [\"Sizes\", "
             "{{\"Ref\": \"Stage\"}}, \"Type\"]}}],\n\"ScalingConfig\": {{\"DesiredSize\": {{\"Fn::FindInMap\": "
             "[\"Sizes\", {{\"Ref\": \"Stage\"}}, \"Nodes\"]}}}}}}}}}}}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"template.yaml",
       [](const Wish& w) {
         return fmt::format(
             "Mappings:\n  Sizes:\n    prod:\n      Type: {}\n      Nodes: {}\nResources:\n  Group:\n    Type: "
             "AWS::EKS::Nodegroup\n    Properties:\n      InstanceTypes:\n      - !FindInMap [Sizes, prod, Type]\n   "
             "   ScalingConfig:\n        DesiredSize: !FindInMap [Sizes, prod, Nodes]\n",
             w.machine, w.copies);
       },
       nodes},
      {"quota.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\nspec:\n  nodeLabels:\n "
             "   node.kubernetes.io/instance-type: {}\n    nvidia.com/gpu.product: NVIDIA-L4\n---\napiVersion: "
             "kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: q}}\nspec:\n  resourceGroups:\n  - "
             "flavors:\n    - name: f\n      resources:\n      - name: nvidia.com/gpu\n        nominalQuota: {}\n",
             w.machine, w.gpus);
       },
       gpus_alone},
      {"nebius.tf",
       [](const Wish& w) {
         return fmt::format(
             "module \"k\" {{\n  source = \"../..\"\n  gpu_node_groups = {{\n    a = {{\n      platform = "
             "\"gpu-h100-sxm\"\n      preset = \"8gpu-128vcpu-1600gb\"\n      fixed_node_count = {}\n    }}\n  "
             "}}\n}}\n",
             w.copies);
       },
       nodes},
      {"prod.tfvars",
       [](const Wish& w) {
         return fmt::format(
             "gpu_pools = {{\n  a = {{\n    machine_type = \"a3-highgpu-8g\"\n    node_count = {}\n  "
             "}}\n}}\n",
             w.copies);
       },
       nodes},
      {"variables-of-pools.tf",
       [](const Wish& w) {
         return fmt::format(
             "variable \"gpu_pools\" {{\n  default = [{{\n    instance_type = \"{}\"\n    count = "
             "{}\n  }}]\n}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"dynamic.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {{name: s}}\nspec:\n  "
             "dynamicAllocation:\n    enabled: true\n    initialExecutors: 1\n    minExecutors: {}\n    maxExecutors: "
             "90\n  executor:\n    instances: 1\n    gpu:\n      name: nvidia.com/gpu\n      quantity: {}\n",
             w.copies, w.gpus);
       },
       pods},
  };
}

}  // namespace rightsize::manifests
