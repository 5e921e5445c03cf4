#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifests/readers.h"

namespace rightsize::manifests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<GpuRequest> read(const std::string& text) { return read_terraform({{"main.tf", text}}).requests; }

GpuRequest only(const std::string& text) {
  const std::vector<GpuRequest> all = read(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? GpuRequest{} : all.front();
}

TEST(Terraform, AwsMachinesAndGroups) {
  const GpuRequest one = only(
      "resource \"aws_instance\" \"a\" {\n  instance_type = \"p4d.24xlarge\"\n  count = 3\n"
      "  availability_zone = \"us-east-1a\"\n}\n");
  EXPECT_EQ(one.units, 3);
  EXPECT_EQ(one.provider, "aws");
  EXPECT_EQ(one.region, "us-east-1");
  EXPECT_EQ(one.line, 2);
  const GpuRequest group = only(R"(resource "aws_eks_node_group" "gpu" {
  instance_types = ["g5.12xlarge", "g6.12xlarge"]
  capacity_type  = "SPOT"
  scaling_config {
    desired_size = 4
    min_size     = 0
    max_size     = 10
  }
})");
  EXPECT_EQ(group.units, 4);
  EXPECT_EQ(group.most_units, 10);
  EXPECT_TRUE(group.spot);
  EXPECT_THAT(group.machines, ElementsAre("g5.12xlarge", "g6.12xlarge"));
  EXPECT_TRUE(read("resource \"aws_instance\" \"a\" { instance_type = \"m5.large\" }").empty());
}

TEST(Terraform, TheRegionIsTheProvidersWhereAResourceNamesNone) {
  const std::string providers =
      "variable \"where\" { default = \"eu-central-1\" }\nprovider \"aws\" {\n  region = var.where\n}\n"
      "provider \"aws\" {\n  alias = \"west\"\n  region = \"us-west-2\"\n}\n";
  const auto machine = [](const std::string& more) {
    return "resource \"aws_instance\" \"a\" {\n  instance_type = \"p4d.24xlarge\"\n" + more + "}\n";
  };
  EXPECT_EQ(only(providers + machine("")).region, "eu-central-1");
  EXPECT_EQ(only(providers + machine("  provider = aws.west\n")).region, "us-west-2");
  EXPECT_EQ(only(providers + machine("  availability_zone = \"us-east-1a\"\n")).region, "us-east-1");
  EXPECT_EQ(only(machine("")).region, "");
  EXPECT_EQ(only("provider \"google\" {\n  region = \"us-central1\"\n}\n" + machine("")).region, "");
  const std::string call = providers + "module \"m\" {\n  source = \"./gpu\"\n";
  const auto inside = [&](const std::string& more) {
    const std::vector<GpuRequest> all =
        read_terraform({{"main.tf", call + more + "}\n"}, {"gpu/main.tf", machine("")}}).requests;
    return all.size() == 1 ? all[0].region : "not one request";
  };
  EXPECT_EQ(inside(""), "eu-central-1");
  EXPECT_EQ(inside("  providers = {\n    aws = aws.west\n  }\n"), "us-west-2");
}

TEST(Terraform, ALaunchTemplateIsCountedByWhoUsesIt) {
  const std::string plain =
      "resource \"aws_launch_template\" \"gpu\" {\n  instance_type = \"p5.48xlarge\"\n"
      "  instance_market_options {\n    market_type = \"spot\"\n  }\n}\n";
  const GpuRequest alone = only(plain);
  EXPECT_EQ(alone.units, std::nullopt);
  EXPECT_TRUE(alone.spot);
  const GpuRequest used = only(plain +
                               "resource \"aws_autoscaling_group\" \"g\" {\n  desired_capacity = 5\n  max_size = 8\n"
                               "  launch_template {\n    id = aws_launch_template.gpu.id\n  }\n}\n");
  EXPECT_EQ(used.units, 5);
  EXPECT_EQ(used.most_units, 8);
}

