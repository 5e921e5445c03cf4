// Line charts for the terminal and for Markdown.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "report/axes.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

// A grid of characters, top row first.
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

}  // namespace

std::string text_line_chart(const LineChart& chart, std::size_t width) {
  const Axes axes = axes_of(chart, false);
  if (axes.empty) return {};
  constexpr std::size_t kHeight = 11, kLeft = 10;
  Grid grid(std::clamp<std::size_t>(width, 40, 100) - kLeft - 2, kHeight);
  if (chart.y_limit) grid.line(0, axes.at_y(*chart.y_limit), 1, axes.at_y(*chart.y_limit), '.');
  std::string legend;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const char mark = static_cast<char>('a' + i % 26);
    draw(grid, chart, chart.series[i], axes, mark);
    legend += fmt::format("{}{} {}", i == 0 ? "" : "   ", mark, chart.series[i].label);
  }
  std::string out = axis_name(chart, chart.y_label) + "\n";
  for (std::size_t row = 0; row < kHeight; ++row) {
    const double share = 1 - static_cast<double>(row) / (kHeight - 1);
    const bool labelled = row == 0 || row + 1 == kHeight || row == kHeight / 2;
    const std::string label = labelled ? format_number(axes.value(axes.y, share)) : "";
    std::string line = fmt::format("{:>{}} |{}", label, kLeft - 1, grid.rows()[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  const std::string from = format_number(axes.value(axes.x, 0)),
                    to = format_number(axes.value(axes.x, 1)) + " " + axis_name(chart, chart.x_label);
  const std::size_t inner = grid.rows()[0].size();
  const std::size_t gap = inner > from.size() + to.size() ? inner - from.size() - to.size() : 1;
  out += std::string(kLeft, ' ') + "+" + std::string(inner, '-') + "\n";
  out += std::string(kLeft + 1, ' ') + from + std::string(gap, ' ') + to + "\n";
  return out + std::string(kLeft + 1, ' ') + legend + "\n";
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
  return out + "\n" + axis_name(chart, chart.y_label) + " over " + axis_name(chart, chart.x_label) + "\n";
}

}  // namespace rightsize::report
