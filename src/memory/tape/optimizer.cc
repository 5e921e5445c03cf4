#include <algorithm>

#include "memory/tape/session.h"

namespace rightsize::memory::tape {
namespace {

using model::Optimizer;
using model::WeightRole;

// bitsandbytes keeps the states of small tensors in 32 bits, and users keep those of embeddings in 32 bits too.
constexpr Count kSmallest8bit = 4096;
constexpr Count kBlock8bit = 256;

bool is_matrix(const ParameterInfo& info) { return info.cols > 1; }

// Muon orthogonalizes the matrices of layers; embeddings, head and vectors go to AdamW.
bool is_for_muon(const ParameterInfo& info) {
  return is_matrix(info) && info.role != WeightRole::kTokenEmbedding && info.role != WeightRole::kHead &&
         info.role != WeightRole::kPositionEmbedding;
}

}  // namespace

void OptimizerStates::add(Count elements, std::uint8_t width) {
  states_.push_back(recorder_.make(std::max<Count>(1, elements), width, Layout::kPlain, Part::kOptimizer));
}

// One byte per value and a 32-bit scale per block.
void OptimizerStates::add_8bit(Count elements) {
  add(elements, kByte);
  add((elements + kBlock8bit - 1) / kBlock8bit, kSingle);
}

void OptimizerStates::prepare() {
  const std::vector<ParameterInfo>& infos = weights_.infos();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const int leaf = static_cast<int>(i);
    if (!recorder_.trainable(leaf)) continue;
    if (plan_.master_weights && !plan_.offload_states)
      add(plan_.sharded_states() ? weights_.sharded(infos[i]) : infos[i].elements, kSingle);
    const bool buffered = plan_.gradient_width != 0 && !plan_.sharded_gradients() && !plan_.optimizer_in_backward;
    if (buffered && !infos[i].adapter)
      recorder_.set_gradient(leaf, recorder_.make(infos[i].elements, plan_.gradient_width));
    if (plan_.optimizer_in_backward && !infos[i].shared) recorder_.consume_gradient(leaf);
  }
}

void OptimizerStates::make_states(const ParameterInfo& info) {
  const Count n = plan_.sharded_states() ? weights_.sharded(info) : info.elements;
  std::uint8_t width = info.adapter && plan_.stack == model::Stack::kHf ? kSingle : plan_.state_width;
  const bool quantized = plan_.optimizer == Optimizer::kAdamW8bit || plan_.state_width == kByte;
  if (quantized && plan_.optimizer != Optimizer::kAdafactor) {
    if (n < kSmallest8bit || info.role == WeightRole::kTokenEmbedding) {
      width = kSingle;
    } else {
      add_8bit(n);
      if (plan_.optimizer == Optimizer::kAdamW || plan_.optimizer == Optimizer::kAdamW8bit) add_8bit(n);
      return;
    }
  }
  switch (plan_.optimizer) {
    case Optimizer::kAdamW:
    case Optimizer::kAdamW8bit:
      add(1, kSingle);  // the step count is a separate tensor
      add(n, width);
      add(n, width);
      return;
    case Optimizer::kSgdMomentum:
    case Optimizer::kLion:
      add(n, width);
      return;
    case Optimizer::kAdafactor:
      // Row and column sums of squares in 32 bits instead of a full second moment (Shazeer and Stern 2018).
      if (is_matrix(info)) {
        add(info.rows, kSingle);
        add(info.cols, kSingle);
      } else {
        add(n, kSingle);
      }
      return;
    case Optimizer::kMuon:
      add(n, width);
      if (!is_for_muon(info)) add(n, width);
      return;
    case Optimizer::kAdamWPaged8bit:  // in managed memory, which the driver evicts when memory is short
    case Optimizer::kSgd:
      return;
  }
}

// The temporaries that exist while a parameter is updated, for the largest parameter.
void OptimizerStates::run_temporaries(const ParameterInfo& largest) {
  if (plan_.optimizer == Optimizer::kAdamW && plan_.step_over_lists && !plan_.optimizer_in_backward) {
    std::vector<Tensor> roots;  // of all second moments
    for (const ParameterInfo& info : weights_.infos())
      roots.push_back(
          recorder_.make(plan_.sharded_states() ? weights_.sharded(info) : info.elements, plan_.state_width));
  } else if (plan_.optimizer == Optimizer::kAdafactor) {
    Tensor squares = recorder_.make(largest.elements, kSingle), update = recorder_.make(largest.elements, kSingle);
  } else if (plan_.optimizer == Optimizer::kMuon) {
    const Count side = std::min(largest.rows, largest.cols);
    Tensor iterate = recorder_.make(largest.elements, kHalf), next = recorder_.make(largest.elements, kHalf);
    Tensor gram = recorder_.make(side * side, kHalf), product = recorder_.make(side * side, kHalf);
  }
}

void OptimizerStates::step(bool has_gradient_shards) {
  recorder_.enter(TrainPhase::kStep);
  recorder_.set_part(Part::kOptimizer);
  const std::vector<ParameterInfo>& infos = weights_.infos();
  const bool consumed = plan_.optimizer_in_backward;
  ParameterInfo largest, largest_matrix;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const int leaf = static_cast<int>(i);
    if (!recorder_.trainable(leaf)) continue;
    if (infos[i].elements > largest.elements) largest = infos[i];
    if (is_for_muon(infos[i]) && infos[i].elements > largest_matrix.elements) largest_matrix = infos[i];
    const bool updated = consumed || has_gradient_shards || recorder_.gradient(leaf);
    if (!made_ && updated && !plan_.offload_states) make_states(infos[i]);
  }
  made_ = true;
  if (largest.elements > 0) run_temporaries(plan_.optimizer == Optimizer::kMuon ? largest_matrix : largest);
  recorder_.set_part(Part::kActivations);
}

}  // namespace rightsize::memory::tape
