#include "live_service/service_gpus.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "fleet/promql.h"
#include "fleet/scan.h"
#include "live_service/queries.h"

namespace rightsize::live_service {
namespace {

// Prometheus renames the pod label of an exporter that conflicts with its own.
std::string pod_label(const std::vector<std::string>& labels) {
  for (const char* name : {"exported_pod", "pod_name", "pod"}) {
    if (std::find(labels.begin(), labels.end(), name) != labels.end()) return name;
  }
  return {};
}

}  // namespace

void take_gpus(const std::vector<fleet::GpuUse>& gpus, ServiceReading& service) {
  const std::set<std::string> pods(service.replicas.begin(), service.replicas.end());
  struct Tally {
    double seconds = 0, active = 0, known = 0;
    std::map<std::string, std::set<std::string>> by_pod;
  };
  std::map<std::string, Tally> kinds;
  for (const fleet::GpuUse& gpu : gpus) {
    for (const fleet::Tenancy& tenancy : gpu.tenancies) {
      if (!pods.contains(tenancy.owner.instance)) continue;
      if (!service.space.empty() && !tenancy.owner.team.empty() && tenancy.owner.team != service.space) continue;
      Tally& kind = kinds[gpu.device.name];
      kind.seconds += in_seconds(tenancy.time);
      kind.by_pod[tenancy.owner.instance].insert(gpu.device.key());
      if (const auto metric = gpu.activity(); metric && gpu.metric(*metric)) {
        kind.active += in_seconds(tenancy.time) * gpu.metric(*metric)->mean;
        kind.known += in_seconds(tenancy.time);
      }
    }
  }
  for (const auto& [name, kind] : kinds) {
    std::vector<std::size_t> each;
    for (const auto& [pod, uuids] : kind.by_pod) each.push_back(uuids.size());
    std::nth_element(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2), each.end());
    GpuReading gpu{name, kind.seconds, static_cast<double>(each[each.size() / 2]), std::nullopt};
    if (kind.known > 0) gpu.activity = kind.active / kind.known;
    service.gpus.push_back(gpu);
  }
  std::sort(service.gpus.begin(), service.gpus.end(),
            [](const GpuReading& a, const GpuReading& b) { return a.gpu_seconds > b.gpu_seconds; });
}

void add_gpus(const ServerSource& source, double from, double until, fleet::PrometheusClient& client,
              ServicesRead& all) {
  std::vector<std::string> pods;
  for (const ServiceReading& service : all.services)
    pods.insert(pods.end(), service.replicas.begin(), service.replicas.end());
  const std::string gpu_names = "DCGM_.*|nvidia_.*";
  Result<std::vector<std::string>> labels =
      client.list("/api/v1/labels", {{"match[]", fmt::format("{{__name__=~\"{}\"{}{}}}", gpu_names,
                                                             source.matchers.empty() ? "" : ",", source.matchers)},
                                     {"start", fmt::format("{:.0f}", from)},
                                     {"end", fmt::format("{:.0f}", until)}});
  const std::string label = labels ? pod_label(*labels) : std::string();
  if (label.empty()) {
    all.notes.emplace_back(
        "this server has no GPU metrics that name pods; pass --gpu and --gpus-per-replica to get GPU-hours and cost");
    return;
  }
  fleet::ServerOptions options;
  options.url = source.url, options.auth = source.auth, options.policy = source.policy;
  options.window = seconds(until - from), options.end = unix_seconds(until);
  options.matchers = fmt::format("{}{}{}=~\"{}\"", source.matchers, source.matchers.empty() ? "" : ",", label,
                                 fleet::escape_quoted(any_of(pods)));
  Result<fleet::Scan> scan = fleet::scan_server(options);
  if (!scan) {
    all.notes.push_back("GPUs: " + scan.error().message);
    return;
  }
  for (const std::string& failure : scan->failures) all.notes.push_back("GPUs: " + failure);
  for (ServiceReading& service : all.services) take_gpus(scan->gpus, service);
  all.requests += scan->traffic.requests;
}

}  // namespace rightsize::live_service
