#include "fleet/cluster.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "catalog/place.h"
#include "fleet/fleet.h"

namespace rightsize::fleet {
namespace {

using telemetry::ClusterNode;
using telemetry::ClusterPod;
using telemetry::ClusterState;

Device device_of(const ClusterNode& node, const std::string& provider) {
  Device device{.name = node.model, .host = node.name};
  if (!provider.empty()) device.labels["provider"] = provider;
  if (!node.instance_type.empty()) device.labels["instance_type"] = node.instance_type;
  if (!node.region.empty()) device.labels["region"] = node.region;
  return device;
}

std::string provider_of(const ClusterNode& node) {
  for (const std::string& label : node.labels)
    if (const std::string_view provider = catalog::provider_of_label(label); !provider.empty())
      return std::string(provider);
  return std::string(catalog::provider_of_node(node.name));
}

Owner owner_of_pod(const ClusterPod& pod) {
  return {pod.team, pod.workload.empty() ? workload_of_pod(pod.name) : pod.workload, "", pod.name};
}

using NodesByName = std::map<std::string, const ClusterNode*>;

// Nodes that are known only from pods have at least the GPUs that the pods request.
ClusterState with_named_nodes(ClusterState state) {
  std::map<std::string, ClusterNode> named;
  std::set<std::string> listed;
  for (const ClusterNode& node : state.nodes) listed.insert(node.name);
  std::set<std::pair<std::string, std::string>> seen;
  for (const ClusterPod& pod : state.pods) {
    if (pod.node.empty() || listed.contains(pod.node) || !seen.insert({pod.team, pod.name}).second) continue;
    ClusterNode& node = named[pod.node];
    node.name = pod.node;
    node.gpus += pod.requested;
    if (node.model.empty()) node.model = pod.model;
    if (node.instance_type.empty()) node.instance_type = pod.instance_type;
    node.labels.insert(node.labels.end(), pod.labels.begin(), pod.labels.end());
  }
  for (auto& [name, node] : named) state.nodes.push_back(std::move(node));
  return state;
}

// Lists may overlap; the last object of a name counts.
NodesByName nodes_of(const ClusterState& state) {
  NodesByName nodes;
  for (const ClusterNode& node : state.nodes) nodes[node.name] = &node;
  return nodes;
}

std::vector<const ClusterPod*> pods_of(const ClusterState& state) {
  std::map<std::pair<std::string, std::string>, const ClusterPod*> pods;
  for (const ClusterPod& pod : state.pods) pods[{pod.team, pod.name}] = &pod;
  std::vector<const ClusterPod*> list;
  for (const auto& [name, pod] : pods) list.push_back(pod);
  return list;
}

std::vector<std::string> cluster_notes(const ClusterState& state, const ClusterLedger& ledger, std::size_t unlisted) {
  std::vector<std::string> notes;
  notes.emplace_back("this is the cluster at one moment: pods that ended or were deleted are not in the list");
  if (unlisted > 0) {
    notes.push_back(
        fmt::format("{} not in the list, so only the GPUs that pods request there are counted: add nodes (kubectl get "
                    "pods,nodes -A "
                    "-o json)",
                    unlisted == 1 ? "1 node is" : fmt::format("{} nodes are", unlisted)));
  }
  if (ledger.unpriced > 0) {
    notes.push_back(
        fmt::format("nodes without a price, counted in GPUs only: {}; set one with --price NAME=USD", ledger.unpriced));
  }
  if (state.slices > 0)
    notes.push_back(fmt::format("pods request MIG slices ({}), which are not counted as GPUs", state.slices));
  if (state.claims > 0)
    notes.push_back(fmt::format("pods with device claims: {}; GPUs in claims are not counted", state.claims));
  return notes;
}

}  // namespace

ClusterLedger make_cluster_ledger(const ClusterState& given, const DevicePrices& prices) {
  const ClusterState state = with_named_nodes(given);
  ClusterLedger ledger;
  ledger.moment = state.moment;
  const NodesByName nodes = nodes_of(state);
  std::map<std::string, NodeLine> lines;
  std::map<std::string, std::optional<UsdPerSecond>> rates;  // of one GPU
  std::map<std::array<std::string, 4>, GpuPrice> known;
  for (const auto& [name, node] : nodes) {
    const std::string provider = provider_of(*node);
    const auto [price, is_new] = known.try_emplace({node->model, node->instance_type, node->region, provider});
    if (is_new) price->second = prices.price(device_of(*node, provider));
    const std::optional<UsdPerGpuSecond>& rate = price->second.rate;
    rates[name] = rate ? std::optional(*rate * gpus(1)) : std::nullopt;
    NodeLine& line = lines[name];
    line = {name, node->pool, node->instance_type, node->model, node->gpus, 0, {}, {}};
    if (rate) line.rate = *rates[name] * node->gpus;
    ledger.unpriced += rate ? 0 : 1;
    ledger.gpus += node->gpus;
  }
  std::map<std::pair<std::string, std::string>, RequestLine> requests;
  for (const ClusterPod* pod : pods_of(state)) {
    if (pod->node.empty()) {
      ledger.waiting += pod->requested;
      continue;
    }
    const double count = pod->requested / nodes.at(pod->node)->shares;
    const Owner owner = owner_of_pod(*pod);
    RequestLine& line = requests[{owner.team, owner.workload}];
    line.team = owner.team;
    line.workload = owner.workload;
    ++line.pods;
    line.gpus += count;
    const bool timed = pod->started && state.moment && *state.moment > *pod->started;
    if (!timed) line.gpu_time.reset();
    if (timed && (line.pods == 1 || line.gpu_time))
      line.gpu_time = line.gpu_time.value_or(GpuTime{}) + gpus(count) * (*state.moment - *pod->started);
    if (rates[pod->node]) line.rate = line.rate.value_or(UsdPerSecond{}) + *rates[pod->node] * count;
    lines[pod->node].requested += count;
  }
  for (auto& [name, line] : lines) {
    const double free = std::max(0.0, line.gpus - line.requested);
    ledger.requested += std::min(line.gpus, line.requested);
    ledger.idle_nodes += line.requested > 0 ? 0 : 1;
    if (line.rate) {
      line.free_rate = *line.rate * (free / line.gpus);
      ledger.rate += *line.rate;
      ledger.free_rate += *line.free_rate;
      if (line.requested <= 0) ledger.idle_rate += *line.rate;
    }
    ledger.nodes.push_back(std::move(line));
  }
  for (auto& [key, line] : requests) ledger.requests.push_back(std::move(line));
  std::ranges::stable_sort(ledger.requests, std::ranges::greater(), [](const RequestLine& line) {
    return std::pair(line.rate.value_or(UsdPerSecond{}), line.gpus);
  });
  std::ranges::stable_sort(ledger.nodes, std::ranges::greater(),
                           [](const NodeLine& line) { return line.gpus - line.requested; });
  ledger.notes = cluster_notes(state, ledger, nodes.size() - nodes_of(given).size());
  return ledger;
}

std::vector<GpuUse> gpus_of_cluster(const ClusterState& given, const std::set<std::string>& covered) {
  const ClusterState state = with_named_nodes(given);
  constexpr Seconds kHour = hours(1);
  const TimePoint end = state.moment.value_or(TimePoint{} + kHour);
  std::map<std::string, std::vector<const ClusterPod*>> pods;
  for (const ClusterPod* pod : pods_of(state)) pods[pod->node].push_back(pod);
  std::vector<GpuUse> all;
  for (const auto& [name, node] : nodes_of(state)) {
    if (covered.contains(short_host(name))) continue;
    const std::size_t first = all.size();
    for (int i = 0; i < static_cast<int>(std::ceil(node->gpus)); ++i) {
      GpuUse& use = all.emplace_back();
      use.device = device_of(*node, provider_of(*node));
      use.device.index = i;
      use.first = end - kHour;
      use.last = end - seconds(1);
      use.interval = seconds(1);
      use.covered = kHour;
      use.from_job_log = true;
    }
    // The list does not show which GPU of a node a pod has, so GPUs are assigned in turn.
    std::size_t at = first;
    Seconds left = kHour;
    for (const ClusterPod* pod : pods[name]) {
      for (Seconds need = kHour * (pod->requested / node->shares); need > Seconds{} && at < all.size();) {
        const Seconds part = std::min(need, left);
        all[at].tenancies.push_back({owner_of_pod(*pod), part, {}, all[at].first, all[at].last});
        need -= part;
        left -= part;
        if (left > seconds(1e-3)) continue;
        ++at;
        left = kHour;
      }
    }
    for (; at < all.size(); ++at, left = kHour)
      all[at].tenancies.push_back({{}, left, {}, all[at].first, all[at].last});
  }
  return all;
}

}  // namespace rightsize::fleet