TEST(Terraform, GoogleMachinesAcceleratorsAndPools) {
  const GpuRequest vm = only(R"(resource "google_compute_instance" "a" {
  machine_type = "n1-standard-8"
  zone         = "us-central1-a"
  guest_accelerator {
    type  = "nvidia-tesla-t4"
    count = 2
  }
  scheduling { preemptible = true }
})");
  EXPECT_THAT(vm.gpus, ElementsAre("nvidia-tesla-t4"));
  EXPECT_EQ(vm.per_unit, 2);
  EXPECT_EQ(vm.region, "us-central1");
  EXPECT_TRUE(vm.spot);
  const GpuRequest pool = only(R"(resource "google_container_node_pool" "gpu" {
  node_count = 3
  autoscaling {
    min_node_count = 0
    max_node_count = 9
  }
  node_config {
    machine_type = "a3-highgpu-8g"
    spot         = true
    guest_accelerator = [{ type = "nvidia-h100-80gb", count = 8 }]
  }
})");
  EXPECT_EQ(pool.total(), 24);
  EXPECT_EQ(pool.most_units, 9);
  EXPECT_TRUE(pool.spot);
  EXPECT_EQ(only("resource \"x_node_pool\" \"p\" {\n  initial_node_count = 2\n  accelerator {\n"
                 "    accelerator_type = \"nvidia-tesla-p100\"\n    accelerator_count = \"2\"\n  }\n}\n")
                .total(),
            4);
  const GpuRequest tpl = only(
      "resource \"google_compute_instance_template\" \"t\" { machine_type = \"g2-standard-8\" }\n"
      "resource \"google_compute_instance_group_manager\" \"m\" {\n  target_size = 4\n"
      "  version { instance_template = google_compute_instance_template.t.self_link }\n}\n");
  EXPECT_EQ(tpl.units, 4);
}

TEST(Terraform, AzureMachinesSetsAndPools) {
  EXPECT_EQ(only("resource \"azurerm_linux_virtual_machine\" \"a\" { size = \"Standard_NC24ads_A100_v4\" }").provider,
            "azure");
  const GpuRequest set = only(
      "resource \"azurerm_linux_virtual_machine_scale_set\" \"s\" {\n  sku = \"Standard_ND96isr_H100_v5\"\n"
      "  instances = 2\n  priority = \"Spot\"\n}\n");
  EXPECT_EQ(set.units, 2);
  EXPECT_TRUE(set.spot);
  const GpuRequest pool = only(
      "resource \"azurerm_kubernetes_cluster_node_pool\" \"p\" {\n  vm_size = \"Standard_NC40ads_H100_v5\"\n"
      "  node_count = 3\n  max_count = 6\n}\n");
  EXPECT_EQ(pool.units, 3);
  EXPECT_EQ(pool.most_units, 6);
  EXPECT_EQ(
      only(
          "resource \"azurerm_kubernetes_cluster\" \"c\" {\n  default_node_pool {\n    vm_size = \"Standard_NC6s_v3\"\n"
          "    node_count = 2\n  }\n}\n")
          .units,
      2);
}

TEST(Terraform, ModulesWithNodeGroupsInObjects) {
  const auto all = read(R"(module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    cpu = { instance_types = ["m5.large"], desired_size = 3 }
    gpu = {
      instance_types = ["p4d.24xlarge"]
      desired_size   = 2
      max_size       = 4
    }
  }
})");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].units, 2);
  EXPECT_EQ(all[0].part, "gpu");
}

TEST(Terraform, VariablesAreResolvedOrReported) {
  const std::string resource =
      "resource \"aws_instance\" \"gpu\" {\n  instance_type = var.type\n  count = local.n\n}\n";
  const GpuRequest known = only(resource +
                                "variable \"type\" { default = \"p5.48xlarge\" }\nlocals { n = var.many }\n"
                                "variable \"many\" {\n  type = number\n  default = 6\n}\n");
  EXPECT_THAT(known.machines, ElementsAre("p5.48xlarge"));
  EXPECT_EQ(known.units, 6);
  const GpuRequest given = read_terraform({{"main.tf", resource + "variable \"type\" {}\nlocals { n = 1 }\n"},
                                           {"prod.auto.tfvars", "type = \"g5.xlarge\"\n"}})
                               .requests.at(0);
  EXPECT_THAT(given.machines, ElementsAre("g5.xlarge"));
  const GpuRequest open = only(resource + "variable \"type\" {}\n");
  EXPECT_EQ(open.units, std::nullopt);
  EXPECT_THAT(open.unresolved, ElementsAre("instance_type = var.type", "count = local.n"));
  const GpuRequest text = only(
      "variable \"s\" { default = \"8g\" }\nresource \"google_compute_instance\" \"x\" { machine_type = "
      "\"a3-highgpu-${var.s}\" }");
  EXPECT_THAT(text.machines, ElementsAre("a3-highgpu-8g"));
  // A machine that may or may not have GPUs is noted, not guessed.
  const Found unknown = read_terraform({{"main.tf", "resource \"aws_instance\" \"web\" { instance_type = var.t }"}});
  EXPECT_TRUE(unknown.requests.empty());
  ASSERT_EQ(unknown.notes.size(), 1u);
  EXPECT_THAT(unknown.notes[0], HasSubstr("var.t"));
}

