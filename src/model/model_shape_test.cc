#include "model/model_shape.h"

#include <numeric>

#include <gtest/gtest.h>

#include "model/inventory.h"

namespace rightsize::model {
namespace {

// Two layers of a norm, a biased linear 4 x 3 and three experts 2 x 5, between an embedding and a head.
ModelShape small_mixture() {
  ModelShape shape;
  shape.experts = Experts{.count = 3, .per_token = 1};
  Inventory inventory(shape.weights);
  inventory.embedding("embed", WeightRole::kTokenEmbedding, 10, 3);
  inventory.begin_block(2);
  inventory.norm("norm", 3, false);
  inventory.linear("q", WeightRole::kAttention, 4, 3, true);
  inventory.experts("up", 3, 2, 5, true, Split::kColumns);
  inventory.end_block();
  inventory.linear("head", WeightRole::kHead, 10, 3, false);
  return shape;
}

TEST(ModelShape, CountsEveryCopyAndOnlyTheExpertsThatWork) {
  ModelShape shape = small_mixture();
  // 30 + 2 x (3 + 16 + 3 x 12) + 30
  EXPECT_EQ(shape.parameters(), 170);
  // 30 + 2 x (3 + 16 + 1 x 12) + 30
  EXPECT_EQ(shape.active_parameters(), 122);
}

TEST(ModelShape, TensorsUnrollBlocksInOrder) {
  std::vector<std::int64_t> sizes = tensor_elements(small_mixture());
  // the stacked experts are one tensor of 3 x 2 x 5, their biases one of 3 x 2
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{30, 3, 12, 4, 30, 6, 3, 12, 4, 30, 6, 30}));
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), small_mixture().parameters());
}

TEST(Inventory, ABlockThatNeverOccursHoldsNothing) {
  ModelShape shape;
  Inventory inventory(shape.weights);
  inventory.begin_block(0);
  EXPECT_FALSE(inventory.linear("q", WeightRole::kAttention, 4, 3, true));
  inventory.end_block();
  EXPECT_TRUE(shape.weights.empty());
}

TEST(Inventory, ConvolutionsCountKernelsAndGroups) {
  ModelShape shape;
  Inventory inventory(shape.weights);
  ConvOptions depthwise;
  depthwise.groups = 96;
  depthwise.bias = true;
  inventory.grid(4);
  const WeightRef ref = inventory.conv("dwconv", 96, 96, 7, depthwise);
  ASSERT_EQ(ref.index, 0);
  const Weight& weight = shape.weights.front();
  EXPECT_EQ(weight.elements(), 96 * 49 + 96);
  EXPECT_EQ(weight.scale, 4);
}

}  // namespace
}  // namespace rightsize::model
