// Builds the weight inventory of a ModelShape: one call a tensor, in the framework's order.
#pragma once

#include <string>
#include <vector>

#include "model/model_shape.h"

namespace rightsize::model {

struct ConvOptions {
  int stride = 1;
  std::int64_t groups = 1;
  bool bias = false;
};

class Inventory {
 public:
  explicit Inventory(std::vector<Weight>& weights) : weights_(weights) {}

  // Weights added until end_block() belong to one block that occurs `repeats` times in a row.
  void begin_block(std::int64_t repeats);
  void end_block();

  // Weights added from here on put their output on a grid `scale` times coarser than the image; 0: on none.
  void grid(int scale) { scale_ = scale; }

  // The first of a pair of matrices, or one that stands alone: attention and MLP are divided by their outputs.
  WeightRef linear(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias);
  // The second of a pair: divided by its inputs.
  WeightRef output(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias);
  // Keys or values, of which a head of `unit` outputs stays together.
  WeightRef keys(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias, std::int64_t unit);
  // `count` experts in one tensor. `joined` matrices side by side: gate and up.
  WeightRef experts(std::string name, std::int64_t count, std::int64_t outputs, std::int64_t inputs, bool bias,
                    Split split, int joined = 1);
  WeightRef router(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias);
  WeightRef norm(std::string name, std::int64_t width, bool bias);
  WeightRef vector(std::string name, WeightRole role, std::int64_t size);
  WeightRef embedding(std::string name, WeightRole role, std::int64_t rows, std::int64_t width);
  WeightRef conv(std::string name, std::int64_t outputs, std::int64_t inputs, int kernel, const ConvOptions& options);
  // Logits over the vocabulary, divided by their outputs; or the bias of such a layer alone.
  WeightRef logits(std::string name, std::int64_t outputs, std::int64_t inputs, bool bias);
  WeightRef logits_bias(std::string name, std::int64_t outputs);

  // Adds a weight made elsewhere to the current block. Nothing comes of it in a block that never occurs.
  WeightRef add(Weight weight);

 private:
  WeightRef add_matrix(std::string name, WeightRole role, std::int64_t rows, std::int64_t cols, bool bias, Split split);

  std::vector<Weight>& weights_;
  std::int64_t repeats_ = 1;
  int block_ = 0;       // of the block that is open, 0 when none is
  int last_block_ = 0;  // highest number given so far
  int scale_ = 0;
};

}  // namespace rightsize::model
