// Bars side by side, and stacked bars.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "report/colours.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

bool has_bar(const Bars::Row& row) { return std::isfinite(row.value) && row.value > 0; }

double longest(const Bars& bars) {
  double most = 0;
  for (const Bars::Row& row : bars.rows) most = std::max(most, has_bar(row) ? row.value : 0);
  return most;
}

// A bar to an eighth of a column; never empty.
std::string blocks(double columns) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const long eighths = std::max(1L, std::lround(columns * 8));
  std::string out;
  for (long i = 0; i < eighths / 8; ++i) out += "█";
  return out + kEighths[eighths % 8];
}

// Column widths of a text drawing: labels and details are cut before bars become too short to compare.
struct Widths {
  std::size_t label = 0, shown = 0, detail = 0, bar = 0;
};

Widths widths_of(const Bars& bars, std::size_t width) {
  constexpr std::size_t kShortestBar = 20, kLabelAtMost = 48;
  Widths w;
  for (const Bars::Row& row : bars.rows) {
    w.label = std::max(w.label, display_width(row.label));
    w.shown = std::max(w.shown, display_width(row.shown));
    w.detail = std::max(w.detail, display_width(row.detail));
  }
  w.label = std::min(w.label, kLabelAtMost);
  const std::size_t fixed = w.label + 2 + w.shown + 2 + kShortestBar;
  const std::size_t left = width > fixed ? width - fixed : 0;
  const std::size_t detail_room = left > 2 ? left - 2 : 0;
  w.detail = std::min(w.detail, detail_room);
  w.bar = kShortestBar + left - (w.detail > 0 ? w.detail + 2 : 0);
  return w;
}

}  // namespace

