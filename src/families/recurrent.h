// Layers with a recurrent state in place of attention: Mamba-2, and the gated delta rule of Qwen3-Next. Both project
// their input, pass it through a short convolution over time, scan it, and norm the gated result.
#pragma once

#include <string>

#include "families/config.h"
#include "model/inventory.h"
#include "model/tracer.h"

namespace rightsize::model {

struct RecurrentWeights {
  WeightRef first;  // in the framework's order
  WeightRef in, steps, conv, norm, out;
};

// Mamba-2: one projection for the gate, the input of the scan, and the steps.
struct Mamba2 {
  ScanOp scan;
  bool bias = false, conv_bias = true;
  std::string prefix = "mixer";

  std::int64_t inner() const { return scan.heads * scan.head_dim; }
};
RecurrentWeights declare_mamba2(Inventory& inventory, const Mamba2& layer, std::int64_t hidden);
Value mamba2(Tracer& f, Value x, const RecurrentWeights& w, const Mamba2& layer);

// Gated delta rule: one projection of q, k, v and the gate, and one of two numbers per head. Qwen3.5 splits each into
// two matrices of the same total size.
RecurrentWeights declare_gated_delta(Inventory& inventory, const ScanOp& scan, std::int64_t hidden);
Value gated_delta(Tracer& f, Value x, const RecurrentWeights& w, const ScanOp& scan);

}  // namespace rightsize::model
