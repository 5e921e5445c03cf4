// Quantizations of llama.cpp: GGUF files and the tags of Ollama.
#pragma once

#include <optional>
#include <string_view>

namespace rightsize::model {

// Bits per weight (data/gguf.csv) of "llama3.1:70b-instruct-q4_K_M" or "Qwen2.5-7B-GGUF"; Q4_K_M, the usual download,
// if the name does not say. Empty for names of other tools and for weights of 16 bits.
std::optional<double> gguf_bits(std::string_view name);

}  // namespace rightsize::model
