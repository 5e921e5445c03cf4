#include "base/units.h"

#include <concepts>
#include <type_traits>

#include <gtest/gtest.h>

namespace rightsize {
namespace {

// Expressions that must not compile.
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};
template <class A, class B, class Q>
concept ProductIs = requires(A a, B b) {
  { a* b } -> std::same_as<Q>;
};
template <class A, class B, class Q>
concept QuotientIs = requires(A a, B b) {
  { a / b } -> std::same_as<Q>;
};

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Tokens>);

// Dollars per GPU-hour, per machine-hour, per hour and in total cannot be added or compared.
template <class A, class... Others>
constexpr bool kKeepsApart = ((!Addable<A, Others> && !Comparable<A, Others>)&&...);
static_assert(Addable<UsdPerGpuSecond, UsdPerGpuSecond> && Comparable<UsdPerGpuSecond, UsdPerGpuSecond>);
static_assert(kKeepsApart<UsdPerGpuSecond, UsdPerMachineSecond, UsdPerSecond, Usd, double>);
static_assert(kKeepsApart<UsdPerMachineSecond, UsdPerSecond, Usd, double>);
static_assert(kKeepsApart<UsdPerSecond, Usd, double>);
static_assert(ProductIs<UsdPerGpuSecond, GpusPerMachine, UsdPerMachineSecond>);
static_assert(ProductIs<UsdPerMachineSecond, Machines, UsdPerSecond>);
static_assert(ProductIs<UsdPerGpuSecond, Gpus, UsdPerSecond>);
static_assert(ProductIs<UsdPerSecond, Seconds, Usd>);
static_assert(ProductIs<GpusPerMachine, Machines, Gpus>);
static_assert(QuotientIs<UsdPerMachineSecond, GpusPerMachine, UsdPerGpuSecond>);
static_assert(!QuotientIs<UsdPerSecond, Gpus, UsdPerMachineSecond>);
static_assert(QuotientIs<Bytes, BytesPerSecond, Seconds>);
static_assert(!QuotientIs<Flops, BytesPerSecond, Seconds>);
static_assert(QuotientIs<UsdPerSecond, Gpus, UsdPerGpuSecond>);
static_assert(QuotientIs<Bytes, Bytes, double>);
static_assert(std::is_trivially_copyable_v<Bytes> && sizeof(Bytes) == 8);
static_assert(std::is_trivially_copyable_v<UsdPerMachineSecond> && sizeof(UsdPerMachineSecond) == 8);
static_assert(in_hours(kMonth) == 730 && in_hours(kYear) == 8760);

TEST(Units, RooflineMatchesAHandCalculation) {
  // 14 GB over 2039 GB/s = 6.866 ms.
  Seconds t = gb(14) / gb_per_s(2039);
  EXPECT_NEAR(in_milliseconds(t), 6.866, 0.001);
}

TEST(Units, ConvertsScales) {
  EXPECT_DOUBLE_EQ(in_bytes(gib(1)), 1073741824.0);
  EXPECT_DOUBLE_EQ(in_gbit_per_s(gbit_per_s(3200)), 3200);
  EXPECT_DOUBLE_EQ(in_gb_per_s(gbit_per_s(3200)), 400);
  EXPECT_DOUBLE_EQ(in_usd(usd_per_hour(55.04) * hours(10)), 550.4);
  EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(usd_per_machine_hour(55.04) / gpus_per_machine(8)), 6.88);
  // 6.88 x 8 = 55.04 per machine; three of them for a month of 730 hours cost 55.04 x 3 x 730 = 120,537.60.
  const UsdPerMachineSecond machine = usd_per_gpu_hour(6.88) * gpus_per_machine(8);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(machine), 55.04);
  EXPECT_DOUBLE_EQ(in_usd(machine * machines(3) * kMonth), 120537.6);
}

TEST(Units, RatioConvertsFractionsAndPercent) {
  EXPECT_EQ(Ratio::percent(35), Ratio::fraction(0.35));
  EXPECT_DOUBLE_EQ(Ratio::fraction(0.66).percent(), 66);
}

}  // namespace
}  // namespace rightsize
