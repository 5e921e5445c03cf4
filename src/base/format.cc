#include "base/format.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace rightsize {
namespace {

std::string group_thousands(std::string digits) {
  std::size_t begin = (!digits.empty() && digits[0] == '-') ? 1 : 0;
  std::size_t point = digits.find('.');
  std::size_t end = point == std::string::npos ? digits.size() : point;
  for (std::size_t i = end; i > begin + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

// The number of decimals that gives `significant` digits in total.
int decimals_for(double v, int significant) {
  if (v == 0 || !std::isfinite(v)) return 0;
  int whole = static_cast<int>(std::floor(std::log10(std::fabs(v)))) + 1;
  return std::max(0, significant - whole);
}

struct Scale {
  double factor;
  const char* unit;
};

// The largest unit in which the value, as shown, is at least 1.
template <std::size_t N>
std::string scaled(double v, const std::array<Scale, N>& scales) {
  if (!std::isfinite(v)) return "unknown";
  for (const Scale& scale : scales) {
    if (std::fabs(v) >= scale.factor * 0.9995) return format_number(v / scale.factor) + " " + scale.unit;
  }
  return format_number(v / scales.back().factor) + " " + scales.back().unit;
}

}  // namespace

std::string format_number(double v, int significant) {
  if (!std::isfinite(v)) return "unknown";
  std::string digits = fmt::format("{:.{}f}", v, decimals_for(v, significant));
  // Rounding can add a digit (9.999 -> 10.00), so the rounded value is formatted again.
  double rounded = std::strtod(digits.c_str(), nullptr);
  digits = fmt::format("{:.{}f}", rounded, decimals_for(rounded, significant));
  if (digits.find('.') != std::string::npos) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  return group_thousands(digits);
}

std::string format_count(double v) {
  if (!std::isfinite(v)) return "unknown";
  return group_thousands(fmt::format("{:.0f}", v));
}

std::string format_magnitude(double v) {
  static constexpr std::array<Scale, 4> kScales{{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}}};
  return std::fabs(v) < 1e3 ? format_number(v) : scaled(v, kScales);
}

std::string format_bytes(Bytes v) {
  static constexpr std::array<Scale, 5> kScales{{{in_bytes(gib(1024)), "TiB"},
                                                 {in_bytes(gib(1)), "GiB"},
                                                 {in_bytes(mib(1)), "MiB"},
                                                 {in_bytes(kib(1)), "KiB"},
                                                 {1, "B"}}};
  return scaled(in_bytes(v), kScales);
}

std::string format_bandwidth(BytesPerSecond v) {
  static constexpr std::array<Scale, 5> kScales{
      {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}}};
  return scaled(in_bytes_per_s(v), kScales);
}

std::string format_network(BytesPerSecond v) { return format_number(in_gbit_per_s(v)) + " Gbit/s"; }

std::string format_flops(FlopsPerSecond v) {
  static constexpr std::array<Scale, 4> kScales{
      {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}}};
  return scaled(in_flop_per_s(v), kScales);
}

std::string format_power(Watts v) { return format_number(in_watts(v)) + " W"; }

std::string format_usd(Usd v) {
  double dollars = in_usd(v);
  if (!std::isfinite(dollars)) return "unknown";
  double size = std::fabs(dollars);
  std::string sign = dollars < 0 ? "-" : "";
  if (size >= 999.5) return sign + "$" + group_thousands(fmt::format("{:.0f}", size));
  if (size >= 0.995 || size == 0) return sign + fmt::format("${:.2f}", size);
  return sign + "$" + format_number(size);
}

std::string format_usd_per_hour(double dollars) {
  if (!std::isfinite(dollars)) return "unknown";
  if (std::fabs(dollars) >= 1) return "$" + group_thousands(fmt::format("{:.2f}", dollars));
  return fmt::format("${:.{}f}", dollars, std::max(3, decimals_for(dollars, 3)));
}

std::string format_usd_per_hour(UsdPerGpuSecond v) { return format_usd_per_hour(in_usd_per_gpu_hour(v)); }
std::string format_usd_per_hour(UsdPerMachineSecond v) { return format_usd_per_hour(in_usd_per_machine_hour(v)); }
std::string format_usd_per_hour(UsdPerSecond v) { return format_usd_per_hour(in_usd_per_hour(v)); }

std::string format_duration(Seconds v) {
  double s = in_seconds(v);
  if (!std::isfinite(s)) return "unknown";
  if (std::fabs(s) < 60) {
    static constexpr std::array<Scale, 4> kScales{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
    return s == 0 ? "0 s" : scaled(s, kScales);
  }
  if (const double years = v / kYear; std::fabs(years) >= 2) return format_number(years) + " years";
  struct Pair {
    double unit;
    const char* name;
    double part;
    const char* part_name;
  };
  static constexpr std::array<Pair, 3> kPairs{{{86400, "d", 3600, "h"}, {3600, "h", 60, "min"}, {60, "min", 1, "s"}}};
  for (const Pair& pair : kPairs) {
    if (std::fabs(s) < pair.unit) continue;
    double parts = std::round(s / pair.part);
    double per_unit = pair.unit / pair.part;
    double whole = std::trunc(parts / per_unit);
    double rest = std::fabs(parts - whole * per_unit);
    std::string text = format_count(whole) + " " + pair.name;
    return rest == 0 ? text : text + " " + format_count(rest) + " " + pair.part_name;
  }
  return format_number(s) + " s";
}

std::string format_percent(Ratio v) {
  double percent = v.percent();
  if (percent != 0 && std::fabs(percent) < 0.05) return percent > 0 ? "< 0.1 %" : "> -0.1 %";
  return format_number(percent, std::fabs(percent) < 10 ? 2 : 3) + " %";
}

std::string format_tokens_per_s(TokensPerSecond v) {
  double rate = in_tokens_per_s(v);
  return (rate >= 1000 ? format_count(rate) : format_number(rate)) + " tok/s";
}

}  // namespace rightsize