TEST(Terraform, KubernetesObjectsWithin) {
  const auto all = read(R"(variable "limit" { default = 16 }
resource "kubernetes_manifest" "pool" {
  manifest = {
    apiVersion = "karpenter.sh/v1"
    kind       = "NodePool"
    metadata   = { name = "gpu" }
    spec = {
      template = { spec = { requirements = [{ key = "node.kubernetes.io/instance-type", operator = "In", values = ["p5.48xlarge"] }] } }
      limits   = { "nvidia.com/gpu" = var.limit }
    }
  }
}
resource "kubectl_manifest" "chat" {
  yaml_body = <<-YAML
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: chat}
    spec:
      replicas: ${var.replicas}
      template:
        spec:
          containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]
  YAML
}
)");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, "NodePool");
  EXPECT_EQ(all[0].per_unit, 16);
  EXPECT_EQ(all[1].kind, "Deployment");
  EXPECT_EQ(all[1].units, std::nullopt);
  EXPECT_THAT(all[1].unresolved, ElementsAre("replicas: ${var.replicas}"));
}

// Terraform's own form of an object is the same request as its YAML.
TEST(Terraform, KubernetesObjectsAsBlocks) {
  const auto all = read(R"(resource "kubernetes_deployment_v1" "chat" {
  metadata {
    name = "chat"
  }
  spec {
    replicas = 3
    template {
      spec {
        node_selector = { "nvidia.com/gpu.product" = "NVIDIA-L40S" }
        container {
          name = "proxy"
        }
        container {
          resources {
            limits = { "nvidia.com/gpu" = 2 }
          }
        }
      }
    }
  }
}
)");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "Deployment");
  EXPECT_EQ(all[0].name, "chat");
  EXPECT_EQ(all[0].total(), 6);
  EXPECT_THAT(all[0].gpus, ElementsAre("NVIDIA-L40S"));
}

TEST(Terraform, APlanHasTheRegionOfItsProvider) {
  const auto region = [](const std::string& expression) {
    const Found found = read_yaml("plan.json", R"({"format_version":"1.2","variables":{"r":{"value":"eu-west-1"}},
"planned_values":{"root_module":{"child_modules":[{"resources":[{"address":"module.m.aws_instance.a[0]","type":"aws_instance",
"name":"a","values":{"instance_type":"p4d.24xlarge"}}]}]}},"configuration":{"provider_config":{"aws":{"expressions":{"region":)" +
                                                   expression +
                                                   R"(}}},"root_module":{"module_calls":{"m":{"module":{"resources":[
{"address":"aws_instance.a","provider_config_key":"aws"}]}}}}}})");
    return found.requests.size() == 1 ? found.requests[0].region : "not one request";
  };
  EXPECT_EQ(region(R"({"constant_value":"eu-central-1"})"), "eu-central-1");
  EXPECT_EQ(region(R"({"references":["var.r"]})"), "eu-west-1");
  EXPECT_EQ(region(R"({"references":["data.x.y"]})"), "");
}

TEST(Terraform, ForEachCountsItsElements) {
  EXPECT_EQ(only("resource \"aws_instance\" \"a\" {\n  for_each = toset([\"x\", \"y\", \"z\"])\n  instance_type = "
                 "\"g5.xlarge\"\n}\n")
                .units,
            3);
  EXPECT_EQ(only("resource \"aws_instance\" \"a\" {\n  for_each = var.all\n  instance_type = \"g5.xlarge\"\n}\n").units,
            std::nullopt);
}

TEST(Terraform, AnUnreadableFileIsReported) {
  const Found found =
      read_terraform({{"broken.tf", "resource \"a\" {"},
                      {"main.tf", "resource \"aws_instance\" \"a\" { instance_type = \"g5.xlarge\" }"}});
  EXPECT_EQ(found.requests.size(), 1u);
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_THAT(found.notes[0], HasSubstr("broken.tf:1"));
}

}  // namespace
}  // namespace rightsize::manifests
