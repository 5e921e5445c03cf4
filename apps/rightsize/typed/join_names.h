// Names of several words: `RTX 4090`, `llama 3.1 8b on h100`, `qwen3 235b`.
#pragma once

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Joins them. A GPU after the model of a plan becomes --gpu; an incomplete name becomes that of the newest matching
// model.
void join_names(Typed& typed);

// How many words from this one on name a GPU together, "H100 PCIe", or alone; 0 if they name none.
std::size_t gpu_words(const std::vector<std::string>& words, std::size_t at);

}  // namespace rightsize::app
