// One function per format; render() chooses.
#pragma once

#include <string>

#include "report/report.h"

namespace rightsize::report {

std::string render_text(const Report& report, const Style& style);
std::string render_csv(const Report& report);
std::string render_markdown(const Report& report);
std::string render_html(const Report& report);

// markup.cc: text with the format's special characters escaped.
std::string escape_html(const std::string& text);
std::string escape_markdown(const std::string& text);

// text.cc: pads with spaces to a width, unless this is the last cell of a line.
std::string padded(const std::string& text, std::size_t width, Align align, bool last);
// Exactly `width` columns; longer text ends in an ellipsis. Cuts between code points.
std::string fitted(const std::string& text, std::size_t width);

// Pictures are drawn at both widths, to be readable on a phone and on a screen.
inline constexpr double kNarrowPicture = 380, kWidePicture = 960;
// markup.cc: a picture as wide as the page.
std::string svg(double width, double height, const std::string& shapes);

// chart.cc, svg_chart.cc: a LineChart as rows of characters, as an <svg>, and as a Markdown list.
std::string text_line_chart(const LineChart& chart, std::size_t width);
std::string svg_line_chart(const LineChart& chart, double width);
std::string markdown_line_chart(const LineChart& chart);

// bars.cc: the same for Bars and StackedBar.
std::string text_bars(const Bars& bars, std::size_t width);
std::string svg_bars(const Bars& bars, double width);
std::string markdown_bars(const Bars& bars);
std::string text_stacked_bar(const StackedBar& bar, std::size_t width);
std::string svg_stacked_bar(const StackedBar& bar, double width);
std::string markdown_stacked_bar(const StackedBar& bar);

// lanes.cc: the same for Lanes.
std::string text_lanes(const Lanes& lanes, std::size_t width);
std::string svg_lanes(const Lanes& lanes, double width);
std::string markdown_lanes(const Lanes& lanes);

}  // namespace rightsize::report
