// One replica: a copy of a model on its GPUs, with the times that the simulator needs. They come from perf, or from the
// user's own measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "perf/perf.h"
#include "sim/batch_time.h"
#include "sim/continuous_batching.h"

namespace rightsize::capacity {

struct Replica {
  std::string gpu;         // name in the catalogue; empty: unknown
  int gpus = 1;            // GPUs per replica
  bool continuous = true;  // generates token by token; otherwise one pass answers a batch

  // Batch models.
  sim::ServiceTimes times = {};
  std::vector<int> sizes = {};  // batch sizes worth trying, ascending
  double overlap = 0;           // of several instances on one GPU, 0-1; see sim::GpuPool

  // Language models.
  sim::StepCost step = {};
  std::optional<perf::StepFit> fit = {};  // if the step comes from the speed model
  // Separate prefill and decode workers; `step` is then that of a decode worker.
  struct Separate {
    sim::StepCost prefill;
    int prefill_workers = 1, decode_workers = 1;
    sim::Transfer transfer;

    bool operator==(const Separate&) const = default;
  };
  std::optional<Separate> separate = {};

  perf::Interval interval = {};  // of its times
  perf::Basis basis = perf::Basis::kMeasured;
};

// A model and the speed constants, the same for all replicas.
struct Predictor {
  const perf::Constants& constants;
  const model::ModelShape& model;
  const perf::ModelWork& work;
};

// Default limit on the sequences of a replica; its steps are fitted up to this number.
inline constexpr int kMostSequences = 256;
// The largest batch of a model that answers in one pass.
inline constexpr int kLargestBatch = 256;

// The load for perf: the KV cache that the memory model leaves, and the request rate of an open loop.
perf::ServeLoad load_of(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                        RequestsPerSecond rate = {});

// Adds the workers of `count` replicas to a simulated server.
void append_workers(const Replica& replica, int count, sim::ContinuousServer& server);

// A replica of job.parallel.tensor x pipeline GPUs, or of the separate workers in job.serve.disaggregated, with steps
// fitted around job.serve's lengths and up to `most_running` sequences. Fails if the model does not fit or the engine
// cannot run it.
Result<Replica> token_replica(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, const perf::Cluster& cluster,
                              double most_running = kMostSequences);

// Separate workers as in job.serve.disaggregated, made of a decode and a prefill worker from token_replica().
Result<Replica> separate_workers(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                                 const perf::GpuSpeed& speed, const perf::Cluster& cluster, Replica decode,
                                 const Replica& prefill);

// A replica on one GPU, with batch sizes in powers of two up to its memory. Times in between are interpolated; a batch
// with `pad` runs as the next larger size.
Result<Replica> batch_replica(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, bool pad = false, Seconds overhead = {});

// A replica on one GPU with measured batch times, up to `max_batch`.
Replica measured_replica(const sim::TableTime& table, int max_batch, Seconds overhead = {});

}  // namespace rightsize::capacity
