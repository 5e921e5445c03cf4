// Time of collectives among GPUs of one machine and across machines.
#pragma once

#include "perf/kernels/gpu_speed.h"

namespace rightsize::perf {

// Where the GPUs of a job stand.
struct Cluster {
  int node_gpus = 8;               // GPUs that share the fast links
  BytesPerSecond network_per_gpu;  // between machines, each direction
  bool network_known = false;      // false: assumed from the GPU's generation
  bool linked = true;              // the GPUs of a machine have NVLink or the like between them; else PCIe
};

// A machine of eight (72 in a GB200 or GB300 rack) with the network its generation is usually sold with.
Cluster default_cluster(const catalog::Gpu& gpu);
Cluster cluster_of(const catalog::Machine& machine, const catalog::Gpu& gpu);

// `message` is the whole buffer. Among `group` GPUs t = latency + message f / bus (1 + size_loss / sqrt(MB)), with f
// the share of the buffer each GPU sends: 2 (n-1)/n for an all-reduce, (n-1)/n for the others (ring bound; Patarasuk
// and Yuan 2009). A group wider than a machine moves at the network's pace.
Seconds collective_time(const GpuSpeed& gpu, const Cluster& cluster, Collective kind, int group, Bytes message);

// The all-reduce kernels of serving engines inside a CUDA graph.
Seconds engine_all_reduce_time(const GpuSpeed& gpu, const Cluster& cluster, int group, Bytes message);

// GPUs that hold the same weights: every `apart`-th of the job, since tensor and context parallel ones stand between.
struct ShardGroup {
  int gpus = 1, apart = 1;
};

// What sharded training reaches in such a group: the links inside a machine, or the network where it spans several. A
// ring enters and leaves a machine through the cards of all the group's GPUs in it, of which eight at most are used
// (NCCL runs a ring a card); `network_rate` is the stack's share of 90 % of the line rate.
BytesPerSecond sharding_rate(const GpuSpeed& gpu, const Cluster& cluster, const ShardGroup& group, double network_rate);

}  // namespace rightsize::perf
