// Quantities as people and data files write them: a number directly followed by its unit ("80GiB", "3.35TB/s",
// "989TFLOP/s", "2.49USD/h", "14d", "20/s"). A space between the two is accepted, and so are digits in groups of three
// ("1,000,000"). Case is ignored unless it distinguishes two units: Gb/s is a bit rate, GB/s a byte rate and gb/s an
// error. A number without a unit is refused except where noted. NaN, infinities and negative values are refused. Errors
// list the accepted units; the caller adds the place.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace rightsize {

Result<Bytes> parse_bytes(std::string_view text);                               // B KiB MiB GiB TiB kB MB GB TB, Gi G
Result<BytesPerSecond> parse_bandwidth(std::string_view text);                  // MB/s GB/s TB/s, Mbit/s Gbit/s Gb/s
Result<FlopsPerSecond> parse_flops(std::string_view text);                      // GFLOP/s TFLOP/s PFLOP/s
Result<Watts> parse_power(std::string_view text);                               // W kW
Result<UsdPerGpuSecond> parse_usd_per_gpu_hour(std::string_view text);          // USD/h, $2.49/h
Result<UsdPerMachineSecond> parse_usd_per_machine_hour(std::string_view text);  // the same for a whole machine
Result<Usd> parse_usd(std::string_view text);                                   // 500, $12.50, 10k USD
Result<Seconds> parse_duration(std::string_view text);                // ns us ms s min h d w, 2h30m, 2 weeks, 1-12:00
Result<RequestsPerSecond> parse_request_rate(std::string_view text);  // 20, 20/s, 90k/h, 1M/2h; bare: per second
// The same in events per hour; bare: per hour. 10%/d: the probability of an event within a day; 10%: within a month.
Result<double> parse_per_hour(std::string_view text);
Result<Ratio> parse_share(std::string_view text);           // 0.7 or 70%
Result<double> parse_count(std::string_view text);          // 2048, 1.5k, 20M, 1B, 3T: a whole number
Result<double> parse_number(std::string_view text);         // a finite decimal number and nothing else
Result<std::int64_t> parse_integer(std::string_view text);  // digits, with commas or underscores between

}  // namespace rightsize
