#include "model/tracer.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/inventory.h"

namespace rightsize::model {
namespace {

using testing::ElementsAre;

std::vector<OpKind> kinds_of(const Program& program) {
  std::vector<OpKind> kinds;
  for (const Op& op : program.ops) kinds.push_back(op.kind);
  return kinds;
}

// A square matrix of eight columns, divided by its outputs.
struct Matrix {
  ModelShape shape;
  WeightRef weight;
  Matrix() {
    shape.hidden = 8;
    weight = Inventory(shape.weights).linear("q", WeightRole::kAttention, 16, 8, false);
  }
};

TEST(Tracer, AMovedValueIsReleasedByTheOperationAndACopyAtTheEndOfItsScope) {
  Matrix m;
  Tracer f(m.shape);
  Value loss;
  {
    Value x = f.make(kTokens.times(8), Width::kHalf);
    Value y = f.linear(m.weight, x);
    y = f.activate(std::move(y), Activation::kSilu);
    loss = f.class_loss(std::move(y), kTokens);
  }
  const Forward forward = f.finish(std::move(loss));
  const Program& main = forward.programs.front();
  EXPECT_THAT(kinds_of(main),
              ElementsAre(OpKind::kMake, OpKind::kLinear, OpKind::kActivate, OpKind::kClassLoss, OpKind::kFree));
  EXPECT_FALSE(main.ops[1].in[0].last);  // x stays alive
  EXPECT_TRUE(main.ops[2].in[0].last);   // y is handed over
  EXPECT_EQ(main.ops[4].in[0].value, main.ops[0].out[0]);
}

TEST(Tracer, SizesFollowTheWeights) {
  Matrix m;
  Tracer f(m.shape);
  Value x = f.make(kTokens.times(8), Width::kHalf);
  Value y = f.linear(m.weight, x);
  EXPECT_EQ(y.size().count, 16);
  EXPECT_TRUE(y.size().split);
  EXPECT_EQ(y.size().each(), 16);
  const auto [a, b] = f.halves(y);
  EXPECT_EQ(a.size().each() + b.size().each(), 16);
}

TEST(Tracer, APassKeepsItsInputsToTheEndAndReleasesItsResult) {
  Matrix m;
  Tracer f(m.shape);
  const std::int32_t program = f.program({kTokens.times(8)}, [&](std::span<Value> in) {
    Value x = in[0];
    x = f.scale(std::move(x));
    return f.add(in[0], std::move(x));
  });
  Value x = f.make(kTokens.times(8), Width::kHalf);
  const std::int32_t stack = f.add_stack();
  f.add_layers(stack, m.weight, 3, program);
  x = f.layers(stack, std::move(x));
  const Forward forward = f.finish(std::move(x));
  const Program& body = forward.programs[static_cast<std::size_t>(program)];
  EXPECT_THAT(kinds_of(body), ElementsAre(OpKind::kScale, OpKind::kAdd));
  for (const Op& op : body.ops) EXPECT_FALSE(op.in[0].last) << "an input belongs to the caller";
  EXPECT_EQ(body.results[0], body.ops.back().out[0]);
  EXPECT_EQ(forward.stacks.front().runs.front().programs.size(), 3U);
}

TEST(Tracer, WrittenAttentionOwnsItsInputs) {
  Matrix m;
  Tracer f(m.shape);
  const Size heads = kTokens.split_into(2, 4);
  const std::int32_t written = f.written_attention(heads, heads, [&](std::span<Value> in) {
    Value q = f.cast(std::move(in[0]), Width::kSingle);
    Value scores = f.product(q, in[1], kSampleSquare.split_into(2, 1), kSampleSquare.split_into(2, 4));
    Value out = f.product(scores, in[2], heads, kSampleSquare.split_into(2, 4));
    return std::pair(std::move(out), std::move(scores));
  });
  Value x = f.make(heads, Width::kHalf);
  const Forward forward = f.finish(std::move(x));
  const Program& body = forward.programs[static_cast<std::size_t>(written)];
  EXPECT_TRUE(body.owns_inputs);
  EXPECT_TRUE(body.ops.front().in[0].last);
  EXPECT_NE(body.results[1], kNoValue);
}

}  // namespace
}  // namespace rightsize::model
