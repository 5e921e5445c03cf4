// Formats quantities for people, in every table, sentence and report. Three significant digits, a space before the
// unit, binary units for memory, decimal for rates, commas in thousands.
#pragma once

#include <string>

#include "base/units.h"

namespace rightsize {

std::string format_bytes(Bytes v);                // "79.6 GiB", "512 MiB", "17 B"
std::string format_bandwidth(BytesPerSecond v);   // "3.35 TB/s", "936 GB/s"
std::string format_network(BytesPerSecond v);     // "3,200 Gbit/s"
std::string format_flops(FlopsPerSecond v);       // "989 TFLOP/s", "2.25 PFLOP/s"
std::string format_power(Watts v);                // "700 W"
std::string format_usd(Usd v);                    // "$0.0042", "$12.34", "$1,234", "-$5.00"
std::string format_usd_per_hour(double dollars);  // "$6.88", "$0.526": digits that keep a price comparable
std::string format_usd_per_hour(UsdPerGpuSecond v);
std::string format_usd_per_hour(UsdPerMachineSecond v);
std::string format_usd_per_hour(UsdPerSecond v);
std::string format_duration(Seconds v);  // "850 ns", "12.3 ms", "4.5 s", "3 min 20 s", "5 h 12 min", "3 d 4 h"
std::string format_percent(Ratio v);     // "61 %", "0.4 %"
std::string format_tokens_per_s(TokensPerSecond v);        // "9,549 tok/s"
std::string format_number(double v, int significant = 3);  // "0.0123", "1,234", "6.74"
std::string format_count(double v);                        // "6,738,415,616"
std::string format_magnitude(double v);                    // "6.74 B", "125 M", "2 k"

}  // namespace rightsize
