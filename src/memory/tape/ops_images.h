// Operations of image and audio models.
#pragma once

#include "memory/tape/ops.h"

namespace rightsize::memory::tape {

// torch.nn.Conv2d to n outputs: saves its input and the weight's 16-bit copy. cuDNN works channels-last and converts
// what it reads and writes in a workspace, where `padded_input` elements (channels in multiples of eight) stand for the
// input; 0: a depthwise convolution, which torch computes without.
Tensor convolution(Tensor x, Tensor weight, Tensor bias, Count n, Count padded_input);
// torch.nn.Conv1d to n outputs: saves its input.
Tensor convolution_over_time(Tensor x, Tensor weight, Count n);
// torch.nn.BatchNorm2d in training: saves its input and two numbers per channel.
Tensor batch_norm(Tensor x, Tensor weight, Tensor bias, Count channels);
// torch.nn.GroupNorm: saves its input and two numbers per group.
Tensor group_norm(Tensor x, Tensor weight, Tensor bias, Count groups);
// ReLU in place: its result, which the next layer reads too, is what it saves.
Tensor relu_in_place(Tensor x);
// SiLU, Hardswish in place still save their input: a copy is made.
Tensor silu_in_place(Tensor x);
// torch.nn.MaxPool2d: 64-bit indices of the maxima are saved, and the input.
Tensor max_pool(Tensor x, Count n);
Tensor average_pool(Tensor x, Count n);

}  // namespace rightsize::memory::tape
