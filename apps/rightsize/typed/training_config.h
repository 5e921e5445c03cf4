// Training configurations of other tools as flags: axolotl, LLaMA-Factory and TRL (YAML), DeepSpeed (JSON), torchtitan
// (TOML).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// The keys and values of a configuration, nested keys joined by dots; empty if the file is not such a configuration.
std::optional<std::vector<std::pair<std::string, std::string>>> read_training_config(const std::string& path);

// Replaces `--deepspeed FILE`, `--config FILE` or a file alone by the flags that its keys mean, except for flags that
// were typed, and reports keys without effect.
void put_training_config(Typed& typed, const std::deque<FlagInfo>& declared);

}  // namespace rightsize::app
