// The kinds of questions and the command that answers each.
#pragma once

#include <string_view>

namespace rightsize::app {

// What a sentence has, besides the words of the question.
enum Has : unsigned {
  kAsks = 1,   // it begins as a question: how, can, what
  kModel = 2,  // a model or its size
  kNoModel = 4,
  kGpu = 8,  // the name of a GPU
  kTwoGpus = 16,
  kNoGpu = 32,
  kNoAmount = 64,       // no number of users, requests, tokens, documents
  kNoWork = 128,        // neither a job nor work
  kLoad = 256,          // how many users or requests
  kSpeed = 512,         // how many seconds or tokens
  kWhichGpu = 1024,     // what GPU, which card
  kSized = 2048,        // GPUs by their memory: "with 80 GB"
  kMoney = 4096,        // "$3.90"
  kShare = 8192,        // "25% utilization"
  kLongest = 16384,     // "the longest context", "what context length", without a number
  kCounted = 32768,     // several GPUs, some with a number: "2x H100 or 4x A100"
  kTogether = 65536,    // "32 concurrent users at 8k context"
  kPiece = 131072,      // a size apart from that of the GPU: "10 GB each"
  kPhrase = 262144,     // a question, or a sentence in quotes: "latency of flux on a 4090"
  kTimed = 524288,      // "for 2 weeks"
  kFamily = 1048576,    // "which qwen model"
  kTraffic = 2097152,   // "at 4 requests per second", "for 300 users"
  kNoTokens = 4194304,  // no amount of tokens: "on 100B tokens"
  kTokens = 8388608,    // such an amount
  kFormats = 16777216,  // two number formats
};

inline constexpr std::string_view kCosts =
    "cheap cheaper cheapest price prices cost costs expensive pricing rate rates availability available";
inline constexpr std::string_view kCompared =
    "faster slower better best worse difference differ differs compare compared comparison vs versus or than between "
    "against cheaper per-dollar per-token per-million per-1m move moving switch switching migrate migrating upgrade "
    "upgrading replace replacing beat beats outperform outperforms";
// Words before a limit on a price, words for those who rent out GPUs, and words for a change of what is there.
inline constexpr std::string_view kAtMost =
    "under below less-than at-most up-to max maximum cheaper-than no-more-than not-more-than within";
inline constexpr std::string_view kSellers = "cloud clouds provider providers vendor vendors who";
inline constexpr std::string_view kPresent =
    "we-run we-serve we-host we-have we-own i-own i've-got we've-got i've we've we-got i-got we-use we-are-on we're-on "
    "we-rent we-currently currently i-run i-have i-use "
    "i-rent our-current "
    "running-on today-we right-now owns we-already-have on-prem on-premise on-premises onprem in-house";
// Words for GPUs that were bought.
inline constexpr std::string_view kOwned =
    "we-own i-own we-bought i-bought bought own owned owns we-have i-have have our my on-prem on-premise on-premises "
    "onprem in-house i've-got we've-got we-got i-got";
inline constexpr std::string_view kChanged =
    "cheaper change pay-less instead save saving savings reduce cut lower should-we switch overpaying less-money "
    "spend-less alternative alternatives";
inline constexpr std::string_view kPower =
    "electricity power energy kwh watt watts consumption co2 carbon emissions emit footprint";
inline constexpr std::string_view kReserve =
    "reserve reserving reserved reservation commit committing commitment savings-plan";
inline constexpr std::string_view kHowLong = "how-long how-many-hours how-many-days how-many-weeks how-many-months";
// Words for GPUs that are paid for and not used.
inline constexpr std::string_view kWasted =
    "waste wasted wasting idle unused underused underutilized save saving savings";
inline constexpr std::string_view kTrainParts = "optimizer-states optimizer gradients activations";

struct QuestionKind {
  std::string_view command;      // that answers it
  std::string_view asked, with;  // one word or phrase of each list; optimizer-states is a phrase
  unsigned needs = 0;
};
// The first that applies. What is asked for decides the command; the other words become its settings.
inline constexpr QuestionKind kKinds[] = {
    {"profile", "why how-come", "gpu gpus training train utilization util slow idle busy job jobs"},
    {"prices", kWasted, "", kAsks | kGpu | kNoModel | kShare | kNoAmount},
    {"fleet", "waste wasted wasting", "", kAsks | kNoModel},
    {"profile", "utilization util gpu-usage", "low stuck check bottleneck drops improve increase raise"},
    {"profile", "slow starved starving bottleneck bottlenecked stuck check-first should-i-check",
     "gpu gpus training train trainer", kNoModel | kNoAmount},
    {"memory", "longest max maximum largest biggest what which how-much how-long how-big",
     "context sequence length window", kLongest | kModel | kGpu},
    {"memory", "batch-size", "max maximum largest biggest what which how-big how-large", kModel},
    {"mig", "mig slice slices partition partitions partitioned", "", kGpu},
    {"mig", "split share", "models", kGpu | kNoModel},
    {"mig", "how-many", "fit fits", kGpu | kNoModel | kPiece},
    {"prices", kHowLong, "", kGpu | kNoModel | kMoney | kNoAmount},
    {"recommend", "budget budgets", "", kAsks | kModel},
    {"recommend", "how-much-gpu how-many-gpus how-much-gpus how-many-gpu", "", kModel | kNoGpu},
    {"recommend", kCompared, "", kTwoGpus | kModel | kTokens | kTimed},
    {"gpus", kPower, "", kGpu | kNoModel},
    {"gpus", kPower, "", kGpu | kModel | kNoAmount | kTimed},
    {"recommend --objective=energy", "energy-efficient power-efficient efficient-in-energy", "", kModel},
    {"estimate", kPower, "", kPhrase | kGpu | kModel | kNoAmount | kNoTokens},
    {"estimate", "enough sufficient", "tokens-per-second tok/s tokens/s tokens/sec tps t/s",
     kAsks | kModel | kGpu | kNoTokens},
    {"estimate", "enough sufficient", "", kAsks | kModel | kGpu | kTokens | kTimed},
    {"autoscale", "cold-start start-up startup boot boots load start-serving", "how-long how-fast time quickly",
     kModel | kGpu | kNoAmount},
    {"memory", "save saves saving need needs use uses", "", kFormats | kModel | kNoGpu | kNoTokens},
    {"recommend", "checkpoint checkpoints", "disk space storage size big large", kModel | kNoGpu},
    {"recommend --items=1M", "1m-output-tokens 1m-generated-tokens", kCosts, kModel},
    {"prices buy", "buy buying bought purchase purchasing own owning",
     "rent renting lease leasing cloud break-even worth", kGpu},
    {"commit", kReserve, "or vs versus than", kGpu | kNoModel | kNoAmount},
    {"prices spot", "spot preemptible", "", kGpu | kNoModel | kNoAmount | kNoTokens | kTimed},
    {"prices spot", "spot preemptible",
     "worth cheaper save saves saving savings risk risky vs versus than should better instead difference on-demand "
     "switching moving",
     kGpu | kNoModel | kNoAmount},
    {"prices", "pay pays paying paid charged charges", "", kGpu | kNoModel | kMoney},
    {"commit", kReserve, "should worth better cheaper save saves saving switch switching move moving happens",
     kGpu | kNoModel | kNoAmount},
    {"models", "largest biggest", "model models llm llms", kGpu},
    {"models", "", "", kGpu | kFamily},
    {"prices --best-per=gpu --exclude=tpu,trainium,gaudi", "largest biggest", "model models llm llms",
     kMoney | kNoGpu | kNoModel},
    {"models", "what-can which-models what-models which-model which-llm which-llms", "", kGpu | kNoModel},
    {"mig", "models", "run serve host place fit", kGpu | kModel | kNoAmount},
    {"prices", kAtMost, "", kGpu | kNoModel | kNoWork | kMoney},
    {"estimate", "gpu-hours gpu-hour gpu-days", "", kAsks | kModel | kGpu},
    {"estimate", kCompared, "", kCounted | kModel | kNoAmount},
    {"estimate", "faster speed latency per-token tok/s tokens/s", kCompared, kTwoGpus | kModel | kNoAmount},
    {"recommend --job=serve", "openai api self-hosting self-host gpt-4o gpt-4o-mini claude", "", kPhrase | kModel},
    {"estimate", "per-million per-1m per-token", kCosts, kTwoGpus | kModel | kNoAmount},
    {"recommend --items=1M", "per-dollar per-token per-million per-1m", "", kModel | kNoAmount},
    {"recommend", kCosts, kCompared, kTwoGpus | kModel},
    {"estimate", kCompared, "", kTwoGpus | kModel | kNoAmount},
    {"prices compare", kCosts, kCompared, kTwoGpus | kNoModel | kNoAmount},
    {"gpus", kCompared, "", kTwoGpus | kNoModel | kNoAmount},
    {"memory", "oom out-of-memory kv kv-cache weights optimizer-states optimizer activations gradients", "", kModel},
    {"models", "parameters params layers", "", kAsks | kModel},
    {"memory", "fit fits fitting hold holds", "", kLoad | kGpu | kModel},
    {"recommend", "", "", kLoad | kGpu | kModel},
    {"memory", "can could will would is are", "", kTogether | kGpu | kModel},
    {"recommend", "enough sufficient suffice handle cope keep-up sustain", "", kAsks | kGpu | kModel | kTraffic},
    {"recommend", "throughput rps qps tokens", "maximum max most peak handle handles serve support sustain",
     kAsks | kGpu | kModel | kNoAmount},
    {"estimate", "", "", kSpeed | kPhrase},
    {"estimate", "how-long",
     "per-image per-video per-clip per-step per-token generate generating make render create produce an-image a-video",
     kGpu | kModel | kNoAmount},
    {"prices --best-per=gpu --exclude=tpu,trainium,gaudi", kCosts, "", kSized | kNoGpu | kNoModel | kNoWork},
    {"prices --best-per=gpu --exclude=tpu,trainium,gaudi", kAtMost, "", kSized | kNoGpu | kNoModel | kNoWork | kMoney},
    {"prices --best-per=gpu", kAtMost, "gpu gpus card cards", kNoGpu | kNoModel | kNoWork | kMoney},
    {"gpus", "", "", kSized | kNoGpu | kNoModel | kNoWork},
    {"prices", kCosts, "", kGpu | kNoModel | kNoWork},
    {"prices", kSellers, "", kGpu | kNoModel | kNoWork},
    {"gpus", "memory vram bandwidth tflops flops tdp nvlink cores specs spec specifications interconnect", "",
     kAsks | kGpu | kNoModel | kNoWork},
    {"estimate", "nvlink interconnect infiniband ethernet network bandwidth roce", "", kAsks | kGpu | kModel},
    {"memory", "fit fits fitting hold holds memory vram ram oom room enough batch-size context-length", "", kAsks},
    {"memory", "fit fits fitting memory vram batch-size context-length", "", kPhrase | kModel | kNoAmount},
    {"memory", "ollama llama.cpp llamacpp lm-studio lmstudio gguf locally home pc desktop laptop gaming", "",
     kAsks | kModel | kNoAmount},
    {"memory", "need run use", "", kAsks | kWhichGpu | kModel | kNoAmount},
    {"memory", "can could will would",
     "run use train fine-tune finetune host fully-fine-tuned be-fine-tuned be-trained",
     kAsks | kModel | kGpu | kNoAmount | kNoTokens},
    {"memory", "can could will would", "train fine-tune finetune run use",
     kAsks | kModel | kPiece | kNoAmount | kNoTokens},
    {"memory", "can could", "run", kAsks | kModel | kNoAmount | kNoTokens},
    {"prices", "rent renting", "", kGpu | kNoModel | kNoWork},
    {"recommend", "cost costs cheap cheapest cheaper many buy rent best", "", kAsks},
    {"recommend", kCosts, "", kPhrase | kModel},
    {"estimate",
     "fast speed speedup scaling throughput latency slow slower faster quick tokens/s tok/s tokens/sec tok/sec mfu", "",
     kAsks},
    {"estimate", "speed throughput latency tokens/s tok/s mfu", "", kPhrase | kModel | kNoAmount},
    {"memory", "on", "", kModel | kPiece | kNoAmount | kNoWork},
};

}  // namespace rightsize::app
