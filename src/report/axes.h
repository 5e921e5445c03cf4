// The axes of a LineChart: their range and their ticks.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/report.h"

namespace rightsize::report {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void include(double v);
  // The position of v, 0 to 1; 0.5 if the range has only one value.
  double share(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

// In a logarithmic chart the ranges contain logarithms. Linear ranges begin and end at ticks.
struct Axes {
  Range x, y;
  bool empty = true;
  bool logarithmic = false;

  double scale(double v) const;
  double at_x(double v) const { return x.share(scale(v)); }
  double at_y(double v) const { return y.share(scale(v)); }
  // The inverse: the value at a position of an axis.
  double value(const Range& range, double share) const;
  // Values for the labels of an axis, about `about` of them. Linear ones are 1, 2 or 5 times a power of ten apart;
  // logarithmic ones are 1, 2 and 5 times powers of ten, or the powers alone on a wide axis.
  std::vector<double> ticks(const Range& range, int about) const;
};

// `margin`: logarithmic axes extend a little beyond the points.
Axes axes_of(const LineChart& chart, bool margin);
bool drawable(const LineChart& chart, const LineChart::Point& point);

// "20k" for 20000.
std::string tick_text(double value);

// "hours (log scale)".
std::string axis_name(const LineChart& chart, const std::string& label);

}  // namespace rightsize::report
