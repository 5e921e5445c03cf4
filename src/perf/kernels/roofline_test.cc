#include "perf/kernels/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "catalog/catalog.h"
#include "catalog/test_catalog.h"
#include "perf/constants/constants.h"
#include "perf/kernels/collectives.h"
#include "perf/test_constants.h"

namespace rightsize::perf {
namespace {

// Round numbers: 100 TFLOP/s, 1 TB/s, everything reached.
GpuSpeed ideal_gpu() {
  GpuSpeed gpu;
  gpu.half = tflop_per_s(100);
  gpu.fp8 = tflop_per_s(200);
  gpu.bandwidth = gb_per_s(1000);
  gpu.sms = 100;
  for (MatmulCurve& curve : gpu.matmul) curve = {1.0, 1.0, microseconds(0), 100.0, 0, 0, 0};
  gpu.experts.fill(gpu.matmul[0]);
  gpu.prefill = {1.0, 1.0, Seconds{}, 0, 0, 0};
  gpu.decode = {1.0, 1.0, Seconds{}, 0, 1};
  for (std::size_t i = 0; i < kGroupSizes; ++i) {
    gpu.engine_all_reduce[i] = {microseconds(5), gb_per_s(100), 0};
    for (LinkCurves& curves : gpu.collectives) curves[i] = {microseconds(10), gb_per_s(200), 0};
  }
  gpu.fsdp_link = gb_per_s(200);
  return gpu;
}

TEST(SoftMax, AddsAtOneAndTakesTheLargerAtInfinity) {
  EXPECT_DOUBLE_EQ(in_seconds(soft_max(seconds(3), seconds(4), 1)), 7);
  EXPECT_DOUBLE_EQ(in_seconds(soft_max(seconds(3), seconds(4), 2)), 5);
  EXPECT_NEAR(in_seconds(soft_max(seconds(3), seconds(4), 200)), 4, 1e-6);
  EXPECT_DOUBLE_EQ(in_seconds(soft_max(Seconds{}, Seconds{}, 3)), 0);
  EXPECT_DOUBLE_EQ(in_seconds(soft_max(Seconds{}, seconds(2), 3)), 2);
}

TEST(Matmul, LargeProductsAreBoundByArithmetic) {
  // 2 x 4096^3 = 1.374e11 FLOP at 1e14/s: 1.374 ms; 3 x 4096^2 x 2 B = 100.7 MB at 1e12 B/s: 0.1 ms.
  const OpTime op = matmul_time(ideal_gpu(), {4096, 4096, 4096}, WeightFormat::kHalf);
  EXPECT_NEAR(in_milliseconds(op.compute), 1.37439, 1e-4);
  EXPECT_NEAR(in_milliseconds(op.memory), 0.100663, 1e-5);
  EXPECT_NEAR(in_milliseconds(op.time), 1.37439 / kMostArithmetic, 1e-4);  // no unit reaches its full peak
}

TEST(Matmul, OneTokenIsBoundByReadingWeights) {
  // A token through 4096 x 4096 weights: 33.6 MB at 1e12 B/s = 33.6 us, against 0.34 us of arithmetic.
  const OpTime op = matmul_time(ideal_gpu(), {1, 4096, 4096}, WeightFormat::kHalf);
  EXPECT_NEAR(in_milliseconds(op.time), 0.03357 / kMostBandwidth, 1e-4);
  EXPECT_GT(op.memory, op.compute);
}

TEST(Matmul, NarrowWeightsAreReadFaster) {
  const GpuSpeed gpu = ideal_gpu();
  const Matmul one{1, 8192, 8192};
  const Seconds half = matmul_time(gpu, one, WeightFormat::kHalf).time;
  EXPECT_NEAR(half / matmul_time(gpu, one, WeightFormat::kInt4).time, 2 / 0.53, 0.02);
  EXPECT_NEAR(half / matmul_time(gpu, one, WeightFormat::kFp8).time, 2, 0.01);
}

TEST(Matmul, TailWavesAndShortSumsTakeTime) {
  GpuSpeed gpu = ideal_gpu();
  const Matmul size{512, 512, 1024};
  const Seconds full = matmul_time(gpu, size, WeightFormat::kHalf).compute;
  gpu.matmul[0].occupancy = 0.1;  // 1 + 0.1 x 100 x 16384 / 512^2 = 1.625
  EXPECT_NEAR(matmul_time(gpu, size, WeightFormat::kHalf).compute / full, 1.625, 1e-9);
  gpu.matmul[0].occupancy = 0;
  gpu.matmul[0].k_ramp = 128;  // 1 + 128 / 1024
  EXPECT_NEAR(matmul_time(gpu, size, WeightFormat::kHalf).compute / full, 1.125, 1e-9);
}

TEST(Matmul, GroupedProductsPayLaunchCostsOnce) {
  GpuSpeed gpu = ideal_gpu();
  const Matmul each{64, 256, 512};
  const OpTime plain = matmul_time(gpu, each, WeightFormat::kHalf);
  EXPECT_NEAR(grouped_matmul_time(gpu, 8, each, WeightFormat::kHalf).time / plain.time, 8, 1e-9);
  gpu.experts[0].latency = microseconds(4);
  EXPECT_NEAR(in_seconds(grouped_matmul_time(gpu, 8, each, WeightFormat::kHalf).time),
              8 * in_seconds(plain.time) + 4e-6, 1e-12);
  gpu.experts[0].small_weights = 1;  // a million elements of 2 B at 1e12 B/s: 2 us
  EXPECT_NEAR(in_seconds(grouped_matmul_time(gpu, 8, each, WeightFormat::kHalf).memory - plain.memory * 8), 2e-6,
              1e-12);
  gpu.experts[0].occupancy = 0.1;  // 1 + 0.1 x 100 x 16384 / (8 x 64 x 256)
  EXPECT_NEAR(grouped_matmul_time(gpu, 8, each, WeightFormat::kHalf).compute / (plain.compute * 8), 2.25, 1e-9);
}

TEST(Matmul, FewRowsOfAnExpertStillFillATile) {
  const GpuSpeed gpu = ideal_gpu();
  const OpTime one = grouped_matmul_time(gpu, 4, {1, 4096, 4096}, WeightFormat::kHalf);
  const OpTime sixteen = grouped_matmul_time(gpu, 4, {16, 4096, 4096}, WeightFormat::kHalf);
  EXPECT_EQ(one.compute, sixteen.compute);
  EXPECT_DOUBLE_EQ(one.flops / sixteen.flops, 1.0 / 16);
}

// The ramp-up of reads is paid once, for any number of rows.
TEST(Matmul, SmallWeightsDoNotMultiplyTheActivations) {
  GpuSpeed gpu = ideal_gpu();
  const Matmul tall{100'000, 512, 512};
  const Seconds before = matmul_time(gpu, tall, WeightFormat::kFp8).memory;
  gpu.matmul[1].small_weights = 10;
  EXPECT_NEAR(in_seconds(matmul_time(gpu, tall, WeightFormat::kFp8).memory - before), 10e-6, 1e-12);
}

TEST(Attention, CountsHalfTheSquareWhenCausal) {
  // 2 x 1 x 2048^2 x 32 x 128 = 3.436e10 FLOP at 1e14/s: 0.344 ms.
  PrefillAttention attention{1, 2048, 32, 8, 128, true};
  const OpTime causal = prefill_attention_time(ideal_gpu(), attention);
  EXPECT_NEAR(in_milliseconds(causal.compute), 0.343597, 1e-5);
  attention.causal = false;
  EXPECT_NEAR(prefill_attention_time(ideal_gpu(), attention).compute / causal.compute, 2, 1e-12);
}

TEST(Attention, DecodingReadsTheCache) {
  // 2 (k and v) x 2 B x 16 x 1000 x 8 x 128 = 65.5 MB, and 4 x 16 x 32 x 128 B of queries: 65.8 us at 1e12 B/s.
  const DecodeAttention attention{16, 1000, 32, 8, 128, 2, 0, 0};
  const OpTime op = decode_attention_time(ideal_gpu(), attention);
  EXPECT_NEAR(in_seconds(op.memory) * 1e6, 65.8, 0.05);
}

TEST(Attention, LatentCachesAreNarrow) {
  DecodeAttention attention{16, 4000, 128, 128, 128, 2, 0, 0};
  const Seconds full = decode_attention_time(ideal_gpu(), attention).memory;
  attention.latent_width = 576;  // 576 instead of 2 x 128 x 128 = 32768 elements per token
  EXPECT_LT(decode_attention_time(ideal_gpu(), attention).memory, full * 0.03);
}

TEST(Collectives, AllReduceSendsEverythingTwice) {
  // 8 GPUs, 80 MB: 2 x 7/8 x 80 MB / 200 GB/s = 0.7 ms, + 10 us.
  const Seconds time = collective_time(ideal_gpu(), Cluster{}, Collective::kAllReduce, 8, bytes(80e6));
  EXPECT_NEAR(in_milliseconds(time), 0.71, 1e-9);
  EXPECT_EQ(collective_time(ideal_gpu(), Cluster{}, Collective::kAllReduce, 1, bytes(80e6)), Seconds{});
}

TEST(Collectives, AcrossMachinesTheNetworkDecides) {
  Cluster cluster;
  cluster.network_per_gpu = gb_per_s(25);
  const Seconds inside = collective_time(ideal_gpu(), cluster, Collective::kAllGather, 8, bytes(1e9));
  const Seconds outside = collective_time(ideal_gpu(), cluster, Collective::kAllGather, 16, bytes(1e9));
  EXPECT_GT(outside, inside * 5);
  EXPECT_EQ(sharding_rate(ideal_gpu(), cluster, {8}, 1.3), gb_per_s(200));
  // A ring over all of a machine's GPUs uses all their cards; one over every eighth GPU uses one.
  EXPECT_NEAR(in_gb_per_s(sharding_rate(ideal_gpu(), cluster, {16}, 1.0)), 8 * 22.5, 1e-9);
  EXPECT_NEAR(in_gb_per_s(sharding_rate(ideal_gpu(), cluster, {2, 8}, 1.0)), 22.5, 1e-9);
}

GpuSpeed speed_of(const char* name) { return gpu_speed(built_in_constants(), **built_in_catalog().find_gpu(name)); }

constexpr const char* kSome[] = {"t4",   "v100-16gb-sxm", "a10g",     "a100-40gb-sxm", "l4",
                                 "l40s", "h100-sxm",      "h200-sxm", "b200-sxm",      "mi300x"};

RC_GTEST_PROP(MatmulProperty, MoreWorkIsNeverFaster, ()) {
  const GpuSpeed gpu = speed_of(kSome[*rc::gen::inRange(0, 10)]);
  // Curves were fitted on weights of 512 x 512 and larger; below that, the penalty for small weights dominates in fp8.
  const Matmul size{static_cast<double>(*rc::gen::inRange(1, 20000)),
                    static_cast<double>(*rc::gen::inRange(512, 20000)),
                    static_cast<double>(*rc::gen::inRange(512, 20000))};
  for (WeightFormat format : {WeightFormat::kHalf, WeightFormat::kFp8, WeightFormat::kInt8, WeightFormat::kInt4}) {
    const Seconds once = matmul_time(gpu, size, format).time;
    RC_ASSERT(once > Seconds{});
    RC_ASSERT(matmul_time(gpu, {2 * size.m, size.n, size.k}, format).time >= once * 0.999);
    if (format == WeightFormat::kFp8) continue;
    RC_ASSERT(matmul_time(gpu, {size.m, 2 * size.n, size.k}, format).time >= once * 0.999);
    RC_ASSERT(matmul_time(gpu, {size.m, size.n, 2 * size.k}, format).time >= once * 0.999);
  }
}

RC_GTEST_PROP(MatmulProperty, AFasterGpuIsNeverSlower, ()) {
  GpuSpeed gpu = speed_of(kSome[*rc::gen::inRange(0, 10)]);
  const Matmul size{static_cast<double>(*rc::gen::inRange(1, 20000)), static_cast<double>(*rc::gen::inRange(8, 20000)),
                    static_cast<double>(*rc::gen::inRange(8, 20000))};
  const Seconds before = matmul_time(gpu, size, WeightFormat::kHalf).time;
  gpu.half = gpu.half * 1.5;
  const Seconds arithmetic = matmul_time(gpu, size, WeightFormat::kHalf).time;
  gpu.bandwidth = gpu.bandwidth * 1.5;
  RC_ASSERT(arithmetic <= before);
  RC_ASSERT(matmul_time(gpu, size, WeightFormat::kHalf).time <= arithmetic);
}

// One token more costs a little more, never less and never a jump.
RC_GTEST_PROP(AttentionProperty, TimeGrowsSmoothlyWithTokens, ()) {
  const GpuSpeed gpu = speed_of(kSome[*rc::gen::inRange(0, 10)]);
  const double tokens = *rc::gen::inRange(16, 20000), batch = *rc::gen::inRange(1, 64);
  PrefillAttention prompt{batch, tokens, 32, 8, 128};
  DecodeAttention step{batch, tokens, 32, 8, 128};
  const Seconds read = prefill_attention_time(gpu, prompt).time, made = decode_attention_time(gpu, step).time;
  prompt.sequence += 1, step.context += 1;
  const double most = 1 + 4 / tokens;  // a prompt's attention grows with the square
  for (double growth :
       {prefill_attention_time(gpu, prompt).time / read, decode_attention_time(gpu, step).time / made}) {
    RC_ASSERT(growth >= 1 - 1e-9);
    RC_ASSERT(growth <= most);
  }
}

TEST(GpuSpeed, EveryGpuOfTheCatalogueHasCurves) {
  for (const catalog::Gpu& gpu : built_in_catalog().gpus) {
    const GpuSpeed speed = gpu_speed(built_in_constants(), gpu);
    if (!(speed.half > FlopsPerSecond{})) continue;
    EXPECT_GT(speed.sustained, 0.2) << gpu.name;
    EXPECT_LE(speed.sustained, kMostArithmetic) << gpu.name;
    for (const MatmulCurve& curve : speed.matmul) {
      EXPECT_GT(curve.rate, 0) << gpu.name;
      EXPECT_LE(curve.rate, kMostArithmetic) << gpu.name;
      EXPECT_LE(curve.bandwidth, kMostBandwidth) << gpu.name;
      EXPECT_GT(curve.bandwidth, 0.3) << gpu.name;
      EXPECT_GE(curve.q, 1) << gpu.name;
    }
    for (const LinkCurve& link : speed.engine_all_reduce) EXPECT_GT(link.bus, BytesPerSecond{}) << gpu.name;
    EXPECT_GT(speed.fsdp_link, BytesPerSecond{}) << gpu.name;
    EXPECT_GT(matmul_time(speed, {128, 4096, 4096}, WeightFormat::kHalf).time, Seconds{}) << gpu.name;
  }
}

TEST(GpuSpeed, BasisTellsTheEvidence) {
  EXPECT_EQ(speed_of("h100-sxm").basis, Basis::kMeasured);
  EXPECT_EQ(speed_of("a100-40gb-sxm").basis, Basis::kMeasured);  // the chip of the 80 GB card
  EXPECT_EQ(speed_of("a10g").basis, Basis::kTransferred);
  EXPECT_EQ(speed_of("gb200").basis, Basis::kMeasured);
  EXPECT_EQ(speed_of("rtx-5090").basis, Basis::kTransferred);
  EXPECT_EQ(speed_of("mi300x").basis, Basis::kSpecification);  // whole runs of a few stacks, but no kernels
  EXPECT_EQ(speed_of("mi250x").basis, Basis::kSpecification);
  EXPECT_EQ(speed_of("t4").basis, Basis::kSpecification);
}

TEST(GpuSpeed, PowerLimitsTheRate) {
  // An L4 has 72 W for 121 TFLOP/s, 0.6 W per TFLOP/s; its relative the L40S 0.97: (0.595 / 0.97)^0.5 = 0.783 of its
  // rate.
  EXPECT_NEAR(speed_of("l4").matmul[0].rate, 0.783 * speed_of("l40s").matmul[0].rate, 0.005);
  EXPECT_NEAR(speed_of("mi300x").matmul[0].rate, 668.0 / 1307, 1e-6);
  // An MI350X has 1,000 W where its relative the MI355X has 1,400: 0.63 x (0.435 / 0.56)^0.5 = 0.555.
  EXPECT_NEAR(speed_of("mi350x").matmul[0].rate, 0.555, 0.005);
  EXPECT_NEAR(speed_of("t4").matmul[0].rate, 0.45, 1e-6);
  EXPECT_NEAR(speed_of("quadro-rtx-8000").matmul[0].rate, 0.6, 1e-6);
}

TEST(GpuSpeed, CardsWithGddrUseTheCurvesOfCards) {
  // The RTX PRO 6000 was measured at 600 W; its Max-Q edition has half of that.
  const double whole = speed_of("rtx-pro-6000").matmul[0].rate;
  EXPECT_NEAR(speed_of("rtx-pro-6000-max-q").matmul[0].rate, 0.73 * whole, 0.02 * whole);
  EXPECT_EQ(speed_of("rtx-5090").decode.bandwidth, speed_of("rtx-pro-6000").decode.bandwidth);
}

TEST(GpuSpeed, CardsWithoutNvlinkTalkOverPcie) {
  EXPECT_LT(speed_of("a10g").fsdp_link, gb_per_s(15));
  EXPECT_GT(speed_of("h100-sxm").fsdp_link, gb_per_s(300));
}

}  // namespace
}  // namespace rightsize::perf
