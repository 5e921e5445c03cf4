#include "report/axes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rightsize::report {
namespace {

// 1, 2 or 5 times a power of ten, which divides `span` into about `about` steps.
double nice_step(double span, int about) {
  const double raw = span / std::max(1, about);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double digit = raw / power;
  return power * (digit <= 1.0 ? 1 : digit <= 2.0 ? 2 : digit <= 5.0 ? 5 : 10);
}

void widen(Range& range) {
  if (!(range.high > range.low)) return;
  const double step = nice_step(range.high - range.low, 5);
  range.low = std::floor(range.low / step + 1e-9) * step;
  range.high = std::ceil(range.high / step - 1e-9) * step;
}

// Adds a margin to keep points off the frame.
void widen_logarithms(Range& range) {
  const double margin = std::max(0.02, 0.04 * (range.high - range.low));
  range.low -= margin;
  range.high += margin;
}

std::vector<double> logarithmic_ticks(const Range& range, int about) {
  const bool wide = range.high - range.low > about;
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(range.low)); power <= std::ceil(range.high); ++power) {
    for (double digit : {1.0, 2.0, 5.0}) {
      const double at = power + std::log10(digit);
      const bool asked = digit == 1.0 || (!wide && range.high - range.low <= about / 2.0);
      if (asked && at >= range.low - 1e-9 && at <= range.high + 1e-9) ticks.push_back(std::pow(10.0, power) * digit);
    }
  }
  if (ticks.size() >= 2) return ticks;
  // The range is narrower than the distance between 1, 2 and 5, so the ticks are evenly spaced.
  const double low = std::pow(10.0, range.low), high = std::pow(10.0, range.high);
  const double step = nice_step(high - low, about);
  ticks.clear();
  for (double v = std::ceil(low / step) * step; v <= high * (1 + 1e-9); v += step) ticks.push_back(v);
  return ticks;
}

}  // namespace

void Range::include(double v) {
  low = std::min(low, v);
  high = std::max(high, v);
}

double Axes::scale(double v) const { return logarithmic ? std::log10(v) : v; }

double Axes::value(const Range& range, double share) const {
  const double v = range.low + (range.high - range.low) * share;
  return logarithmic ? std::pow(10.0, v) : v;
}

std::vector<double> Axes::ticks(const Range& range, int about) const {
  if (!(range.high > range.low)) return {logarithmic ? std::pow(10.0, range.low) : range.low};
  if (logarithmic) return logarithmic_ticks(range, about);
  std::vector<double> ticks;
  const double step = nice_step(range.high - range.low, about);
  for (double n = std::ceil(range.low / step - 1e-9); n * step <= range.high + 1e-9 * step; ++n)
    ticks.push_back(n * step);
  return ticks;
}

bool drawable(const LineChart& chart, const LineChart::Point& point) {
  if (chart.logarithmic && !(point.x > 0 && point.y > 0)) return false;
  return std::isfinite(point.x) && std::isfinite(point.y);
}

Axes axes_of(const LineChart& chart, bool margin) {
  Axes axes;
  axes.logarithmic = chart.logarithmic;
  for (const LineChart::Series& series : chart.series) {
    for (const LineChart::Point& point : series.points) {
      if (!drawable(chart, point)) continue;
      axes.x.include(axes.scale(point.x));
      axes.y.include(axes.scale(point.y));
      axes.empty = false;
    }
  }
  if (axes.empty) return axes;
  if (!chart.logarithmic) axes.y.include(0);
  if (chart.y_limit && (!chart.logarithmic || *chart.y_limit > 0)) axes.y.include(axes.scale(*chart.y_limit));
  for (Range* range : {&axes.x, &axes.y}) {
    if (!chart.logarithmic) widen(*range);
    if (chart.logarithmic && margin) widen_logarithms(*range);
  }
  return axes;
}

std::string tick_text(double value) {
  struct Unit {
    double from;
    const char* name;
  };
  for (const Unit& unit : {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1e4, "k"}}) {
    const double divisor = unit.from == 1e4 ? 1e3 : unit.from;
    if (std::fabs(value) >= unit.from) return fmt::format("{:.6g}{}", value / divisor, unit.name);
  }
  return fmt::format("{:.6g}", std::fabs(value) < 1e-12 ? 0.0 : value);
}

std::string axis_name(const LineChart& chart, const std::string& label) {
  return chart.logarithmic ? label + " (log scale)" : label;
}

}  // namespace rightsize::report
