// Line charts as SVG.
#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "report/axes.h"
#include "report/colours.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

constexpr double kLetter = 6.4;  // width of a letter of 11 px

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& o) const { return left < o.right && o.left < right && top < o.bottom && o.top < bottom; }
};

// Places labels next to their points without covering other points or labels; omits those that do not fit.
class PointLabels {
 public:
  explicit PointLabels(Box frame) : frame_(frame) {}

  void keep_free(double x, double y) { taken_.push_back({x - 4, y - 4, x + 4, y + 4}); }

  // Empty if there is no space.
  std::string place(double x, double y, const std::string& label) {
    const double width = kLetter * static_cast<double>(display_width(label));
    for (double dy : {-6.0, 4.0, 16.0, -18.0, 28.0}) {
      for (double left : {x + 7, x - 7 - width, x - width / 2}) {
        const Box box{left, y + dy - 10, left + width, y + dy + 2};
        if (box.left < frame_.left || box.right > frame_.right || box.top < frame_.top || box.bottom > frame_.bottom)
          continue;
        if (std::ranges::any_of(taken_, [&](const Box& other) { return box.meets(other); })) continue;
        taken_.push_back(box);
        return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"currentColor\">{}</text>\n", left,
                           y + dy, escape_html(label));
      }
    }
    return {};
  }

 private:
  Box frame_;
  std::vector<Box> taken_;
};

// One marker shape per series: colour must not be the only difference.
std::string mark(std::size_t series, double x, double y, const std::string& title) {
  const char* fill = series_colour(series).fill;
  std::string shape;
  switch (series % 4) {
    case 0:
      shape = fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"", x, y);
      break;
    case 1:
      shape = fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\"", x - 3.5, y - 3.5);
      break;
    case 2:
      shape = fmt::format("<path d=\"M{:.1f} {:.1f}l4.5 8h-9z\"", x, y - 5);
      break;
    default:
      shape = fmt::format("<path d=\"M{:.1f} {:.1f}l5 5-5 5-5-5z\"", x, y - 5);
  }
  return fmt::format("{} fill=\"{}\"><title>{}</title></{}>\n", shape, fill, title,
                     series % 4 == 0   ? "circle"
                     : series % 4 == 1 ? "rect"
                                       : "path");
}

class Drawing {
 public:
  Drawing(const LineChart& chart, const Axes& axes, double width)
      : chart_(chart), axes_(axes), width_(width), height_(width < 600 ? 300 : 360), labels_(frame()) {}

  std::string draw() {
    grid();
    names();
    limit();
    for (const LineChart::Series& series : chart_.series) {
      for (const LineChart::Point& point : series.points) {
        if (drawable(chart_, point)) labels_.keep_free(at_x(point.x), at_y(point.y));
      }
    }
    for (std::size_t i = 0; i < chart_.series.size(); ++i) add(i);
    return svg(width_, height_, shapes_) + "<p>" + legend_ + "</p>\n";
  }

 private:
  static constexpr double kLeft = 52, kRight = 16, kTop = 30, kBottom = 46;

  Box frame() const { return {kLeft + 2, kTop, width_ - 2, height_ - kBottom}; }
  double at_x(double v) const { return kLeft + axes_.at_x(v) * (width_ - kLeft - kRight); }
  double at_y(double v) const { return height_ - kBottom - axes_.at_y(v) * (height_ - kTop - kBottom); }

  // The number of a tick is omitted if it would touch the previous one.
  void grid() {
    double last = -1e9;
    for (double x : axes_.ticks(axes_.x, width_ < 600 ? 4 : 8)) {
      const std::string text = tick_text(x);
      const double half = kLetter * static_cast<double>(text.size()) / 2 + 2;
      shapes_ += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#8c959f\" stroke-opacity=\".25\"/>\n",
          at_x(x), kTop, height_ - kBottom);
      if (at_x(x) - half < last) continue;
      last = at_x(x) + half;
      shapes_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\" fill=\"currentColor\">{}</text>\n",
          at_x(x), height_ - kBottom + 17, text);
    }
    double above = 1e9;
    for (double y : axes_.ticks(axes_.y, 6)) {
      shapes_ += fmt::format(
          "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#8c959f\" stroke-opacity=\".35\"/>\n",
          kLeft, width_ - kRight, at_y(y));
      if (above - at_y(y) < 14) continue;
      above = at_y(y);
      shapes_ += fmt::format(
          "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" font-size=\"12\" fill=\"currentColor\">{}</text>\n",
          kLeft - 7, at_y(y) + 4, tick_text(y));
    }
  }

  void names() {
    shapes_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"13\" fill=\"currentColor\">{}</text>\n"
        "<text x=\"2\" y=\"14\" font-size=\"13\" fill=\"currentColor\">{}</text>\n",
        (kLeft + width_ - kRight) / 2, height_ - 8, escape_html(axis_name(chart_, chart_.x_label)),
        escape_html(axis_name(chart_, chart_.y_label)));
  }

  void limit() {
    if (!chart_.y_limit) return;
    shapes_ += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"currentColor\" stroke-dasharray=\"4 "
        "4\"/>\n",
        kLeft, width_ - kRight, at_y(*chart_.y_limit));
  }

  void add(std::size_t index) {
    const LineChart::Series& series = chart_.series[index];
    std::string path, marks;
    for (const LineChart::Point& point : series.points) {
      if (!drawable(chart_, point)) continue;
      const double x = at_x(point.x), y = at_y(point.y);
      path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x, y);
      const std::string name = point.label.empty() ? series.label : series.label + ", " + point.label;
      marks += mark(index, x, y,
                    escape_html(fmt::format("{}: {}, {}", name, format_number(point.x), format_number(point.y))));
      if (!point.label.empty()) marks += labels_.place(x, y, point.label);
    }
    if (series.joined)
      shapes_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path,
                             series_colour(index).fill);
    shapes_ += marks;
    legend_ += fmt::format("<span class=\"key\"><svg width=\"12\" height=\"12\">{}</svg> {}</span>\n",
                           mark(index, 6, 6, escape_html(series.label)), escape_html(series.label));
  }

  const LineChart& chart_;
  const Axes& axes_;
  double width_, height_;
  PointLabels labels_;
  std::string shapes_, legend_;
};

}  // namespace

std::string svg_line_chart(const LineChart& chart, double width) {
  const Axes axes = axes_of(chart, true);
  return axes.empty ? std::string{} : Drawing(chart, axes, width).draw();
}

}  // namespace rightsize::report
