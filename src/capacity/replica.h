// One replica: a copy of a model on its GPUs, with the times a simulator needs. perf predicts them; a user may have
// measured his own.
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
  std::string gpu;         // the catalogue's name; empty: not said
  int gpus = 1;            // it is split over
  bool continuous = true;  // tokens one by one; else one pass answers a batch

  // Batches.
  sim::ServiceTimes times = {};
  std::vector<int> sizes = {};  // worth trying, ascending
  double overlap = 0;           // how little several instances on one GPU hinder one another, 0-1

  // Tokens.
  sim::StepCost step = {};
  std::optional<perf::StepFit> fit = {};  // where the step comes from the speed model
  // Separate workers for prompts and answers: then `step` is that of a decode worker.
  struct Apart {
    sim::StepCost prefill;
    int prefill_workers = 1, decode_workers = 1;
    sim::Transfer transfer;
  };
  std::optional<Apart> apart = {};

  perf::Interval interval = {};  // of its times
};

// A model and what is known of speeds, for every replica alike.
struct Predictor {
  const perf::Constants& constants;
  const model::ModelShape& model;
  const perf::ModelWork& work;
};

// Sequences a replica runs at once unless said otherwise, and up to which its steps are fitted.
inline constexpr int kMostSequences = 256;
// The largest batch of a model that answers in one pass.
inline constexpr int kLargestBatch = 256;

// The load perf is asked about: the cache that the memory model leaves, and the rate of requests in an open loop.
perf::ServeLoad load_of(const model::ModelShape& model, const model::Job& job, const catalog::Gpu& gpu,
                        RequestsPerSecond rate = {});

// `count` replicas as the simulator has them.
void append_workers(const Replica& replica, int count, sim::ContinuousServer& server);

// A replica of job.parallel.tensor x pipeline GPUs, or of the separate workers job.serve.disaggregated names, its steps
// fitted around job.serve's lengths. Fails where the model does not fit or the engine cannot run it so.
Result<Replica> token_replica(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, const perf::Cluster& cluster);

// Separate workers as job.serve.disaggregated has them, out of one that decodes and one that prefills, each known as
// token_replica() makes it of a whole replica.
Result<Replica> workers_apart(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, const perf::Cluster& cluster, Replica decode,
                              const Replica& prefill);

// A replica on one GPU, in batches of powers of two as far as they fit its memory, between which times interpolate, or
// with `pad` run as the next larger.
Result<Replica> batch_replica(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                              const perf::GpuSpeed& speed, bool pad = false, Seconds overhead = {});

}  // namespace rightsize::capacity
