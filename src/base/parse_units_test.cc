#include "base/parse_units.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/format.h"

namespace rightsize {
namespace {

TEST(ParseUnits, ReadsEveryUnitOfTheDataFiles) {
  EXPECT_DOUBLE_EQ(in_gib(*parse_bytes("80GiB")), 80);
  EXPECT_DOUBLE_EQ(in_mib(*parse_bytes("22888 MiB")), 22888);
  EXPECT_DOUBLE_EQ(in_bytes(*parse_bytes("80GB")), 80e9);
  EXPECT_DOUBLE_EQ(in_gb_per_s(*parse_bandwidth("3.35TB/s")), 3350);
  EXPECT_DOUBLE_EQ(in_gbit_per_s(*parse_bandwidth("3200Gbit/s")), 3200);
  EXPECT_DOUBLE_EQ(in_tflop_per_s(*parse_flops("989.4TFLOP/s")), 989.4);
  EXPECT_DOUBLE_EQ(in_usd_per_machine_hour(*parse_usd_per_machine_hour("55.04USD/h")), 55.04);
  EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(*parse_usd_per_gpu_hour("$2.49/h")), 2.49);
  EXPECT_DOUBLE_EQ(in_days(*parse_duration("14d")), 14);
  EXPECT_DOUBLE_EQ(in_milliseconds(*parse_duration("10ms")), 10);
  EXPECT_DOUBLE_EQ(in_requests_per_s(*parse_request_rate("60/min")), 1);
  EXPECT_DOUBLE_EQ(in_usd(*parse_usd("$5k")), 5000);
  EXPECT_DOUBLE_EQ(*parse_count("1.5B"), 1.5e9);
  EXPECT_EQ(*parse_integer("6,738,415,616"), 6738415616);
}

TEST(ParseUnits, ReadsWhatPeopleType) {
  for (const char* text : {"500", "$500", "500USD", "500 usd", "$0.5k", "0.5k", "500 dollars"})
    EXPECT_DOUBLE_EQ(in_usd(*parse_usd(text)), 500) << text;
  EXPECT_DOUBLE_EQ(in_usd(*parse_usd("$1,234.50")), 1234.5);
  for (const char* text : {"14d", "14days", "14 days", "2w", "2 weeks", "336h", "13d24h", "1w 7d"})
    EXPECT_DOUBLE_EQ(in_days(*parse_duration(text)), 14) << text;
  EXPECT_DOUBLE_EQ(in_hours(*parse_duration("2h30m")), 2.5);
  EXPECT_DOUBLE_EQ(in_seconds(*parse_duration("1e3ms")), 1);
  for (const char* text : {"20", "20/s", "20rps", "20 qps", "1,200/min"})
    EXPECT_DOUBLE_EQ(in_requests_per_s(*parse_request_rate(text)), 20) << text;
  for (const char* text : {"1,000,000,000", "1e9", "1B", "1_000_000_000", "1 b"})
    EXPECT_DOUBLE_EQ(*parse_count(text), 1e9) << text;
  EXPECT_DOUBLE_EQ(in_gib(*parse_bytes("80Gi")), 80);
  EXPECT_DOUBLE_EQ(in_usd_per_gpu_hour(*parse_usd_per_gpu_hour("$2.49/hr")), 2.49);
}

TEST(ParseUnits, RefusesAmbiguousUnits) {
  for (const char* text : {"1,5", "1,00", "1,0000", "1,000_000"}) EXPECT_FALSE(parse_count(text)) << text;
  for (const char* text : {"14", "2h30", "h", "2x30m", "2h-30m", "1,5h"}) EXPECT_FALSE(parse_duration(text)) << text;
}

// Whatever is typed, with whatever unit: a refusal, or a number that can still be multiplied and divided.
RC_GTEST_PROP(ParseUnits, AcceptedAmountsAreFinite, ()) {
  const std::string number = fmt::format("{}e{}", *rc::gen::inRange(0, 10), *rc::gen::inRange(-340, 340));
  const auto check = [](const auto& found, auto in) {
    if (found) RC_ASSERT(std::abs(in(*found)) < 1e100 && (in(*found) == 0 || std::abs(in(*found)) > 1e-100));
  };
  for (const char* unit : {"B", "TiB", "TB"}) check(parse_bytes(number + unit), [](Bytes b) { return in_bytes(b); });
  for (const char* unit : {"ns", "s", "year"})
    check(parse_duration(number + unit), [](Seconds s) { return in_seconds(s); });
  for (const std::string& rate : {number, number + "B/s", "1/" + number + "ns", number + "/" + number + "year"})
    check(parse_request_rate(rate), [](RequestsPerSecond r) { return in_requests_per_s(r); });
  for (const char* unit : {"", "k", "MUSD"}) check(parse_usd(number + unit), [](Usd u) { return in_usd(u); });
  check(parse_power(number + "kW"), [](Watts w) { return in_watts(w); });
  check(parse_share(number + "%"), [](Ratio r) { return r.fraction(); });
  check(parse_count(number + "T"), [](double c) { return c; });
  check(parse_number(number), [](double c) { return c; });
}

struct Wrong {
  const char* text;
  const char* message;
};

TEST(ParseUnits, RefusesWrongInputWithAReason) {
  for (const Wrong& wrong :
       {Wrong{"80", "has no unit"}, Wrong{"80GiBs", "unknown unit 'GiBs'"}, Wrong{"", "not a number"},
        Wrong{"nan GiB", "not a finite number"}, Wrong{"inf GiB", "not a finite number"}, Wrong{"-3GiB", "is negative"},
        Wrong{"1e999GiB", "out of range"}, Wrong{"GiB", "not a number"}}) {
    auto result = parse_bytes(wrong.text);
    ASSERT_FALSE(result) << wrong.text;
    EXPECT_THAT(result.error().message, testing::HasSubstr(wrong.message)) << wrong.text;
  }
  EXPECT_THAT(parse_bytes("80").error().hints, testing::Contains(testing::HasSubstr("GiB, MiB")));
  EXPECT_FALSE(parse_count("1.5"));
  EXPECT_FALSE(parse_integer("99999999999999999999"));
  EXPECT_FALSE(parse_integer("12x"));
}

TEST(ParseUnits, DistinguishesBitsFromBytes) {
  for (const char* bits : {"400Gb/s", "400Gbit/s", "400Gbps", "400gbps", "400000Mb/s", "0.4Tb/s"})
    EXPECT_DOUBLE_EQ(in_gb_per_s(*parse_bandwidth(bits)), 50) << bits;
  for (const char* octets : {"50GB/s", "50GBps", "50000MB/s", "0.05TB/s"})
    EXPECT_DOUBLE_EQ(in_gb_per_s(*parse_bandwidth(octets)), 50) << octets;
  EXPECT_FALSE(parse_bandwidth("50gb/s"));
  EXPECT_DOUBLE_EQ(in_bytes(*parse_bytes("80gb")), 80e9);
}

RC_GTEST_PROP(ParseUnits, DurationsReadWhatSlurmPrints, ()) {
  const int total = *rc::gen::inRange(0, 100 * 86'400);
  const std::string text =
      fmt::format("{}-{:02}:{:02}:{:02}", total / 86'400, total / 3'600 % 24, total / 60 % 60, total % 60);
  RC_ASSERT(in_seconds(*parse_duration(text)) == total);
}

RC_GTEST_PROP(ParseUnits, RatesMayCountTheirDenominator, ()) {
  const int count = *rc::gen::inRange(1, 1'000'000), per = *rc::gen::inRange(1, 1'000);
  const auto unit =
      *rc::gen::element(std::pair{"s", 1.0}, std::pair{"min", 60.0}, std::pair{"h", 3'600.0}, std::pair{"d", 86'400.0});
  const Result<RequestsPerSecond> rate = parse_request_rate(fmt::format("{}/{}{}", count, per, unit.first));
  RC_ASSERT(rate.has_value());
  RC_ASSERT(std::abs(in_requests_per_s(*rate) * per * unit.second / count - 1) < 1e-12);
}

// A probability within a period corresponds to the rate at which no event in that period has the remaining probability.
RC_GTEST_PROP(ParseUnits, ChancesAreRatesPerHour, ()) {
  const int percent = *rc::gen::inRange(0, 100);
  const auto unit = *rc::gen::element(std::pair{"/h", 1.0}, std::pair{"/d", 24.0}, std::pair{"", in_hours(kMonth)});
  const Result<double> rate = parse_per_hour(fmt::format("{}%{}", percent, unit.first));
  RC_ASSERT(rate.has_value());
  RC_ASSERT(std::abs(std::exp(-*rate * unit.second) - (1 - percent / 100.0)) < 1e-9);
  RC_ASSERT(!parse_per_hour(fmt::format("{}%{}", percent + 100, unit.first)));
}

RC_GTEST_PROP(ParseUnits, ParsesEverythingFormatWrites, ()) {
  const double value = *rc::gen::map(rc::gen::inRange<std::int64_t>(1, 4'000'000'000'000),
                                     [](auto n) { return static_cast<double>(n); });
  const std::string text = format_bytes(bytes(value));
  Result<Bytes> back = parse_bytes(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(std::abs(in_bytes(*back) / value - 1) < 0.006);
}

}  // namespace
}  // namespace rightsize
