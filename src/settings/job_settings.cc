// The model, the job and the GPUs it runs on.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr double kMostGpus = 65'536, kMostParallel = 1024, kMostTokens = 1e8;
constexpr std::string_view kPrecisions = "bf16|fp16|amp-bf16|amp-fp16|mixed-bf16|fp32|fp8|int8|int4|nf4|fp4|auto";

constexpr Setting kRows[] = {
    section("Model and job"),
    text("model", "NAME|FILE", "model: a built-in name ('rightsize models' lists them) or a Hugging Face config.json"),
    text("name", "NAME", "name of the workload in reports").words(),
    choice(
        "job", "train|serve|rl",
        "train, serve or rl (reinforcement learning); finetune, batch, embed, rerank, image and others are understood "
        "too")
        .or_words("train; serve with a setting for serving"),
    choice("precision", kPrecisions,
           "number format; train: bf16 (pure), amp-bf16, amp-fp16, mixed-bf16, fp32, fp8 or fp4 (NVFP4, megatron "
           "only); serve: bf16, fp16, fp8, int8, int4, nf4 or fp4")
        .listed()
        .or_words("bf16; recommend and megatron train in mixed precision"),
    choice(
        "stack", "hf|torchtitan|megatron|llm-foundry|vllm|trtllm|sglang|verl|nemo-rl|openrlhf|trl",
        "framework or engine; train: hf, torchtitan, megatron or llm-foundry; serve: vllm, trtllm, sglang or hf; rl: "
        "verl, nemo-rl, openrlhf or trl")
        .or_words("hf to train, vllm to serve, verl for rl"),
    count("batch", "8", 1, 1e7, "sequences or images per GPU in one pass").listed().or_words("1"),
    text("resolution", "WxH", "image size, e.g. 1024x768, or 1024 for a square"),

    section("GPUs"),
    text("gpu", "NAME", "GPU name or family, e.g. h100-sxm or h100 ('rightsize gpus' lists them)").listed(),
    count("gpus", "8", 1, kMostGpus, "number of GPUs").or_words("1"),
    count("max-gpus", "64", 1, kMostGpus, "use at most this many GPUs").or_words("64, more where a deadline needs them"),
    count("tp", "4", 1, kMostParallel, "tensor parallel size; images and videos: GPUs that share one item")
        .listed()
        .or_words("1"),
    count("pp", "2", 1, kMostParallel, "pipeline parallel size").listed().or_words("1"),
    count("ep", "8", 1, kMostParallel, "expert parallel size; when serving, a divisor of --tp").listed().or_words("1"),
    text("machine", "NAME", "machine the GPUs are in, e.g. aws/p5.48xlarge, for its links and network"),
    text("power-cap", "WATTS|best", "power cap of each GPU, e.g. 500W, or best, for the least energy")
        .or_words("the GPU's limit"),
    bandwidth("network", "3200Gbit/s", 1e6, 1e15, "network bandwidth of one machine, instead of the usual one"),

    section("Training", Jobs::kTrain),
    choice("method", "full|lora|qlora", "train all weights, LoRA adapters, or LoRA adapters on an nf4 base")
        .listed()
        .or_words("full"),
    yes_no("preference", "train on preference pairs (DPO): a sample is a chosen and a rejected answer"),
    count("lora-rank", "16", 1, 4096, "rank of the LoRA adapters").or_words("16"),
    choice("lora-targets", "all-linear|attention", "matrices that get LoRA adapters").or_words("all-linear"),
    choice("optimizer", "adamw|adamw-8bit|adamw-paged-8bit|sgd|sgd-momentum|adafactor|lion|muon", "optimizer")
        .or_words("adamw"),
    choice("optimizer-states", "fp32|bf16|int8", "number format of the optimizer states")
        .or_words("follows --precision"),
    choice("gradients", "fp32|bf16",
           "number format in which megatron adds up and reduces gradients (bf16: --grad-reduce-in-bf16)")
        .or_words("fp32 in mixed precision"),
    count("accumulate", "4", 1, 1e6, "gradient accumulation: passes per optimizer step").or_words("1"),
    choice("recompute", "none|selective|full", "activation checkpointing").listed().or_words("none"),
    choice("attention", "eager|sdpa|flash", "attention kernels").or_words("sdpa"),
    choice("cross-entropy", "eager|chunked|fused", "compute the loss on all logits, in chunks, or fused with the head")
        .or_words("eager"),
    yes_no("fused-kernels", "fused SwiGLU and norm kernels (Liger, Apex)"),
    yes_no("compile", "torch.compile the forward pass (hf, torchtitan)"),
    yes_no("optimizer-in-backward", "apply and free each gradient during the backward pass"),
    choice("offload", "none|optimizer|parameters", "what to keep in host memory").or_words("none"),
    yes_no("offload-activations", "keep saved activations in host memory"),
    count("cp", "2", 1, kMostParallel, "context parallel size").or_words("1"),
    count("pp-interleave", "2", 1, 128, "virtual pipeline stages per GPU").or_words("1"),
    yes_no("sequence-parallel", "with --tp, also split norms and dropouts").or_words("yes"),
    count("zero", "3", 0, 3, "ZeRO stage: 1 shards optimizer states, 2 also gradients, 3 also parameters (FSDP)")
        .listed()
        .or_words("0"),

    section("Training"),
    count("seq", "4096", 1, kMostTokens, "tokens per sequence")
        .or_words("what the model was trained on, at most 2,048"),

    section("Serving", Jobs::kServe),
    length("isl", "1024", 1, kMostTokens, "input tokens per request").or_words("1024; encoders: at most 512"),
    length("osl", "256", 0, kMostTokens, "output tokens per request").or_words("256"),
    count("steps", "30", 1, 1e8, "denoising steps per image; rl: training steps"),
    yes_no("guidance", "classifier-free guidance: a second pass per step without the prompt"),
    count("frames", "81", 1, 100'000, "frames per video"),
    count("images", "1", 0, 10'000, "images per prompt, for models that read images"),
    count("concurrency", "32", 1, 1e6, "requests in flight").or_words("1"),
    choice("kv-precision", kPrecisions, "number format of the KV cache").or_words("the engine's own").listed(),
    count("attention-dp", "8", 1, kMostParallel,
          "split the attention of one copy into this many groups, each with its own KV cache; experts stay shared")
        .or_words("1"),
    text(
        "disaggregated", "prefill=NxTP,decode=NxTP",
        "separate prefill and decode workers, N of TP GPUs each, or off; --tp, --ep and --attention-dp then describe a "
        "decode worker"),
    share("prefix-hit", "0.3", 0, 0.9999, "share of prompt tokens found in the prefix cache").or_else("0"),
    text("speculate", "N[,ACCEPTANCE|,method=NAME]",
         "speculative decoding: tokens drafted per step and the chance that the first is accepted (default 0.8; later "
         "ones are accepted less often), or a method with measured curves, e.g. 3,0.7 or 3,method=mtp"),
    count("max-model-len", "32768", 1, kMostTokens, "longest request in tokens, prompt and answer together")
        .or_words("the model's context; recommend: 4 times the mean request, at least 8,192"),
    count("max-batch", "256", 1, 1e6, "most requests the engine decodes together (max-num-seqs)").listed(),
    count("max-tokens", "8192", 16, 1e7, "most tokens in one pass (max-num-batched-tokens)"),
    count("poll-steps", "1", 1, 1000,
          "decode steps between two checks of the queue (SGLang: scheduler-recv-interval); by default as in published "
          "runs"),
    share("memory-share", "0.9", 0.05, 1, "share of GPU memory the engine may use (gpu-memory-utilization)"),
    yes_no("quantize-embeddings", "store embeddings and head in the format of the weights"),
    yes_no("slot-wait", "the engine batches at most --concurrency requests, and one more waits for a slot")
        .or_else("no"),
};

}  // namespace

std::span<const Setting> job_rows() { return kRows; }

}  // namespace rightsize::settings
