// A batching server, running services and MIG.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr Setting kRows[] = {
    text("batch-times", "[GPU=]FILE", "measured batch times, CSV with batch,ms_p50[,ms_p90] or from perf_analyzer")
        .alias("service"),
    flag("pad", "run a batch as the next listed size (captured graphs) instead of interpolating"),
    text("arrivals", "PROCESS", "RATE or poisson:RATE, mmpp:CALM,BURST,10s,1s, diurnal:MEAN,PEAK[,24h] or trace:FILE"),
    choice("policy", "dynamic|none|continuous", "dynamic (Triton), none, or continuous (LLM engines)")
        .or_words("continuous for language models, otherwise dynamic"),
    duration("max-delay", "10ms", 0, kDay, "longest time a request waits for others; a list is searched").listed(),
    count("preferred", "8", 1, 1e6, "preferred batch sizes").listed(),
    duration("timeout", "120s", 1e-6, kDay, "longest wait for an answer"),
    choice("timeout-action", "reject|delay", "what happens to a request that times out").or_else("reject"),
    flag("timeout-override", "let requests of a trace set a shorter timeout (column timeout_ms)"),
    count("max-queue", "100", 0, 1e9, "longest queue; further requests are rejected"),
    text("priorities", "SHARES", "share of requests at each priority level, highest first: 0.2,0.8"),
    duration("overhead", "50us", 0, kHour, "time the server adds to each batch"),
    count("requests", "200k", 1, 1e9, "requests to simulate").or_words("200k, or all of a trace"),
    count("seed", "1", 0, 9e15, "seed of the random numbers; equal seeds give equal results").or_else("1"),
    text("scaling-policy", "NAME:KEY=VALUE,...",
         "a policy to simulate; may be repeated: hpa:target=12,max=20, keda:threshold=12,min=0, fixed:replicas=4, "
         "schedule:every=1h,plan=2/5/3, knative:target=12, dynamo:rate=2, variant, skyserve:rate=2")
        .alias("policy"),
    count("min-replicas", "2", 0, 100'000, "fewest replicas of every policy").alias("min"),
    count("max-replicas", "8", 1, 100'000, "most replicas of every policy").alias("max"),
    text("replica-startup", "TIME|STAGES",
         "how a replica starts: 110s, or stages joined by commas: weights=hub|stream|disk|memory, sharded=yes|no, "
         "compile=cold|cached|none, node=eks|gke|aks, image=cached|pull|stream, wake=yes|no")
        .alias("startup")
        .or_words("estimated from the model"),
    file("replica-plan",
         "a plan that describes a replica: the --format json output of recommend, service or batch; - is standard "
         "input")
        .alias("plan"),
    count("max-in-flight", "512", 1, 1e9, "most requests sent and not answered; later ones wait to be sent"),
    text("service", "NAME", "only services with this text in their name"),
    share("headroom", "20%", 0, 10, "capacity kept free above the mean load, unless a workload sets its own")
        .or_else("20%"),
    text("models", "LIST", "models to place without a file, each with its memory: bge-m3,qwen2.5-3b").listed(),
    flag("share", "let workloads marked 'share: true' share a slice through MPS"),
    flag("list-layouts", "list every set of slices that fits on --gpu"),
    text("check", "SLICES",
         "check whether these slices fit (next to --current), and what is left over: 3g.40gb,2x1g.10gb"),
    text("current", "nvml|FILE",
         "what is on the GPUs now: nvml asks the driver; a file has 'nvidia-smi mig -lgi' output, YAML, or one layout "
         "per line"),
    flag("repack", "free GPUs of --current with the fewest moves, in a safe order"),
    text("make-room", "SLICES", "with --repack: slices that must fit afterwards, instead of freeing GPUs"),
    file("verify", "compare the driver's list ('nvidia-smi mig -lgip; nvidia-smi mig -lgipp') with the built-in table"),

    section("GPUs"),
    count("instances", "2", 1, 64, "model instances per GPU; a list is searched").or_else("1").listed(),
    share("instance-overlap", "0.5", 0, 1, "0: instances share the GPU evenly; 1: they do not slow each other down")
        .or_else("0"),
    count("replicas", "4", 1, 100'000, "GPUs, each with its own queue; a list is searched").listed(),
    text("gpu-mix", "GPU:N,...", "different GPUs behind one router: h100-sxm:1,l4:2").alias("fleet"),
    count("gpus-per-replica", "2", 0, 1024, "GPUs per replica, if the metrics do not show it"),
    text("to-gpu", "LIST", "consider moving only to these GPUs: l40s,h100-sxm").listed(),
    count("gpus-per-node", "8", 1, 64, "GPUs per machine, for the files in --out").or_else("8"),

    section("Limits"),
    text("slo", "LIMITS", "latency limits: ttft=500ms,tpot-p95=40ms, or p99=100ms"),
    share("max-rejected", "0.1%", 0, 1, "share of requests that may be rejected").or_else("0.1%"),

    section("Continuous batching"),
    text("step-cost", "[GPU=]TIMES",
         "time of an engine step: base=6ms,prefill=15us,sequence=20us,context=4ns; may be repeated")
        .alias("step-time"),
    count("token-budget", "8192", 1, 1e8, "tokens per step").or_else("8192").listed(),
    count("kv-tokens", "1M", 1, 1e12, "tokens the KV cache of a replica holds").or_words("the model's, otherwise 1M"),
    choice("lengths", "varied|fixed|exponential",
           "how token counts vary: as in public traces, not at all, or exponentially")
        .or_else("varied"),
    flag("no-chunked-prefill", "process each prompt in one step"),

    section("KV cache"),
    count("session-users", "1000", 1, 1e9, "users in conversations at once, instead of a trace"),
    count("turns", "6", 1, 1e6, "with --users: requests of a conversation").or_else("6"),
    count("system-prompt", "2000", 0, 1e9, "with --users: tokens of the system prompt").or_else("0"),
    size("sizes", "80GB", 1, 1e18, "cache sizes to compare").listed(),
    text("tier", "NAME=SIZE[@GB/s]",
         "a tier below GPU memory, e.g. host=500GB or disk=2TB@6GB/s (size per replica, and its read speed); needs "
         "--gpu; "
         "may be repeated"),
    count("block-tokens", "512", 1, 1e6, "tokens of a block of the trace")
        .or_words("512, as in Mooncake's traces; 16 for logs of chats"),

    section("What if"),
    factor("traffic", "2x", 1e-3, 100, "size for this many times the traffic"),
    factor("longer-prompts", "1.5x", 1e-3, 100, "size for prompts this many times as long"),
    factor("longer-answers", "1.5x", 1e-3, 100, "size for responses this many times as long"),
    text("other-model", "NAME", "size for this model instead"),

    section("Output"),
    text("out", "DIR",
         "write files for mig-parted, GPU operator, nvidia-smi, Kubernetes and DRA, and SVG pictures, to this folder"),
};

}  // namespace

std::span<const Setting> batch_rows() { return kRows; }

}  // namespace rightsize::settings
