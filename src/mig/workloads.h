// The workloads to place, read from a YAML file, and their needs.
//
//   workloads:
//     - name: chat              # a Kubernetes-style name, once
//       model: llama-3.1-8b     # memory from the memory model (any setting of `rightsize memory`), or
//       memory: 12GiB           # ... given
//       load: 10%               # of a whole GPU's SMs, one replica, on average; or
//       rate: 20/s              # ... requests (all replicas together) times
//       service: 12ms           # ... the time one takes on a whole GPU; without it, the model's estimate
//       latency: 80ms           # SLO: p99 of all requests
//       replicas: 2
//       spread: true            # replicas on different GPUs
//       affinity: team-a        # workloads with the same word on one GPU
//       kind: decode            # of work, for interference: decode, prefill, vision, train
//       base: llama-3.1-8b      # the model is a LoRA adapter of this base
//       adapter: 160MiB         # ... of this size
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "base/yaml_reader.h"
#include "catalog/catalog.h"
#include "mig/geometry.h"
#include "perf/constants/constants.h"
#include "perf/constants/sustained_rates.h"

namespace rightsize::mig {

struct Workload {
  std::string name;
  Bytes memory;                           // of one replica
  std::string model;                      // source of the memory; empty if the memory was given
  Ratio load;                             // of a whole GPU's SMs, one replica, on average
  Ratio bandwidth;                        // of a whole GPU's memory bandwidth
  std::optional<Seconds> service;         // one request alone on a whole GPU
  std::optional<RequestsPerSecond> rate;  // of all replicas together
  std::optional<Seconds> latency;         // SLO: p99
  std::string measured_on;                // the GPU load, bandwidth and service refer to; empty: any allowed one
  int replicas = 1;
  bool spread = false;   // no two replicas on one GPU
  std::string affinity;  // workloads with the same word share a GPU; empty: anywhere
  Ratio headroom;        // kept free above the mean load
  bool share = false;    // may share a slice with others through MPS
  std::string kind;      // of work, for its interference with others: sharing/interference.h; empty: unknown
  std::string base;      // the model that its LoRA adapter is for; empty: not an adapter
  Bytes adapter;         // its size
  Bytes weights;         // moved by a wake-up; 0: all its memory
  Place place;
};

struct WorkloadFile {
  std::vector<std::string> gpus;  // allowed; empty: those of the command line
  std::vector<Workload> workloads;
  std::vector<std::string> assumed;  // lengths that the file leaves open

  std::size_t replicas() const;
};

inline constexpr std::size_t kMostReplicas = 200'000;  // of all workloads

// The source of load and service time for workloads with a model and a rate. Without constants, the file must have
// them; without a GPU, the first one of the file is used.
struct ModelSpeed {
  const perf::Constants* constants = nullptr;
  const catalog::Gpu* gpu = nullptr;
};

// Reads and checks the whole file; every mistake has its line. `headroom` is for workloads that set none.
Checked<WorkloadFile> read_workloads(const std::string& file, const std::string& text, const catalog::Catalog& catalog,
                                     Ratio headroom, const ModelSpeed& speed = {}, const KeyNames& names = {});

// One workload of another file: a mapping with the same keys except its name. If it has mistakes, adds them to `errors`
// and returns empty.
std::optional<Workload> read_workload(const YamlDocument& document, const YamlValue& entry, const std::string& name,
                                      const catalog::Catalog& catalog, Errors& errors, const KeyNames& names = {});

// Amounts of a GPU that a slice offers or a replica needs. Shares of a whole GPU may exceed 1.
struct Resources {
  Bytes memory;
  double sms = 0;        // share of the GPU's SMs
  double bandwidth = 0;  // share of its memory bandwidth

  std::vector<double> amounts() const { return {in_gib(memory), sms, bandwidth}; }  // for solvers
  bool holds(const Resources& need) const;
};
Resources capacity_of(const Geometry& geometry, int profile);
Resources capacity_of(const catalog::Gpu& gpu);

// The factor on the time of its work on this GPU, relative to the GPU where it was measured.
double slowdown_on(const Workload& workload, const catalog::Gpu& gpu, const perf::SpeedTable& speeds);

// The need of one replica on a GPU of this type, including headroom.
Resources need_on(const Workload& workload, const catalog::Gpu& gpu, const perf::SpeedTable& speeds);

// Empty if one replica fits, otherwise the reason: "needs 12 GiB, the slice has 9.75 GiB".
std::string misfit(const Workload& workload, const Resources& capacity, const catalog::Gpu& gpu,
                   const perf::SpeedTable& speeds);

}  // namespace rightsize::mig
