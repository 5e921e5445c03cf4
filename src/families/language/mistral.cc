// Mistral 7B, Nemo and Small: Llama with a sliding window or wide heads.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_mistral(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.intermediate = 14'336;
  style.kv_heads = 8;
  style.context = 131'072;
  read_decoder_sizes(config, style, shape);
  // Absent means the class's default of 4096; null, as in every Mistral since v0.2, means none.
  const JsonMember* window = config.json().value().find("sliding_window");
  shape.sliding_window = window ? config.size("sliding_window", 0, kLongestContext) : 4'096;
  Decoder(config, style, shape).write();
}

}  // namespace

Families mistral() {
  return {
      {"mistral", "Mistral 7B, Nemo, Small: Llama with a sliding window or wide heads", read_mistral},
  };
}

}  // namespace rightsize::model
