#include "base/units.h"

#include <concepts>
#include <type_traits>

#include <gtest/gtest.h>

namespace rightsize {
namespace {

// What must not compile, as concepts.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B, class Q>
concept QuotientIs = requires(A a, B b) {
  { a / b } -> std::same_as<Q>;
};

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Tokens>);
static_assert(!Addable<UsdPerSecond, UsdPerGpuSecond>, "a machine's price does not add to a GPU's");
static_assert(QuotientIs<Bytes, BytesPerSecond, Seconds>);
static_assert(!QuotientIs<Flops, BytesPerSecond, Seconds>);
static_assert(QuotientIs<UsdPerSecond, Gpus, UsdPerGpuSecond>);
static_assert(QuotientIs<Bytes, Bytes, double>);
static_assert(std::is_trivially_copyable_v<Bytes> && sizeof(Bytes) == 8);

TEST(Units, RooflineWorkedByHand) {
  // 14 GB over 2039 GB/s = 6.866 ms.
  Seconds t = gb(14) / gb_per_s(2039);
  EXPECT_NEAR(in_milliseconds(t), 6.866, 0.001);
}

TEST(Units, ScalesLiveInMakersAndReaders) {
  EXPECT_DOUBLE_EQ(in_bytes(gib(1)), 1073741824.0);
  EXPECT_DOUBLE_EQ(in_gbit_per_s(gbit_per_s(3200)), 3200);
  EXPECT_DOUBLE_EQ(in_gb_per_s(gbit_per_s(3200)), 400);
  EXPECT_DOUBLE_EQ(in_usd(usd_per_hour(55.04) * hours(10)), 550.4);
  EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(usd_per_hour(55.04) / gpus(8)), 6.88);
}

TEST(Units, RatioSaysWhichScaleItWasRead) {
  EXPECT_EQ(Ratio::percent(35), Ratio::fraction(0.35));
  EXPECT_DOUBLE_EQ(Ratio::fraction(0.66).percent(), 66);
}

}  // namespace
}  // namespace rightsize
