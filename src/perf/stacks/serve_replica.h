// One copy of a model on a serving engine: its passes over prompts and its decode steps. Not for callers.
#pragma once

#include "perf/stacks/engine_step.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {

// Everything about a replica that does not change with the batch.
struct Replica {
  const EngineConstants& c;
  const ModelWork& work;
  const GpuSpeed& gpu;
  const Cluster& cluster;
  const Calibration& own;
  EngineLayout layout = {};
  double pipeline = 1;
  double prompt = 0, cached = 0, answer = 0;  // mean tokens: to prefill, found in the prefix cache, to answer
  double cached_requests = 0;                 // requests the cache holds
  double slots = 0;                           // requests that run together at most: by the cache and by --max-batch
  double pass_prompts = 1;                    // prompts that fit one pass
  double queries = 1, accepted = 1;           // tokens a step computes and keeps of a sequence
  double decode_products = 1, prefill_products = 1;  // factors on products, by the format of the weights
  double launched = 0;                               // layers, each as many as its kernels are against those of a Llama
};

Replica replica_of(const Constants& constants, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                   const Cluster& cluster, double kv_tokens);

// A worker that only prefills, on `tensor` GPUs.
Replica prefill_worker_of(Replica decode_worker, int tensor);

// One pass or step.
struct Step {
  EngineWork work;
  Seconds device, host, time;
  Seconds launches;
};

// Kernels of a decode step: a factor on what they do, and what is left of their latency where one is launched while the
// last still runs.
Seconds decode_time(const Replica& r, const OpTime& op, double factor);

// One token (or as many as are guessed right) for each of `running` requests.
Step decode_step(const Replica& r, double running);

// The passes that prefill prompts: one prompt alone, and as many as fit. Between them time grows by a straight line.
struct Prefill {
  Step alone, full;
  double most = 1;

  // Of each of `together` prompts that are there at once, packed into passes.
  Seconds each(double together) const { return share_of(together, alone.time, full.time); }
  // The same in passes that decode besides, beyond the time of such a step: weights are read once for both.
  Seconds beside(const Replica& r, const Step& decode, double together) const;

 private:
  Seconds share_of(double together, Seconds one, Seconds all) const;
};
Prefill prefill_of(const Replica& r);

}  // namespace rightsize::perf
