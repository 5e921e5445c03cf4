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

  // References stay valid until the next call.
  Weight& linear(std::string name, WeightRole role, std::int64_t outputs, std::int64_t inputs, bool bias);
  Weight& experts(std::string name, std::int64_t count, std::int64_t outputs, std::int64_t inputs, bool bias);
  Weight& norm(std::string name, std::int64_t width, bool bias);
  Weight& vector(std::string name, WeightRole role, std::int64_t size);
  Weight& embedding(std::string name, WeightRole role, std::int64_t rows, std::int64_t width);
  Weight& conv(std::string name, std::int64_t outputs, std::int64_t inputs, int kernel, const ConvOptions& options);

  // Adds a weight made elsewhere to the current block.
  Weight& add(Weight weight);

 private:
  std::vector<Weight>& weights_;
  std::int64_t repeats_ = 1;
  int block_ = 0;       // of the block that is open, 0 when none is
  int last_block_ = 0;  // highest number given so far
  int scale_ = 0;
};

}  // namespace rightsize::model
