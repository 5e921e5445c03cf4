// One function a format; render() picks.
#pragma once

#include <string>

#include "report/report.h"

namespace rightsize::report {

std::string render_text(const Report& report, const Style& style);
std::string render_csv(const Report& report);
std::string render_markdown(const Report& report);
std::string render_html(const Report& report);

// chart.cc: a LineChart as rows of characters, as an <svg>, and as a Markdown table.
std::string text_line_chart(const LineChart& chart, std::size_t width);
std::string svg_line_chart(const LineChart& chart);
std::string markdown_line_chart(const LineChart& chart);

// lanes.cc: the same for Lanes.
std::string text_lanes(const Lanes& lanes, std::size_t width);
std::string svg_lanes(const Lanes& lanes);
std::string markdown_lanes(const Lanes& lanes);

}  // namespace rightsize::report
