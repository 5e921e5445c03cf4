// How a model may be spread over GPUs: pipeline stages and, when serving, groups of attention and experts, and separate
// workers for prefill and decode.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace rightsize::plan {

// The layers of the stages of a training pipeline: the same number each, except that the first and last stages, with
// the embedding and the loss, may have fewer. Empty if they would have none.
struct PipelineStages {
  std::int64_t first = 0, middle = 0, last = 0;

  bool even() const { return first == middle && last == middle; }
};
std::optional<PipelineStages> pipeline_stages(std::int64_t layers, int stages);

// GPUs of one replica, or of one group of prefill and decode workers.
int replica_gpus(const model::Job& job);

// "full training in amp-bf16 with hf, micro-batch 8 on each of 8 GPUs, ..."; "2 replicas in fp8 with vllm, ...".
std::string settings_words(const Request& request, const Plan& plan);

// Settings besides the machines that the speed of a service is based on: "3 draft tokens per step (70 % accepted)", "a
// prefix-aware router". Empty: nothing.
std::string assumed_engine(const Request& request);

// Whether prompts are sent to the replica that caches their prefix.
bool routes_by_prefix(const Request& request);

// Whether engines keep the KV cache of this plan in 8 bits: as requested, or their default for the weights.
bool has_fp8_cache(const Request& request, const Plan& plan);

// Models of embeddings and scores by the name that was typed: they have the shape of another model. Others by that of
// their shape.
std::string model_shown(const Request& request);

// Whether the model answers with an embedding or a score, as vLLM's pooling models do.
bool is_pooled(const Request& request);
// Whether a response is one pass over its input: no answer has a second token.
bool is_one_pass(const Request& request);
// Whether a language model answers with one pass over its text: an embedding or a score.
bool is_one_pass_of_text(const Request& request);

// The software that the plan's files start.
model::Stack runs_with(const Request& request, const Plan& plan);

// The longest request an engine accepts (max-model-len). Chats grow beyond the planned lengths, so a server accepts
// four times those and at least 8,192 tokens, within the model's context and a quarter of the replica's KV cache.
// Offline work needs no margin: its items are known.
std::int64_t longest_request(const Request& request, const Plan& plan);

// ", expert parallel 8, attention data parallel 8", ", disaggregated: ..."; empty for plain replicas.
std::string layout_words(const model::Job& job);

// Groups of experts and of attention in a replica on `tensor` GPUs, plain ones first.
struct Groups {
  int expert = 1, attention = 1;

  bool plain() const { return attention == 1; }
};
// As requested; else none, one group of experts per GPU, and the same with data-parallel attention.
std::vector<Groups> groups_of(const Request& request, int tensor);

// Whether separate workers may pay off: prefills would break the limit on TPOT.
bool may_separate(const Request& request);

// Requests per second of one worker on `tensor` GPUs; 0: the model does not fit.
using WorkerRate = std::function<double(int tensor)>;

// The split of `gpus` into prefill and decode workers that carries the most requests; empty if none carries any.
std::optional<model::Disaggregated> best_separation(const std::vector<int>& tensors, int gpus,
                                                    const WorkerRate& prefill, const WorkerRate& decode);

}  // namespace rightsize::plan
