#include "base/format.h"

#include <cmath>

#include <gtest/gtest.h>

namespace rightsize {
namespace {

// std::stod throws for subnormal numbers.
TEST(Format, FormatsTheSmallestDouble) { EXPECT_EQ(format_number(5e-324, 1).substr(0, 5), "0.000"); }

TEST(Format, BytesAreBinary) {
  EXPECT_EQ(format_bytes(gib(79.6)), "79.6 GiB");
  EXPECT_EQ(format_bytes(mib(512)), "512 MiB");
  EXPECT_EQ(format_bytes(bytes(17)), "17 B");
  EXPECT_EQ(format_bytes(gib(2048)), "2 TiB");
  EXPECT_EQ(format_bytes(mib(1023.9)), "1 GiB");
  EXPECT_EQ(format_bytes(bytes(0)), "0 B");
}

TEST(Format, RatesAreDecimal) {
  EXPECT_EQ(format_bandwidth(gb_per_s(3350)), "3.35 TB/s");
  EXPECT_EQ(format_flops(tflop_per_s(989.4)), "989 TFLOP/s");
  EXPECT_EQ(format_flops(tflop_per_s(2250)), "2.25 PFLOP/s");
  EXPECT_EQ(format_network(gbit_per_s(3200)), "3,200 Gbit/s");
  EXPECT_EQ(format_tokens_per_s(tokens_per_s(9549.3)), "9,549 tok/s");
}

TEST(Format, MoneyKeepsSignificantDigits) {
  EXPECT_EQ(format_usd(usd(1234.5)), "$1,234");
  EXPECT_EQ(format_usd(usd(12.345)), "$12.35");
  EXPECT_EQ(format_usd(usd(0.00423)), "$0.00423");
  EXPECT_EQ(format_usd(usd(-5)), "-$5.00");
  EXPECT_EQ(format_usd_per_hour(6.88), "$6.88");
  EXPECT_EQ(format_usd_per_hour(0.526), "$0.526");
  EXPECT_EQ(format_usd_per_hour(usd_per_gpu_hour(0.526)), "$0.526");
  EXPECT_EQ(format_usd_per_hour(usd_per_machine_hour(55.04)), "$55.04");
}

TEST(Format, DurationsUseReadableUnits) {
  EXPECT_EQ(format_duration(seconds(0.0123)), "12.3 ms");
  EXPECT_EQ(format_duration(seconds(850e-9)), "850 ns");
  EXPECT_EQ(format_duration(seconds(200)), "3 min 20 s");
  EXPECT_EQ(format_duration(seconds(3599.9)), "60 min");
  EXPECT_EQ(format_duration(hours(76)), "3 d 4 h");
  EXPECT_EQ(format_duration(days(7411)), "20.3 years");
  EXPECT_EQ(format_duration(hours(5.2)), "5 h 12 min");
}

TEST(Format, FormatsNumbersPercentAndNaN) {
  EXPECT_EQ(format_number(9.9996), "10");
  EXPECT_EQ(format_number(0.012345), "0.0123");
  EXPECT_EQ(format_count(6738415616.0), "6,738,415,616");
  EXPECT_EQ(format_magnitude(6738415616.0), "6.74 B");
  EXPECT_EQ(format_percent(Ratio::fraction(0.61)), "61 %");
  EXPECT_EQ(format_percent(Ratio::fraction(0.004)), "0.4 %");
  EXPECT_EQ(format_bytes(bytes(NAN)), "unknown");
}

}  // namespace
}  // namespace rightsize
