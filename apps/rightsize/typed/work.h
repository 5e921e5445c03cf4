// Jobs, work, traffic and limits in the user's words, as the settings of a command.
//
//   recommend embed bge-m3 --docs 50M/day      -> recommend bge-m3 --job=serve --items=50000000 --deadline=1d
//   recommend serve qwen3-32b --users 2000     -> ... --job=serve --rate=29.1/s, with the assumed time between messages
//   recommend llama-3.1-8b --p95-ttft 1s       -> ... --ttft-slo=1s --slo-percentile=95
//
// A note names each assumption. Unknown words stay, and the parser refuses them.
#pragma once

#include <deque>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Expects the output of meant_flags(): known flags as --name=value.
Typed meant_work(Typed typed, const std::deque<FlagInfo>& declared);

}  // namespace rightsize::app
