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
  // Where v stands, 0 to 1; the middle when there is only one value.
  double share(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

// Ranges of a logarithmic chart are of logarithms. Linear ranges begin and end at ticks.
struct Axes {
  Range x, y;
  bool empty = true;
  bool logarithmic = false;

  double scale(double v) const;
  double at_x(double v) const { return x.share(scale(v)); }
  double at_y(double v) const { return y.share(scale(v)); }
  // The value that stands at a share of an axis.
  double value(const Range& range, double share) const;
  // About so many values to write beside an axis: 1, 2 or 5 times a power of ten apart; of logarithms 1, 2, 5 and 10
  // times powers of ten, or the powers alone where there are many.
  std::vector<double> ticks(const Range& range, int about) const;
};

// `air`: logarithmic axes extend a little beyond the points.
Axes axes_of(const LineChart& chart, bool air);
bool drawable(const LineChart& chart, const LineChart::Point& point);

// "20k" for 20000.
std::string tick_text(double value);

// "hours (log scale)".
std::string axis_name(const LineChart& chart, const std::string& label);

}  // namespace rightsize::report
