// Builds the weight inventory of a ModelShape: one call per tensor, in the framework's order.
#pragma once

#include <string>
#include <vector>

#include "model/model_shape.h"

namespace rightsize::model {

struct ConvOptions {
  int stride = 1;
  std::int64_t groups = 1;
  bool bias = false;
  bool over_time = false;  // one axis: the kernel is a row, not a square
  bool divided = false;    // tensor parallelism divides the output channels
};

class Inventory {
 public:
  explicit Inventory(std::vector<Weight>& weights) : weights_(weights) {}

  // Weights added until end_block() belong to one block that occurs `repeats` times in a row.
  void begin_block(std::int64_t repeats);
  void end_block();

  // Weights added after this call have their output on a grid `scale` times coarser than the image; 0: on no grid.
  void grid(int scale) { scale_ = scale; }

  // The first of a pair of matrices, or a single one. In attention and MLPs, tensor parallelism divides its outputs.
  WeightRef linear(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias);
  // The second of a pair: tensor parallelism divides its inputs.
  WeightRef output(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias);
  // Keys or values. The `unit` outputs of one head stay on one GPU.
  WeightRef keys(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias, std::int64_t unit);
  // `count` experts in one tensor of `joined` matrices side by side (gate and up).
  WeightRef experts(std::string name, std::int64_t count, std::int64_t outputs, std::int64_t inputs, bool bias,
                    Split split, int joined = 1);
  WeightRef router(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias);
  WeightRef norm(std::string name, std::int64_t width, bool bias);
  WeightRef vector(std::string name, WeightRole role, std::int64_t size);
  WeightRef embedding(std::string name, WeightRole role, std::int64_t rows, std::int64_t width);
  WeightRef conv(std::string name, std::int64_t outputs, std::int64_t inputs, int kernel, const ConvOptions& options);
  // Logits over the vocabulary, or only the bias of such a layer. Tensor parallelism divides the outputs.
  WeightRef logits(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias);
  WeightRef logits_bias(std::string name, std::int64_t outputs);

 private:
  // Adds a weight to the open block. Returns an empty reference if the block never occurs.
  WeightRef add(Weight weight);

  std::vector<Weight>& weights_;
  std::int64_t repeats_ = 1;
  int block_ = 0;       // number of the open block, 0: none is open
  int last_block_ = 0;  // highest number used so far
  int scale_ = 0;
};

}  // namespace rightsize::model
