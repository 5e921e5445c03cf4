// Quantities as people and data files write them: a number directly followed by its unit ("80GiB", "3.35TB/s",
// "989TFLOP/s", "2.49USD/h", "14d", "20/s"). A space between the two is accepted, and digits in groups of three
// ("1,000,000"). A bare number is a number of dollars or of requests a second; elsewhere it is refused. Units are
// matched without regard to case except that bits and bytes differ. NaN, infinities and negative values are refused.
// Errors name the units that would have been right; they carry no place: the caller knows where the text stood.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace rightsize {

Result<Bytes> parse_bytes(std::string_view text);                               // B KiB MiB GiB TiB kB MB GB TB, Gi G
Result<BytesPerSecond> parse_bandwidth(std::string_view text);                  // MB/s GB/s TB/s, Mbit/s Gbit/s
Result<FlopsPerSecond> parse_flops(std::string_view text);                      // GFLOP/s TFLOP/s PFLOP/s
Result<Watts> parse_power(std::string_view text);                               // W kW
Result<UsdPerGpuSecond> parse_usd_per_gpu_hour(std::string_view text);          // USD/h, $2.49/h
Result<UsdPerMachineSecond> parse_usd_per_machine_hour(std::string_view text);  // the same, of a whole machine
Result<Usd> parse_usd(std::string_view text);                                   // 500, $12.50, 10k USD
Result<Seconds> parse_duration(std::string_view text);                          // ns us ms s min h d w, 2h30m, 2 weeks
Result<RequestsPerSecond> parse_request_rate(std::string_view text);            // /s /min /h /d, req/s
Result<double> parse_count(std::string_view text);          // 2048, 1.5k, 20M, 1B, 3T: a whole number of things
Result<double> parse_number(std::string_view text);         // a finite decimal number and nothing else
Result<std::int64_t> parse_integer(std::string_view text);  // digits only, commas or underscores between

}  // namespace rightsize
