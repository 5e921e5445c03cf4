// Phi 3 and 4: fused q/k/v and gate/up projections.
#include "families/decoder.h"
#include "families/families.h"

namespace rightsize::model {
namespace {

void read_phi3(const Config& config, ModelShape& shape) {
  DecoderStyle style;
  style.vocabulary = 32'064;
  style.intermediate = 8'192;
  style.context = 4'096;
  style.fused_qkv = style.fused_gate_up = true;
  style.rotary_parts = RotaryParts::kJoinEach;
  read_decoder_sizes(config, style, shape);
  shape.dropout = config.dropout("resid_pdrop", 0.0);
  shape.sliding_window = config.size("sliding_window", 0, kLongestContext);
  Decoder(config, style, shape).write();
}

}  // namespace

Families phi3() {
  return {
      {"phi3", "Phi 3 and 4: fused q/k/v and gate/up", read_phi3},
  };
}

}  // namespace rightsize::model
