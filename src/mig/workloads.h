// The workloads to place: a YAML file, and what each needs of a slice.
//
//   workloads:
//     - name: chat              # a Kubernetes-style name, once
//       model: llama-3.1-8b     # memory from the memory model (any setting of `rightsize memory`), or
//       memory: 12GiB           # ... given
//       load: 10%               # of a whole GPU's SMs, one replica, on average; or
//       rate: 20/s              # ... requests (all replicas together) times
//       service: 12ms           # ... the time one takes on a whole GPU
//       latency: 80ms           # SLO: p99 of all requests
//       replicas: 2
//       spread: true            # replicas on different GPUs
//       affinity: team-a        # workloads with the same word on one GPU
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "mig/geometry.h"
#include "perf/kernels/sustained_rates.h"

namespace rightsize::mig {

struct Workload {
  std::string name;
  Bytes memory;                           // one replica; a slice cannot lend any
  std::string model;                      // what the memory was computed from; empty when given
  Ratio load;                             // of a whole GPU's SMs, one replica, on average
  Ratio bandwidth;                        // of a whole GPU's memory bandwidth
  std::optional<Seconds> service;         // one request alone on a whole GPU
  std::optional<RequestsPerSecond> rate;  // of all replicas together
  std::optional<Seconds> latency;         // SLO: p99
  std::string measured_on;                // the GPU that load, bandwidth and service speak of; empty: any
  int replicas = 1;
  bool spread = false;   // no two replicas on one GPU
  std::string affinity;  // same word: same GPU. Empty: anywhere
  Ratio headroom;        // kept free above the mean load
  bool share = false;    // may share a slice with others through MPS
  Place place;
};

struct WorkloadFile {
  std::vector<std::string> gpus;  // allowed; empty: the command line says
  std::vector<Workload> workloads;

  std::size_t replicas() const;
};

inline constexpr std::size_t kMostReplicas = 200'000;  // of all workloads together

// Reads and checks the whole file: every mistake at its line. `headroom` is for workloads that name none.
Checked<WorkloadFile> read_workloads(const std::string& file, const std::string& text, const catalog::Catalog& catalog,
                                     Ratio headroom);

// What one replica takes of a whole GPU of this type, headroom included. Shares can exceed 1.
struct Need {
  Bytes memory;
  double sms = 0;
  double bandwidth = 0;
};
Need need_on(const Workload& workload, const catalog::Gpu& gpu, const perf::SpeedTable& speeds);

// A part of a GPU, or all of it.
struct Capacity {
  Bytes memory;
  double sms = 1;
  double bandwidth = 1;
};
Capacity capacity_of(const Geometry& geometry, int profile);
Capacity capacity_of(const catalog::Gpu& gpu);

// p99 latency of one replica with such a capacity: its service stretched by the smaller share of SMs and bandwidth, and
// the wait of a queue with steady service (Kingman's exponential tail, exact in heavy traffic). Nothing without a
// service time; infinite when the capacity cannot keep up.
std::optional<Seconds> latency_in(const Workload& workload, const Capacity& capacity, const catalog::Gpu& gpu,
                                  const perf::SpeedTable& speeds);

// Empty when one replica fits, else the reason: "needs 12 GiB, the slice has 9.75 GiB".
std::string misfit(const Workload& workload, const Capacity& capacity, const catalog::Gpu& gpu,
                   const perf::SpeedTable& speeds);

}  // namespace rightsize::mig
