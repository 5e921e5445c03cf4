// Separate workers for prompts and answers on one machine, as commands of each engine.
#pragma once

#include <string>

#include "plan/hand_over.h"

namespace rightsize::plan {

// The plan of one worker of each kind.
Plan prefill_worker(const Plan& plan);
Plan decode_worker(const Plan& plan);

// A script that starts the workers, each on GPUs and a port of its own, and the router in front of them. `prefill` and
// `decode` are the commands of one worker, which listens on kPort.
std::string apart_commands(const Plan& plan, const std::string& prefill, const std::string& decode);

}  // namespace rightsize::plan