std::string text_bars(const Bars& bars, std::size_t width) {
  const double most = longest(bars);
  const Widths w = widths_of(bars, width);
  std::string out = bars.unit.empty() ? "" : bars.unit + "\n";
  for (const Bars::Row& row : bars.rows) {
    std::string line = fitted(row.label, w.label) + "  " + padded(row.shown, w.shown, Align::kRight, false) + "  ";
    std::string bar = has_bar(row) ? blocks(row.value / most * static_cast<double>(w.bar)) : "";
    line += w.detail > 0 ? fitted(bar, w.bar) + "  " + fitted(row.detail, w.detail) : bar;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string markdown_bars(const Bars& bars) {
  std::string out = bars.unit.empty() ? "" : bars.unit + ":\n\n";
  for (const Bars::Row& row : bars.rows)
    out += "- " + escape_markdown(row.label) + ": " + escape_markdown(row.shown) +
           (row.detail.empty() ? "" : " (" + escape_markdown(row.detail) + ")") + "\n";
  return out;
}

// Labels are above their bars: long labels do not shorten the bars.
std::string svg_bars(const Bars& bars, double width) {
  const double room_for_number = width < 600 ? 90 : 150;
  constexpr double kRow = 42, kBox = 18, kTop = 20;
  const auto letters = static_cast<std::size_t>(width / 6.6);
  const double most = longest(bars);
  std::string shapes =
      fmt::format("<text x=\"0\" y=\"12\" font-size=\"13\" fill=\"currentColor\">{}</text>\n", escape_html(bars.unit));
  double top = bars.unit.empty() ? 0 : kTop;
  for (const Bars::Row& row : bars.rows) {
    const double length = has_bar(row) ? row.value / most * (width - room_for_number) : 0;
    const std::string shown = escape_html(row.shown);
    std::string label = row.label, detail = row.detail.empty() ? "" : "  " + row.detail;
    const std::string title = escape_html(fmt::format("{} {}{}", label, row.shown, detail));
    // On a phone, a detail that does not fit is only in the title.
    if (display_width(label + detail) > letters) detail.clear();
    if (display_width(label) > letters) label = fitted(label, letters);
    label = escape_html(label), detail = escape_html(detail);
    shapes += fmt::format(
        "<g><title>{9}</title>\n"
        "<text x=\"0\" y=\"{3:.0f}\" font-size=\"12\" fill=\"currentColor\">{0}"
        "<tspan fill=\"#8c959f\">{2}</tspan></text>\n"
        "<rect x=\"0\" y=\"{4:.0f}\" width=\"{5:.1f}\" height=\"{6}\" rx=\"2\" fill=\"#0072b2\"/>\n"
        "<text x=\"{7:.1f}\" y=\"{8:.0f}\" font-size=\"13\" fill=\"currentColor\">{1}</text></g>\n",
        label, shown, detail, top + 13, top + 18, length, kBox, length + 8, top + 32, title);
    top += kRow;
  }
  return svg(width, top + 4, shapes);
}

// One row per segment, each beginning where the last ended, over a ruler with the lines.
std::string text_stacked_bar(const StackedBar& bar, std::size_t width) {
  double total = 0;
  std::size_t label_width = 0, shown_width = 0;
  for (const StackedBar::Segment& segment : bar.segments) {
    total += segment.value;
    label_width = std::max(label_width, display_width(segment.label));
    shown_width = std::max(shown_width, display_width(segment.shown));
  }
  double scale_end = total;
  for (const StackedBar::Line& line : bar.lines) scale_end = std::max(scale_end, line.value);
  const std::size_t left = label_width + shown_width + 4;
  const double room = static_cast<double>(width > left + 20 ? width - left - 2 : 20);
  if (!(scale_end > 0)) return {};
  auto column = [&](double value) { return static_cast<std::size_t>(std::lround(value / scale_end * room)); };

  std::string out;
  double begin = 0;
  for (const StackedBar::Segment& segment : bar.segments) {
    const std::size_t from = column(begin), to = std::max(column(begin + segment.value), from + 1);
    out += padded(segment.label, label_width, Align::kLeft, false) + "  " +
           padded(segment.shown, shown_width, Align::kRight, false) + "  " + std::string(from, ' ');
    for (std::size_t i = from; i < to; ++i) out += "█";
    out += '\n';
    begin += segment.value;
  }
  std::string ruler(static_cast<std::size_t>(room) + 1, ' ');
  std::vector<std::string> names;  // written in as many rows as they need
  for (const StackedBar::Line& line : bar.lines) {
    const std::size_t at = column(line.value);
    ruler[at] = '|';
    const std::size_t size = display_width(line.label);
    const std::size_t start = at + 1 >= size ? at + 1 - size : 0;
    auto fits = [&](const std::string& row) { return row.empty() || row.size() + 2 <= start; };
    auto row = std::ranges::find_if(names, fits);
    if (row == names.end()) row = names.insert(names.end(), "");
    *row += std::string(start - row->size(), ' ') + line.label;
  }
  if (!bar.lines.empty()) out += std::string(left, ' ') + ruler + '\n';
  for (const std::string& row : names) out += std::string(left, ' ') + row + '\n';
  return out;
}

// Markdown lists the same parts.
std::string markdown_stacked_bar(const StackedBar& bar) {
  std::string out;
  for (const StackedBar::Segment& segment : bar.segments)
    out += "- " + escape_markdown(segment.label) + ": " + escape_markdown(segment.shown) + "\n";
  return out;
}

// One horizontal bar with its lines and a legend.
std::string svg_stacked_bar(const StackedBar& bar, double width) {
  constexpr double kBarTop = 60, kBarHeight = 44;
  double end = 0;
  for (const StackedBar::Segment& segment : bar.segments) end += segment.value;
  for (const StackedBar::Line& line : bar.lines) end = std::max(end, line.value);
  if (!(end > 0)) return {};
  const double scale = (width - 20) / (end * 1.02);
  std::string shapes, legend;
  double at = 10;
  for (std::size_t i = 0; i < bar.segments.size(); ++i) {
    const StackedBar::Segment& segment = bar.segments[i];
    const char* colour = series_colour(i).fill;
    const std::string name = escape_html(segment.label + " " + segment.shown);
    shapes +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
                    at, kBarTop, segment.value * scale, kBarHeight, colour, name);
    legend += fmt::format("<span class=\"key\"><i style=\"background:{}\"></i>{}</span>\n", colour, name);
    at += segment.value * scale;
  }
  double row = 0;
  for (const StackedBar::Line& line : bar.lines) {  // labels in three rows, to keep close ones readable
    const double x = 10 + line.value * scale;
    shapes += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\" stroke-dasharray=\"3 3\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"{5}\" font-size=\"12\" fill=\"currentColor\">{4}</text>\n",
        x, 16 + 14 * row, kBarTop + kBarHeight + 8, 13 + 14 * row, escape_html(line.label),
        x > width / 2 ? "end" : "start");
    row = row == 2 ? 0 : row + 1;
  }
  return svg(width, kBarTop + kBarHeight + 14, shapes) + "<p>" + legend + "</p>\n";
}

}  // namespace rightsize::report
