// Building blocks of operations: shared backward functions, and operations on one tensor, each described by a row.
#pragma once

#include "memory/tape/recorder.h"

namespace rightsize::memory::tape {

// The state for backward functions: the elements of the first inputs, and the width of the first.
OpState sizes_of(const Tensor& x);
OpState sizes_of(const Tensor& a, const Tensor& b);
OpState sizes_of(const Tensor& a, const Tensor& b, const Tensor& c);

// --- backward functions of one input

void pass_through(BackwardCall& call);
void same_size(BackwardCall& call);  // with the layout of the incoming gradient
void same_size_plain(BackwardCall& call);
void as_view(BackwardCall& call);
void as_reshaped_view(BackwardCall& call);
// state.n[0] elements in the width of the incoming gradient.
void whole_size(BackwardCall& call);
// The same in the input's own width.
void whole_size_own_width(BackwardCall& call);

// --- of several inputs

// Gradients of state.n[i] elements for the inputs that want one, in order or from the last.
void sizes_in_order(BackwardCall& call);
void sizes_from_last(BackwardCall& call);

// --- operations on one tensor

enum class Makes : std::uint8_t {
  kLike,       // a new tensor with the layout of the input
  kPlain,      // a new tensor in plain layout
  kView,       // the input's storage and layout
  kPlainView,  // the input's storage in plain layout
};
enum class Saves : std::uint8_t { kNothing, kInput, kResult };

struct Unary {
  Makes makes;
  Backward backward;
  Saves saves = Saves::kNothing;
};

// `n`: elements of the result; -1: as many as the input has.
Tensor unary(Tensor x, const Unary& op, Count n = -1);

Tensor like(const Tensor& x);

}  // namespace rightsize::memory::tape
