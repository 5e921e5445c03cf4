// A shape for a model that is known only by its size: a built-in one, scaled.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rightsize::model {

// "34B like llama" is {34, "llama"}; "13b like qwen3".
struct ScaledName {
  double billions = 0;
  std::string like;
};
std::optional<ScaledName> parse_scaled_name(std::string_view name);

// The sizes of a dense decoder, as in its configuration.
struct DecoderSizes {
  double parameters = 0, embeddings = 0;  // all, and those of embedding and head
  int hidden = 0, layers = 0, intermediate = 0, heads = 0, key_heads = 0;
};

// The sizes for another number of parameters. Width and depth grow together, as in published families (layers per width
// stay between those of Llama 8B and 70B); the vocabulary and the width of a head stay.
DecoderSizes scale_decoder(const DecoderSizes& from, double parameters);

}  // namespace rightsize::model
