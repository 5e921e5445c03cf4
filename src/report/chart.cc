// Curves, for the terminal and for the browser.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  // Where v stands, 0 to 1; the middle when there is only one value.
  double share(double v) const { return high > low ? (v - low) / (high - low) : 0.5; }
};

// Ranges are of logarithms where the chart is logarithmic.
struct Axes {
  Range x, y;
  bool empty = true;
  bool logarithmic = false;

  double scale(double v) const { return logarithmic ? std::log10(v) : v; }
  double at_x(double v) const { return x.share(scale(v)); }
  double at_y(double v) const { return y.share(scale(v)); }
  // The value that stands at a share of an axis.
  double value(const Range& range, double share) const {
    const double v = range.low + (range.high - range.low) * share;
    return logarithmic ? std::pow(10.0, v) : v;
  }
};

bool drawable(const LineChart& chart, const LineChart::Point& point) {
  if (chart.logarithmic && !(point.x > 0 && point.y > 0)) return false;
  return std::isfinite(point.x) && std::isfinite(point.y);
}

Axes axes_of(const LineChart& chart) {
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
  if (!chart.logarithmic) axes.y.include(0);
  if (chart.y_limit) axes.y.include(axes.scale(*chart.y_limit));
  return axes;
}

// A character grid that curves are drawn into, the first row on top.
class Grid {
 public:
  Grid(std::size_t width, std::size_t height) : width_(width), rows_(height, std::string(width, ' ')) {}

  void put(double x, double y, char c) {
    const auto column =
        static_cast<std::size_t>(std::lround(std::clamp(x, 0.0, 1.0) * static_cast<double>(width_ - 1)));
    const auto row =
        static_cast<std::size_t>(std::lround((1 - std::clamp(y, 0.0, 1.0)) * static_cast<double>(rows_.size() - 1)));
    rows_[row][column] = c;
  }
  void line(double x0, double y0, double x1, double y1, char c) {
    const int steps = static_cast<int>(width_);
    for (int i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      put(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, c);
    }
  }
  const std::vector<std::string>& rows() const { return rows_; }

 private:
  std::size_t width_;
  std::vector<std::string> rows_;
};

void draw(Grid& grid, const LineChart& chart, const LineChart::Series& series, const Axes& axes, char mark) {
  const LineChart::Point* last = nullptr;
  for (const LineChart::Point& point : series.points) {
    if (!drawable(chart, point)) continue;
    const double x = axes.at_x(point.x), y = axes.at_y(point.y);
    if (last != nullptr && series.joined) {
      grid.line(axes.at_x(last->x), axes.at_y(last->y), x, y, mark);
    } else {
      grid.put(x, y, mark);
    }
    last = &point;
  }
}

constexpr const char* kColours[] = {"#2f6db5", "#e0823d", "#3d9a5f", "#b5483a", "#7d5fb2", "#8a6d4f"};

// Labels beside their points, each where it covers no earlier one; a label without such a place is left out.
class PointLabels {
 public:
  explicit PointLabels(double right_edge) : right_edge_(right_edge) {}

  // An empty text where there is no room.
  std::string place(double x, double y, const std::string& label) {
    const double width = 6.2 * static_cast<double>(display_width(label));
    for (double dy : {-6.0, 14.0, -18.0, 26.0}) {
      for (double left : {x + 6, x - 6 - width}) {
        const Box box{left, y + dy - 10, left + width, y + dy + 2};
        if (box.left < 0 || box.right > right_edge_ || box.top < 0) continue;
        if (std::any_of(taken_.begin(), taken_.end(), [&](const Box& other) { return box.meets(other); })) continue;
        taken_.push_back(box);
        return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"currentColor\">{}</text>\n", left,
                           y + dy, escape_html(label));
      }
    }
    return {};
  }

 private:
  struct Box {
    double left, top, right, bottom;
    bool meets(const Box& o) const { return left < o.right && o.left < right && top < o.bottom && o.top < bottom; }
  };
  double right_edge_;
  std::vector<Box> taken_;
};

std::string point_name(const LineChart::Series& series, const LineChart::Point& point) {
  return escape_html(point.label.empty() ? series.label : series.label + ", " + point.label);
}

}  // namespace

