#include "perf/constants/sustained_rates.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/test_catalog.h"
#include "perf/perf.h"
#include "perf/test_constants.h"
#include "presets/presets.h"

namespace rightsize::perf {
namespace {

using catalog::NumberFormat;

const SpeedTable& speeds() {
  static const SpeedTable kTable(built_in_catalog(), built_in_constants());
  return kTable;
}
const SustainedRates& rates(const char* name) { return *speeds().find(**built_in_catalog().find_gpu(name)); }

Slowdown between(const char* from, const char* to, NumberFormat format = NumberFormat::kBf16) {
  return *slowdown(rates(from), rates(to), format);
}

TEST(SpeedTable, FindsTheGpusOfItsCatalogueAndTheirCopies) {
  for (const catalog::Gpu& gpu : built_in_catalog().gpus) {
    const catalog::Gpu copy = gpu;
    EXPECT_EQ(speeds().find(gpu)->gpu, &gpu);
    EXPECT_EQ(speeds().find(copy)->gpu, &gpu);
  }
  catalog::Gpu unknown;
  unknown.name = "none of them";
  EXPECT_EQ(speeds().find(unknown), nullptr);
}

// An L4 holds 0.48 of its 121 TFLOP/s, an H100 0.80 of its 989: 13.6 times, not the 8.2 of their data sheets.
TEST(Slowdown, FollowsSustainedRatesNotTheDataSheet) {
  const double sheet = 989.0 / 121.0;
  EXPECT_GT(between("h100-sxm", "l4").arithmetic, 1.5 * sheet);
  EXPECT_EQ(between("h100-sxm", "l4").basis, Basis::kTransferred);
}

TEST(Slowdown, AFormatTheGpuLacksRunsInSixteenBits) {
  const SustainedRates& a100 = rates("a100-80gb-sxm");
  EXPECT_EQ(a100.arithmetic[static_cast<std::size_t>(NumberFormat::kFp8)],
            a100.arithmetic[static_cast<std::size_t>(NumberFormat::kBf16)]);
  const SustainedRates& h100 = rates("h100-sxm");
  EXPECT_GT(h100.arithmetic[static_cast<std::size_t>(NumberFormat::kFp8)],
            h100.arithmetic[static_cast<std::size_t>(NumberFormat::kBf16)]);
}

// Training in fp16 with automatic mixed precision, samples per second (lambdal/deeplearning-benchmark@aa5addb6,
// pytorch-train-throughput-fp16.csv, read 2026-11). Such a step is part arithmetic, part traffic, so the measured ratio
// lies between the two factors, within the 80 % interval. (The exception is ResNet-50 on the RTX 4090: its 72 MB cache
// avoids much of the traffic.)
struct Measured {
  const char* gpu;
  double bert_large, resnet_50;
};
constexpr Measured kMeasured[] = {{"v100-16gb-sxm", 57, 833},    {"a10", 42, 638},
                                  {"a100-40gb-pcie", 117, 1396}, {"a100-80gb-pcie", 140, 1527},
                                  {"a100-80gb-sxm", 152, 1582},  {"rtx-4090", 93, 1301}};

TEST(Slowdown, BracketsFourOfFiveMeasuredTrainings) {
  int inside = 0, all = 0;
  for (const Measured& from : kMeasured) {
    for (const Measured& to : kMeasured) {
      if (&from == &to) continue;
      const Slowdown slow = between(from.gpu, to.gpu);
      const double least = std::min(slow.arithmetic, slow.memory) * std::exp(-slow.width);
      const double most = slow.worst() * std::exp(slow.width);
      for (const double measured : {from.bert_large / to.bert_large, from.resnet_50 / to.resnet_50}) {
        inside += measured >= least && measured <= most ? 1 : 0;
        ++all;
      }
    }
  }
  EXPECT_EQ(all, 60);
  EXPECT_GE(inside, all * 4 / 5);
}

// A prompt of 8,000 tokens is compute-bound, and a token for a single request is memory-bound: estimates of these scale
// between GPUs by the two factors. The tolerance is for the fitted constants of each stack.
TEST(Slowdown, AgreesWithEstimatesOfWorkBoundByOneResource) {
  const model::ModelShape shape = *model::find_model("llama-3.1-70b");  // large enough to hide latencies
  const ModelWork work = work_of(shape);
  const auto estimate = [&](const SustainedRates& on) {
    model::Job job = *model::parse_job(
        {{"job", "serve", {}}, {"stack", "vllm", {}}, {"isl", "8000", {}}, {"osl", "8", {}}, {"concurrency", "1", {}}});
    ServeLoad load;
    load.kv_tokens = 1e6;  // only speed matters here: let it fit
    return *estimate_serving(built_in_constants(), work, job, gpu_speed(built_in_constants(), *on.gpu),
                             default_cluster(*on.gpu), load);
  };
  const char* gpus[] = {"a100-80gb-sxm", "h100-sxm", "h200-sxm", "l40s", "l4", "a10g", "b200-sxm"};
  for (const char* a : gpus) {
    for (const char* b : gpus) {
      const Slowdown slow = between(a, b);
      EXPECT_NEAR(std::log(estimate(rates(b)).prefill / estimate(rates(a)).prefill), std::log(slow.arithmetic), 0.25)
          << a << " to " << b;
      EXPECT_NEAR(std::log(estimate(rates(b)).decode_step / estimate(rates(a)).decode_step), std::log(slow.memory), 0.2)
          << a << " to " << b;
    }
  }
}

RC_GTEST_PROP(Slowdown, SlowdownsThereAndBackMultiplyToOne, ()) {
  const auto any = [] { return *rc::gen::inRange<std::size_t>(0, speeds().all().size()); };
  const SustainedRates &a = speeds().all()[any()], &b = speeds().all()[any()];
  const auto format = static_cast<NumberFormat>(*rc::gen::inRange(0, catalog::kNumberFormats));
  const auto there = slowdown(a, b, format), back = slowdown(b, a, format);
  RC_ASSERT(there.has_value() == back.has_value());
  if (!there) return;
  RC_ASSERT(std::fabs(there->arithmetic * back->arithmetic - 1) < 1e-12);
  RC_ASSERT(std::fabs(there->memory * back->memory - 1) < 1e-12);
  RC_ASSERT(there->width == back->width);
  if (a.gpu == b.gpu) RC_ASSERT(there->arithmetic == 1 && there->memory == 1 && there->width == 0);
  if (a.gpu != b.gpu) RC_ASSERT(there->width > 0);
}

}  // namespace
}  // namespace rightsize::perf
