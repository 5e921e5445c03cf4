#include "manifests/device_claims.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::manifests {
namespace {

// The text in quotes after a name: device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100 80GB HBM3".
std::string quoted_after(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t open = text.find_first_of("\"'", at + name.size());
  if (open == std::string_view::npos) return {};
  // Only a comparison may be in between.
  if (text.substr(at + name.size(), open - at - name.size()).find('=') == std::string_view::npos) return {};
  const std::size_t close = text.find(text[open], open + 1);
  return close == std::string_view::npos ? std::string() : std::string(text.substr(open + 1, close - open - 1));
}

// "prod/chat" and "prod/gpu" share a namespace; an object without one may be in any.
bool same_namespace(const std::string& a, const std::string& b) {
  const auto space = [](const std::string& name) {
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? std::string() : name.substr(0, slash);
  };
  return space(a).empty() || space(b).empty() || space(a) == space(b);
}
std::string bare(const std::string& name) { return name.substr(name.find('/') + 1); }

// AWS Batch: jobs run on the machines of the compute environment, if there is only one.
void choose_by_environment(std::vector<GpuRequest>& requests) {
  const auto is_environment = [](const GpuRequest& request) { return request.most_vcpus.has_value(); };
  if (std::ranges::count_if(requests, is_environment) != 1) return;
  const GpuRequest environment = *std::ranges::find_if(requests, is_environment);
  for (GpuRequest& request : requests) {
    if (!request.job || request.resource != "GPU" || !request.machines.empty()) continue;
    request.machines = environment.machines;
    request.provider = environment.provider;
    request.spot = environment.spot;
    request.sources.push_back(environment.file);
  }
}

// Pods that choose their nodes by a label of a node pool have the pool's GPUs, and quotas those of their flavor.
void choose_by_pool(std::vector<GpuRequest>& requests) {
  for (GpuRequest& request : requests) {
    const bool quota = request.kind == "ClusterQueue";
    if ((request.ceiling && !quota) || !request.gpus.empty() || !request.machines.empty()) continue;
    for (const GpuRequest& pool : requests) {
      if (!pool.ceiling || (quota && pool.kind != kFlavorKind) ||
          std::ranges::find_first_of(pool.node_labels, request.node_labels) == pool.node_labels.end())
        continue;
      request.gpus = pool.gpus;
      request.machines = pool.machines;
      request.provider = pool.provider;
      request.spot = request.spot || pool.spot;
      request.sources.push_back(pool.file);
      break;
    }
  }
}

}  // namespace

std::optional<GpuRequest> read_device_request(const YamlText& doc, const YamlValue& value, const GpuRequest& base) {
  const std::string type = doc.text(value.find("deviceClassName"));
  if (!contains_any(to_lower(type), {"gpu", "mig", "neuron", "tpu", "gaudi", "accelerator"})) return std::nullopt;
  GpuRequest request = base;
  request.line = doc.line_of(*value.find("deviceClassName"));
  doc.use(value, request);
  request.resource = type;
  request.claim = bare(base.name);
  request.claim_template = base.kind == "ResourceClaimTemplate";
  const YamlValue* count = value.find("count");
  request.per_unit = count == nullptr ? std::optional(1.0) : doc.number(count, "count", request);
  if (doc.text(value.find("allocationMode")) == "All") {
    request.per_unit = std::nullopt;
    request.unresolved.emplace_back("allocationMode: All: every device of a node");
  }
  if (type.starts_with("mig")) request.mig_profile = "?";
  const YamlValue* selectors = value.find("selectors");
  if (is_list(selectors)) {
    for (const YamlValue& selector : selectors->list) {
      const std::string cel = doc.text(find_path(selector, {"cel", "expression"}));
      if (const std::string product = quoted_after(cel, "productName"); !product.empty()) request.gpus = {product};
      if (const std::string profile = quoted_after(cel, "profile"); !profile.empty()) request.mig_profile = profile;
    }
  }
  if (request.mig_profile == "?") {
    request.mig_profile.clear();
    request.unresolved.emplace_back("the MIG profile of the device class " + type);
  }
  if (request.claim_template) {
    request.units = std::nullopt;
    request.unresolved.emplace_back("the number of pods with this claim");
  }
  return request;
}

void append_claim_uses(const YamlText& doc, const YamlValue& pod, const GpuRequest& pod_request,
                       std::vector<ClaimUse>& uses) {
  const YamlValue* claims = pod.find("resourceClaims");
  if (!is_list(claims)) return;
  for (const YamlValue& claim : claims->list) {
    // Before Kubernetes 1.31 the names were within `source`.
    const YamlValue* source = claim.find("source");
    const YamlValue& named = is_mapping(source) ? *source : claim;
    const std::string from_template = doc.text(named.find("resourceClaimTemplateName"));
    const std::string existing = doc.text(named.find("resourceClaimName"));
    if (from_template.empty() && existing.empty()) continue;
    uses.push_back({from_template.empty() ? existing : from_template, !from_template.empty(), pod_request});
  }
}

void join_documents(Found& found) {
  std::vector<GpuRequest> joined;
  std::set<std::size_t> used;
  for (const ClaimUse& use : found.claim_uses) {
    bool any = false;
    for (std::size_t i = 0; i < found.requests.size(); ++i) {
      const GpuRequest& claim = found.requests[i];
      if (claim.claim != use.claim || claim.claim_template != use.from_template ||
          !same_namespace(claim.name, use.request.name))
        continue;
      any = true;
      // A claim without a template exists once, however many pods share it.
      if (!use.from_template) continue;
      used.insert(i);
      GpuRequest request = use.request;
      if (claim.file == request.file) request.lines.insert(claim.lines.begin(), claim.lines.end());
      request.resource = claim.resource;
      request.per_unit = claim.per_unit;
      if (!claim.gpus.empty()) request.gpus = claim.gpus;
      request.mig_profile = claim.mig_profile;
      for (const std::string& open : claim.unresolved) {
        if (open != "the number of pods with this claim") request.unresolved.push_back(open);
      }
      request.sources.push_back(claim.file);
      joined.push_back(std::move(request));
    }
    if (!any) {
      found.notes.push_back(fmt::format("{}:{}: {} {} uses the device claim {}, which is not in these files",
                                        use.request.file, use.request.line, use.request.kind, use.request.name,
                                        use.claim));
    }
  }
  std::vector<GpuRequest> kept;
  for (std::size_t i = 0; i < found.requests.size(); ++i) {
    if (!used.contains(i)) kept.push_back(std::move(found.requests[i]));
  }
  std::move(joined.begin(), joined.end(), std::back_inserter(kept));
  choose_by_pool(kept);
  choose_by_environment(kept);
  std::erase_if(kept, [](const GpuRequest& request) { return request.kind == kFlavorKind; });
  for (GpuRequest& request : kept) {
    for (const Scaler& scaler : found.scalers) {
      if (scaler.kind != request.kind || bare(scaler.name) != bare(request.name) ||
          !same_namespace(scaler.name, request.name))
        continue;
      request.sources.push_back(scaler.file);
      // For other kinds, a replica is a group of pods.
      if (!is_any(request.kind, {"Deployment", "StatefulSet", "ReplicaSet"})) {
        request.unresolved.push_back(fmt::format("replicas: set by an autoscaler in {}", scaler.file));
        continue;
      }
      request.units = scaler.least.value_or(1);
      request.most_units = scaler.most;
    }
  }
  found.requests = std::move(kept);
  found.claim_uses.clear();
  found.scalers.clear();
}

}  // namespace rightsize::manifests
