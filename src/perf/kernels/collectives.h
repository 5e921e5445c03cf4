// Time of collectives among GPUs of one machine and across machines.
#pragma once

#include "perf/kernels/gpu_speed.h"

namespace rightsize::perf {

// The machines a job runs on.
struct Cluster {
  int node_gpus = 8;               // GPUs that share fast links
  BytesPerSecond network_per_gpu;  // between machines, each direction
  bool network_known = false;      // false: assumed from the GPU generation
  bool linked = true;              // NVLink or similar between the GPUs of a machine; else PCIe
};

// NVLink through switches, a fabric or a full mesh: every GPU reaches every other at full rate.
bool has_switched_links(const catalog::Gpu& gpu);

// A machine with eight GPUs (72 in a GB200 or GB300 rack) and the usual network of its generation.
Cluster default_cluster(const catalog::Gpu& gpu);
Cluster cluster_of(const catalog::Machine& machine, const catalog::Gpu& gpu);

// `message` is the whole buffer. Among `group` GPUs t = latency + message f / bus (1 + size_loss / sqrt(MB)), with f
// the share of the buffer each GPU sends: 2 (n-1)/n for an all-reduce, (n-1)/n for the others (ring bound; Patarasuk
// and Yuan 2009). A group that spans machines is limited by the network.
Seconds collective_time(const GpuSpeed& gpu, const Cluster& cluster, Collective kind, int group, Bytes message);

// The all-reduce kernels of serving engines inside a CUDA graph.
Seconds engine_all_reduce_time(const GpuSpeed& gpu, const Cluster& cluster, int group, Bytes message);

// GPUs that hold the same weights: every `apart`-th GPU of the job, because tensor and context parallel GPUs lie in
// between.
struct ShardGroup {
  int gpus = 1, apart = 1;
};

// The bandwidth sharded training reaches in such a group: the links inside a machine, or the network across machines. A
// ring uses the network cards of all the group's GPUs in a machine, at most eight (NCCL runs one ring per card);
// `network_rate` is the stack's share of 90 % of the line rate.
BytesPerSecond sharding_rate(const GpuSpeed& gpu, const Cluster& cluster, const ShardGroup& group, double network_rate);

}  // namespace rightsize::perf
