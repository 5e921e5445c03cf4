#include "memory/tape/recorder.h"

#include <gtest/gtest.h>

#include "memory/tape/ops.h"

namespace rightsize::memory::tape {
namespace {

constexpr Count kRows = 1024, kWidth = 512;
constexpr Count kActivation = kRows * kWidth * 2, kMatrix = kWidth * kWidth * 2;

LinearOptions square() {
  LinearOptions options;
  options.outputs = kWidth;
  return options;
}

TEST(Recorder, CountsLiveBytesAndThePeakByPart) {
  Recorder recorder;
  Tensor a = recorder.make(1000, kHalf);  // 2000 bytes: four granules of 512
  EXPECT_EQ(recorder.live().total, 2048);
  {
    Tensor b = recorder.make(1, kByte, Layout::kPlain, Part::kBuffers);
    Tensor same = b;
    b.reset();
    EXPECT_TRUE(same);
    EXPECT_EQ(recorder.live().total, 2560);
  }
  EXPECT_EQ(recorder.live().total, 2048);
  EXPECT_EQ(recorder.peak().total, 2560);
  EXPECT_EQ(recorder.peak().part[static_cast<std::size_t>(Part::kBuffers)], 512);
  a.reset();
  EXPECT_EQ(recorder.live().total, 0);
}

TEST(Recorder, LinearSavesItsInputOnlyForATrainedWeight) {
  for (bool trained : {true, false}) {
    Recorder recorder;
    const int weight = recorder.add_parameter(kWidth * kWidth, kHalf, trained);
    Tensor x = recorder.make(kRows * kWidth, kHalf);
    Tensor y = linear(std::move(x), recorder.parameter(weight), {}, square());
    EXPECT_EQ(recorder.live().total, kMatrix + (trained ? 2 : 1) * kActivation);
  }
}

TEST(Recorder, BackwardFreesSavedTensorsAndLeavesGradients) {
  Recorder recorder;
  const int first = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  const int second = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  Tensor x = recorder.make(kRows * kWidth, kHalf);
  Tensor y = linear(std::move(x), recorder.parameter(first), {}, square());
  y = linear(std::move(y), recorder.parameter(second), {}, square());
  EXPECT_EQ(recorder.live().total, 2 * kMatrix + 3 * kActivation);
  Tensor seed = recorder.seed_gradient(y);
  y.reset();
  recorder.run_backward();
  seed.reset();
  EXPECT_EQ(recorder.live().total, 4 * kMatrix);
  EXPECT_EQ(recorder.live().part[static_cast<std::size_t>(Part::kGradients)], 2 * kMatrix);
}

TEST(Recorder, AutocastCastsATrainedWeightOnce) {
  Recorder recorder;
  recorder.autocast = true;
  const int weight = recorder.add_parameter(kWidth * kWidth, kSingle, true);
  Tensor x = recorder.make(kRows * kWidth, kHalf);
  const Count before = recorder.live().total;
  Tensor y = linear(x, recorder.parameter(weight), {}, square());
  Tensor z = linear(x, recorder.parameter(weight), {}, square());
  EXPECT_EQ(recorder.live().total - before, kMatrix + 2 * kActivation);
}

// Two linear layers and a gelu between them.
class TwoLayers : public Segment {
 public:
  TwoLayers(Recorder& recorder, int first, int second) : recorder_(recorder), first_(first), second_(second) {}
  Tensor run_segment(int, std::span<Tensor> inputs) override {
    ++runs;
    Tensor y = linear(inputs[0], recorder_.parameter(first_), {}, square());
    y = gelu(std::move(y));
    return linear(std::move(y), recorder_.parameter(second_), {}, square());
  }
  void segment_done(int) override { ++done; }

  int runs = 0, done = 0;

 private:
  Recorder& recorder_;
  int first_, second_;
};

TEST(Recorder, CheckpointHoldsTheInputAloneAndRunsTwice) {
  Recorder recorder;
  const int first = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  const int second = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  TwoLayers layers(recorder, first, second);
  Tensor x = recorder.make(kRows * kWidth, kHalf);
  Tensor y = recorder.checkpoint(layers, 0, std::span(&x, 1));
  x.reset();
  EXPECT_EQ(recorder.live().total, 2 * kMatrix + 2 * kActivation);  // input and output
  Tensor seed = recorder.seed_gradient(y);
  y.reset();
  recorder.reset_peaks();
  recorder.run_backward();
  seed.reset();
  EXPECT_EQ(layers.runs, 2);
  EXPECT_EQ(layers.done, 1);
  EXPECT_EQ(recorder.live().total, 4 * kMatrix);
  // Recomputed: two results of the first layer and of gelu; the last product is not recomputed.
  EXPECT_LE(recorder.peak().total, 4 * kMatrix + 5 * kActivation);
}

TEST(Recorder, SelectiveCheckpointKeepsProducts) {
  Recorder recorder;
  recorder.keep_products = true;
  const int first = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  const int second = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  TwoLayers layers(recorder, first, second);
  Tensor x = recorder.make(kRows * kWidth, kHalf);
  Tensor y = recorder.checkpoint(layers, 0, std::span(&x, 1));
  x.reset();
  EXPECT_EQ(recorder.live().total, 2 * kMatrix + 3 * kActivation);  // input, output, and the first product
  Tensor seed = recorder.seed_gradient(y);
  y.reset();
  recorder.run_backward();
  seed.reset();
  EXPECT_EQ(recorder.live().total, 4 * kMatrix);
}

TEST(Recorder, OffloadedActivationsComeBackForTheirLayer) {
  Recorder recorder;
  const int weight = recorder.add_parameter(kWidth * kWidth, kHalf, true);
  Tensor x = recorder.make(kRows * kWidth * 2, kHalf);
  recorder.enter(Zone::kFirst, 0);
  LinearOptions options = square();
  Tensor y = linear(std::move(x), recorder.parameter(weight), {}, options);
  recorder.enter(Zone::kLast, 1);
  y = gelu(std::move(y));
  recorder.offload_saved(0);
  EXPECT_EQ(recorder.live().total, kMatrix + 4 * kActivation);
  Tensor seed = recorder.seed_gradient(y);
  y.reset();
  recorder.run_backward();
  seed.reset();
  EXPECT_EQ(recorder.live().total, 2 * kMatrix);
}

TEST(Recorder, TheAllocatorSeesEveryStorage) {
  CachingAllocator allocator;
  {
    std::vector<AllocationEvent> events;
    Recorder recorder(&allocator, &events);
    Tensor a = recorder.make(100, kSingle);
    EXPECT_EQ(allocator.allocated(), 512);
    a.reset();
    EXPECT_EQ(events, (std::vector<AllocationEvent>{{0, 400}, {0, 0}}));
  }
  EXPECT_EQ(allocator.allocated(), 0);
}

}  // namespace
}  // namespace rightsize::memory::tape
