// Models of the Hub that have the shape of a built-in one: fine-tunes, distillations and quantized copies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/job.h"

namespace rightsize::model {

// The built-in model that has the shape, and the number format of the weights if the name has one.
struct NamedShape {
  std::string preset;
  std::optional<Precision> format;
  std::int64_t context = 0;  // as in its config.json; 0: that of the shape
  std::string note;          // how certain that is, as a sentence without a full stop; empty: built in
};

// By data/hub_models.csv, otherwise by rules: a name without the words for its format and tuning, or a name that
// contains all parts of a built-in model's name and no word for another shape ("Hermes-3-Llama-3.1-8B"). `presets` are
// the built-in names.
std::optional<NamedShape> shape_of_name(std::string_view name, std::span<const std::string> presets);

// The ID of the same model tuned for instructions, and of its weights in fp8; empty if data/hub_models.csv has none.
std::string tuned_id(std::string_view id);
std::string fp8_id(std::string_view id);

// The ID of a checked copy of a built-in model with at least this context; empty if data/hub_models.csv has none.
std::string longer_id(std::string_view preset, std::int64_t context);

// The Hub ID of a name without its organization that is unique in data/hub_models.csv, or of the built-in model that a
// short name such as "bge-large" means. Empty for others.
std::string listed_id(std::string_view name);

// The number format in a name: FP8, AWQ, GPTQ, NVFP4, bnb-4bit, q4_K_M.
std::optional<Precision> format_in_name(std::string_view name);

// Embedding models and rerankers by name, also those with the shape of a model that generates text:
// Qwen3-Embedding-8B, bge-reranker-v2-gemma.
bool only_reads(std::string_view name);
// For formats that no modelled engine supports: how their weights are counted, as a sentence without a full stop;
// otherwise empty.
std::string note_on_format(std::string_view name);
// The name without its format: "Qwen2.5-72B-Instruct-AWQ" is "Qwen2.5-72B-Instruct".
std::string without_format(std::string_view name);

// The parameters in a name, in billions: 13 of "foo-13b-chat", 0.27 of "gemma-3-270m". Empty for mixtures (8x7b).
std::optional<double> billions_in_name(std::string_view name);

}  // namespace rightsize::model
