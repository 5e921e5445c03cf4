#include "catalog/place.h"

#include <utility>

#include "base/text.h"

namespace rightsize::catalog {

std::string_view provider_of_label(std::string_view label) {
  // Metrics have '_' where Kubernetes has '.', '/' and '-'.
  static constexpr std::pair<std::string_view, std::string_view> kPrefixes[] = {
      {"cloud_google_com_", "gcp"},
      {"iam_gke_io_", "gcp"},
      {"eks_amazonaws_com_", "aws"},
      {"karpenter_k8s_aws_", "aws"},
      {"k8s_amazonaws_com_", "aws"},
      {"alpha_eksctl_io_", "aws"},
      {"kubernetes_azure_com_", "azure"},
      {"karpenter_azure_com_", "azure"},
      {"agentpool", "azure"},
      {"gpu_nvidia_com_", "coreweave"},
      {"node_coreweave_cloud_", "coreweave"},
      {"topology_coreweave_com_", "coreweave"}};
  std::string folded = to_lower(label);
  for (char& c : folded) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  std::string_view name = folded;
  if (name.starts_with("label_")) name.remove_prefix(6);
  for (const auto& [prefix, provider] : kPrefixes)
    if (name.starts_with(prefix)) return provider;
  return {};
}

std::string_view provider_of_node(std::string_view name) {
  if (name.starts_with("gke-")) return "gcp";
  if (name.starts_with("aks-")) return "azure";
  const bool aws = name.starts_with("ip-") && (name.ends_with(".ec2.internal") || name.ends_with(".compute.internal"));
  return aws ? "aws" : "";
}

}  // namespace rightsize::catalog
