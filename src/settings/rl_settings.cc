// Post-training by reinforcement learning: --job rl.
#include "settings/rows.h"

namespace rightsize::settings {
namespace {

constexpr Setting kRows[] = {
    section("Reinforcement learning (--job rl)"),
    choice("algorithm", "grpo|ppo|dapo|rloo|reinforce++|distill",
           "algorithm; ppo trains a critic, distill follows a teacher of the same size on the policy's own answers")
        .or_words("grpo"),
    count("prompts", "64", 1, 1e7, "prompts per step").or_words("128"),
    count("train-batch", "512", 1, 1e8, "answers per optimizer step").or_words("all of a step"),
    yes_no("reference", "compute the log-probabilities of a frozen copy of the model").or_words("yes; dapo: no"),
    share("kept-prompts", "0.6", 0.01, 1,
          "share of prompts that are trained on; dapo drops prompts if all answers get the same reward")
        .or_words("1"),
    duration("reward-time", "5ms", 0, 86'400, "time to judge one answer: a verifier, a reward model, tools")
        .or_words("as measured with the framework"),
    count("reward-workers", "16", 1, 1e6, "answers that are judged at the same time").or_words("1"),
    count("osl-end", "6000", 1, 1e7,
          "mean tokens of an answer at the last step, if answers grow from --osl during training"),
    text("layout", "colocated|split=TRAINER:ROLLOUT",
         "trainer and engine take turns on all GPUs, or each has its own, e.g. split=8:8")
        .or_words("colocated"),
    number("async", "1", 0, 64,
           "steps by which an answer may be older than the policy; a fraction is a share of a batch (verl's staleness)")
        .or_words("0"),
    count("rollout-tp", "2", 1, 1024, "tensor parallel size of the engine").or_words("1"),
    count("rollout-ep", "8", 1, 1024, "expert parallel size of the engine").or_words("1"),
    choice("rollout-precision", "bf16|fp8", "number format of the engine's weights")
        .or_words("bf16; fp8 with --precision fp8"),
    text("rollout-gpu", "NAME", "GPU of the engine, if it differs from the trainer's (--layout split)"),
    choice("rollout-purchase", "on-demand|spot",
           "terms of the engine's machines, apart from the trainer's: an interruption loses answers, not training")
        .or_words("the trainer's"),
    number("max-async", "4", 1, 64, "recommend: most steps of asynchrony that are tried").or_words("1"),
};

}  // namespace

std::span<const Setting> rl_rows() { return kRows; }

}  // namespace rightsize::settings