std::string text_line_chart(const LineChart& chart, std::size_t width) {
  const Axes axes = axes_of(chart);
  if (axes.empty) return {};
  constexpr std::size_t kHeight = 12, kLeft = 10;
  Grid grid(std::clamp<std::size_t>(width, 40, 100) - kLeft - 2, kHeight);
  if (chart.y_limit) grid.line(0, axes.at_y(*chart.y_limit), 1, axes.at_y(*chart.y_limit), '.');
  std::string legend;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const char mark = static_cast<char>('a' + i % 26);
    draw(grid, chart, chart.series[i], axes, mark);
    legend += fmt::format("{}{} {}", i == 0 ? "" : "   ", mark, chart.series[i].label);
  }
  std::string out = chart.y_label + "\n";
  for (std::size_t row = 0; row < kHeight; ++row) {
    const double share = 1 - static_cast<double>(row) / (kHeight - 1);
    const bool labelled = row == 0 || row + 1 == kHeight || row == kHeight / 2;
    const std::string label = labelled ? format_number(axes.value(axes.y, share)) : "";
    std::string line = fmt::format("{:>{}} |{}", label, kLeft - 1, grid.rows()[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  const std::string from = format_number(axes.value(axes.x, 0)),
                    to = format_number(axes.value(axes.x, 1)) + " " + chart.x_label;
  const std::size_t inner = grid.rows()[0].size();
  const std::size_t gap = inner > from.size() + to.size() ? inner - from.size() - to.size() : 1;
  out += std::string(kLeft, ' ') + "+" + std::string(inner, '-') + "\n";
  out += std::string(kLeft + 1, ' ') + from + std::string(gap, ' ') + to + "\n";
  return out + std::string(kLeft + 1, ' ') + legend + "\n";
}

std::string svg_line_chart(const LineChart& chart) {
  const Axes axes = axes_of(chart);
  if (axes.empty) return {};
  constexpr double kWidth = 960, kHeight = 340, kLeft = 80, kRight = 20, kTop = 24, kBottom = 50;
  auto at_x = [&](double v) { return kLeft + axes.at_x(v) * (kWidth - kLeft - kRight); };
  auto at_y = [&](double v) { return kHeight - kBottom - axes.at_y(v) * (kHeight - kTop - kBottom); };
  std::string shapes, legend;
  for (int i = 0; i <= 4; ++i) {
    const double y = axes.value(axes.y, i / 4.0), x = axes.value(axes.x, i / 4.0);
    shapes += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#8c959f\" stroke-opacity=\".35\"/>\n"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\" font-size=\"12\" fill=\"currentColor\">{5}</text>\n"
        "<text x=\"{6:.1f}\" y=\"{7}\" text-anchor=\"middle\" font-size=\"12\" fill=\"currentColor\">{8}</text>\n",
        kLeft, kWidth - kRight, at_y(y), kLeft - 8, at_y(y) + 4, format_number(y), at_x(x), kHeight - kBottom + 18,
        format_number(x));
  }
  shapes += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"13\" fill=\"currentColor\">{}</text>\n"
      "<text x=\"{}\" y=\"14\" font-size=\"13\" fill=\"currentColor\">{}</text>\n",
      kWidth / 2, kHeight - 10, escape_html(chart.x_label), 8, escape_html(chart.y_label));
  if (chart.y_limit) {
    shapes += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" stroke-dasharray=\"4 "
        "4\"/>\n",
        kLeft, kWidth - kRight, at_y(*chart.y_limit));
  }
  PointLabels labels(kWidth);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    std::string path, dots;
    for (const LineChart::Point& point : chart.series[i].points) {
      if (!drawable(chart, point)) continue;
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", at_x(point.x), at_y(point.y));
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {}, {}</title></circle>\n", at_x(point.x),
          at_y(point.y), colour, point_name(chart.series[i], point), format_number(point.x), format_number(point.y));
      if (!point.label.empty()) dots += labels.place(at_x(point.x), at_y(point.y), point.label);
    }
    if (chart.series[i].joined) {
      shapes += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour);
    }
    shapes += dots;
    legend += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span>\n", colour,
                          escape_html(chart.series[i].label));
  }
  return fmt::format("<svg viewBox=\"0 0 {} {}\" width=\"100%\" role=\"img\" font-family=\"system-ui,sans-serif\">\n",
                     kWidth, kHeight) +
         shapes + "</svg>\n<p>" + legend + "</p>\n";
}

std::string markdown_line_chart(const LineChart& chart) {
  std::string out;
  for (const LineChart::Series& series : chart.series) {
    out += "- " + series.label + ":";
    for (const LineChart::Point& point : series.points) {
      if (!drawable(chart, point)) continue;
      out += fmt::format(" {}({}, {})", point.label.empty() ? "" : point.label + " ", format_number(point.x),
                         format_number(point.y));
    }
    out += "\n";
  }
  return out + "\n" + chart.y_label + " over " + chart.x_label + "\n";
}

}  // namespace rightsize::report
