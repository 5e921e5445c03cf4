#include "perf/kernels/collectives.h"

#include <algorithm>
#include <cmath>

namespace rightsize::perf {
namespace {

// For groups other than 2, 4 or 8, interpolates latency and bus bandwidth over the logarithm of the size.
LinkCurve curve_for(const LinkCurves& curves, int group) {
  const double at = std::clamp(std::log2(static_cast<double>(group)) - 1.0, 0.0, kGroupSizes - 1.0);
  const std::size_t below = at < 1.0 ? 0 : kGroupSizes - 2;
  const double share = at - static_cast<double>(below);
  const LinkCurve& a = curves[below];
  const LinkCurve& b = curves[below + 1];
  return {a.latency * (1 - share) + b.latency * share, a.bus * (1 - share) + b.bus * share,
          a.size_loss * (1 - share) + b.size_loss * share};
}

double sent_share(Collective kind, int group) {
  return (kind == Collective::kAllReduce ? 2.0 : 1.0) * (group - 1.0) / group;
}

// Share of the line rate left for data: headers and congestion control take about a tenth. A judgement: no measured row
// isolates the network.
constexpr double kLineShare = 0.9;

// Across machines every GPU sends its share through its own part of the network, and each hop of a tree adds 12 us (a
// judgement, as above). An all-to-all sends data between GPUs of one machine over the machine's own links.
Seconds network_time(const Cluster& cluster, Collective kind, int group, Bytes message) {
  const double hops = std::ceil(std::log2(static_cast<double>(group)));
  const double leaves =
      kind == Collective::kAllToAll ? 1.0 - static_cast<double>(cluster.node_gpus) / group : sent_share(kind, group);
  return microseconds(12) * hops + message * leaves / (cluster.network_per_gpu * kLineShare);
}

}  // namespace

bool has_switched_links(const catalog::Gpu& gpu) {
  return gpu.nvlink_kind == "switch" || gpu.nvlink_kind == "fabric" || gpu.nvlink_kind == "mesh";
}

Cluster default_cluster(const catalog::Gpu& gpu) {
  Cluster cluster;
  const bool switched = has_switched_links(gpu);
  cluster.linked = switched;
  if (gpu.name.starts_with("gb")) cluster.node_gpus = 72;
  // The usual networks: 400 Gbit/s per GPU from Hopper on, 200 for the A100, 100 for older ones with NVLink, and 100
  // Gbit/s for a whole machine of PCIe cards.
  const int year = gpu.year.value_or(2020);
  if (!switched) {
    cluster.network_per_gpu = gbit_per_s(100.0 / cluster.node_gpus);
  } else {
    cluster.network_per_gpu = gbit_per_s(year >= 2022 ? 400 : year >= 2020 ? 200 : 100.0 / cluster.node_gpus);
  }
  return cluster;
}

Cluster cluster_of(const catalog::Machine& machine, const catalog::Gpu& gpu) {
  Cluster cluster = default_cluster(gpu);
  cluster.node_gpus = std::max(1, machine.gpus);
  cluster.linked = machine.interconnect == "nvswitch" || machine.interconnect == "nvlink" ||
                   (machine.interconnect.empty() && cluster.linked);
  if (machine.network) {
    cluster.network_per_gpu = *machine.network / cluster.node_gpus;
    cluster.network_known = true;
  }
  return cluster;
}

Seconds collective_time(const GpuSpeed& gpu, const Cluster& cluster, Collective kind, int group, Bytes message) {
  if (group <= 1) return Seconds{};
  if (group > cluster.node_gpus) return network_time(cluster, kind, group, message);
  const LinkCurve curve = curve_for(gpu.collectives[static_cast<std::size_t>(kind)], group);
  const double megabytes = std::max(in_bytes(message) / 1e6, 1e-6);
  return curve.latency + message * sent_share(kind, group) / curve.bus * (1.0 + curve.size_loss / std::sqrt(megabytes));
}

Seconds engine_all_reduce_time(const GpuSpeed& gpu, const Cluster& cluster, int group, Bytes message) {
  if (group <= 1) return Seconds{};
  if (group > cluster.node_gpus) return network_time(cluster, Collective::kAllReduce, group, message);
  const LinkCurve curve = curve_for(gpu.engine_all_reduce, group);
  return curve.latency + message * sent_share(Collective::kAllReduce, group) / curve.bus;
}

BytesPerSecond sharding_rate(const GpuSpeed& gpu, const Cluster& cluster, const ShardGroup& group,
                             double network_rate) {
  if (group.gpus * group.apart <= cluster.node_gpus) return gpu.fsdp_link;
  const double neighbours = std::clamp(static_cast<double>(cluster.node_gpus) / group.apart, 1.0, 8.0);
  return std::min(gpu.fsdp_link, cluster.network_per_gpu * (kLineShare * network_rate * neighbours));
}

}  // namespace rightsize::perf
