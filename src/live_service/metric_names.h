// What serving engines and their gateways publish, by every name it had in the last two years: the one table of names.
//
// A name is compared without what exporters add to it: "vllm:" and "vllm_" are one prefix, "kserve_" before it and
// "_total" after it are ignored, and so are a histogram's "_bucket", "_sum" and "_count".
//
// Sources (read 2026-11): vLLM "Production Metrics" of 0.5.5 to 0.32; SGLang "Production Metrics" of 0.4 and later;
// text-generation-inference "Metrics"; Triton "Metrics" and the TensorRT-LLM backend's README; TensorRT-LLM
// metrics/collector.py as documented by Dynamo 0.7 to 1.5; Gateway API Inference Extension and llm-d "Metrics".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rightsize::live_service {

enum class Engine { kVllm, kSglang, kTensorRtLlm, kTriton, kTgi, kGateway };
std::string_view name_of(Engine engine);

enum class Signal {
  // Counters.
  kRequests,      // finished
  kPromptTokens,  // cached ones included
  kOutputTokens,  //
  kCachedTokens,  // of kPromptTokens, found in the prefix cache
  kCacheQueries,  // prompt tokens looked up in the prefix cache
  kCacheHits,     // ... and found there
  kPreemptions,   //
  kLatencyTotal,  // seconds of all requests together, where there is no histogram
  kQueueTotal,    // ... of waiting
  // Gauges.
  kRunning,  // requests
  kWaiting,  //
  kKvUse,    // 0-1
  kHitRate,  // 0-1, of recent requests
  // Histograms.
  kTtft,        // seconds, from arrival to the first token
  kInterToken,  // seconds between two tokens, one entry a token
  kTpot,        // mean of a request's, one entry a request
  kTokenTime,   // the whole time of a request over its tokens, one entry a request
  kLatency,     // seconds, the whole request
  kQueue,       // seconds, until it is scheduled
  kPrefill,     // seconds, from there to the first token
  kIsl,         // tokens
  kOsl,
};

enum class Kind { kCounter, kGauge, kHistogram };
Kind kind_of(Signal signal);

// One name of the table.
struct EngineMetric {
  Engine engine = Engine::kVllm;
  Signal signal = Signal::kRequests;
  std::string_view name;          // folded; see above
  double scale = 1;               // ours = published x scale
  std::string_view matcher = {};  // which of its series count: kv_cache_block_type="fraction"
  bool shared = false;            // a pod publishes it once for each of its models: the largest counts, not the sum
};

// A name as it is compared.
std::string folded(std::string_view published);

// A name on a server and what it is. `name` is as published, without a histogram's suffix.
struct PublishedMetric {
  const EngineMetric* metric = nullptr;
  std::string name;
};

// What a published name means; the suffix of a histogram's series may be there or not. Nothing for names we do not use.
std::optional<PublishedMetric> find_engine_metric(std::string_view published);

// Every signal of an engine on a server that has these names, the current name of a signal before older ones.
std::vector<PublishedMetric> metrics_of(Engine engine, Signal signal, const std::vector<std::string>& names);

// A regular expression of all names that could be an engine's.
std::string name_pattern();

}  // namespace rightsize::live_service
