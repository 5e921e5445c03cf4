// One copy of a model on a serving engine: prefill passes and decode steps. Internal to this module.
#pragma once

#include <algorithm>

#include "perf/stacks/engine_step.h"
#include "perf/stacks/estimate_parts.h"

namespace rightsize::perf {

// Decode steps between two checks of the queue. Engines are set to check more often while few requests run: published
// runs of SGLang check every 10 steps with up to 8 requests and every 30 steps with 16 or more (scheduler-recv-interval
// in SemiAnalysisAI/InferenceX benchmarks/dsr1_fp8_b200.sh, read 2026-11-16).
struct PollSteps {
  double few = 0, many = 0;

  double at(double running) const { return few + (many - few) * std::clamp(running / 8 - 1, 0.0, 1.0); }
};

// The properties of a replica that do not depend on the batch.
struct EngineCopy {
  const EngineConstants& c;
  const ModelWork& work;
  const GpuSpeed& gpu;
  const Cluster& cluster;
  const Calibration& own;
  EngineLayout layout = {};
  double pipeline = 1;
  double prompt = 0, cached = 0, answer = 0;  // mean tokens: to prefill, found in the prefix cache, to generate
  double cached_requests = 0;                 // requests the cache holds
  double slots = 0;                           // maximum running requests, limited by the cache and by --max-batch
  double pass_prompts = 1;                    // prompts that fit one pass
  PollSteps poll_steps = {};
  double queries = 1, accepted = 1;                  // tokens per sequence that a step computes and keeps
  double decode_products = 1, prefill_products = 1;  // factors on the losses of products, by weight format
  double decode_experts = 1;                         // the same for experts
  double launched = 0;                               // layers, weighted by their number of kernels relative to Llama
};

EngineCopy replica_of(const Constants& constants, const ModelWork& work, const model::Job& job, const GpuSpeed& gpu,
                      const Cluster& cluster, double kv_tokens, bool real = false);

// A prefill worker on `tensor` GPUs.
EngineCopy prefill_worker_of(EngineCopy decode_worker, int tensor);

// One pass or step.
struct Step {
  EngineWork work;
  Seconds device, host, time;
  Seconds launches;
};

// Kernels of a decode step: a factor on their losses, and the share of latency that remains when a kernel is launched
// while the previous one still runs.
Seconds decode_time(const EngineCopy& r, const OpTime& op, double factor);

// One token (more with speculative decoding) for each of `running` requests.
Step decode_step(const EngineCopy& r, double running);

// Prefill passes: one prompt alone, and as many as fit. Between these the time is interpolated linearly.
struct Prefill {
  Step alone, full;
  double most = 1;

  // Time per prompt if `together` prompts arrive at once and are packed into passes.
  Seconds each(double together) const { return share_of(together, alone.time, full.time); }
  // The same in passes that also decode, on top of the decode step: weights are read once for both.
  Seconds beside(const EngineCopy& r, const Step& decode, double together) const;

 private:
  Seconds share_of(double together, Seconds one, Seconds all) const;
};
Prefill prefill_of(const EngineCopy& r);

}  // namespace rightsize::perf
