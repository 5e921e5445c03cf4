// Files of many tools with the same wish: a number of GPUs each, a number of copies, a machine.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "manifests/test_cloud_forms.h"
namespace rightsize::manifests {

inline const std::vector<Form>& tool_forms() {
  static const std::vector<Form> kForms = {
      {"deployment.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  replicas: {}\n  template:\n    "
             "spec:\n      containers:\n      - name: c\n        resources:\n          limits:\n            "
             "nvidia.com/gpu: {}\n",
             w.copies, w.gpus);
       },
       pods},
      {"autoscaled.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      "
             "containers:\n      - resources: {{limits: {{nvidia.com/gpu: {}}}}}\n---\napiVersion: "
             "autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {{name: b}}\nspec:\n  minReplicas: {}\n  "
             "maxReplicas: 99\n  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: a}}\n",
             w.gpus, w.copies);
       },
       pods},
      {"spark.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {{name: s}}\nspec:\n  "
             "driver: "
             "{{cores: 1}}\n  executor:\n    instances: {}\n    gpu:\n      name: nvidia.com/gpu\n      quantity: {}\n",
             w.copies, w.gpus);
       },
       pods},
      {"claims.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {{name: t}}\nspec:\n  spec:\n    "
             "devices:\n      requests:\n      - name: g\n        exactly:\n          deviceClassName: "
             "gpu.nvidia.com\n          count: {}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: "
             "a}}\nspec:\n  replicas: {}\n  template:\n    spec:\n      resourceClaims:\n      - name: g\n        "
             "resourceClaimTemplateName: t\n      containers: [{{name: c}}]\n",
             w.gpus, w.copies);
       },
       pods},
      {"llm.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: serving.kserve.io/v1alpha1\nkind: LLMInferenceService\nmetadata: {{name: l}}\nspec:\n  "
             "replicas: {}\n  parallelism: {{data: 1, tensor: {}}}\n  template:\n    containers:\n    - name: main\n  "
             "    resources: {{limits: {{nvidia.com/gpu: {}}}}}\n",
             w.copies, w.gpus, w.gpus);
       },
       pods},
      {"prod/values.yaml",
       [](const Wish& w) {
         return fmt::format("image: x\nmodelSpec:\n- name: m\n  replicaCount: {}\n  requestGPU: {}\n  requestCPU: 4\n",
                            w.copies, w.gpus);
       },
       pods},
      {"chart-values.yaml",
       [](const Wish& w) {
         return fmt::format("worker:\n  replicas: {}\n  resources:\n    limits:\n      nvidia.com/gpu: {}\n", w.copies,
                            w.gpus);
       },
       pods},
      {"dynamo.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {{name: d}}\nspec:\n  "
             "services:\n    Worker:\n      replicas: {}\n      resources:\n        limits:\n          gpu: \"{}\"\n",
             w.copies, w.gpus);
       },
       pods},
      {"compose.yaml",
       [](const Wish& w) {
         return fmt::format(
             "services:\n  a:\n    image: x\n    deploy:\n      replicas: {}\n      resources:\n        "
             "reservations:\n "
             "         devices:\n          - driver: nvidia\n            count: {}\n            capabilities: [gpu]\n",
             w.copies, w.gpus);
       },
       pods},
      {"knative.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {{name: k}}\nspec:\n  template:\n    "
             "metadata:\n      annotations:\n        autoscaling.knative.dev/min-scale: \"{}\"\n    spec:\n      "
             "containers:\n      - resources: {{limits: {{nvidia.com/gpu: {}}}}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"inline.yaml",
       [](const Wish& w) { return fmt::format("pool: {{machine_type: {}, target_hosts: {}}}\n", w.machine, w.copies); },
       nullptr},
      {"merged/compose.yaml",
       [](const Wish& w) {
         return fmt::format(
             "x-gpu: &gpu\n  deploy:\n    replicas: {}\n    resources:\n      reservations:\n        devices:\n        "
             "- {{driver: nvidia, count: {}, capabilities: [gpu]}}\nservices:\n  a:\n    <<: *gpu\n",
             w.copies, w.gpus);
       },
       pods},
      {"gpus/compose.yaml",
       [](const Wish& w) {
         return fmt::format("services:\n  a:\n    image: x\n    scale: {}\n    gpus:\n    - count: {}\n", w.copies,
                            w.gpus);
       },
       pods},
      {"job.nomad.hcl",
       [](const Wish& w) {
         return fmt::format(
             "job \"a\" {{\n  group \"g\" {{\n    count = {}\n    task \"t\" {{\n      resources {{\n        device "
             "\"nvidia/gpu\" {{\n          count = {}\n        }}\n      }}\n    }}\n  }}\n}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"blueprint.yaml",
       [](const Wish& w) {
         return fmt::format(
             "blueprint_name: b\nvars: {{region: us-central1}}\ndeployment_groups:\n- group: g\n  modules:\n  - id: "
             "p\n    source: modules/compute/gke-node-pool\n    settings:\n      machine_type: {}\n      "
             "autoscaling_total_min_nodes: {}\n",
             w.machine, w.copies);
       },
       nodes},
      {"other-count.yaml",
       [](const Wish& w) {
         return fmt::format("pool:\n  machine_type: {}\n  some_new_node_count_setting: {}\n", w.machine, w.copies);
       },
       nullptr},
      {"pipeline.py", [](const Wish& w) { return fmt::format("task.set_gpu_limit({})\n", w.gpus); }, nullptr},
      {"train.yaml",
       [](const Wish& w) { return fmt::format("kind: TrainJob\nspec:\n  numProcPerNode: {}\n", w.gpus + 1); }, nullptr},
      {"pools.tfvars",
       [](const Wish& w) {
         return fmt::format(
             "node_count = {}\nclusters = {{\n  a = {{\n    flavor = \"compute-GPU\"\n    gpus = {}\n  }}\n}}\n",
             w.copies, w.copies > 9 ? 0 : w.gpus);
       },
       nullptr},
      {"ml.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"azurerm_machine_learning_compute_cluster\" \"g\" {{\n  vm_size = \"{}\"\n  scale_settings "
             "{{\n    min_node_count = {}\n    max_node_count = 99\n  }}\n}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"unknown-count.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"some_node_pool\" \"g\" {{\n  machine_type = \"{}\"\n  limits {{\n    total_hosts = {}\n  "
             "}}\n}}\n",
             w.machine, w.copies);
       },
       nullptr},
      {"task.dstack.yml",
       [](const Wish& w) {
         return fmt::format("type: task\nname: t\nnodes: {}\nresources:\n  gpu: H100:{}\n", w.copies, w.gpus);
       },
       pods},
      {"locals.tf",
       [](const Wish& w) {
         return fmt::format(
             "locals {{\n  base = {{ cpu = {{ instance_types = [\"m5.large\"], desired_size = 2 }} }}\n  gpu = {{\n   "
             " gpu = {{\n      instance_types = [\"{}\"]\n      desired_size   = {}\n    }}\n  }}\n}}\nmodule \"eks\" "
             "{{\n  source = \"terraform-aws-modules/eks/aws\"\n  eks_managed_node_groups = merge(local.base, "
             "local.gpu)\n}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"each.tf",
       [](const Wish& w) {
         return fmt::format(
             "variable \"pools\" {{\n  default = {{\n    a = {{ type = \"{}\", n = {} }}\n  }}\n}}\nresource "
             "\"aws_eks_node_group\" \"n\" {{\n  for_each = var.pools\n  instance_types = [each.value.type]\n  "
             "scaling_config {{\n    desired_size = each.value.n\n  }}\n}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"conditional.tf",
       [](const Wish& w) {
         return fmt::format(
             "variable \"gpu\" {{ default = true }}\nresource \"aws_instance\" \"i\" {{\n  count = var.gpu ? {} : 0\n  "
             "instance_type = var.gpu ? \"{}\" : \"m5.large\"\n}}\n",
             w.copies, w.machine);
       },
       nodes},
      {"partly.tf",
       [](const Wish& w) {
         return fmt::format(
             "variable \"more\" {{}}\nmodule \"eks\" {{\n  source = \"x\"\n  eks_managed_node_groups = "
             "merge(var.more, {{\n    gpu = {{ instance_types = [\"{}\"], desired_size = {} }}\n  }})\n}}\n",
             w.machine, w.copies);
       },
       nodes},
      {"gke.tf",
       [](const Wish& w) {
         return fmt::format(
             "module \"gke\" {{\n  source = \"terraform-google-modules/kubernetes-engine/google\"\n  node_pools = [\n "
             "   {{ name = \"cpu\", machine_type = \"e2-medium\", accelerator_count = 0, accelerator_type = \"\" "
             "}},\n    {{ name = \"gpu\", machine_type = \"n1-standard-8\", node_count = {}, accelerator_count = {}, "
             "accelerator_type = \"nvidia-tesla-t4\" }},\n  ]\n}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"oci.tf",
       [](const Wish& w) {
         return fmt::format("resource \"oci_core_instance\" \"g\" {{\n  count = {}\n  shape = \"BM.GPU.H100.{}\"\n}}\n",
                            w.copies, w.gpus);
       },
       nodes},
      {"vm.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"google_compute_instance\" \"v\" {{\n  machine_type = \"n1-standard-4\"\n  guest_accelerator = "
             "[for t in [\"nvidia-tesla-t4\"] : {{ type = t, count = {} }}]\n  count = {}\n}}\n",
             w.gpus, w.copies);
       },
       pods},
      {"open.tf",
       [](const Wish& w) {
         return fmt::format(
             "variable \"gpu\" {{}}\nresource \"google_compute_instance\" \"v\" {{\n  machine_type = "
             "\"n1-standard-4\"\n  "
             "guest_accelerator = var.gpu ? [{{ type = \"nvidia-l4\", count = {} }}] : null\n  count = {}\n}}\n",
             w.gpus, w.copies);
       },
       nullptr},
      {"helm.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"helm_release\" \"h\" {{\n  chart = \"x\"\n  values = [<<-EOT\n    replicaCount: {}\n    "
             "resources:\n      limits:\n        nvidia.com/gpu: {}\n  EOT\n  ]\n}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"stack.yaml",
       [](const Wish& w) {
         return fmt::format(
             "AWSTemplateFormatVersion: '2010-09-09'\nParameters:\n  Type: {{Type: String, Default: "
             "{}}}\nResources:\n  Template:\n    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      "
             "LaunchTemplateData:\n        InstanceType: !Ref Type\n  Group:\n    Type: "
             "AWS::AutoScaling::AutoScalingGroup\n    Properties:\n      MinSize: 0\n      MaxSize: 50\n      "
             "DesiredCapacity: {}\n      LaunchTemplate:\n        LaunchTemplateId: !Ref Template\n",
             w.machine, w.copies);
       },
       nodes},
      {"plan.json",
       [](const Wish& w) {
         return fmt::format(
             R"({{"format_version":"1.2","planned_values":{{"root_module":{{"resources":[{{"address":"aws_eks_node_group.g","mode":"managed","type":"aws_eks_node_group","name":"g","values":{{"instance_types":["{}"],"scaling_config":[{{"desired_size":{},"max_size":60}}]}}}}]}}}}}})",
             w.machine, w.copies);
       },
       nodes},
      {"cluster.yaml",
       [](const Wish& w) {
         return fmt::format(
             "cluster_name: c\navailable_node_types:\n  gpu:\n    min_workers: {}\n    max_workers: 60\n    "
             "node_config:\n      InstanceType: {}\n",
             w.copies, w.machine);
       },
       nodes},
      {"flux.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: f}}\nspec:\n  values:\n    "
             "replicaCount: {}\n    resources:\n      limits: {{nvidia.com/gpu: {}}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"argo.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: f}}\nspec:\n  source:\n    "
             "helm:\n      values: |\n        replicaCount: {}\n        resources:\n          limits:\n            "
             "nvidia.com/gpu: {}\n",
             w.copies, w.gpus);
       },
       pods},
      {"parameters.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: f}}\nspec:\n  source:\n    "
             "helm:\n      parameters:\n      - name: resources.limits.nvidia\\.com/gpu\n        value: \"{}\"\n",
             w.gpus);
       },
       nullptr},
      {"patch.yaml",
       [](const Wish& w) {
         return fmt::format(
             "- op: replace\n  path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu\n  value: {}\n",
             w.gpus);
       },
       nullptr},
      {"base/kustomization.yaml",
       [](const Wish& w) {
         return fmt::format("resources: [deployment.yaml]\nreplicas:\n- name: chat\n  count: {}\n", w.copies);
       },
       nullptr},
      {"live/terragrunt.hcl",
       [](const Wish& w) {
         return fmt::format("inputs = {{\n  instance_types = [\"{}\"]\n  desired_size   = {}\n}}\n", w.machine,
                            w.copies);
       },
       nodes},
      {"vertex.yaml",
       [](const Wish& w) {
         return fmt::format(
             "workerPoolSpecs:\n- machineSpec:\n    machineType: a2-highgpu-1g\n    acceleratorType: "
             "NVIDIA_TESLA_A100\n    acceleratorCount: 1\n  replicaCount: {}\n",
             w.copies);
       },
       nodes},
      // Whole nodes of Slurm: only the launcher shows their number of GPUs.
      {"nodes.sbatch",
       [](const Wish& w) {
         return fmt::format(
             "#!/bin/bash\n#SBATCH --nodes={}\n#SBATCH --exclusive\nGPUS_PER_NODE={} # of p5\nsrun torchrun "
             "--nproc_per_node=$GPUS_PER_NODE train.py\n",
             w.copies, w.gpus);
       },
       pods},
      {"launcher.sbatch",
       [](const Wish& w) {
         return fmt::format("#!/bin/bash\n#SBATCH -N {}\nsrun torchrun --nproc-per-node {} train.py\n", w.copies,
                            w.gpus);
       },
       pods},
      {"predictor.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: a}}\nspec:\n"
             "  predictor:\n    minReplicas: {}\n    containers:\n    - resources:\n        limits:\n"
             "          nvidia.com/gpu: {}\n    workerSpec:\n      pipelineParallelSize: 1\n      containers:\n"
             "      - resources: {{limits: {{nvidia.com/gpu: 1}}}}\n",
             w.copies, w.gpus);
       },
       pods},
      // A template with its own number beside it.
      {"roles.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: serving.example.com/v1\nkind: ModelServing\nmetadata: {{name: m}}\nspec:\n  roles:\n"
             "  - workerReplicas: {}\n    workerTemplate:\n      spec:\n        containers:\n"
             "        - resources: {{limits: {{nvidia.com/gpu: {}}}}}\n",
             w.copies, w.gpus);
       },
       pods},
      // Custom resources without pods.
      {"custom.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: llm.example.com/v1\nkind: Model\nmetadata: {{name: m}}\nspec:\n  replicas: {}\n"
             "  resources: {{gpu: {{count: {}, type: nvidia}}}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"ascend.yaml",
       [](const Wish& w) {
         return fmt::format("workers:\n- replicas: {}\n  resources: {{limits: {{huawei.com/ascend-910: {}}}}}\n",
                            w.copies, w.gpus);
       },
       nullptr},
      {"profile.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: example.io/v1\nkind: Profile\nspec:\n  identifiers:\n  - identifier: nvidia.com/gpu\n"
             "    defaultCount: {}\n",
             w.copies);
       },
       nullptr},
      {"slurm.conf",
       [](const Wish& w) {
         return fmt::format("NodeName=a CPUs=8 RealMemory=64000 Gres=gpu:rtx6000:{} State=UNKNOWN\n", w.copies);
       },
       nullptr},
      {"group_vars.yml",
       [](const Wish& w) { return fmt::format("mi300x_image: rocm/vllm\nmi300x_tp_size: \"{}\"\n", w.gpus); }, nullptr},
      {"deploy.py",
       [](const Wish& w) {
         return fmt::format("TYPE = \"ml.g5.xlarge\"\nvariants = [{{\"InitialInstanceCount\": {}}}]\n", w.copies);
       },
       nullptr},
      {"variables.tf",
       [](const Wish& w) {
         return fmt::format("variable \"min_gpu_replicas\" {{\n  type    = number\n  default = {}\n}}\n", w.copies);
       },
       nullptr},
      {"pool.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"linode_lke_cluster\" \"c\" {{\n  pool {{\n    type  = \"g2-gpu-rtx4000a1-s\"\n    count = {}\n"
             "  }}\n}}\n",
             w.copies);
       },
       nodes},
      {"cloud-run.tf",
       [](const Wish& w) {
         return fmt::format(
             "resource \"google_cloud_run_v2_service\" \"s\" {{\n  template {{\n    scaling {{\n"
             "      min_instance_count = {}\n    }}\n    containers {{\n      resources {{\n        limits = {{\n"
             "          \"nvidia.com/gpu\" = \"{}\"\n        }}\n      }}\n    }}\n  }}\n}}\n",
             w.copies, w.gpus);
       },
       pods},
      {"vertex.yaml",
       [](const Wish& w) {
         return fmt::format(
             "workerPoolSpecs:\n  machineSpec:\n    machineType: n1-standard-8\n    acceleratorType: NVIDIA_TESLA_T4\n"
             "    acceleratorCount: {}\n  replicaCount: {}\n",
             w.gpus, w.copies);
       },
       pods},
      {"groups.dstack.yml",
       [](const Wish& w) {
         return fmt::format("type: service\nreplicas:\n- count: {}..40\n  resources:\n    gpu: H100:{}\n", w.copies,
                            w.gpus);
       },
       pods},
      {"truss.yaml",
       [](const Wish& w) { return fmt::format("model_name: a\nresources:\n  accelerator: A10G:{}\n", w.gpus); },
       gpus_alone},
      {"ray-gcp.yaml",
       [](const Wish& w) {
         return fmt::format(
             "cluster_name: a\navailable_node_types:\n  gpu:\n    min_workers: {}\n    node_config:\n      "
             "machineType: n1-standard-8\n      guestAccelerators:\n      - acceleratorType: nvidia-tesla-t4\n"
             "        acceleratorCount: {}\n",
             w.copies, w.gpus);
       },
       pods},
      {"pool.sky.yaml",
       [](const Wish& w) {
         return fmt::format("resources:\n  accelerators: L4:{}\nsetup: pip install vllm\npool:\n  workers: {}\n",
                            w.gpus, w.copies);
       },
       pods},
      {"batch-job.yaml",
       [](const Wish& w) {
         return fmt::format(
             "Resources:\n  Train:\n    Type: AWS::Batch::JobDefinition\n    Properties:\n      Type: multinode\n     "
             " NodeProperties:\n        NumNodes: {}\n        NodeRangeProperties:\n        - Container:\n            "
             "ResourceRequirements:\n            - Type: VCPU\n              Value: 8\n            - Type: GPU\n      "
             "        Value: {}\n",
             w.copies, w.gpus);
       },
       pods},
      {"experiment.yaml",
       [](const Wish& w) { return fmt::format("resources:\n  slots_per_trial: {}\nentrypoint: a\n", w.gpus); },
       gpus_alone},
      {"shared.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - resources:\n     "
             " limits:\n        nvidia.com/gpu: {}\n        nvidia.com/gpumem-percentage: {}\n",
             w.gpus, w.copies);
       },
       gpus_alone},
      {"partition.sbatch",
       [](const Wish& w) { return fmt::format("#!/bin/bash\n#SBATCH --gpus=1\n#SBATCH --partition={}\n", w.machine); },
       [](const Wish&) { return 1.0; }},
      // Tools that nothing here reads.
      {"nccl.sbatch",
       [](const Wish& w) {
         return fmt::format("#!/bin/bash\n#SBATCH --nodes={}\nexport NCCL_DEBUG=INFO\nsrun train.py\n", w.copies);
       },
       nullptr},
      {"azureml.yml",
       [](const Wish& w) {
         return fmt::format("code: src\ncompute: azureml:gpu-cluster\nresources:\n  instance_count: {}\n", w.copies);
       },
       nullptr},
      {"kubeai.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: kubeai.org/v1\nkind: Model\nmetadata: {{name: a}}\nspec:\n  engine: VLLM\n  "
             "minReplicas: {}\n  resourceProfile: nvidia-gpu-h100:{}\n",
             w.copies, w.gpus);
       },
       nullptr},
      {"category.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: gpu}}\nspec:\n  template:\n    spec:\n   "
             "   requirements:\n      - key: eks.amazonaws.com/instance-category\n        operator: In\n        "
             "values:\n        - {}\n      taints:\n      - key: nvidia.com/gpu\n  limits: {{cpu: {}}}\n",
             w.machine.substr(0, 1), w.copies);
       },
       nullptr},
      {"class.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n  "
             "    nodeSelector:\n        cloud.google.com/compute-class: {}-spot\n      containers:\n     "
             " - resources: {{limits: {{nvidia.com/gpu: 1}}}}\n",
             w.machine.starts_with('p') ? "h100" : "l4");
       },
       nullptr},
      {"submit.sh",
       [](const Wish& w) {
         return fmt::format(
             "spark-submit --conf spark.executor.instances={} --conf spark.executor.resource.gpu.amount={}\n", w.copies,
             w.gpus);
       },
       nullptr},
      {"runtime.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainingRuntime\nmetadata: {{name: t}}\nspec:\n  "
             "mlPolicy: "
             "{{numNodes: {}}}\n  template:\n    spec:\n      containers: [{{resources: {{limits: {{nvidia.com/gpu: "
             "{}}}}}}}]\n",
             w.copies, w.gpus);
       },
       nullptr},
      {"runai.sh",
       [](const Wish& w) { return fmt::format("runai training submit a -g {} \\\n --workers {}\n", w.gpus, w.copies); },
       nullptr},
      {"main.bicep",
       [](const Wish& w) { return fmt::format("param gpuCount int = {}\nparam n int = {}\n", w.gpus, w.copies); },
       nullptr},
      {"job.nomad",
       [](const Wish& w) { return fmt::format("device \"nvidia/gpu\" {{\n  gpu_count = {}\n}}\n", w.gpus); }, nullptr},
      {"settings.toml",
       [](const Wish& w) { return fmt::format("[pool]\nmachine = \"{}\"\nnum_gpus = {}\n", w.machine, w.gpus); },
       nullptr},
      {"run.ps1",
       [](const Wish& w) { return fmt::format("docker run -v .cache:/c --gpus {} x -n {}\n", w.gpus, w.copies); },
       nullptr},
      {"job.pbs", [](const Wish& w) { return fmt::format("#PBS -l select={}:ngpus={}\n./a\n", w.copies, w.gpus); },
       pods},
      {"lsf.sh", [](const Wish& w) { return fmt::format("#BSUB -n {} -gpu num={}/task\n./a\n", w.copies, w.gpus); },
       pods},
      {"main.nf", [](const Wish& w) { return fmt::format("process A {{\n  accelerator {}\n}}\n", w.gpus); }, nullptr},
      {"task.json",
       [](const Wish& w) {
         return fmt::format(
             "{{\n \"family\": \"x\",\n \"resourceRequirements\": [\n  {{\"type\": \"GPU\",\n   \"value\": \"{}\"}}\n "
             "]\n}}\n",
             w.gpus);
       },
       nullptr},
      {"limits.yaml",
       [](const Wish& w) {
         return fmt::format(
             "apiVersion: v1\nkind: LimitRange\nmetadata: {{name: l}}\nspec:\n  limits:\n  - max:\n      "
             "nvidia.com/gpu: {}\n",
             w.gpus);
       },
       nullptr},
  };
  return kForms;
}

inline const std::vector<Form>& forms() {
  static const std::vector<Form> kAll = [] {
    std::vector<Form> all = tool_forms();
    for (const Form& form : cloud_forms()) all.push_back(form);
    return all;
  }();
  return kAll;
}

}  // namespace rightsize::manifests
