// The metrics of serving engines and gateways under every name of the last two years.
//
// Names are compared without the additions of exporters: "vllm:" and "vllm_" are the same prefix; a leading "kserve_"
// or "ray_", a trailing "_total" and a histogram's "_bucket", "_sum" and "_count" are ignored.
//
// Sources (read 2026-11): vLLM "Production Metrics" of 0.5.5 to 0.32; SGLang "Production Metrics" of 0.4 and later;
// text-generation-inference "Metrics"; Triton "Metrics" and the TensorRT-LLM backend's README; TensorRT-LLM
// metrics/collector.py as documented by Dynamo 0.7 to 1.5 with its front end; Gateway API Inference Extension and llm-d
// "Metrics"; Ray Serve LLM and NVIDIA NIM "Observability", which publish vLLM's.
#pragma once

#include <functional>
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
  kPromptTokens,  // including cached ones
  kOutputTokens,  //
  kCachedTokens,  // of kPromptTokens, found in the prefix cache
  kCacheQueries,  // prompt tokens looked up in the prefix cache
  kCacheHits,     // ... and found there
  kExternalHits,  // ... or else loaded from host memory, disks or other machines
  kPreemptions,   //
  kLatencyTotal,  // total seconds of all requests, if there is no histogram
  kQueueTotal,    // total seconds in the queue
  // Gauges.
  kRunning,  // requests
  kWaiting,  //
  kKvUse,    // 0-1
  kHitRate,  // 0-1, of recent requests
  // Histograms.
  kTtft,        // seconds, from arrival to the first token
  kInterToken,  // seconds between two tokens, one entry per token
  kTpot,        // mean over a request, one entry per request
  kTokenTime,   // latency of a request divided by its tokens, one entry per request
  kLatency,     // seconds, end to end
  kQueue,       // seconds until a request is scheduled
  kPrefill,     // seconds from scheduling to the first token
  kIsl,         // tokens
  kOsl,
};

enum class SignalKind { kCounter, kGauge, kHistogram };
SignalKind kind_of(Signal signal);

struct EngineMetric {
  Engine engine = Engine::kVllm;
  Signal signal = Signal::kRequests;
  std::string_view name;          // folded; see above
  double scale = 1;               // our unit = published value x scale
  std::string_view matcher = {};  // selects its series: kv_cache_block_type="fraction"; several are joined by commas
  bool shared = false;            // published once per model of a pod: the largest counts, not the sum
};

// The form in which names are compared.
std::string folded(std::string_view published);

// A published name, without a histogram's suffix, and its meaning.
struct PublishedMetric {
  const EngineMetric* metric = nullptr;
  std::string name;
};

// The meaning of a published name, with or without a histogram's suffix. Empty for unknown names. Several engines may
// use a name: the first with a matcher that `applies` to the labels counts; without `applies`, the first.
std::optional<PublishedMetric> find_engine_metric(std::string_view published,
                                                  const std::function<bool(std::string_view matcher)>& applies = {});

// Further meanings of the same name: all cached tokens, and those that were loaded. Their matchers may not apply.
std::vector<const EngineMetric*> other_signals(const EngineMetric& metric);

// The names of a signal among those on a server, current names before older ones.
std::vector<PublishedMetric> metrics_of(Engine engine, Signal signal, const std::vector<std::string>& names);

// A regular expression that matches all names of engines.
std::string name_pattern();

}  // namespace rightsize::live_service
